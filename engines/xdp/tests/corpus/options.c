/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* An unrolled loop over the options of a header, which counts their kinds. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 16);
} kinds SEC(".maps");

SEC("xdp") int options(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __u8 *next = (void *)(ip + 1);
  __u32 kinds_seen = 0;
#pragma unroll
  for (int i = 0; i < 6; i++) {
    if (i + 5 >= ip->ihl || (void *)(next + 4) > end) break;
    kinds_seen |= 1 << (next[0] & 15);
    next += 4;
  }
  __u32 key = kinds_seen & 15;
  __u64 *count = bpf_map_lookup_elem(&kinds, &key);
  if (!count) return XDP_ABORTED;
  *count += 1;
  return kinds_seen ? XDP_DROP : XDP_TX;
}
