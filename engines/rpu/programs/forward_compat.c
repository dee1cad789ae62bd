/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The smallest forwarder under Rosebud's names: polls for a frame, swaps the ports of a pair, sends. */
#include "core.h"

int main(void) {
  init_hdr_slots(16, 0x804000, 128);
  init_slots(16, 0x00000A, 16384);
  set_masks(0x30);

  for (;;) {
    if (in_pkt_ready()) {
      struct Desc frame;
      read_in_pkt(&frame);
      frame.port ^= 1;
      pkt_send(&frame);
    }
  }
}
