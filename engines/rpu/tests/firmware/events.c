/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Test firmware: forwards, never waits in hardware, and tells the host of each interrupt: low debug word, all flags
 * seen so far; high debug word, the host's own debug word (low) at that time.
 */
#include <penstock.h>

static uint32_t seen;

void int_handler(void) {
  uint32_t flags = pn_interrupts();
  seen |= flags;
  if (flags & PN_INT_EVICT) PN_REG(RPU_CORE_READY_TO_EVICT) = 1;
  pn_ack(flags);
  pn_debug(seen, (uint32_t)pn_debug_in());
}

int main(void) {
  pn_init();
  for (;;)
    if (pn_ready()) pn_send(pn_recv() ^ pn_port(1));
}
