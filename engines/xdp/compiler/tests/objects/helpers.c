/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Helpers that become code: each in all the shapes that the code has. Linux loads them all. */
#include <packet.h>

#include "map.h"

MAP(ports, DEVMAP, 4, 4, 8, 0);
MAP(ports_by_hash, DEVMAP_HASH, 4, 8, 8, 0);
MAP(programs, PROG_ARRAY, 4, 4, 8, 0);
MAP(kept, ARRAY, 4, 8, 4, 0);

/* Requires this many bytes of the packet, or ends the program. */
#define BYTES(count)                                       \
  __u8 *packet = frame_start(ctx);                         \
  if ((void *)(packet + (count)) > frame_end(ctx)) return XDP_DROP

/* Leaves a number in the packet. */
static __always_inline int leave(struct xdp_md *ctx, __u64 number) {
  BYTES(14);
  for (int i = 0; i < 8; i++) packet[i] = number >> 8 * i;
  return XDP_PASS;
}

#define REDIRECT(name, map, key, flags)                                          \
  SEC("xdp") int name(struct xdp_md *ctx) {                                      \
    BYTES(14);                                                                   \
    return bpf_redirect_map(&map, key, flags);                                   \
  }
REDIRECT(to_first, ports, 0, 0)
REDIRECT(to_last, ports, 7, XDP_TX)
REDIRECT(to_none, ports, 8, XDP_PASS)
REDIRECT(to_any, ports, packet[6] & 15, XDP_DROP)
REDIRECT(to_wide_key, ports, (1ull << 32) + (packet[6] & 7), XDP_PASS)
REDIRECT(to_exclude, ports, packet[6] & 7, 16 | XDP_PASS)
REDIRECT(to_bad_flags, ports, packet[6] & 7, 4)
REDIRECT(to_hashed, ports_by_hash, packet[6] & 15, XDP_TX)

SEC("xdp") int to_port(struct xdp_md *ctx) {
  BYTES(14);
  return bpf_redirect(1, packet[6] & 1);
}

/* A redirection that fails takes the place of the one before it. */
SEC("xdp") int twice(struct xdp_md *ctx) {
  BYTES(14);
  long first = bpf_redirect_map(&ports, packet[6] & 7, XDP_DROP);
  long second = bpf_redirect_map(&ports_by_hash, packet[7] & 7, XDP_TX);
  return first == XDP_DROP && second == XDP_TX ? XDP_PASS : XDP_REDIRECT;
}

SEC("xdp") int port_of(struct xdp_md *ctx) {
  BYTES(14);
  __u32 key = packet[6] & 15;
  __u32 *port = bpf_map_lookup_elem(&ports, &key);
  return port ? (*port == 1 ? XDP_TX : XDP_ABORTED) : XDP_PASS;
}

#define SUM(name, count)                                                         \
  SEC("xdp") int name(struct xdp_md *ctx) {                                      \
    BYTES(count);                                                                \
    return leave(ctx, bpf_csum_diff(0, 0, (void *)packet, count, 0));            \
  }
SUM(sum_4, 4)
SUM(sum_20, 20)
SUM(sum_128, 128)
SUM(sum_132, 132)
SUM(sum_700, 700)

/* All ones, of which there is every carry, or zeros. */
SEC("xdp") int sum_ones(struct xdp_md *ctx) {
  BYTES(92);
  __u32 *words = (void *)packet, word = 0 - (packet[6] & 1);
  for (int i = 0; i < 23; i++) words[i] = word;
  return leave(ctx, bpf_csum_diff(0, 0, words, 92, packet[91] & 3));
}

/* The old bytes leave the sum and the bytes on the stack enter it; sizes and seed are known or unknown. */
#define DIFFERENCE(name, from_bytes, to_bytes, seed)                                           \
  SEC("xdp") int name(struct xdp_md *ctx) {                                                    \
    __u32 old[16], new[16];                                                                    \
    BYTES(64);                                                                                 \
    __builtin_memcpy(old, packet, 64);                                                         \
    for (int i = 0; i < 16; i++) new[i] = packet[6] & 32 ? 0 : packet[6] & 16 ? ~0u : ~old[15 - i]; \
    return leave(ctx, bpf_csum_diff(old, from_bytes, new, to_bytes, seed));                    \
  }
