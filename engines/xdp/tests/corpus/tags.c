/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* An unrolled loop over tags, and lookups of all of them. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be16);
  __type(value, __u64);
  __uint(max_entries, 64);
} vlans SEC(".maps");

SEC("xdp") int tags(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  __be16 *type = frame_start(ctx) + 12;
  __u64 one = 1;
#pragma unroll
  for (int i = 0; i < 3; i++) {
    if ((void *)(type + 2) > end) return XDP_DROP;
    if (*type != bpf_htons(ETH_P_8021Q) && *type != bpf_htons(ETH_P_8021AD)) return XDP_PASS;
    if (bpf_map_lookup_elem(&vlans, type + 1)) return XDP_TX;
    if (bpf_map_update_elem(&vlans, type + 1, &one, BPF_ANY)) return XDP_ABORTED;
    type += 2;
  }
  return XDP_DROP;
}
