/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Prefixes of both addresses, the key on the stack. */
#include <packet.h>

struct prefix {
  __u32 length;
  __be32 address;
};

struct {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __type(key, struct prefix);
  __type(value, __u32);
  __uint(max_entries, 64);
  __uint(map_flags, BPF_F_NO_PREALLOC);
} routes SEC(".maps");

SEC("xdp") int longest_prefix(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  struct prefix to = {.length = 32, .address = ip->daddr}, from = {.length = 32, .address = ip->saddr};
  __u32 *blocked = bpf_map_lookup_elem(&routes, &from);
  if (blocked && *blocked == 0) return XDP_DROP;
  __u32 *hop = bpf_map_lookup_elem(&routes, &to);
  if (!hop) {
    __u32 next = 1;
    to.length = 24;
    return bpf_map_update_elem(&routes, &to, &next, BPF_ANY) ? XDP_ABORTED : XDP_PASS;
  }
  ip->ttl = *hop;
  return XDP_TX;
}
