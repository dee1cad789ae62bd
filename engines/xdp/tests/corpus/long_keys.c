/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Two keys of 60 bytes on the stack: no window has both. */
#include <packet.h>

struct key {
  __u32 words[15];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, struct key);
  __type(value, __u64);
  __uint(max_entries, 64);
} flows SEC(".maps");

SEC("xdp") int long_keys(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  struct key to = {}, from = {};
  __u64 one = 1;
  to.words[0] = ip->daddr;
  from.words[1] = ip->saddr;
  if (bpf_map_lookup_elem(&flows, &from)) return XDP_DROP;
  if (bpf_map_lookup_elem(&flows, &to)) return XDP_PASS;
  bpf_map_update_elem(&flows, &from, &one, BPF_ANY);
  return XDP_TX;
}
