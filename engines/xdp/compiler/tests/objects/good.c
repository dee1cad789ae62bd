/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Programs that are right for a reason that takes some following. Linux loads them all. */
#include <packet.h>

#include "map.h"

MAP(array, ARRAY, 4, 64, 8, 0);
MAP(hash, HASH, 8, 16, 8, 0);
MAP(programs, PROG_ARRAY, 4, 4, 8, 0);
MAP(events, PERF_EVENT_ARRAY, 4, 4, 8, 0);
MAP(sockets, XSKMAP, 4, 4, 8, 0);
MAP(ring, RINGBUF, 0, 0, 4096, 0);

struct {
  __uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
  __uint(key_size, 4);
  __uint(max_entries, 4);
  __array(
      values, struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(key_size, 4);
        __uint(value_size, 16);
        __uint(max_entries, 8);
      });
} outer SEC(".maps");

static const __u8 weights[32] = {1, 2, 3, 4, 5};
__u64 total;

#define ASM(name, text, ...)                                      \
  SEC("xdp") __attribute__((naked)) int name(struct xdp_md *ctx) { \
    asm volatile(text ::__VA_ARGS__ : );                          \
  }
#define M(map) [map] "i"(&map)

/* Bounds of packets, in every shape. */
#define SHAPE(name, compare, target, other)                                                             \
  ASM(name, "r2 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r0 = 1; r4 = r2; r4 += 14; " compare " goto 1f;" \
            target " exit; 1: " other " exit;")
#define READ "r0 = *(u16 *)(r2 + 12);"
SHAPE(greater, "if r4 > r3", READ, "")
SHAPE(greater_equal, "if r4 >= r3", "r0 = *(u8 *)(r2 + 14);", "")
SHAPE(less, "if r4 < r3", "", "r0 = *(u8 *)(r2 + 14);")
SHAPE(less_equal, "if r4 <= r3", "", READ)
SHAPE(end_less, "if r3 < r4", READ, "")
SHAPE(end_less_equal, "if r3 <= r4", "r0 = *(u8 *)(r2 + 14);", "")
SHAPE(end_greater, "if r3 > r4", "", "r0 = *(u8 *)(r2 + 14);")
SHAPE(end_greater_equal, "if r3 >= r4", "", READ)

/* A header of variable length, and one after it. */
SEC("xdp") int options(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end) return XDP_DROP;
  struct udphdr *udp = (void *)ip + ip->ihl * 4;
  if ((void *)(udp + 1) > end) return XDP_DROP;
  return udp->dest == bpf_htons(53) ? XDP_TX : XDP_PASS;
}

/* A loop over tags that the compiler keeps. */
SEC("xdp") int tags(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  __be16 *type = frame_start(ctx) + 12;
#pragma clang loop unroll(disable)
  for (int i = 0; i < 20; i++) {
    if ((void *)(type + 1) > end) return XDP_DROP;
    if (*type != bpf_htons(ETH_P_8021Q)) return XDP_PASS;
    type += 2;
  }
  return XDP_DROP;
}

/* A checksum over all bytes of the packet, up to 1,500. */
SEC("xdp") int long_sum(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  __u16 *next = frame_start(ctx);
  __u32 sum = 0;
#pragma clang loop unroll(disable)
  for (int i = 0; i < 750; i++) {
    if ((void *)(next + 1) > end) break;
    sum += *next++;
  }
  return checksum_fold(sum) ? XDP_DROP : XDP_PASS;
}

/* Indices: into the stack, a constant table, a value. */
SEC("xdp") int indices(struct xdp_md *ctx) {
  volatile __u8 seen[16] = {0};
  __u32 queue = ctx->rx_queue_index;
  seen[queue & 15] = 1;
  if (queue >= 32) return XDP_DROP;
  __u32 key = weights[queue];
  __u8 *value = bpf_map_lookup_elem(&array, &key);
  if (!value) return XDP_DROP;
  return value[queue] + seen[3] ? XDP_DROP : XDP_PASS;
}

