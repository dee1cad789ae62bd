/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Test firmware: forwards, and declares its slots without a place for header copies. */
#include <penstock.h>

int main(void) {
  pn_init_slots(PN_MAX_SLOTS, PN_PMEM_BASE + PN_PACKET_OFFSET, PN_PMEM_SIZE / PN_MAX_SLOTS);
  for (;;) pn_send(pn_recv() ^ pn_port(1));
}
