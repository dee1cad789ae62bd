/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Raises each exception and records the handler's view: cause, instruction, mtval. Then tries the CSRs. */
#include <penstock.h>
#include <string.h>

#define RESULTS ((volatile uint32_t *)PN_BROADCAST_BASE)

static unsigned noted;

static void note(uint32_t value) { RESULTS[noted++] = value; }

#define CSR_READ(name) ({ uint32_t value; __asm__ volatile("csrr %0, " #name : "=r"(value)); value; })
#define CSR_WRITE(name, value) __asm__ volatile("csrw " #name ", %0" ::"r"(value))

void fault_handler(uint32_t cause, uint32_t pc) {
  note(cause);
  note(CSR_READ(mtval));
  note(CSR_READ(mstatus));
  note(PN_REG(RPU_CORE_CORE_ID));
  CSR_WRITE(mepc, pc + 4);
}

int main(void) {
  uint32_t odd = PN_DMEM_BASE + 0x3001;
  uint32_t value = 0x12345678;
  __asm__ volatile("ecall");
  __asm__ volatile("ebreak");
  __asm__ volatile(".word 0");
  __asm__ volatile(".word 0x0000707F");
  __asm__ volatile("lw %0, 1(%1)" : "=r"(value) : "r"(odd));
  __asm__ volatile("lh %0, 0(%1)" : "=r"(value) : "r"(odd));
  __asm__ volatile("sw %0, 0(%1)" ::"r"(value), "r"(odd));
  __asm__ volatile("sh %0, 0(%1)" ::"r"(value), "r"(odd));
  __asm__ volatile("csrr %0, 0x7C0" : "=r"(value));
  __asm__ volatile("csrw mhartid, zero");
  __asm__ volatile("la t0, 1f\n addi t0, t0, 2\n jr t0\n1:" ::: "t0");
  __asm__ volatile("li t0, -1\n lb t0, 0(%0)" ::"r"(odd) : "t0");

  note(0xC5A5C5A5);
  note(CSR_READ(mtvec));
  note(CSR_READ(mhartid));
  CSR_WRITE(mscratch, 0xF0F0F0F0);
  __asm__ volatile("csrs mscratch, %0" ::"r"(0x0F));
  __asm__ volatile("csrci mscratch, 0x10");
  __asm__ volatile("csrrw %0, mscratch, %1" : "=r"(value) : "r"(7));
  note(value);
  note(CSR_READ(mscratch));
  CSR_WRITE(mcycleh, 5);
  note(CSR_READ(mcycleh));
  CSR_WRITE(minstret, 100);
  uint32_t first = CSR_READ(minstret);
  note(CSR_READ(minstret) - first);

  volatile uint64_t dividend = 0x123456789ABCDEFull, divisor = 0x1000001ull;
  volatile int64_t negative = -1000000000007ll, small = 10;
  note((uint32_t)(dividend / divisor));
  note((uint32_t)(dividend / divisor >> 32));
  note((uint32_t)(dividend % divisor));
  note((uint32_t)(negative / small));
  note((uint32_t)(negative % small));
  char text[24];
  memset(text, 'x', sizeof text);
  memcpy(text + 1, "penstock", 9);
  memmove(text + 3, text + 1, 9);
  note(strlen(text));
  note(memcmp(text + 3, "penstock", 9) == 0);
  note(memcmp(text, "xpz", 3) < 0);
  note(0xE4D);
  for (;;) pn_barrier();
}
