/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Sends every frame out of the port in entry 0 of a map, with its addresses swapped, and counts it. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_DEVMAP);
  __uint(key_size, 4);
  __uint(value_size, 4);
  __uint(max_entries, 64);
} ports SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 1);
} redirected SEC(".maps");

SEC("xdp") int redirect_map(struct xdp_md *ctx) {
  struct ethhdr *eth = frame_start(ctx);
  if ((void *)(eth + 1) > frame_end(ctx)) return XDP_DROP;
  __u32 key = 0;
  __u64 *count = bpf_map_lookup_elem(&redirected, &key);
  if (count) *count += 1;
  swap_macs(eth);
  return bpf_redirect_map(&ports, 0, 0);
}
