/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The key is on the stack on one way and in a map's value on the other. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __be32);
  __uint(max_entries, 64);
} aliases SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} hosts SEC(".maps");

SEC("xdp") int key_of_two_places(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __be32 own = 0, *key = bpf_map_lookup_elem(&aliases, &ip->saddr);
  __u64 one = 1;
  if (!key) {
    bpf_map_update_elem(&aliases, &ip->saddr, &ip->daddr, BPF_ANY);
    key = &own;
  }
  own = ip->daddr;
  __u64 *count = bpf_map_lookup_elem(&hosts, key);
  if (count) {
    __sync_fetch_and_add(count, 1);
    return XDP_TX;
  }
  return bpf_map_update_elem(&hosts, key, &one, BPF_NOEXIST) ? XDP_DROP : XDP_PASS;
}
