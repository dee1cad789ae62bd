/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Obeys the first byte of a frame, through Rosebud's names, after it has recorded the results of the getters. */
#include "core.h"
#include "packet_headers.h"

#define RESULTS ((volatile uint32_t *)BC_BASE)

int main(void) {
  uint32_t values[] = {core_id(),   imem_size(),      dmem_size(),      pmem_size(),
                       bc_size(),   max_slot_count(), pmem_seg_count(), pmem_seg_size(),
                       MASK_READ,   active_slots(),   interrupt_flags(), DEBUG_IN_L};
  for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++) RESULTS[i] = values[i];
  write_debug(0x0D0E0B06);
  init_hdr_slots(16, 0x4000, 128);
  init_slots(16, 0x0C000A, 16384);
  set_masks(0x30);

  for (;;) {
    if (!in_pkt_ready()) continue;
    struct Desc frame;
    read_in_pkt(&frame);
    RESULTS[16] = frame.desc_low;
    RESULTS[17] = (uint32_t)frame.data;
    RESULTS[18] = active_slots();
    switch (frame.data[0]) {
      case 0:
        pkt_send(&frame);
        break;
      case 1:
        atomic_pkt_send(&frame);
        break;
      case 2:
        pkt_done_msg(&frame);
        break;
      case 3:
        frame.port = 6;
        send_to_core(&frame);
        break;
      case 4: /* takes four bytes off the start */
        frame.data += 4;
        frame.len -= 4;
        pkt_send(&frame);
        break;
      case 5: /* puts two bytes in front */
        frame.data -= 2;
        frame.len += 2;
        memcpy(frame.data, "\x12\x34", 2);
        pkt_send(&frame);
        break;
      case 6: /* no frame may start at an odd place */
        frame.data += 1;
        pkt_send(&frame);
        error_ack(error_flags());
        break;
      default: /* no unit has this number */
        frame.port = 200;
        send_to_core(&frame);
        break;
    }
  }
}
