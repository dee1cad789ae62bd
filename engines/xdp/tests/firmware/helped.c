/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Byte 0 of the frame selects the helper, byte 1 its argument; the frame goes back with the helper's result. */
#include <packet.h>

int first(struct xdp_md *ctx);
int second(struct xdp_md *ctx);

struct {
  __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
  __uint(key_size, 4);
  __uint(max_entries, 3);
  __array(values, int(struct xdp_md *));
} programs SEC(".maps") = {.values = {[0] = (void *)&first, [1] = (void *)&second}};

#define BYTES(count)                               \
  __u8 *data = frame_start(ctx);                   \
  if ((void *)(data + (count)) > frame_end(ctx)) return XDP_DROP

static __always_inline int give(struct xdp_md *ctx, __u32 number) {
  BYTES(14);
  data[2] = number;
  data[3] = number >> 8;
  return XDP_TX;
}

/* Counts its calls in byte 3 and goes on until byte 1 is reached. */
static __always_inline int again(struct xdp_md *ctx) {
  BYTES(14);
  data[3]++;
  if (data[3] < data[1]) bpf_tail_call(ctx, &programs, data[3] & 1);
  data[2] = 7;
  return XDP_TX;
}
SEC("xdp") int first(struct xdp_md *ctx) { return again(ctx); }
SEC("xdp") int second(struct xdp_md *ctx) { return again(ctx); }

static __always_inline int moved(struct xdp_md *ctx, int by) {
  __u32 words[2];
  {
    BYTES(14);
    __builtin_memcpy(words, data + 4, 8);
  }
  if (bpf_xdp_adjust_meta(ctx, -8)) return XDP_DROP;
  {
    __u32 *meta = (void *)(long)ctx->data_meta;
    if ((void *)(meta + 2) > frame_start(ctx)) return XDP_DROP;
    meta[0] = words[1];
    meta[1] = words[0];
  }
  if (bpf_xdp_adjust_head(ctx, by)) return XDP_DROP;
  __u32 *meta = (void *)(long)ctx->data_meta;
  if ((void *)(meta + 2) > frame_start(ctx)) return XDP_DROP;
  BYTES(28);
  for (int i = 8; i < 20; i++) data[i] = i;
  __builtin_memcpy(data, meta, 8);
  return XDP_TX;
}

SEC("xdp") int helped(struct xdp_md *ctx) {
  BYTES(80);
  __u32 n = data[1];
  switch (data[0]) {
    case 0: return give(ctx, bpf_csum_diff(0, 0, (void *)(data + 16), n & 63, data[2]));
    case 1: {
      __u32 old[5];
      __builtin_memcpy(old, data + 56, 20);
      return give(ctx, bpf_csum_diff(old, 20, (void *)(data + 32), 20, n << 24));
    }
    case 2: return give(ctx, bpf_xdp_adjust_tail(ctx, (int)n - 40));
    case 3: return n & 1 ? moved(ctx, -20) : moved(ctx, 24);
    case 4: {
      __u32 here = data[4], there = data[5], *at = n & 1 ? &here : &there;
      asm volatile("" : "+r"(at));
      __u32 before = __sync_fetch_and_add(at, n);
      return give(ctx, before << 8 ^ here ^ there << 4);
    }
    case 5:
      data[3] = 0;
      bpf_tail_call(ctx, &programs, n & 3);
      return give(ctx, 1);
    default: return bpf_redirect(1 + (n & 1), n & 2);
  }
}
