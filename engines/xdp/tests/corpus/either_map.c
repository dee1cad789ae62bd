/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* One of two maps, chosen before the lookup. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} inside SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} outside SEC(".maps");

SEC("xdp") int either_map(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  void *map = ip->ttl & 1 ? (void *)&inside : (void *)&outside;
  __be32 key = ip->saddr;
  __u64 one = 1, *count = bpf_map_lookup_elem(map, &key);
  if (!count) return bpf_map_update_elem(map, &key, &one, BPF_ANY) ? XDP_ABORTED : XDP_PASS;
  *count += 1;
  return XDP_TX;
}
