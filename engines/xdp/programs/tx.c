/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Sends every frame back where it came from, with its addresses swapped. */
#include <packet.h>

SEC("xdp") int tx(struct xdp_md *ctx) {
  struct ethhdr *eth = frame_start(ctx);
  if ((void *)(eth + 1) > frame_end(ctx)) return XDP_DROP;
  swap_macs(eth);
  return XDP_TX;
}
