/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* An update whose result is an exit, followed by a lookup. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 16);
} flows SEC(".maps");

SEC("xdp") int insert_then_look(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __be32 key = ip->saddr;
  __u64 one = 1;
  if (bpf_map_update_elem(&flows, &key, &one, BPF_ANY)) return XDP_ABORTED;
  return bpf_map_lookup_elem(&flows, &key) ? XDP_TX : XDP_DROP;
}
