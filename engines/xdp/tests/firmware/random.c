/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Four random numbers, directly after each other, in the frame's first 16 bytes. */
#include <packet.h>

SEC("xdp") int numbers(struct xdp_md *ctx) {
  __u32 *words = (void *)frame_start(ctx);
  if ((void *)(words + 4) > frame_end(ctx)) return XDP_DROP;
  words[0] = bpf_get_prandom_u32();
  words[1] = bpf_get_prandom_u32();
  words[2] = bpf_get_prandom_u32();
  words[3] = bpf_get_prandom_u32();
  return XDP_TX;
}
