/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A flow's entry is created by its first packet. */
#include <packet.h>

struct flow {
  __be32 saddr, daddr;
  __be16 source, dest;
  __u8 protocol, pad[3];
};

struct stats {
  __u64 packets, bytes;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, struct flow);
  __type(value, struct stats);
  __uint(max_entries, 64);
} flows SEC(".maps");

SEC("xdp") int five_tuple(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  struct udphdr *udp = (void *)(ip + 1);
  if ((void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  struct flow flow = {.saddr = ip->saddr, .daddr = ip->daddr, .protocol = ip->protocol};
  flow.source = udp->source;
  flow.dest = udp->dest;
  __u64 bytes = end - (void *)eth;
  struct stats *stats = bpf_map_lookup_elem(&flows, &flow);
  if (stats) {
    stats->packets++;
    stats->bytes += bytes;
    return XDP_TX;
  }
  struct stats first = {.packets = 1, .bytes = bytes};
  return bpf_map_update_elem(&flows, &flow, &first, BPF_NOEXIST) ? XDP_DROP : XDP_PASS;
}
