/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest forwarder in two steps: a unit that gets a frame from outside hands it to its neighbour (unit number
 * with the lowest bit flipped), which sends it to port 1. Needs an even number of units.
 */
#include <penstock.h>

int main(void) {
  pn_init();
  uint32_t neighbour = PN_PORT_UNIT(pn_unit() ^ 1u);
  for (;;) {
    pn_desc_t desc = pn_recv();
    pn_send(pn_to(desc, pn_from(desc) == PN_PORT_LOOPBACK ? PN_PORT_ETH(1) : neighbour));
  }
}
