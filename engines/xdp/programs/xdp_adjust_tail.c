/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Answers an IPv4 packet that is too long with ICMP "fragmentation needed": cuts it, puts headers before it, and sends
 * it back. */
#include <packet.h>

/* Longest packet that passes, and how much of a longer one goes into the answer. */
#define MAX_PACKET 600
#define QUOTED 98

volatile const __u32 longest = MAX_PACKET;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 1);
} answers SEC(".maps");

static __always_inline void count(void) {
  __u32 key = 0;
  __u64 *answered = bpf_map_lookup_elem(&answers, &key);
  if (answered) *answered += 1;
}

/* Puts an IPv4 and an ICMP header before the packet. */
static __always_inline int answer(struct xdp_md *ctx) {
  const int room = sizeof(struct iphdr) + sizeof(struct icmphdr);
  if (bpf_xdp_adjust_head(ctx, -room)) return XDP_DROP;
  void *end = frame_end(ctx);
  struct ethhdr *eth = frame_start(ctx);
  struct iphdr *ip = (void *)(eth + 1);
  struct icmphdr *icmp = (void *)(ip + 1);
  struct ethhdr *old_eth = (void *)eth + room;
  struct iphdr *old_ip = (void *)(old_eth + 1);
  if ((void *)(old_ip + 1) > end) return XDP_DROP;
  __builtin_memcpy(eth->h_dest, old_eth->h_source, 6);
  __builtin_memcpy(eth->h_source, old_eth->h_dest, 6);
  eth->h_proto = bpf_htons(ETH_P_IP);

  const int icmp_bytes = QUOTED - sizeof(struct ethhdr) + sizeof(struct icmphdr);
  if ((void *)icmp + icmp_bytes > end) return XDP_DROP;
  icmp->type = 3;
  icmp->code = 4;
  icmp->checksum = 0;
  icmp->id = 0;
  icmp->mtu = bpf_htons(longest - sizeof(struct ethhdr));
  icmp->checksum = checksum_fold(bpf_csum_diff(0, 0, (__be32 *)icmp, icmp_bytes, 0));

  ip->version = 4;
  ip->ihl = 5;
  ip->tos = 0;
  ip->tot_len = bpf_htons(icmp_bytes + sizeof(struct iphdr));
  ip->id = 0;
  ip->frag_off = 0;
  ip->ttl = 64;
  ip->protocol = IPPROTO_ICMP;
  ip->saddr = old_ip->daddr;
  ip->daddr = old_ip->saddr;
  ip->check = 0;
  ip->check = checksum_fold(checksum_add(ip, sizeof(struct iphdr), 0));
  count();
  return XDP_TX;
}

SEC("xdp") int xdp_adjust_tail(struct xdp_md *ctx) {
  void *start = frame_start(ctx), *end = frame_end(ctx);
  int length = end - start;
  struct ethhdr *eth = start;
  if ((void *)(eth + 1) > end) return XDP_DROP;
  if (eth->h_proto != bpf_htons(ETH_P_IP) || length <= (int)longest) return XDP_PASS;
  if (bpf_xdp_adjust_tail(ctx, QUOTED - length)) return XDP_PASS;
  return answer(ctx);
}
