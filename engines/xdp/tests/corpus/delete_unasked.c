/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A delete whose result is unused, after a lookup with an exit. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} flows SEC(".maps");

SEC("xdp") int delete_unasked(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __be32 key = ip->saddr;
  __u64 one = 1;
  if (ip->protocol == IPPROTO_UDP) {
    bpf_map_update_elem(&flows, &key, &one, BPF_ANY);
    return XDP_TX;
  }
  if (!bpf_map_lookup_elem(&flows, &key)) return XDP_PASS;
  bpf_map_delete_elem(&flows, &key);
  return XDP_DROP;
}
