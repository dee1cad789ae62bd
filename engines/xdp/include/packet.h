/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Packet headers as XDP programs see them: in network order, named as in Linux. */
#pragma once

#include "bpf.h"

enum { ETH_ALEN = 6, ETH_HLEN = 14 };
enum { ETH_P_IP = 0x0800, ETH_P_ARP = 0x0806, ETH_P_8021Q = 0x8100, ETH_P_8021AD = 0x88A8, ETH_P_IPV6 = 0x86DD };
enum {
  IPPROTO_HOPOPTS = 0,
  IPPROTO_ICMP = 1,
  IPPROTO_IPIP = 4,
  IPPROTO_TCP = 6,
  IPPROTO_UDP = 17,
  IPPROTO_IPV6 = 41,
  IPPROTO_ROUTING = 43,
  IPPROTO_FRAGMENT = 44,
  IPPROTO_GRE = 47,
  IPPROTO_ESP = 50,
  IPPROTO_AH = 51,
  IPPROTO_ICMPV6 = 58,
  IPPROTO_NONE = 59,
  IPPROTO_DSTOPTS = 60,
  IPPROTO_SCTP = 132,
};

struct ethhdr {
  __u8 h_dest[ETH_ALEN];
  __u8 h_source[ETH_ALEN];
  __be16 h_proto;
} __attribute__((packed));

struct vlan_hdr {
  __be16 h_vlan_TCI;
  __be16 h_vlan_encapsulated_proto;
};

struct iphdr {
  __u8 ihl : 4, version : 4;
  __u8 tos;
  __be16 tot_len;
  __be16 id;
  __be16 frag_off;
  __u8 ttl;
  __u8 protocol;
  __sum16 check;
  __be32 saddr;
  __be32 daddr;
};

struct in6_addr {
  __be32 words[4];
};
#define s6_addr32 words

struct ipv6hdr {
  union {
    __be32 flow;
    struct {
      __u8 priority : 4, version : 4;
      __u8 flow_lbl[3];
    };
  };
  __be16 payload_len;
  __u8 nexthdr;
  __u8 hop_limit;
  struct in6_addr saddr;
  struct in6_addr daddr;
};

struct icmphdr {
  __u8 type;
  __u8 code;
  __sum16 checksum;
  union {
    struct {
      __be16 id;
      __be16 mtu;
    };
    union {
      struct {
        __be16 id;
        __be16 sequence;
      } echo;
      __be32 gateway;
      struct {
        __be16 unused;
        __be16 mtu;
      } frag;
    } un;
  };
};

struct udphdr {
  __be16 source;
  __be16 dest;
  __be16 len;
  __sum16 check;
};

struct tcphdr {
  __be16 source;
  __be16 dest;
  __be32 seq;
  __be32 ack_seq;
  union {
    __be16 flags;
    struct {
      __u16 res1 : 4, doff : 4, fin : 1, syn : 1, rst : 1, psh : 1, ack : 1, urg : 1, ece : 1, cwr : 1;
    };
  };
  __be16 window;
  __sum16 check;
  __be16 urg_ptr;
};

/* The frame's first byte, and the one after its last. */
static __always_inline void *frame_start(const struct xdp_md *ctx) { return (void *)(long)ctx->data; }
static __always_inline void *frame_end(const struct xdp_md *ctx) { return (void *)(long)ctx->data_end; }

static __always_inline void swap_macs(struct ethhdr *eth) {
  __u16 *dest = (__u16 *)eth->h_dest, *source = (__u16 *)eth->h_source;
  for (int i = 0; i < 3; i++) {
    __u16 word = dest[i];
    dest[i] = source[i];
    source[i] = word;
  }
}

/* Folds a one's complement sum to 16 bits and complements it: an Internet checksum. */
static __always_inline __u16 checksum_fold(__u32 sum) {
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return ~sum;
}

/* The sum of 16-bit words; `bytes` is even and known to the compiler. */
static __always_inline __u32 checksum_add(const void *data, int bytes, __u32 sum) {
  const __u16 *words = data;
#pragma unroll
  for (int i = 0; i < bytes / 2; i++) sum += words[i];
  return sum;
}
