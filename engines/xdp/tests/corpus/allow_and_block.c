/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A constant of the loader, an entry of an array, then two lists. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, __u32);
  __uint(max_entries, 1);
} modes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} allowed SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} blocked SEC(".maps");

static const volatile __u32 strict = 1;
__u64 refused;

SEC("xdp") int allow_and_block(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __u32 zero = 0, *mode = bpf_map_lookup_elem(&modes, &zero);
  if (!mode) return XDP_ABORTED;
  __be32 key = ip->saddr;
  if (bpf_map_lookup_elem(&blocked, &key)) {
    __sync_fetch_and_add(&refused, 1);
    return XDP_DROP;
  }
  if (strict && *mode == 0 && !bpf_map_lookup_elem(&allowed, &key)) return XDP_DROP;
  return XDP_TX;
}
