/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Bytes of the frame go into a value of one map or another, and from there back into the frame. */
#include <packet.h>

struct words {
  __u64 word[4];
};
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, struct words);
  __uint(max_entries, 4);
} shared SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, struct words);
  __uint(max_entries, 2);
} scratch SEC(".maps");

SEC("xdp") int into_values(struct xdp_md *ctx) {
  __u8 *frame = frame_start(ctx);
  if ((void *)(frame + 48) > frame_end(ctx)) return XDP_DROP;
  __u32 one = frame[5] & 3, other = frame[11] & 1;
  struct words *first = bpf_map_lookup_elem(&shared, &one), *second = bpf_map_lookup_elem(&scratch, &other);
  if (!first || !second) return XDP_ABORTED;
  struct words *value = frame[11] & 2 ? first : second;
  bpf_xdp_load_bytes(ctx, 6 + one, value, 16);
  value->word[0] += first->word[0];
  value->word[2] += 1;
  bpf_xdp_store_bytes(ctx, 20, value, 24);
  return XDP_TX;
}
