/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Wrong: a frame whose first byte is 0xC1 goes over loopback again and again, and never leaves. */
#include <penstock.h>

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t frame = pn_recv();
    pn_send(pn_to(frame, pn_hdr()[0] == 0xC1 ? PN_PORT_LOOPBACK : PN_PORT_ETH(1)));
  }
}
