/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Test firmware: sends each frame out of the other port of its pair without its first four bytes, through Rosebud's
 * names. The first byte of the frame says how SEND_DESC is written. 0 to 7: as C statements, whose order of stores the
 * compiler chooses; 8 to 31: the four fields in one of their 24 orders; 32: with the stores that follow in the frame,
 * a count and then for each an offset and a width in bytes.
 */
#include "core.h"
#include "packet_headers.h"

#define ADDRESS (IO_INT_BASE + 0x0008)

static void store(struct Desc due, unsigned offset, unsigned width) {
  unsigned long long words = (unsigned long long)due.desc_high << 32 | due.desc_low;
  switch (width) {
    case 1: *(volatile unsigned char *)(ADDRESS + offset) = (unsigned char)(words >> 8 * offset); break;
    case 2: *(volatile unsigned short *)(ADDRESS + offset) = (unsigned short)(words >> 8 * offset); break;
    default: *(volatile unsigned int *)(ADDRESS + offset) = (unsigned int)(words >> 8 * offset); break;
  }
}

static void store_field(struct Desc due, unsigned field) {
  switch (field) {
    case 0: SEND_DESC.len = due.len; break;
    case 1: SEND_DESC.tag = due.tag; break;
    case 2: SEND_DESC.port = due.port; break;
    default: SEND_DESC.data = due.data; break;
  }
}

/* All fields in the order that `number`, 0 to 23, names. */
static void store_fields(struct Desc due, unsigned number) {
  unsigned char left[] = {0, 1, 2, 3};
  for (unsigned count = 4; count != 0; count--) {
    unsigned at = number % count;
    number /= count;
    store_field(due, left[at]);
    left[at] = left[count - 1];
  }
}

int main(void) {
  init_hdr_slots(32, 0x804000, 256);
  init_slots(32, 0x00000A, 32768);
  set_masks(0x30);
  for (;;) {
    if (!in_pkt_ready()) continue;
    struct Desc due = RECV_DESC;
    const unsigned char *order = due.data;
    due.len = (unsigned short)(due.len - 4);
    due.data += 4;
    due.port ^= 1;
    switch (order[0]) {
      case 0: /* copied before the frame is taken, and changed afterwards */
        SEND_DESC = RECV_DESC;
        RECV_DESC_RELEASE = 1;
        SEND_DESC.len -= 4;
        SEND_DESC.data += 4;
        SEND_DESC.port ^= 1;
        SEND_DESC_TYPE = 0;
        continue;
      case 1: SEND_DESC = due; break;
      case 2: *(volatile unsigned long long *)ADDRESS = (unsigned long long)due.desc_high << 32 | due.desc_low; break;
      case 3: *(volatile unsigned long long *)&SEND_DESC = *(unsigned long long *)&due; break;
      case 4:
        SEND_DESC_HIGH = due.desc_high;
        SEND_DESC_LOW = due.desc_low;
        break;
      case 5:
        SEND_DESC.desc_low = due.desc_low;
        SEND_DESC.desc_high = due.desc_high;
        break;
      case 6: memcpy((void *)ADDRESS, &due, sizeof due); break;
      case 7:
        RECV_DESC_RELEASE = 1;
        pkt_send(&due);
        continue;
      case 32:
        for (unsigned n = 0; n < order[1]; n++) store(due, order[2 + 2 * n], order[3 + 2 * n]);
        break;
      default: store_fields(due, order[0] - 8u); break;
    }
    RECV_DESC_RELEASE = 1;
    SEND_DESC_TYPE = 0;
  }
}
