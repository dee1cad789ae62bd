/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Timer test: the timer rings every so many cycles as the host says in the low debug word, and the debug words tell
 * how often it has rung and, in cycles, the shortest [15:0] and the longest [31:16] time between two rings as the
 * handler sees them. Frames are forwarded meanwhile.
 */
#include <penstock.h>

static volatile uint32_t rings, last, shortest = 0xFFFF, longest;

void int_handler(void) {
  uint32_t flags = pn_interrupts(), now = PN_REG(RPU_CORE_TIMER_L), took = now - last;
  if (flags & PN_INT_TIMER) {
    if (rings > 0 && took < shortest) shortest = took;
    if (rings > 0 && took > longest) longest = took;
    last = now;
    pn_debug(++rings, shortest | longest << 16);
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
    if (pn_ready()) pn_send(pn_recv() ^ pn_port(1));
  }
}
