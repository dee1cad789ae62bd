/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A frame is cut or made longer, and its last bytes are changed, wherever they are then. */
#include <packet.h>

SEC("xdp") int last_bytes(struct xdp_md *ctx) {
  __u8 *frame = frame_start(ctx);
  if ((void *)(frame + 24) > frame_end(ctx)) return XDP_PASS;
  int change = 5 * (frame[5] & 3) - 9;
  if (bpf_xdp_adjust_tail(ctx, change)) return XDP_DROP;
  __u32 length = bpf_xdp_get_buff_len(ctx);
  __u8 bytes[12];
  if (bpf_xdp_load_bytes(ctx, length - sizeof(bytes), bytes, sizeof(bytes))) return XDP_ABORTED;
  for (unsigned i = 0; i < sizeof(bytes); i++) bytes[i] ^= 0x5a;
  bytes[0] = length;
  return bpf_xdp_store_bytes(ctx, length - sizeof(bytes), bytes, sizeof(bytes)) ? XDP_ABORTED : XDP_TX;
}
