/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A key that is assembled in a per-CPU array, looked up, updated and deleted. */
#include <packet.h>

struct name {
  __u8 bytes[47];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, struct name);
  __uint(max_entries, 1);
} scratch SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, struct name);
  __type(value, __u32);
  __uint(max_entries, 64);
} names SEC(".maps");

SEC("xdp") int scratch_key(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  __u32 zero = 0;
  struct name *name = bpf_map_lookup_elem(&scratch, &zero);
  if (!name) return XDP_ABORTED;
  __builtin_memcpy(name->bytes + 7, &ip->saddr, 4);
  name->bytes[46] = ip->protocol;
  __u32 *count = bpf_map_lookup_elem(&names, name);
  if (!count) {
    __u32 first = 1;
    return bpf_map_update_elem(&names, name, &first, BPF_NOEXIST) ? XDP_DROP : XDP_PASS;
  }
  if (++*count == 3 && bpf_map_delete_elem(&names, name)) return XDP_DROP;
  return XDP_TX;
}
