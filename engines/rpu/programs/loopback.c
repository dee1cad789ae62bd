/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Two steps over two units: the first writes the port by which a frame shall leave into its first byte and hands it to
 * its neighbour (unit number with the lowest bit flipped), which sends it there. Needs an even number of units.
 */
#include <penstock.h>

int main(void) {
  pn_init();
  uint32_t neighbour = PN_PORT_UNIT(pn_unit() ^ 1u);
  for (;;) {
    pn_desc_t desc = pn_recv();
    if (pn_from(desc) == PN_PORT_LOOPBACK) {
      pn_send(pn_to(desc, *pn_hdr()));
    } else {
      *pn_data() = (uint8_t)(pn_from(desc) ^ 1u);
      pn_send(pn_to(desc, neighbour));
    }
  }
}
