/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The port by the number of a VLAN. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
  __type(key, __u32);
  __type(value, __u32);
  __uint(max_entries, 64);
} ports SEC(".maps");

__u64 untagged;

SEC("xdp") int to_port_by_tag(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct vlan_hdr *tag = (void *)(eth + 1);
  if ((void *)(tag + 1) > end) return XDP_DROP;
  if (eth->h_proto != bpf_htons(ETH_P_8021Q)) {
    __sync_fetch_and_add(&untagged, 1);
    return XDP_PASS;
  }
  return bpf_redirect_map(&ports, bpf_ntohs(tag->h_vlan_TCI) & 7, XDP_DROP);
}
