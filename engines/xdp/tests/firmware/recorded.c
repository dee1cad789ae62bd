/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Byte 0 of the frame selects the record to send, byte 1 its length; the frame goes back with the helper's result
 * from byte 8 on. Records are copies of the frame from byte 16 on. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 16);
} ring SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 12);
} small SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 4);
  __uint(max_entries, 12);
} events SEC(".maps");

enum { WORDS = 8, OWN_QUEUE = -1 };

#define BYTES                                          \
  __u64 *frame = frame_start(ctx);                     \
  if ((void *)(frame + 2 + WORDS) > frame_end(ctx)) return XDP_DROP

static __always_inline int give(struct xdp_md *ctx, __u64 number) {
  BYTES;
  frame[1] = number;
  return XDP_TX;
}

/* Reserves two, and gives the second back first. */
static __always_inline int two(struct xdp_md *ctx, int keep) {
  BYTES;
  __u64 *first = bpf_ringbuf_reserve(&ring, 24, 0);
  if (!first) return give(ctx, 0);
  __u32 *second = bpf_ringbuf_reserve(&ring, 12, 0);
  if (!second) {
    bpf_ringbuf_discard(first, 0);
    return give(ctx, 1);
  }
  for (int i = 0; i < 3; i++) {
    first[i] = frame[2 + i];
    second[i] = frame[2 + i] >> 32;
  }
  bpf_ringbuf_submit(second, 0);
  if (keep) bpf_ringbuf_submit(first, 0);
  else bpf_ringbuf_discard(first, 0);
  return give(ctx, 2);
}

/* Is stopped while it has a record, on a card that limits the rows of programs. */
static __always_inline int dawdle(struct xdp_md *ctx) {
  __u64 *record = bpf_ringbuf_reserve(&ring, 8, 0);
  if (!record) return give(ctx, 0);
  for (int i = 0; i < 70000; i++) asm volatile("");
  *record = 0;
  bpf_ringbuf_submit(record, 0);
  return XDP_DROP;
}

/* A ring has no room for a record that is longer. */
static __always_inline int longer(struct xdp_md *ctx) {
  void *record = bpf_ringbuf_reserve(&small, 5000, 0);
  if (!record) return give(ctx, 1);
  bpf_ringbuf_discard(record, 0);
  return give(ctx, 0);
}

SEC("xdp") int recorded(struct xdp_md *ctx) {
  BYTES;
  __u8 *bytes = (void *)frame;
  __u64 words[WORDS], n = bytes[1] & 63;
  __builtin_memcpy(words, frame + 2, sizeof(words));
  switch (bytes[0]) {
    case 0: return give(ctx, bpf_ringbuf_output(&ring, words, n, bytes[2]));
    case 1: return give(ctx, bpf_ringbuf_output(&small, words, n, 0));
    case 2: return give(ctx, bpf_ringbuf_output(&ring, words, 23, 0));
    case 3: return two(ctx, bytes[1]);
    case 4: return give(ctx, bpf_perf_event_output(ctx, &events, (__u32)OWN_QUEUE | (__u64)bytes[2] << 32, words, n));
    case 5: return give(ctx, bpf_perf_event_output(ctx, &events, bytes[2] | (__u64)bytes[3] << 56, words, 5));
    case 6: return give(ctx, bpf_ringbuf_query(&small, bytes[1]));
    case 7: return longer(ctx);
    case 8: return dawdle(ctx);
    default: return give(ctx, bpf_get_smp_processor_id());
  }
}

char _license[] SEC("license") = "GPL";
