/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Copies that extend beyond the frame are refused as a whole; the frame gets the result of each. */
#include <packet.h>

SEC("xdp") int beyond_the_end(struct xdp_md *ctx) {
  __u8 *frame = frame_start(ctx);
  if ((void *)(frame + 54) > frame_end(ctx)) return XDP_PASS;
  __u32 length = bpf_xdp_get_buff_len(ctx), any = *(__u32 *)(frame + 26);
  __u8 bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  __s64 told[5];
  told[0] = bpf_xdp_store_bytes(ctx, length - 9 + (frame[5] & 3), bytes, 8);
  told[1] = bpf_xdp_load_bytes(ctx, length - 10 + (frame[11] & 3), bytes, 8);
  told[2] = bpf_xdp_load_bytes(ctx, (__u32)-4, bytes, 8);
  told[3] = bpf_xdp_load_bytes(ctx, any & 0x1ffff, bytes, 4);
  told[4] = length + bytes[0] + 256 * bytes[7];
  bpf_xdp_store_bytes(ctx, 14, told, sizeof(told));
  return XDP_TX;
}
