/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Counts frames by IP protocol and sends them back with its addresses swapped. */
#include "protocols.h"

SEC("xdp") int xdp2(struct xdp_md *ctx) {
  if (!count_protocol(ctx)) return XDP_DROP;
  struct ethhdr *eth = frame_start(ctx);
  if ((void *)(eth + 1) > frame_end(ctx)) return XDP_DROP;
  swap_macs(eth);
  return XDP_TX;
}
