/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps of more than 4 MiB. A frame names an element of an array in bytes 14 to 17 and a key in 18 to 25, and goes back
 * with what both had counted before in 26 to 29 and 30 to 33.
 */
#include <bpf.h>

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 300000);
} counts SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __u64);
  __type(value, __u64);
  __uint(max_entries, 40000);
} keys SEC(".maps");

SEC("xdp")
int count(struct xdp_md *ctx) {
  __u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
  if (data + 60 > end) return XDP_DROP;
  __u32 index;
  __u64 key, one = 1;
  __builtin_memcpy(&index, data + 14, 4);
  __builtin_memcpy(&key, data + 18, 8);
  __u64 *element = bpf_map_lookup_elem(&counts, &index);
  if (!element) return XDP_DROP;
  __u32 before = __sync_fetch_and_add(element, 1), of_key = 0;
  __u64 *value = bpf_map_lookup_elem(&keys, &key);
  if (!value && bpf_map_update_elem(&keys, &key, &one, BPF_NOEXIST)) {
    /* Another frame was faster. */
    value = bpf_map_lookup_elem(&keys, &key);
    if (!value) return XDP_DROP;
  }
  if (value) of_key = __sync_fetch_and_add(value, 1);
  __builtin_memcpy(data + 26, &before, 4);
  __builtin_memcpy(data + 30, &of_key, 4);
  return XDP_TX;
}

char _license[] SEC("license") = "Apache-2.0";
