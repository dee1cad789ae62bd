/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The map that random programs work on; the program is only there because an object has one. */
#include <bpf.h>

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 64);
  __uint(max_entries, 4);
} values SEC(".maps");

SEC("xdp") int template(struct xdp_md *ctx) {
  __u32 key = 0;
  return bpf_map_lookup_elem(&values, &key) ? XDP_PASS : XDP_DROP;
}
