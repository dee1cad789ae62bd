/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Keys of 16 bytes in the packet. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, struct in6_addr);
  __type(value, __u64);
  __uint(max_entries, 64);
} blocked SEC(".maps");

SEC("xdp") int ipv6_list(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct ipv6hdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IPV6)) return XDP_PASS;
  __u64 one = 1;
  if (bpf_map_lookup_elem(&blocked, &ip->saddr)) return XDP_DROP;
  if (bpf_map_lookup_elem(&blocked, &ip->daddr)) return XDP_DROP;
  if (ip->hop_limit > 1) return XDP_TX;
  bpf_map_update_elem(&blocked, &ip->saddr, &one, BPF_ANY);
  return XDP_TX;
}
