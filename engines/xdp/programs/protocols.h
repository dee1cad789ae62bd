/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Parses up to the IP header and counts frames by protocol: what xdp1 and xdp2 share. */
#pragma once

#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 256);
} protocols SEC(".maps");

/* Skips up to two VLAN tags. Returns false if the frame is too short for its type. */
static __always_inline int count_protocol(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  void *next = eth + 1;
  if (next > end) return 0;
  __be16 type = eth->h_proto;
#pragma unroll
  for (int tag = 0; tag < 2; tag++) {
    if (type != bpf_htons(ETH_P_8021Q) && type != bpf_htons(ETH_P_8021AD)) break;
    struct vlan_hdr *vlan = next;
    next = vlan + 1;
    if (next > end) return 0;
    type = vlan->h_vlan_encapsulated_proto;
  }
  __u32 protocol = 0;
  if (type == bpf_htons(ETH_P_IP)) {
    struct iphdr *ip = next;
    if ((void *)(ip + 1) > end) return 0;
    protocol = ip->protocol;
  } else if (type == bpf_htons(ETH_P_IPV6)) {
    struct ipv6hdr *ip = next;
    if ((void *)(ip + 1) > end) return 0;
    protocol = ip->nexthdr;
  }
  __u64 *count = bpf_map_lookup_elem(&protocols, &protocol);
  if (count) *count += 1;
  return 1;
}
