/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps that the host fills and reads. A frame has an address in bytes 14 to 17 and a port in 18 and 19, in network
 * order. It goes back with values from the maps: the mark of the longest route in 20 to 23 (all ones if no route
 * matches), the limit of its first byte modulo 8 in 24 to 27, and the variables `mark` and `step` in 28 to 31 and 32 to
 * 35. The program counts it by flow, by processor and in `total`, and remembers its address.
 */
#include <bpf.h>

struct flow {
  __be32 address;
  __be16 port;
  __u8 kind : 2, rest : 6;
  __u8 always_7;
};

struct seen {
  __u64 frames;
  __u32 bytes;
  __u8 tag[4];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, struct flow);
  __type(value, struct seen);
  __uint(max_entries, 32);
} flows SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __type(key, __be32);
  __type(value, __be16);
  __uint(max_entries, 64);
} recent SEC(".maps");

struct prefix {
  __u32 length;
  __u8 address[4];
};

struct {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, struct prefix);
  __type(value, __u32);
  __uint(max_entries, 16);
} routes SEC(".maps");

struct limit {
  union {
    __u32 rate;
    __u8 parts[4];
  };
  short slack[3];
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(key_size, 4);
  __type(value, struct limit);
  __uint(max_entries, 8);
} limits SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 4);
} counts SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 6);
  __uint(max_entries, 2);
} unused SEC(".maps");

volatile const __u32 mark = 0xC0FFEE;
__u64 total = 1000;
volatile __u32 step;
/* A value longer than an update stores. */
volatile __u8 table[300] = {1};

SEC("xdp") int maps(struct xdp_md *ctx) {
  void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
  if (data + 40 > end) return XDP_DROP;
  __u8 first = *(__u8 *)data;
  struct flow flow = {*(__be32 *)(data + 14), *(__be16 *)(data + 18), first & 3, 0, 7};

  struct prefix prefix = {32, {0}};
  __builtin_memcpy(prefix.address, &flow.address, 4);
  __u32 *route = bpf_map_lookup_elem(&routes, &prefix);
  *(__u32 *)(data + 20) = route ? *route : 0xFFFFFFFF;

  __u32 number = first % 8;
  struct limit *limit = bpf_map_lookup_elem(&limits, &number);
  if (!limit) return XDP_ABORTED;
  *(__u32 *)(data + 24) = limit->rate;
  *(__u32 *)(data + 28) = mark;
  *(__u32 *)(data + 32) = step + table[first];

  struct seen *seen = bpf_map_lookup_elem(&flows, &flow);
  if (!seen) {
    struct seen none = {0, 0, {first & 3, 2, 3, 4}};
    bpf_map_update_elem(&flows, &flow, &none, BPF_NOEXIST); /* another unit may have been first */
    seen = bpf_map_lookup_elem(&flows, &flow);
  }
  if (seen) {
    __sync_fetch_and_add(&seen->frames, 1);
    __sync_fetch_and_add(&seen->bytes, (__u32)(end - data));
  }
  bpf_map_update_elem(&recent, &flow.address, &flow.port, BPF_ANY);
  __u32 kind = first & 3;
  __u64 *count = bpf_map_lookup_elem(&counts, &kind);
  if (!count) return XDP_ABORTED;
  *count += 1;
  __sync_fetch_and_add(&total, 1);
  return XDP_TX;
}
