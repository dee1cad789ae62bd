/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A value that is too large for the stack's taste is put together in a per-CPU array. */
#include <packet.h>

struct record {
  __u64 words[24];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, struct record);
  __uint(max_entries, 1);
} scratch SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, struct record);
  __uint(max_entries, 64);
} records SEC(".maps");

SEC("xdp") int scratch_value(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __u32 zero = 0;
  struct record *record = bpf_map_lookup_elem(&scratch, &zero);
  if (!record) return XDP_ABORTED;
#pragma unroll
  for (int i = 0; i < 24; i++) record->words[i] = ip->daddr + i;
  return bpf_map_update_elem(&records, &ip->saddr, record, BPF_ANY) ? XDP_DROP : XDP_TX;
}
