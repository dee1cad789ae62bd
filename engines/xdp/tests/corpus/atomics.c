/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Sums that all processors share, and the values before them. */
#include <packet.h>

struct totals {
  __u64 packets, bytes, largest;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, struct totals);
  __uint(max_entries, 4);
} totals_of SEC(".maps");

SEC("xdp") int atomics(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __u32 key = ip->protocol & 3;
  struct totals *totals = bpf_map_lookup_elem(&totals_of, &key);
  if (!totals) return XDP_ABORTED;
  __u64 bytes = end - (void *)eth;
  __u64 before = __sync_fetch_and_add(&totals->packets, 1);
  __sync_fetch_and_add(&totals->bytes, bytes);
  if (bytes > totals->largest) totals->largest = bytes;
  ip->ttl = before;
  return before & 1 ? XDP_PASS : XDP_TX;
}