/* Many calls between a check and its use: pointers are put on the stack and taken back. */
SEC("xdp") int spills(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  struct udphdr *udp = (void *)(ip + 1);
  if ((void *)(udp + 1) > end) return XDP_DROP;
  __u64 a = bpf_ktime_get_ns(), b = bpf_get_prandom_u32(), c = bpf_get_smp_processor_id(), d = bpf_ktime_get_boot_ns();
  d -= bpf_ktime_get_coarse_ns();
  __u64 e = bpf_get_prandom_u32(), f = bpf_get_prandom_u32();
  total += a + b * c + d + e * f;
  eth->h_proto = udp->dest;
  ip->ttl = a;
  return bpf_redirect(ip->tos, 0);
}

static __noinline int checked(void *start, void *end, __u32 *out) {
  if (start + 34 > end) return 0;
  *out = ((struct iphdr *)(start + 14))->saddr;
  return 1;
}

/* A separate function that writes into its caller's stack. */
SEC("xdp") int by_function(struct xdp_md *ctx) {
  __u32 source = 0;
  if (!checked(frame_start(ctx), frame_end(ctx), &source)) return XDP_DROP;
  return source == 0x0100007F ? XDP_DROP : XDP_PASS;
}

/* Maps of maps, sockets, programs, records, events, routes. */
SEC("xdp") int everything(struct xdp_md *ctx) {
  __u32 key = ctx->rx_queue_index;
  void *inner = bpf_map_lookup_elem(&outer, &key);
  if (inner) {
    __u64 *value = bpf_map_lookup_elem(inner, &key);
    if (value) __sync_fetch_and_add(value, 1);
  }
  if (bpf_map_lookup_elem(&sockets, &key)) return bpf_redirect_map(&sockets, key, XDP_PASS);
  struct {
    __u64 time;
    __u32 queue, zero;
  } *record = bpf_ringbuf_reserve(&ring, 16, 0);
  if (record) {
    record->time = bpf_ktime_get_ns();
    record->queue = key;
    if (key & 1)
      bpf_ringbuf_submit(record, 0);
    else
      bpf_ringbuf_discard(record, 0);
  }
  struct bpf_fib_lookup query = {.family = 2, .ipv4_dst = key};
  if (bpf_fib_lookup(ctx, &query, sizeof query, 0) == 0) total += query.ifindex + query.dmac[3];
  bpf_perf_event_output(ctx, &events, 0xFFFFFFFF, &key, 4);
  static const char format[] = "queue %d\n";
  bpf_trace_printk(format, sizeof format, key);
  bpf_tail_call(ctx, &programs, 1);
  return XDP_PASS;
}

/* Metadata before the packet, made and read. */
SEC("xdp") int metadata(struct xdp_md *ctx) {
  if (bpf_xdp_adjust_meta(ctx, -8)) return XDP_DROP;
  __u32 *meta = (void *)(long)ctx->data_meta;
  if ((void *)(meta + 2) > frame_start(ctx)) return XDP_DROP;
  meta[0] = meta[1] = 7;
  return XDP_PASS;
}

/* A helper reads at a distance from an address that nothing else wants. */
SEC("xdp") int summed(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct iphdr *ip = frame_start(ctx) + 14;
  if ((void *)(ip + 1) > end) return XDP_DROP;
  void *behind = (void *)ip + ip->ihl * 4;
  if (behind + 12 > end) return XDP_DROP;
  return bpf_csum_diff(0, 0, behind + 4, 8, 0) & 1 ? XDP_TX : XDP_PASS;
}

/* A map takes a value from the packet, at a distance from an address that nothing else wants, and then its first byte
 * changes there. */
