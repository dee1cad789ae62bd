/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A counter of each processor, then a redirection. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 256);
} protocols SEC(".maps");

SEC("xdp") int count_and_redirect(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __u32 key = ip->protocol;
  __u64 *count = bpf_map_lookup_elem(&protocols, &key);
  if (count) *count += 1;
  return bpf_redirect(2, 0);
}
