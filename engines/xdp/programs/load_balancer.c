/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A load balancer for services behind virtual addresses, of Katran's kind: a flow keeps its server (LRU table, else a
 * ring of servers by hash), packets go to the server in an IP-in-IP tunnel, and each service counts. */
#include <packet.h>

#define SERVICES 64
#define SERVERS 256
#define RING 1021 /* places of each service in the ring: a prime */

struct flow {
  __be32 source, dest;
  __be16 source_port, dest_port;
  __u8 protocol;
  __u8 zero[3];
};

struct vip {
  __be32 address;
  __be16 port;
  __u8 protocol;
  __u8 zero;
};

struct service {
  __u32 number;
  __u32 flags;
};

struct server {
  __be32 address;
  __u32 flags;
};

struct stats {
  __u64 packets;
  __u64 bytes;
};

enum { NO_FLOW_TABLE = 1, WITHOUT_SOURCE_PORT = 2 };

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, struct vip);
  __type(value, struct service);
  __uint(max_entries, SERVICES);
} vips SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __type(key, struct flow);
  __type(value, __u32);
  __uint(max_entries, 8192);
} flows SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, __u32);
  __uint(max_entries, SERVICES * RING);
} ring SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, struct server);
  __uint(max_entries, SERVERS);
} servers SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, struct stats);
  __uint(max_entries, SERVICES);
} counters SEC(".maps");

/* The next hop of packets, and the source of their tunnels; the loader sets them. */
volatile const __u8 gateway_mac[6];
volatile const __be32 tunnel_source;

static __always_inline __u32 rotate(__u32 x, int by) { return x << by | x >> (32 - by); }

/* A hash of a flow: multiply, rotate and mix, as Murmur's last round does. */
static __always_inline __u32 flow_hash(const struct flow *flow) {
  __u32 hash = flow->source * 0xCC9E2D51;
  hash = rotate(hash, 15) ^ flow->dest * 0x1B873593;
  hash = rotate(hash, 13) * 5 + ((__u32)flow->source_port << 16 | flow->dest_port);
  hash ^= hash >> 16;
  hash *= 0x85EBCA6B;
  hash ^= hash >> 13;
  hash *= 0xC2B2AE35;
  return hash ^ hash >> 16;
}

/* The server of a flow by the service's ring; it is written down for the flow's next packet. */
static __always_inline struct server *choose(const struct service *service, struct flow *flow) {
  __u32 *known = service->flags & NO_FLOW_TABLE ? 0 : bpf_map_lookup_elem(&flows, flow);
  if (known) {
    __u32 number = *known;
    return bpf_map_lookup_elem(&servers, &number);
  }
  __u32 place = service->number * RING + flow_hash(flow) % RING;
  __u32 *number = bpf_map_lookup_elem(&ring, &place);
  if (!number) return 0;
  __u32 chosen = *number;
  if (!(service->flags & NO_FLOW_TABLE)) bpf_map_update_elem(&flows, flow, &chosen, BPF_ANY);
  return bpf_map_lookup_elem(&servers, &chosen);
}

static __always_inline int tunnel(struct xdp_md *ctx, __be32 source, __be32 dest, __u16 length) {
  if (bpf_xdp_adjust_head(ctx, -(int)sizeof(struct iphdr))) return XDP_DROP;
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  struct ethhdr *old = (void *)eth + sizeof(struct iphdr);
  if ((void *)(ip + 1) > end || (void *)(old + 1) > end) return XDP_DROP;
  __builtin_memcpy(eth->h_source, old->h_dest, 6);
#pragma unroll
  for (int i = 0; i < 6; i++) eth->h_dest[i] = gateway_mac[i];
  eth->h_proto = bpf_htons(ETH_P_IP);
  ip->version = 4;
  ip->ihl = 5;
  ip->tos = 0;
  ip->tot_len = bpf_htons(length + sizeof(struct iphdr));
  ip->id = 0;
  ip->frag_off = 0;
  ip->ttl = 64;
  ip->protocol = IPPROTO_IPIP;
  ip->check = 0;
  /* Servers spread packets by source address: one for each flow. */
  ip->saddr = tunnel_source ^ (source & 0xFFFF0000);
  ip->daddr = dest;
  ip->check = checksum_fold(checksum_add(ip, sizeof(struct iphdr), 0));
  return XDP_TX;
}

SEC("xdp-balancer") int load_balancer(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  if ((void *)(eth + 1) > end) return XDP_DROP;
  if (eth->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  if ((void *)(ip + 1) > end) return XDP_DROP;
  /* Options and fragments: whose ports stand elsewhere. */
  if (ip->ihl != 5 || ip->frag_off & bpf_htons(0x3FFF)) return XDP_DROP;
  if (ip->protocol != IPPROTO_TCP && ip->protocol != IPPROTO_UDP) return XDP_PASS;
  struct udphdr *ports = (void *)(ip + 1);
  if ((void *)(ports + 1) > end) return XDP_DROP;

  struct vip vip = {.address = ip->daddr, .port = ports->dest, .protocol = ip->protocol};
  struct service *service = bpf_map_lookup_elem(&vips, &vip);
  if (!service) {
    vip.port = 0; /* all ports of the address */
    service = bpf_map_lookup_elem(&vips, &vip);
    if (!service) return XDP_PASS;
  }
  struct flow flow = {
      .source = ip->saddr,
      .dest = ip->daddr,
      .source_port = service->flags & WITHOUT_SOURCE_PORT ? 0 : ports->source,
      .dest_port = ports->dest,
      .protocol = ip->protocol,
  };
  __u16 length = bpf_ntohs(ip->tot_len);
  struct server *server = choose(service, &flow);
  if (!server) return XDP_DROP;
  __u32 number = service->number;
  struct stats *stats = bpf_map_lookup_elem(&counters, &number);
  if (!stats) return XDP_DROP;
  stats->packets++;
  stats->bytes += length;
  return tunnel(ctx, flow.source, server->address, length);
}