DIFFERENCE(differ_4, 4, 4, 0)
DIFFERENCE(differ_64, 64, 64, packet[1])
DIFFERENCE(differ_less, 32, 0, packet[2] - 1)
DIFFERENCE(differ_more, 0, 32, ~0u)
DIFFERENCE(differ_none, 0, 0, packet[3] << 24 | packet[2])
DIFFERENCE(differ_any, packet[7] & 60, packet[8] & 60, packet[9] & 1 ? ~0u : 0)
DIFFERENCE(differ_odd, packet[7] & 63, packet[8] & 63, packet[1])

/* The packet's own bytes; the packet gives their number. */
SEC("xdp") int sum_any(struct xdp_md *ctx) {
  BYTES(96);
  return leave(ctx, bpf_csum_diff(0, 0, (void *)packet, packet[13] & 95, 7));
}

/* How far the packet's ends move. */
#define GROW(name, by)                           \
  SEC("xdp") int name(struct xdp_md *ctx) {      \
    BYTES(14);                                   \
    return 10 + bpf_xdp_adjust_tail(ctx, by);    \
  }
GROW(grow_1, 1)
GROW(grow_31, 31)
GROW(grow_65, 65)
GROW(grow_much, 3000)
GROW(shrink, -7)
GROW(grow_any, (int)packet[6] - 100)
GROW(grow_far, (packet[6] & 1 ? 1 << 31 : packet[7] * 16))

/* Metadata moves with the head, and does not change when the head stays. */
#define HEAD(name, words, by)                                            \
  SEC("xdp") int name(struct xdp_md *ctx) {                              \
    BYTES(14);                                                           \
    int distance = by;                                                   \
    if (bpf_xdp_adjust_meta(ctx, -4 * (words))) return XDP_ABORTED;      \
    __u32 *meta = (void *)(long)ctx->data_meta;                          \
    if ((void *)(meta + (words)) > frame_start(ctx)) return XDP_DROP;    \
    for (int i = 0; i < (words); i++) meta[i] = 0x01020304 * (i + 1);    \
    return 10 + bpf_xdp_adjust_head(ctx, distance);                      \
  }
HEAD(head_down, 3, -8)
HEAD(head_up, 3, 6)
HEAD(head_far, 8, 40)
HEAD(head_too_far, 2, -220)
HEAD(head_any, 9, (int)packet[6] - 100)

/* Atomic operations on the stack: at one place of two, and at a place that the program computes. */
#define ATOMIC(name, type, does)                               \
  SEC("xdp") int name(struct xdp_md *ctx) {                    \
    type table[8], *at = table + 5, given, before = 0;                     \
    BYTES(14);                                                 \
    for (int i = 0; i < 8; i++) table[i] = (type)0x8000000000000001 * (packet[i] + 1) + i; \
    if (packet[6] & 1) at = table + 2;                         \
    asm volatile("" : "+r"(at));                               \
    given = (type)0xFFFFFFFF00000001 * packet[7];              \
    does;                                                      \
    __u64 all = before;                                        \
    for (int i = 0; i < 8; i++) all = all * 31 + table[i];     \
    return leave(ctx, all);                                    \
  }
ATOMIC(add_8, __u64, before = __sync_fetch_and_add(at, given))
ATOMIC(add_4, __u32, before = __sync_fetch_and_add(at, given))
ATOMIC(add_blind, __u64, __sync_fetch_and_add(at, given))
ATOMIC(or_8, __u64, before = __sync_fetch_and_or(at, given))
ATOMIC(and_4, __u32, before = __sync_fetch_and_and(at, given))
ATOMIC(xor_8, __u64, before = __sync_fetch_and_xor(at, given))
ATOMIC(swap_4, __u32, before = __sync_lock_test_and_set(at, given))
ATOMIC(swap_8, __u64, before = __sync_lock_test_and_set(at, given))
ATOMIC(compare_4, __u32, before = __sync_val_compare_and_swap(at, packet[8] & 1 ? table[2] : table[5], given))
ATOMIC(compare_8, __u64, before = __sync_val_compare_and_swap(at, packet[8] & 1 ? *at : given, given))

