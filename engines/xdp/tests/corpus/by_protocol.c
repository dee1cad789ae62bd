/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A map for each protocol. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be16);
  __type(value, __u64);
  __uint(max_entries, 64);
} udp_ports SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be16);
  __type(value, __u64);
  __uint(max_entries, 64);
} tcp_ports SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 256);
} others SEC(".maps");

SEC("xdp") int by_protocol(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  struct udphdr *udp = (void *)(ip + 1);
  if ((void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __u64 one = 1, *count;
  __u32 key = ip->protocol;
  switch (ip->protocol) {
    case IPPROTO_UDP:
      count = bpf_map_lookup_elem(&udp_ports, &udp->dest);
      if (!count) return bpf_map_update_elem(&udp_ports, &udp->dest, &one, BPF_ANY) ? XDP_ABORTED : XDP_PASS;
      break;
    case IPPROTO_TCP:
      count = bpf_map_lookup_elem(&tcp_ports, &udp->dest);
      if (!count) return bpf_map_update_elem(&tcp_ports, &udp->dest, &one, BPF_ANY) ? XDP_ABORTED : XDP_DROP;
      break;
    default:
      count = bpf_map_lookup_elem(&others, &key);
      if (!count) return XDP_ABORTED;
  }
  __sync_fetch_and_add(count, 1);
  return XDP_TX;
}
