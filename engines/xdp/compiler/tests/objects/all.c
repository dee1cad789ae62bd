/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* One of each thing an object can have. */
#include <packet.h>

struct key {
  __be32 address;
  __be16 port;
  __u16 kind : 4, rest : 12;
};

enum colour { RED = 1, GREEN = -2 };

struct value {
  __u64 packets;
  enum colour colour;
  __u8 mac[6];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, struct key);
  __type(value, struct value);
  __uint(max_entries, 100);
  __uint(pinning, 1);
} table SEC(".maps");

struct inner {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 8);
} first SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, 4);
  __uint(key_size, 4);
  __array(values, struct inner);
} outer SEC(".maps") = {.values = {[2] = &first}};

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);
} ring SEC(".maps");

volatile const __u32 limit = 7;
__u64 seen, later;
__u32 start = 5;
static const __u16 table_of[8] = {1, 1, 2, 3, 5, 8, 13, 21};

static __noinline int other(__u32 x) { return table_of[x & 7] + start; }
__attribute__((visibility("hidden"))) __noinline int count(__u32 x) {
  seen += x;
  later = x;
  return other(x) + 1;
}

SEC("xdp") int first_program(struct xdp_md *ctx) {
  struct key key = {.address = ctx->rx_queue_index};
  struct value *value = bpf_map_lookup_elem(&table, &key);
  if (value) value->packets++;
  return count(ctx->ingress_ifindex) > limit ? XDP_DROP : XDP_PASS;
}

SEC("xdp") int second_program(struct xdp_md *ctx) {
  __u32 zero = 2;
  void *map = bpf_map_lookup_elem(&outer, &zero);
  if (!map) return XDP_DROP;
  __u64 *value = bpf_map_lookup_elem(map, &zero);
  return value && *value ? XDP_PASS : XDP_DROP;
}

SEC("xdp/devmap") int leaving(struct xdp_md *ctx) { return ctx->egress_ifindex == 3 ? XDP_DROP : XDP_PASS; }

SEC("tc") int elsewhere(void *ctx) { return 0; }

char _license[] SEC("license") = "Dual BSD/GPL";
