/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The flag of an update decides. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u16);
  __uint(max_entries, 64);
} seen SEC(".maps");

SEC("xdp") int insert_once(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  struct udphdr *udp = (void *)(ip + 1);
  if ((void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __u16 port = udp->source;
  long result = bpf_map_update_elem(&seen, &ip->saddr, &port, BPF_NOEXIST);
  if (result == 0) return XDP_PASS;
  if (bpf_map_update_elem(&seen, &ip->saddr, &port, BPF_EXIST)) return XDP_ABORTED;
  return result == -17 ? XDP_TX : XDP_DROP;
}
