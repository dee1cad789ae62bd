/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares slots as the host's debug words say: low word, count [7:0], bytes from one slot to the next [31:8]; high
 * word, address of the first one. If the address is in data memory, the slots are those of header copies.
 */
#include <penstock.h>

int main(void) {
  uint64_t order = pn_debug_in();
  uint32_t count = order & 0xFFu, bytes = (uint32_t)order >> 8, base = (uint32_t)(order >> 32);
  if (base < PN_PMEM_BASE) pn_init_headers(count, base, bytes);
  else pn_init_slots(count, base, bytes);
  for (;;) pn_send(pn_recv() ^ pn_port(1));
}
