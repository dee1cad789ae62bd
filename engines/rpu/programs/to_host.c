/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Sends every frame to the host, and the host's frames to Ethernet 0. */
#include <penstock.h>

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    pn_send(pn_to(desc, pn_from(desc) == PN_PORT_HOST ? PN_PORT_ETH(0) : PN_PORT_HOST));
  }
}