/* A four-byte compare-and-exchange uses the lower half of the expected value. */
SEC("xdp") __attribute__((naked)) int compare_low(struct xdp_md *ctx) {
  asm volatile(
      "r2 = 1; *(u64 *)(r10 - 8) = r2; r0 = 0xFFFFFFFF00000001 ll; r3 = 2; w0 = cmpxchg32_32(r10 - 8, w0, w3);"
      "r0 = *(u32 *)(r10 - 8); exit;");
}

/* With all bits of arguments that count as 32. */
static long (*const load_wide)(struct xdp_md *, __u64 offset, void *, __u64 size) = (void *)189;
static long (*const store_wide)(struct xdp_md *, __u64 offset, void *, __u64 size) = (void *)190;

/* Copies bytes of the packet to the stack, changes them there, and copies them back elsewhere; bytes that are not
 * loaded do not change. */
#define COPY(name, size, from, to, count)                               \
  SEC("xdp") int name(struct xdp_md *ctx) {                             \
    __u8 bytes[size];                                                   \
    BYTES(14);                                                          \
    __u64 first = from, then = to, many = count;                        \
    __builtin_memset(bytes, packet[5], size);                           \
    long loaded = load_wide(ctx, first, bytes, many);                   \
    bytes[(size) - 1] ^= 0x55;                                          \
    long stored = store_wide(ctx, then, bytes, many);                   \
    return leave(ctx, loaded * 100 + stored);                           \
  }
COPY(copy_7, 7, 2, 9, 7)
COPY(copy_60, 60, 0, 30, 60)
COPY(copy_64_any, 64, packet[6], packet[7] * 2, 64)
COPY(copy_100, 100, 14, 1, 100)
COPY(copy_far, 16, 0x10000 - (packet[6] & 1), 0xFFFFFFFF, 16)
COPY(copy_wide, 16, (1ull << 32) + packet[6], packet[7], 16)
COPY(copy_some, 96, packet[6], 3, (packet[8] & 63) + 1)

/* The bytes of a map's value against the packet's current bytes. */
SEC("xdp") int copy_kept(struct xdp_md *ctx) {
  __u32 zero = 0;
  __u64 before;
  BYTES(22);
  __u64 *count = bpf_map_lookup_elem(&kept, &zero);
  if (!count) return XDP_DROP;
  __builtin_memcpy(&before, packet + 14, 8);
  bpf_xdp_store_bytes(ctx, 14, count, 8);
  bpf_xdp_load_bytes(ctx, packet[13] & 15, count, 8);
  __u64 after;
  __builtin_memcpy(&after, packet + 14, 8);
  return leave(ctx, before + 31 * after + bpf_xdp_get_buff_len(ctx));
}

/* A load of a value stored before. */
SEC("xdp") int copy_stored(struct xdp_md *ctx) {
  __u64 word;
  BYTES(22);
  packet[16] = 1;
  long result = bpf_xdp_load_bytes(ctx, 12, &word, 8);
  packet[17] = 2;
  return leave(ctx, word + result);
}

/* The old value is not known any more. */
SEC("xdp") int copy_over(struct xdp_md *ctx) {
  __u64 word = 0;
  if (bpf_xdp_load_bytes(ctx, 6, &word, 1)) return XDP_DROP;
  return word & 1 ? XDP_TX : XDP_PASS;
}

/* A load without an earlier store. */
SEC("xdp") int copy_new(struct xdp_md *ctx) {
  __u32 words[4];
  if (bpf_xdp_load_bytes(ctx, 3, words, sizeof words)) return XDP_DROP;
  return leave(ctx, words[0] + 3 * words[1] + 5 * words[2] + 7 * words[3]);
}

SEC("xdp") int follow(struct xdp_md *ctx) {
  BYTES(14);
  bpf_tail_call(ctx, &programs, packet[6] & 15);
  return packet[7] & 1 ? XDP_PASS : XDP_TX;
}

/* Effects before another program takes over remain, effects after it do not happen. */
SEC("xdp") int follow_late(struct xdp_md *ctx) {
  __u32 zero = 0;
  BYTES(14);
  packet[0] = packet[8];
  __u64 *count = bpf_map_lookup_elem(&kept, &zero);
  if (count) *count += packet[9];
  bpf_tail_call(ctx, &programs, 3);
  if (count) *count += 1;
  return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
