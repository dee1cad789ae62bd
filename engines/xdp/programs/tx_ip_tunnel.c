/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Puts packets to configured services into an IP tunnel and sends them back: IPv4 and IPv6, TCP and UDP. */
#include <packet.h>

struct service {
  struct in6_addr address;
  __u16 port;
  __u16 family;
  __u8 protocol;
  __u8 zero[3];
};

struct tunnel {
  struct in6_addr source;
  struct in6_addr dest;
  __u16 family;
  __u8 mac[6];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, struct service);
  __type(value, struct tunnel);
  __uint(max_entries, 256);
} services SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 256);
} sent SEC(".maps");

static __always_inline void count(__u32 protocol) {
  __u64 *frames = bpf_map_lookup_elem(&sent, &protocol);
  if (frames) *frames += 1;
}

/* Destination port, or -1. */
static __always_inline int dest_port(void *transport, void *end, __u8 protocol) {
  if (protocol == IPPROTO_TCP) {
    struct tcphdr *tcp = transport;
    return (void *)(tcp + 1) > end ? -1 : tcp->dest;
  }
  if (protocol == IPPROTO_UDP) {
    struct udphdr *udp = transport;
    return (void *)(udp + 1) > end ? -1 : udp->dest;
  }
  return 0;
}

static __always_inline void ethernet(struct ethhdr *eth, const struct ethhdr *old, const struct tunnel *tunnel,
                                     __be16 type) {
  __builtin_memcpy(eth->h_source, old->h_dest, 6);
  __builtin_memcpy(eth->h_dest, tunnel->mac, 6);
  eth->h_proto = type;
}

static __always_inline int ipv4(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct iphdr *ip = frame_start(ctx) + sizeof(struct ethhdr);
  if ((void *)(ip + 1) > end) return XDP_DROP;
  int port = dest_port(ip + 1, end, ip->protocol);
  if (port < 0) return XDP_DROP;
  struct service service = {.family = AF_INET, .protocol = ip->protocol, .port = port};
  service.address.words[0] = ip->daddr;
  __u16 length = bpf_ntohs(ip->tot_len);
  struct tunnel *tunnel = bpf_map_lookup_elem(&services, &service);
  if (!tunnel || tunnel->family != AF_INET) return XDP_PASS;

  if (bpf_xdp_adjust_head(ctx, -(int)sizeof(struct iphdr))) return XDP_DROP;
  end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct ethhdr *old = (void *)eth + sizeof(struct iphdr);
  ip = (void *)(eth + 1);
  if ((void *)(old + 1) > end || (void *)(ip + 1) > end) return XDP_DROP;
  ethernet(eth, old, tunnel, bpf_htons(ETH_P_IP));
  ip->version = 4;
  ip->ihl = 5;
  ip->frag_off = 0;
  ip->protocol = IPPROTO_IPIP;
  ip->check = 0;
  ip->tos = 0;
  ip->id = 0;
  ip->tot_len = bpf_htons(length + sizeof(struct iphdr));
  ip->daddr = tunnel->dest.words[0];
  ip->saddr = tunnel->source.words[0];
  ip->ttl = 8;
  ip->check = checksum_fold(checksum_add(ip, sizeof(struct iphdr), 0));
  count(service.protocol);
  return XDP_TX;
}

static __always_inline int ipv6(struct xdp_md *ctx) {
  void *end = frame_end(ctx);
  struct ipv6hdr *ip = frame_start(ctx) + sizeof(struct ethhdr);
  if ((void *)(ip + 1) > end) return XDP_DROP;
  int port = dest_port(ip + 1, end, ip->nexthdr);
  if (port < 0) return XDP_DROP;
  struct service service = {.family = AF_INET6, .protocol = ip->nexthdr, .port = port, .address = ip->daddr};
  __u16 length = bpf_ntohs(ip->payload_len);
  struct tunnel *tunnel = bpf_map_lookup_elem(&services, &service);
  if (!tunnel || tunnel->family != AF_INET6) return XDP_PASS;

  if (bpf_xdp_adjust_head(ctx, -(int)sizeof(struct ipv6hdr))) return XDP_DROP;
  end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct ethhdr *old = (void *)eth + sizeof(struct ipv6hdr);
  ip = (void *)(eth + 1);
  if ((void *)(old + 1) > end || (void *)(ip + 1) > end) return XDP_DROP;
  ethernet(eth, old, tunnel, bpf_htons(ETH_P_IPV6));
  ip->flow = bpf_htonl(0x60000000);
  ip->payload_len = bpf_htons(length + sizeof(struct ipv6hdr));
  ip->nexthdr = IPPROTO_IPV6;
  ip->hop_limit = 8;
  ip->saddr = tunnel->source;
  ip->daddr = tunnel->dest;
  count(service.protocol);
  return XDP_TX;
}

SEC("xdp_tx_iptunnel") int tx_ip_tunnel(struct xdp_md *ctx) {
  struct ethhdr *eth = frame_start(ctx);
  if ((void *)(eth + 1) > frame_end(ctx)) return XDP_DROP;
  if (eth->h_proto == bpf_htons(ETH_P_IP)) return ipv4(ctx);
  if (eth->h_proto == bpf_htons(ETH_P_IPV6)) return ipv6(ctx);
  return XDP_PASS;
}
