/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Large programs with many live values: unrolled code of a sketch, of a keyed hash over a whole header, of sums over
 * many fields. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, __u32);
  __uint(max_entries, 65536);
} cells SEC(".maps");

static __always_inline __u32 turn(__u32 x, int by) { return x << by | x >> (32 - by); }
static __always_inline __u64 turn_long(__u64 x, int by) { return x << by | x >> (64 - by); }

/* One round of Jenkins' lookup3. */
static __always_inline void mix(__u32 *a, __u32 *b, __u32 *c) {
  *a = (*a - *c) ^ turn(*c, 4), *c += *b;
  *b = (*b - *a) ^ turn(*a, 6), *a += *c;
  *c = (*c - *b) ^ turn(*b, 8), *b += *a;
  *a = (*a - *c) ^ turn(*c, 16), *c += *b;
  *b = (*b - *a) ^ turn(*a, 19), *a += *c;
  *c = (*c - *b) ^ turn(*b, 4), *b += *a;
}

/* Counts a flow in one cell of each row of a count-min sketch. */
static __always_inline int sketch(struct xdp_md *ctx, const int hashes) {
  __u8 *frame = frame_start(ctx);
  if (frame + 14 + 48 > (__u8 *)frame_end(ctx)) return XDP_DROP;
  __u32 hash[8], least = ~0u;
#pragma clang loop unroll(full)
  for (int row = 0; row < hashes; row++) {
    __u32 a = 0xDEADBEEF + row * 77, b = a, c = a;
#pragma clang loop unroll(full)
    for (int at = 14; at < 62; at += 12) {
      a += *(__u32 *)(frame + at), b += *(__u32 *)(frame + at + 4), c += *(__u32 *)(frame + at + 8);
      mix(&a, &b, &c);
    }
    hash[row] = c;
  }
#pragma clang loop unroll(full)
  for (int row = 0; row < hashes; row++) {
    __u32 key = hash[row] & 65535, *cell = bpf_map_lookup_elem(&cells, &key);
    if (!cell) continue;
    *cell += 1;
    if (*cell < least) least = *cell;
  }
  return least > 100 ? XDP_DROP : XDP_PASS;
}

SEC("xdp") int sketch_4(struct xdp_md *ctx) { return sketch(ctx, 4); }
SEC("xdp") int sketch_8(struct xdp_md *ctx) { return sketch(ctx, 8); }

static __always_inline void sip(__u64 v[4]) {
  v[0] += v[1], v[1] = turn_long(v[1], 13) ^ v[0], v[0] = turn_long(v[0], 32);
  v[2] += v[3], v[3] = turn_long(v[3], 16) ^ v[2];
  v[0] += v[3], v[3] = turn_long(v[3], 21) ^ v[0];
  v[2] += v[1], v[1] = turn_long(v[1], 17) ^ v[2], v[2] = turn_long(v[2], 32);
}

/* SipHash of 112 bytes. */
SEC("xdp") int keyed(struct xdp_md *ctx) {
  __u8 *frame = frame_start(ctx);
  if (frame + 14 + 112 > (__u8 *)frame_end(ctx)) return XDP_DROP;
  __u64 v[4] = {0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573};
#pragma clang loop unroll(full)
  for (int at = 14; at < 126; at += 8) {
    __u64 word = *(__u64 *)(frame + at);
    v[3] ^= word, sip(v), sip(v), v[0] ^= word;
  }
  v[2] ^= 0xFF, sip(v), sip(v), sip(v), sip(v);
  return (v[0] ^ v[1] ^ v[2] ^ v[3]) & 1 ? XDP_TX : XDP_PASS;
}

/* Eight sums that hang on each other, of 120 fields. */
SEC("xdp") int sums(struct xdp_md *ctx) {
  __u8 *frame = frame_start(ctx);
  if (frame + 14 + 480 > (__u8 *)frame_end(ctx)) return XDP_DROP;
  __u64 sum[8] = {0}, all = 0;
#pragma clang loop unroll(full)
  for (int at = 0; at < 120; at++) {
    __u32 field = *(__u32 *)(frame + 14 + at * 4);
    sum[at & 7] += field, sum[(at + 3) & 7] ^= (__u64)field << at % 13, sum[(at + 5) & 7] += sum[at & 7] >> 3;
  }
#pragma clang loop unroll(full)
  for (int at = 0; at < 8; at++) all = all * 31 + sum[at];
  *(__u32 *)(frame + 2) = all;
  return XDP_TX;
}

char _license[] SEC("license") = "GPL";
