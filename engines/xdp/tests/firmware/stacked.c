/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of 16 bytes on the stack, reached at places that the frame names: the element of byte 1 is set to byte 2; the
 * 4 bytes around that of byte 3 go into bytes 4..7. Frames whose byte 0 names an element that is 0 are dropped, the
 * others sent back.
 */
#include <packet.h>

SEC("xdp") int stacked(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 14) > frame_end(ctx)) return XDP_PASS;
  volatile __u8 table[16] = {0, 1, 2, 0, 4, 5, 0, 0, 8, 9, 10, 0, 12, 0, 0, 15};
  table[data[1] & 15] = data[2];
  __u8 verdict = table[data[0] & 15];
  __u32 wide = *(volatile __u32 *)(table + (data[3] & 12));
  __builtin_memcpy(data + 4, &wide, 4);
  return verdict ? XDP_TX : XDP_DROP;
}
