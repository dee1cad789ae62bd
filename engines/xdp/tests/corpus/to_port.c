/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The port by number, after a lookup that can end the program. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} blocked SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_DEVMAP);
  __type(key, __u32);
  __type(value, __u32);
  __uint(max_entries, 8);
} ports SEC(".maps");

SEC("xdp") int to_port(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  if (bpf_map_lookup_elem(&blocked, &ip->saddr)) return XDP_DROP;
  return bpf_redirect_map(&ports, ip->daddr >> 24 & 7, XDP_PASS);
}
