/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The key is a global variable. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} seen SEC(".maps");

__be32 last;

SEC("xdp") int global_key(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __u64 one = 1;
  int known = bpf_map_lookup_elem(&seen, &last) != 0;
  last = ip->saddr;
  bpf_map_update_elem(&seen, &last, &one, BPF_ANY);
  return known ? XDP_TX : XDP_PASS;
}
