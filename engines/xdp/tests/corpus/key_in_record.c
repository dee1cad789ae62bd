/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A record for the host holds the key of a lookup. */
#include <packet.h>

struct event {
  __be32 saddr;
  __u32 known;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, __u64);
  __uint(max_entries, 64);
} seen SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);
} events SEC(".maps");

SEC("xdp") int key_in_record(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  struct event *event = bpf_ringbuf_reserve(&events, sizeof *event, 0);
  if (!event) return XDP_ABORTED;
  __u64 one = 1;
  event->saddr = ip->saddr;
  event->known = bpf_map_lookup_elem(&seen, &event->saddr) != 0;
  int known = event->known;
  bpf_map_update_elem(&seen, &event->saddr, &one, BPF_ANY);
  bpf_ringbuf_submit(event, 0);
  return known ? XDP_TX : XDP_PASS;
}
