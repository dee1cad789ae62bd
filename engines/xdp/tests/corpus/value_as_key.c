/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A value of one map is the key in another. */
#include <packet.h>

struct service {
  __u32 hits;
  __be32 backend;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be16);
  __type(value, struct service);
  __uint(max_entries, 16);
} services SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 16);
} backends SEC(".maps");

SEC("xdp") int value_as_key(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  struct udphdr *udp = (void *)(ip + 1);
  if ((void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  struct service *service = bpf_map_lookup_elem(&services, &udp->dest);
  if (!service) {
    struct service found = {.hits = 1, .backend = ip->daddr};
    __u64 none = 0;
    if (bpf_map_update_elem(&services, &udp->dest, &found, BPF_ANY)) return XDP_ABORTED;
    if (bpf_map_update_elem(&backends, &found.backend, &none, BPF_NOEXIST)) return XDP_PASS;
    return XDP_TX;
  }
  service->hits++;
  __u64 *backend = bpf_map_lookup_elem(&backends, &service->backend);
  if (!backend) return XDP_DROP;
  __sync_fetch_and_add(backend, 1);
  ip->daddr = service->backend;
  return XDP_TX;
}
