/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Counts frames by receive queue and does with them as the configuration says: drop, or send back. */
#include <packet.h>

#define MAX_QUEUES 64

struct config {
  __u32 action;
  __u32 ifindex;
  __u32 options;
};

enum { READ_FRAME = 1, SWAP_MACS = 2 };

struct record {
  __u64 processed;
  __u64 issue;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, struct config);
  __uint(max_entries, 1);
} configs SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, struct record);
  __uint(max_entries, 1);
} totals SEC(".maps");

/* One for each queue, and one for those beyond. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, struct record);
  __uint(max_entries, MAX_QUEUES + 1);
} queues SEC(".maps");

SEC("xdp") int rxq_info(struct xdp_md *ctx) {
  void *start = frame_start(ctx), *end = frame_end(ctx);
  __u32 key = 0;
  struct record *total = bpf_map_lookup_elem(&totals, &key);
  struct config *config = bpf_map_lookup_elem(&configs, &key);
  if (!total || !config) return XDP_ABORTED;
  total->processed++;
  if (ctx->ingress_ifindex != config->ifindex) {
    total->issue++;
    return XDP_ABORTED;
  }
  __u32 queue = ctx->rx_queue_index;
  __u32 slot = queue < MAX_QUEUES ? queue : MAX_QUEUES;
  struct record *record = bpf_map_lookup_elem(&queues, &slot);
  if (!record) return XDP_ABORTED;
  record->processed++;
  if (slot == MAX_QUEUES) record->issue++;
  if (config->options) {
    struct ethhdr *eth = start;
    if ((void *)(eth + 1) > end) return XDP_ABORTED;
    if (config->options & READ_FRAME && bpf_ntohs(eth->h_proto) < 0x0600) return XDP_ABORTED;
    if (config->options & SWAP_MACS) swap_macs(eth);
  }
  return config->action;
}
