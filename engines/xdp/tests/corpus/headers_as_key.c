/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A key of 52 bytes in the packet, of which no window has all. */
#include <packet.h>

struct headers {
  __u8 bytes[52];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, struct headers);
  __type(value, __u64);
  __uint(max_entries, 64);
} seen SEC(".maps");

SEC("xdp") int headers_as_key(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct headers *headers = frame_start(ctx) + 14;
  __u64 one = 1;
  if ((void *)(headers + 1) > end) return XDP_PASS;
  headers->bytes[4] = headers->bytes[5] = headers->bytes[51] = 0;
#pragma unroll
  for (int i = 20; i < 52; i++) headers->bytes[i] = 7;
  if (bpf_map_lookup_elem(&seen, headers)) return XDP_TX;
  return bpf_map_update_elem(&seen, headers, &one, BPF_NOEXIST) ? XDP_ABORTED : XDP_DROP;
}
