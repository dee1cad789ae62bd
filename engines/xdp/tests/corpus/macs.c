/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A table of MAC addresses that learns: both keys are in the packet, at its beginning. */
#include <packet.h>

struct mac {
  __u8 bytes[6];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, struct mac);
  __type(value, __u32);
  __uint(max_entries, 64);
} stations SEC(".maps");

SEC("xdp") int macs(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  if ((void *)(eth + 1) > end) return XDP_DROP;
  __u32 here = ctx->ingress_ifindex;
  if (bpf_map_update_elem(&stations, eth->h_source, &here, BPF_ANY)) return XDP_ABORTED;
  __u32 *port = bpf_map_lookup_elem(&stations, eth->h_dest);
  if (!port) return XDP_PASS;
  return *port == here ? XDP_DROP : bpf_redirect(*port, 0);
}
