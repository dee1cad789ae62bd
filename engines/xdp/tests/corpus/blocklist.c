/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Lookups in a row, each followed by an exit; the keys are in the packet. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} blocked SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be16);
  __type(value, __u64);
  __uint(max_entries, 64);
} ports SEC(".maps");

SEC("xdp") int blocklist(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  struct udphdr *udp = (void *)(ip + 1);
  if ((void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  if (bpf_map_lookup_elem(&blocked, &ip->saddr)) return XDP_DROP;
  if (bpf_map_lookup_elem(&blocked, &ip->daddr)) return XDP_DROP;
  if (ip->protocol == IPPROTO_UDP && bpf_map_lookup_elem(&ports, &udp->dest)) return XDP_DROP;
  return XDP_TX;
}
