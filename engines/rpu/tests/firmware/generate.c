/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Test firmware: does with each frame what its first byte says, and then sends it out at port 1. 0: nothing; 1: makes
 * a frame of its first bytes, as many as its second says, for port 0; 2: the same through Rosebud's names; 3: makes as
 * many frames of 64 bytes as its second byte says, back to back; 4: of 1,500. From 16 on: tries to make a frame where
 * none can be: 16 outside packet memory, 17 from an odd place, 18 from a place in the wrong part of a row, 19 of no
 * bytes, 20 longer than the longest, 21 for a port that the card does not have, 22 for any unit, 23 for a certain one,
 * 24 without saying where it lies, 25 to the host's memory.
 */
#include <core.h>
#include <packet_headers.h>
#include <penstock.h>

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    const uint8_t *header = pn_hdr();
    uint8_t *data = pn_data();
    uint32_t number = header[1];
    switch (header[0]) {
      case 1: pn_generate(PN_PORT_ETH(0), data, number); break;
      case 2: {
        struct Desc made = {.len = (unsigned short)number, .tag = 0, .port = 0, .data = data};
        pkt_send(&made);
        break;
      }
      case 3:
        for (uint32_t n = 0; n < number; n++) pn_generate(PN_PORT_ETH(0), data - PN_PACKET_OFFSET, 64);
        break;
      case 4:
        for (uint32_t n = 0; n < number; n++) pn_generate(PN_PORT_ETH(0), data - PN_PACKET_OFFSET, 1500);
        break;
      case 16: pn_generate(PN_PORT_ETH(0), header, 64); break;
      case 17: pn_generate(PN_PORT_ETH(0), data + 1, 64); break;
      case 18: pn_generate(PN_PORT_ETH(0), data + 6, 64); break;
      case 19: pn_generate(PN_PORT_ETH(0), data, pn_now(0)); break;
      case 20: pn_generate(PN_PORT_ETH(0), data, pn_now(16385)); break;
      case 21: pn_generate(0x3Fu, data, 64); break;
      case 22: pn_generate(PN_PORT_LOOPBACK, data, 64); break;
      case 23: pn_generate(PN_PORT_UNIT(0), data, 64); break;
      case 24: PN_REG(RPU_CORE_SEND) = 64; break;
      case 25: pn_generate(4u, data, 64); break;
    }
    while (pn_generating()) {
    }
    pn_send(pn_to(desc, PN_PORT_ETH(1)));
  }
}
