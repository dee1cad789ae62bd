/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A table that forgets. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} seen SEC(".maps");

SEC("xdp") int recent(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __u64 first = 1, *count = bpf_map_lookup_elem(&seen, &ip->saddr);
  if (!count) {
    bpf_map_update_elem(&seen, &ip->saddr, &first, BPF_ANY);
    return XDP_PASS;
  }
  *count += 1;
  return *count > 4 ? XDP_DROP : XDP_TX;
}
