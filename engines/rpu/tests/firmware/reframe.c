/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Test firmware: does with each frame what its first byte says. 0: sends it; 1: drops it; 2: strips its first 4 bytes;
 * 3: puts 4 bytes in front; 4: to the host; 5: to unit 3; 6: to a port that does not exist; 7: twice, the second time
 * without holding it.
 */
#include <penstock.h>

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    uint8_t *data = pn_data();
    switch (*pn_hdr()) {
      case 1: pn_drop(desc); break;
      case 2: pn_send_from(pn_to(desc - 4, PN_PORT_ETH(0)), data + 4); break;
      case 3:
        for (uint32_t i = 1; i <= 4; i++) data[-(int32_t)i] = (uint8_t)(0xA0 + i);
        pn_send_from(pn_to(desc + 4, PN_PORT_ETH(1)), data - 4);
        break;
      case 4: pn_send(pn_to(desc, PN_PORT_HOST)); break;
      case 5: pn_send(pn_to(desc, PN_PORT_UNIT(3))); break;
      case 6: pn_send(pn_to(desc, 0x3F)); break;
      case 7:
        pn_send(pn_to(desc, PN_PORT_ETH(1)));
        pn_send(pn_to(desc, PN_PORT_ETH(1)));
        break;
      default: pn_send(pn_to(desc, PN_PORT_ETH(0))); break;
    }
  }
}