ASM(taken,
    "r6 = *(u32 *)(r1 + 0); r7 = *(u32 *)(r1 + 4); r0 = 1; r2 = r6; r2 += 15; if r2 > r7 goto 2f; "
    "r3 = *(u8 *)(r6 + 14);"
    "r3 &= 15; r6 += r3; r2 = r6; r2 += 20; if r2 > r7 goto 2f; r3 = *(u8 *)(r6 + 0); r4 = *(u8 *)(r6 + 1); r3 &= 1;"
    "if r3 == 0 goto 1f; r6 += 4; r4 &= 3; r4 *= 3; *(u64 *)(r10 - 8) = r4; r1 = %[hash] ll; r2 = r10; r2 += -8; "
    "r3 = r6;"
    "r4 = 0; call 2; 1: *(u8 *)(r6 + 0) = 7; r0 = 3; 2: exit;",
    M(hash))

/* Two maps in turn: others may read them in between. */
SEC("xdp") int in_turn(struct xdp_md *ctx) {
  __u32 key = 0;
  volatile __u32 *words = bpf_map_lookup_elem(&array, &key);
  if (!words) return XDP_ABORTED;
  words[0] = 1;
  *(volatile __u64 *)&total = 2;
  words[1] = 3;
  return XDP_PASS;
}

struct tallies {
  __u64 a, b, c, d, e;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, struct tallies);
  __uint(max_entries, 4);
} tallies SEC(".maps");

/* Values that are changed in place, and some that only look like it. */
SEC("xdp") int counted(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 54) > frame_end(ctx)) return XDP_PASS;
  __u32 key = data[0] & 3;
  volatile struct tallies *tally = bpf_map_lookup_elem(&tallies, &key);
  if (!tally) return XDP_ABORTED;
  tally->a += data[1];
  tally->b = tally->a + 3; /* another place */
  __u64 before = tally->c;
  tally->c = data[2];
  tally->c = before ^ 5; /* a store in between */
  __u32 low = tally->d;
  asm volatile("%[low] += %[by]" : [low] "+w"(low) : [by] "w"((__u32)data[3] << 30));
  tally->d = low; /* 32 bits of 64 */
  tally->e |= tally->a; /* two of them */
  __u64 now[5] = {tally->a, tally->b, tally->c, tally->d, tally->e};
  __builtin_memcpy(data + 14, now, sizeof now);
  return XDP_TX;
}

/* A tail call, if the entry exists: effects before the call remain, effects after it do not happen. */
SEC("xdp") int another(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 34) > frame_end(ctx)) return XDP_DROP;
  total += data[2];
  data[0] = data[4];
  data[20] = 1;
  bpf_tail_call(ctx, &programs, data[1] & 7);
  data[1] = data[5];
  data[21] = 2;
  total += 3;
  return XDP_TX;
}

/* Interfaces from the packet; those above 255 are none. */
SEC("xdp") int named(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 14) > frame_end(ctx)) return XDP_DROP;
  if (data[0] & 1) bpf_redirect(data[1], 0);
  if (data[0] & 2) return bpf_redirect(data[2] | (data[3] & 1) << 8, 0);
  return data[0] & 4 ? XDP_REDIRECT : XDP_PASS;
}

/* Bytes that helpers read and that no argument shows: after a format's number, and of the packet. */
SEC("xdp") int told(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 34) > frame_end(ctx)) return XDP_DROP;
  static const char format[] = "%s\n";
  char word[8] = "packet";
  word[0] = data[6];
  __u32 key = 0;
  bpf_trace_printk(format, sizeof format, word);
  data[0] = 7;
  bpf_perf_event_output(ctx, &events, 0xFFFFFFFF | 14ULL << 32, &key, sizeof key);
  data[1] = 9;
  return XDP_TX;
}

