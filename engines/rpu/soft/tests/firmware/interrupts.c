/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Counts interrupts by kind while it forwards; the host writes the mask to DEBUG_IN. */
#include <penstock.h>

#define COUNTS ((volatile uint32_t *)PN_BROADCAST_BASE)

/* Registers that a function may change. */
#define SCRATCH "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"
#define FOR_EACH_SCRATCH(instruction)                                                                       \
  instruction(ra) instruction(t0) instruction(t1) instruction(t2) instruction(t3) instruction(t4)           \
  instruction(t5) instruction(t6) instruction(a0) instruction(a1) instruction(a2) instruction(a3)           \
  instruction(a4) instruction(a5) instruction(a6) instruction(a7)

void int_handler(void) {
  uint32_t flags = pn_interrupts();
  for (uint32_t bit = 0; bit < 16; bit++) COUNTS[bit] += flags >> bit & 1;
  pn_ack(flags);
#define SPOIL(name) "li " #name ", -1\n"
  __asm__ volatile(FOR_EACH_SCRATCH(SPOIL)::: SCRATCH);
}

/* Fills all scratch registers with 1 and adds them up some time later: 16, unless an interrupt has changed one. */
static uint32_t registers_kept(void) {
  uint32_t count = 600, sum = 0;
#define FILL(name) "li " #name ", 1\n"
#define ADD(name) "add %1, %1, " #name "\n"
  __asm__ volatile(FOR_EACH_SCRATCH(FILL) "1: addi %0, %0, -1\n bnez %0, 1b\n" FOR_EACH_SCRATCH(ADD)
                   : "+r"(count), "+r"(sum)::SCRATCH);
  return sum;
}

int main(void) {
  pn_init();
  pn_set_interrupts((uint32_t)pn_debug_in());
  PN_REG(RPU_CORE_TIMER_INTERVAL) = 500;
  for (;;) {
    if (pn_ready()) pn_send(pn_recv() ^ pn_port(1));
    if (registers_kept() != 16) COUNTS[16]++;
  }
}
