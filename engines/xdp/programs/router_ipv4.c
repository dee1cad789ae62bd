/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Routes IPv4: longest prefix of the destination, the next hop's addresses, TTL, out of the route's port. */
#include <packet.h>

struct prefix {
  __u32 bits;
  __be32 address;
};

struct route {
  __u32 port;
  __be32 gateway; /* 0: the destination is a neighbour */
};

struct neighbour {
  __u8 mac[6];
  __u8 own_mac[6]; /* of the port that leads there */
};

struct {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __type(key, struct prefix);
  __type(value, struct route);
  __uint(max_entries, 1024);
  __uint(map_flags, BPF_F_NO_PREALLOC);
} routes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __be32);
  __type(value, struct neighbour);
  __uint(max_entries, 1024);
} neighbours SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 256);
} routed SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_DEVMAP);
  __uint(key_size, 4);
  __uint(value_size, 4);
  __uint(max_entries, 64);
} ports SEC(".maps");

/* RFC 1624: the TTL's byte falls by one, so the checksum rises by 0x0100. */
static __always_inline void decrease_ttl(struct iphdr *ip) {
  __u32 sum = (__u32)ip->check + bpf_htons(0x0100);
  ip->check = sum + (sum >= 0xFFFF);
  ip->ttl--;
}

SEC("xdp_router_ipv4") int router_ipv4(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(ip + 1) > end) return XDP_DROP;
  if (eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  if (ip->ttl <= 1) return XDP_PASS;

  __u32 protocol = ip->protocol;
  __u64 *count = bpf_map_lookup_elem(&routed, &protocol);
  if (count) *count += 1;

  struct prefix prefix = {.bits = 32, .address = ip->daddr};
  struct route *route = bpf_map_lookup_elem(&routes, &prefix);
  if (!route) return XDP_DROP;
  __be32 hop = route->gateway ? route->gateway : ip->daddr;
  struct neighbour *neighbour = bpf_map_lookup_elem(&neighbours, &hop);
  if (!neighbour) return XDP_PASS;
  __builtin_memcpy(eth->h_dest, neighbour->mac, 6);
  __builtin_memcpy(eth->h_source, neighbour->own_mac, 6);
  decrease_ttl(ip);
  return bpf_redirect_map(&ports, route->port, 0);
}