/* Bounds of a number also hold for its copies, including those on the stack. */
ASM(copies,
    "r6 = *(u32 *)(r1 + 12); r7 = r6; *(u64 *)(r10 - 24) = r6; *(u64 *)(r10 - 16) = 0; *(u64 *)(r10 - 8) = 0; r0 = 1;"
    "if r7 > 15 goto 1f; r2 = r10; r2 += -16; r2 += r6; r0 = *(u8 *)(r2 + 0); r3 = *(u64 *)(r10 - 24);"
    "r2 = r10; r2 += -16; r2 += r3; r0 = *(u8 *)(r2 + 0); 1: exit;")
/* Bits, shifts and signs. */
ASM(arithmetic,
    "r6 = *(u32 *)(r1 + 12); *(u64 *)(r10 - 16) = 0; *(u64 *)(r10 - 8) = 0; w2 = w6; w2 >>= 28; r3 = r10; r3 += -16;"
    "r3 += r2; r0 = *(u8 *)(r3 + 0); r2 = r6; r2 <<= 32; r2 >>= 60; r3 = r10; r3 += -16; r3 += r2; "
    "r0 = *(u8 *)(r3 + 0);"
    "r2 = r6; r2 &= 7; r2 |= 8; r3 = r10; r3 += -16; r3 += r2; r0 = *(u8 *)(r3 + 0);"
    "w2 = w6; if w2 s< 0 goto 1f; if w2 s> 15 goto 1f; r3 = r10; r3 += -16; r3 += r2; r0 = *(u8 *)(r3 + 0); 1: exit;")
/* A distance counts modulo the width, also when the width does not matter otherwise. */
ASM(distances,
    "r6 = *(u32 *)(r1 + 12); w6 |= 40; w2 = 35; w1 = w6; w1 >>= w2; r3 = 65; r4 = r6; r4 >>= r3; w0 = w1; w0 -= w4; "
    "w0 &= 3;"
    "exit;")
/* The packet's old place stays a number when the packet moves. */
ASM(was,
    "r6 = r1; r2 = *(u32 *)(r1 + 0); w7 = w2; r3 = *(u32 *)(r1 + 4); w8 = w3; r2 = 4; call 44; "
    "r2 = *(u32 *)(r6 + 0); w2 = w2;"
    "r3 = *(u32 *)(r6 + 4); w3 = w3; w3 -= w2; w2 -= w7; w8 -= w7; w8 -= w3; w0 = w2; w0 += w8; w0 >>= 2; exit;")
/* The same in a comparison. */
ASM(fitted,
    "r6 = r1; r2 = *(u32 *)(r1 + 0); w7 = w2; r7 += 34; r3 = *(u32 *)(r1 + 4); w8 = w3; r2 = 6; call 44; r0 = 1;"
    "if r7 > r8 goto 1f; r0 = 2; 1: exit;")
/* Sides of a bit test and of an inequality. */
ASM(tests,
    "r6 = *(u32 *)(r1 + 12); *(u64 *)(r10 - 8) = 0; r0 = 1; if r6 & 0xfffffff8 goto 1f; r3 = r10; r3 += -8; r3 += r6;"
    "r0 = *(u8 *)(r3 + 0); 1: exit;")

/* Changes the last byte of a packet of this length. */
static __always_inline int marked(struct xdp_md *ctx, int bytes) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + bytes) > frame_end(ctx)) return XDP_DROP;
  data[bytes - 1] += 1;
  return 11;
}

/* Packets of more than 60 bytes, resized to a given length: checks after that pass always, never, or sometimes. */
#define CUT(name, length, checked)                                  \
  SEC("xdp") int name(struct xdp_md *ctx) {                         \
    int bytes = frame_end(ctx) - frame_start(ctx);                  \
    if (bytes <= 60) return XDP_PASS;                               \
    if (bpf_xdp_adjust_tail(ctx, length - bytes)) return XDP_TX;    \
    return marked(ctx, checked);                                    \
  }
CUT(cut, 60, 60)
CUT(cut_shorter, 61, 62)
CUT(cut_too_short, 13, 13)
CUT(cut_or_longer, 64, 64)
CUT(cut_far, -3000, 1)

