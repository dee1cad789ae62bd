/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A new entry has the value of a constant. */
#include <packet.h>

struct state {
  __u64 tokens, burst;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, struct state);
  __uint(max_entries, 64);
} states SEC(".maps");

static const volatile struct state fresh = {.tokens = 3, .burst = 9};

SEC("xdp") int constant_value(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __be32 key = ip->saddr;
  struct state *state = bpf_map_lookup_elem(&states, &key);
  if (!state) return bpf_map_update_elem(&states, &key, (const void *)&fresh, BPF_ANY) ? XDP_DROP : XDP_TX;
  if (state->tokens == 0) return XDP_DROP;
  state->tokens--;
  return XDP_PASS;
}
