/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A count that is a map's value for some frames and a variable of the function for others. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 4);
} counts SEC(".maps");

SEC("xdp") int either_memory(struct xdp_md *ctx) {
  __u8 *frame = frame_start(ctx);
  if (frame + 14 > (__u8 *)frame_end(ctx)) return XDP_PASS;
  __u64 own = frame[5];
  __u32 key = frame[11];
  __u64 *count = bpf_map_lookup_elem(&counts, &key);
  if (!count || frame[5] & 1) count = &own;
  __u64 before = __sync_fetch_and_add(count, 3);
  frame[0] = before;
  frame[1] = own;
  return before & 1 ? XDP_PASS : XDP_TX;
}
