/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps that units share: each frame gets the number of frames before it with the same destination address (hash), of
 * all before it (global variable), and of those whose first byte has the same remainder (array), and goes back.
 */
#include <bpf.h>

#define REMAINDERS 37

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __u8[6]);
  __type(value, __u64);
  __uint(max_entries, 256);
} stations SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, REMAINDERS);
} remainders SEC(".maps");

__u64 all = 1000;
volatile const __u16 mark = 0x5AA5;

SEC("xdp") int shared(struct xdp_md *ctx) {
  void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
  if (data + 40 > end) return XDP_DROP;
  __u8 station[6];
  __builtin_memcpy(station, data, 6);
  __u64 *count = bpf_map_lookup_elem(&stations, station);
  if (!count) {
    __u64 none = 0;
    bpf_map_update_elem(&stations, station, &none, BPF_NOEXIST); /* another unit may have been first */
    count = bpf_map_lookup_elem(&stations, station);
    if (!count) return XDP_ABORTED;
  }
  *(__u64 *)(data + 12) = __sync_fetch_and_add(count, 1);
  *(__u64 *)(data + 20) = __sync_fetch_and_add(&all, 1);
  __u32 remainder = *(__u8 *)data % REMAINDERS;
  __u64 *same = bpf_map_lookup_elem(&remainders, &remainder);
  if (!same) return XDP_ABORTED;
  *(__u64 *)(data + 28) = __sync_fetch_and_add(same, 1);
  *(__u16 *)(data + 36) = mark;
  return XDP_TX;
}