/* The packet's head, or its tail, moves from where there are 34 bytes. */
#define MOVED(name, helper, by, checked)                            \
  SEC("xdp") int name(struct xdp_md *ctx) {                         \
    if (frame_start(ctx) + 34 > frame_end(ctx)) return XDP_PASS;    \
    if (helper(ctx, by)) return XDP_TX;                             \
    return marked(ctx, checked);                                    \
  }
MOVED(moved_up, bpf_xdp_adjust_head, -20, 54)
MOVED(moved_up_less, bpf_xdp_adjust_head, -20, 70)
MOVED(moved_down, bpf_xdp_adjust_head, 20, 14)
MOVED(moved_down_more, bpf_xdp_adjust_head, 19, 40)
MOVED(moved_by_some, bpf_xdp_adjust_head, (*(__u8 *)frame_start(ctx) & 7) - 8, 40)
MOVED(moved_tail, bpf_xdp_adjust_tail, -20, 14)
MOVED(moved_tail_more, bpf_xdp_adjust_tail, -18, 40)
MOVED(moved_meta, bpf_xdp_adjust_meta, -4, 34)
MOVED(moved_meta_more, bpf_xdp_adjust_meta, -4, 50)

/* The program does not check whether the packet has moved: there is not so much room in front. */
SEC("xdp") int moved_unasked(struct xdp_md *ctx) {
  if (frame_start(ctx) + 34 > frame_end(ctx)) return XDP_PASS;
  bpf_xdp_adjust_head(ctx, -220);
  return marked(ctx, 60);
}

/* A number that is computed from the length, before the tail moves and after that. */
SEC("xdp") int moved_number(struct xdp_md *ctx) {
  __u64 before = frame_end(ctx) - frame_start(ctx);
  asm volatile("%0 += 5" : "+r"(before));
  if (bpf_xdp_adjust_tail(ctx, -3)) return XDP_TX;
  __u64 behind = frame_end(ctx) - frame_start(ctx);
  asm volatile("%0 += 5" : "+r"(behind));
  return (before * 3 ^ behind) & 3;
}

/* Ways meet after two moves. */
#define EITHER(name, up)                                            \
  SEC("xdp") int name(struct xdp_md *ctx) {                         \
    __u8 *data = frame_start(ctx);                                  \
    if ((void *)(data + 34) > frame_end(ctx)) return XDP_PASS;      \
    if ((data[0] & 1) == up) {                                      \
      if (bpf_xdp_adjust_head(ctx, -10)) return XDP_TX;             \
    } else if (bpf_xdp_adjust_tail(ctx, -4)) {                      \
      return XDP_TX;                                                \
    }                                                               \
    return marked(ctx, 33);                                         \
  }
EITHER(moved_either, 0)
EITHER(moved_or, 1)

/* Loads right after stores: of a part, across two stores, byte-swapped; through a pointer that may alias, and after a
 * move. */
SEC("xdp") int written(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 34) > frame_end(ctx)) return XDP_DROP;
#define AT(type, place) (*(volatile type *)(place))
  __u64 sum = AT(__u32, data + 20), place = AT(__u8, data + 13) & 7;
  __u8 *other = data + place;
  if ((void *)(other + 2) > frame_end(ctx)) return XDP_DROP;
  AT(__u64, data) = 0x8877665544332211;
  sum = sum * 31 + AT(__u16, data + 3);
  AT(__u32, data + 4) = sum * 7;
  sum = sum * 31 + AT(__u32, data + 4);
  sum = sum * 31 + AT(__u64, data);
  AT(__u16, data + 2) = bpf_htons(sum);
  sum = sum * 31 + AT(__u16, data + 2);
  AT(__u32, data + 4) = 5;
  AT(__u8, other) = 6;
  sum = sum * 31 + AT(__u32, data + 4);
  AT(__u8, other + 1) = 7;
  AT(__u32, data + 4) = 8;
  sum = sum * 31 + AT(__u8, other + 1);
  __u64 own = 0;
  __u8 *either = place & 1 ? (__u8 *)&own : data + 5;
  asm volatile("" : "+r"(either));
  AT(__u8, either) = 9;
  sum = sum * 31 + AT(__u32, data + 4) + AT(__u64, &own);
  AT(__u64, data + 8) = 0x0000000180000000;
  AT(__u64, data + 20) = 0xFFFFFFFF7FFFFFFF;
  AT(__u32, data + 16) = 9;
  if (bpf_xdp_adjust_head(ctx, 2)) return XDP_DROP;
  data = frame_start(ctx);
  if ((void *)(data + 30) > frame_end(ctx)) return XDP_DROP;
  sum = sum * 31 + AT(__u32, data + 16) + AT(__u64, data + 8);
  AT(__u64, data) = sum;
  return XDP_TX;
}

