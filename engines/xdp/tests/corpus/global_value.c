/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Key and value of an update are global variables that each packet changes. */
#include <packet.h>

struct where {
  __be32 from, to;
  __u16 length;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, struct where);
  __uint(max_entries, 64);
} tables SEC(".maps");

struct where latest;

SEC("xdp") int global_value(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  latest.from = ip->saddr;
  latest.to = ip->daddr;
  latest.length = end - (void *)eth;
  return bpf_map_update_elem(&tables, &latest.to, &latest, BPF_ANY) ? XDP_DROP : XDP_TX;
}
