/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A stateful firewall: answers to a flow that began inside may enter, and flows that begin outside are dropped. Both
 * directions of a flow share an entry. */
#include <packet.h>

#define INSIDE 1
#define OUTSIDE 2

struct flow {
  __be32 lower, upper;
  __be16 lower_port, upper_port;
  __u8 protocol;
  __u8 zero[3];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, struct flow);
  __type(value, __u32);
  __uint(max_entries, 1024);
} flows SEC(".maps");

SEC("xdp") int simple_firewall(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end) return XDP_DROP;
  if (eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  if (ip->protocol != IPPROTO_TCP && ip->protocol != IPPROTO_UDP) return XDP_PASS;
  struct udphdr *ports = (void *)(ip + 1); /* TCP has them at the same place */
  if ((void *)(ports + 1) > end) return XDP_DROP;

  struct flow flow = {.protocol = ip->protocol};
  if (ip->saddr < ip->daddr) {
    flow.lower = ip->saddr;
    flow.upper = ip->daddr;
    flow.lower_port = ports->source;
    flow.upper_port = ports->dest;
  } else {
    flow.lower = ip->daddr;
    flow.upper = ip->saddr;
    flow.lower_port = ports->dest;
    flow.upper_port = ports->source;
  }
  __u32 *known = bpf_map_lookup_elem(&flows, &flow);
  if (ctx->ingress_ifindex == INSIDE) {
    if (!known) {
      __u32 since = INSIDE;
      bpf_map_update_elem(&flows, &flow, &since, BPF_ANY);
    }
    return bpf_redirect(OUTSIDE, 0);
  }
  return known ? bpf_redirect(INSIDE, 0) : XDP_DROP;
}
