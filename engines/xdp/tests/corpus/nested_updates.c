/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Updates inside of nested conditions, with counters round them. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u32);
  __uint(max_entries, 64);
} inner SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u32);
  __uint(max_entries, 64);
} outer SEC(".maps");

__u64 made, kept;

SEC("xdp") int nested_updates(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  struct udphdr *udp = (void *)(ip + 1);
  if ((void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __u32 *there = bpf_map_lookup_elem(&outer, &ip->saddr), zero = 0;
  if (there) {
    if (*there < 3) {
      *there += 1;
      if (udp->dest == bpf_htons(53)) {
        if (!bpf_map_lookup_elem(&inner, &ip->daddr)) {
          made++;
          if (bpf_map_update_elem(&inner, &ip->daddr, there, BPF_ANY)) return XDP_ABORTED;
        } else {
          kept++;
        }
      }
    } else {
      bpf_map_delete_elem(&outer, &ip->saddr);
      return XDP_PASS;
    }
  } else if (bpf_map_update_elem(&outer, &ip->saddr, &zero, BPF_ANY)) {
    return XDP_DROP;
  }
  return XDP_TX;
}
