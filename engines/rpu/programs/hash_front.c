/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Forwards each frame to the other port with its flow hash in front, four bytes, least significant first. Written
 * against the names of Rosebud, whose dispatcher puts the hash there. If the header copy of a frame differs from packet
 * memory, the program drops the frame; slots 17 to 32 have no header copy.
 */
#include "core.h"

int main(void) {
  init_hdr_slots(16, 0x804000, 256);
  init_slots(32, 0x00000A, 32768);
  set_lb_offset(4);
  set_masks(0x30);
  for (;;) {
    if (!in_pkt_ready()) continue;
    struct Desc frame;
    read_in_pkt(&frame);
    unsigned int in_memory, in_header;
    memcpy(&in_memory, frame.data - 4, 4);
    in_header = in_memory;
    if (RECV_HDR) memcpy(&in_header, (unsigned char *)RECV_HDR - 4, 4);
    frame.data -= 4;
    frame.len = in_memory == in_header ? frame.len + 4 : 0;
    frame.port ^= 1;
    pkt_send(&frame);
  }
}
