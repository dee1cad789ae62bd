/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Lookups in a row, each followed by an exit; the keys are copies on the stack. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} blocked SEC(".maps");

SEC("xdp") int blocklist_copies(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __be32 from = ip->saddr, to = ip->daddr;
  if (bpf_map_lookup_elem(&blocked, &from)) return XDP_DROP;
  if (bpf_map_lookup_elem(&blocked, &to)) return XDP_DROP;
  return XDP_TX;
}
