/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The frame gives the number of its bytes to copy, and their place among global variables. */
#include <packet.h>

__u8 room[256];
__u64 refused, copied;

SEC("xdp") int as_long_as_told(struct xdp_md *ctx) {
  __u8 *frame = frame_start(ctx);
  if ((void *)(frame + 18) > frame_end(ctx)) return XDP_PASS;
  __u32 count = frame[17] & 7;
  if (!count) return XDP_PASS;
  if (bpf_xdp_load_bytes(ctx, 14 + 8 * frame[5], room + 16 * (frame[11] & 3), count)) {
    refused += 1;
    return XDP_DROP;
  }
  copied += count;
  return bpf_xdp_store_bytes(ctx, 0, room + (frame[5] & 7), count) ? XDP_ABORTED : XDP_TX;
}
