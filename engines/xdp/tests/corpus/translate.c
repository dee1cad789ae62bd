/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A lookup and the rewriting of a header, its checksum along with it. */
#include <packet.h>

struct target {
  __be32 address;
  __be16 port;
  __u16 used;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be16);
  __type(value, struct target);
  __uint(max_entries, 64);
} targets SEC(".maps");

SEC("xdp") int translate(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  struct udphdr *udp = (void *)(ip + 1);
  if ((void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  if (ip->ihl != 5 || ip->protocol != IPPROTO_UDP) return XDP_PASS;
  struct target *target = bpf_map_lookup_elem(&targets, &udp->dest);
  if (!target) {
    struct target new = {.address = ip->saddr, .port = udp->source};
    bpf_map_update_elem(&targets, &udp->dest, &new, BPF_ANY);
    return XDP_DROP;
  }
  target->used++;
  ip->daddr = target->address;
  udp->dest = target->port;
  udp->check = 0;
  ip->check = 0;
  ip->check = checksum_fold(checksum_add(ip, sizeof *ip, 0));
  return XDP_TX;
}
