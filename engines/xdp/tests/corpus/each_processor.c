/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A hash in which each processor has its own value. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} counts SEC(".maps");

SEC("xdp") int each_processor(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __u64 *count = bpf_map_lookup_elem(&counts, &ip->saddr), first = 1;
  if (count) {
    *count += 1;
    return XDP_TX;
  }
  return bpf_map_update_elem(&counts, &ip->saddr, &first, BPF_NOEXIST) ? XDP_DROP : XDP_PASS;
}
