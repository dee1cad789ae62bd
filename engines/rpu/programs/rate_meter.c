/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Receiver and rate meter: takes frames, drops them, and says in the debug words, whenever the timer rings, how many
 * came since it rang last: frames low, bytes high. The host sets the interval, in cycles, with its low debug word;
 * until then nothing is told.
 */
#include <penstock.h>

static volatile uint32_t frames, bytes;

void int_handler(void) {
  uint32_t flags = pn_interrupts();
  if (flags & PN_INT_TIMER) {
    pn_debug(frames, bytes);
    frames = bytes = 0;
  }
  pn_ack(flags);
}

int main(void) {
  pn_init();
  pn_set_interrupts(PN_INT_TIMER | PN_INT_POKE | PN_INT_EVICT);
  uint32_t interval = 0;
  for (;;) {
    uint32_t wanted = (uint32_t)pn_debug_in();
    if (wanted != interval) pn_set_timer(interval = wanted);
    if (!pn_ready()) continue;
    pn_desc_t desc = pn_recv();
    /* The handler must not run between the two: a frame counts whole. */
    __asm__ volatile("csrci mstatus, 8" ::: "memory");
    frames++;
    bytes += pn_len(desc);
    __asm__ volatile("csrsi mstatus, 8" ::: "memory");
    pn_drop(desc);
  }
}