/* Operands of which the lower half counts, and constants that are one of it only. */
SEC("xdp") int halves(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 54) > frame_end(ctx)) return XDP_DROP;
  __u64 wide = AT(__u64, data + 16);
  __u32 low = AT(__u32, data + 16);
  AT(__u64, data + 0) = low ^ 0xFFFFFFFF;
  AT(__u64, data + 8) = (wide & 0xFFFF0000) + (wide ^ 0xFFFFFFFF);
  AT(__u64, data + 24) = (low | 0x80000000) + (wide | 0x80000000);
  AT(__u64, data + 32) = wide & 0xFFFF00000000FFFF;
  return XDP_TX;
}

/* Numbers of bytes and of halves side by side, in the machine's order and in the packet's. */
SEC("xdp") int together(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 54) > frame_end(ctx)) return XDP_DROP;
#define KEPT(number) ({ __u64 kept = number; asm volatile("" : "+r"(kept)); kept; })
#define OWN(at) KEPT(data[at] | data[at + 1] << 8)
#define TURNED(at) KEPT(data[at] << 8 | data[at + 1])
  AT(__u64, data + 0) = OWN(32);
  AT(__u64, data + 8) = TURNED(34);
  AT(__u64, data + 16) = KEPT(OWN(36) | OWN(38) << 16);
  AT(__u64, data + 24) = KEPT(TURNED(40) << 16 | TURNED(42));
  return XDP_TX;
}

/* A number that was turned round is compared with a constant: the compiler does not know that it could turn that. */
SEC("xdp") int turned(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 14) > frame_end(ctx)) return XDP_DROP;
  __u64 type = KEPT(AT(__u16, data + 12) ^ 0x0102);
  if (KEPT(bpf_ntohs(type)) == (ETH_P_IP ^ 0x0201)) return XDP_TX;
  return KEPT(bpf_ntohl(AT(__u32, data + 10) | 0xFFFF)) != 0xFFFF86DD ? XDP_PASS : XDP_ABORTED;
}

/* Behind a call that finds no program a store and the verdict are all that is left. */
SEC("xdp") int another_or_store(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 34) > frame_end(ctx)) return XDP_DROP;
  bpf_tail_call(ctx, &programs, data[1] & 15);
  data[21] = 2;
  return XDP_TX;
}

/* A comparison of r0 after a join: the verdict is 3 when bits 0 and 1 of the first byte are the same, else bit 0. */
ASM(compared,
    "r2 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r4 = r2; r4 += 14; r0 = 0; if r4 > r3 goto 2f; r3 = *(u8 *)(r2 + 0);"
    "r4 = r3; r4 &= 1; *(u64 *)(r10 - 8) = r4; r3 &= 2; r0 = 1; if r3 != 0 goto 1f; r0 = 0;"
    "1: r3 = 3; r0 = cmpxchg_64(r10 - 8, r0, r3); r0 = *(u64 *)(r10 - 8); 2: exit;")

char _license[] SEC("license") = "GPL";
