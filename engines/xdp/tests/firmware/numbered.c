/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes into bytes 12..27 of each frame how many frames its processor has seen before, by the frame's first byte, and
 * a division of that; sends it back.
 */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 256);
} seen SEC(".maps");

SEC("xdp") int numbered(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 28) > frame_end(ctx)) return XDP_PASS;
  __u32 key = data[0];
  __u64 *count = bpf_map_lookup_elem(&seen, &key);
  if (!count) return XDP_ABORTED;
  __u64 before = *count;
  *count = before + 1;
  __u32 third = (__u32)before / (key % 7 + 1), rest = (__u32)before % (key % 5 + 2);
  __builtin_memcpy(data + 12, &before, 8);
  __builtin_memcpy(data + 20, &third, 4);
  __builtin_memcpy(data + 24, &rest, 4);
  return XDP_TX;
}
