/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Test firmware: accesses the address in bytes 1 to 4 of each frame, lowest byte first, as its first byte says, and
 * then forwards it. 0 to 2: loads a byte, a halfword, a word; 3 to 5: stores one.
 */
#include <penstock.h>
#include <string.h>

void int_handler(void) { pn_ack(pn_interrupts()); }

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    const uint8_t *header = pn_hdr();
    uint32_t address;
    memcpy(&address, header + 1, sizeof address);
    switch (header[0]) {
      case 0: (void)*(volatile uint8_t *)address; break;
      case 1: (void)*(volatile uint16_t *)address; break;
      case 2: (void)*(volatile uint32_t *)address; break;
      case 3: *(volatile uint8_t *)address = 1; break;
      case 4: *(volatile uint16_t *)address = 1; break;
      default: *(volatile uint32_t *)address = 1; break;
    }
    pn_send(desc ^ pn_port(1));
  }
}
