/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers as they lie in a frame whose slot has the kit's packet offset, so that each field is aligned. Fields of more
 * than one byte are in network order (IEEE 802.3; RFC 768, 791, 793).
 */
#ifndef PENSTOCK_PACKET_HEADERS_H
#define PENSTOCK_PACKET_HEADERS_H

#include <stdint.h>

/*
 * A number as a load of such a field gives it, and back again: `eth->type == PN_BE16(0x0800)`,
 * `PN_BE16(ip->total_length)`. The core is little-endian, the network is not. A constant costs nothing, a field a byte
 * swap.
 */
#define PN_BE16(value) __builtin_bswap16(value)
#define PN_BE32(value) __builtin_bswap32(value)

#define ETH_ALEN 6

struct eth_header {
  uint8_t dest_mac[ETH_ALEN];
  uint8_t src_mac[ETH_ALEN];
  uint16_t type;
};

/* If a field has two names, the second one is Rosebud's. */
struct ipv4_header {
  uint8_t version_ihl; /* version [7:4], words of header [3:0] */
  union {
    uint8_t tos, dscp_ecn;
  };
  uint16_t total_length;
  uint16_t id;
  union {
    uint16_t flags_fo, flags_fragment_offset; /* flags [15:13], fragment offset [12:0] */
  };
  uint8_t ttl;
  uint8_t protocol;
  union {
    uint16_t checksum, hdr_sum;
  };
  uint32_t src_ip;
  uint32_t dest_ip;
};

struct tcp_header {
  uint16_t src_port;
  uint16_t dest_port;
  uint32_t seq;
  uint32_t ack;
#ifdef PENSTOCK_COMPAT_CORE_H
  uint16_t flags; /* words of header [15:12], flags [7:0] */
#else
  uint8_t data_offset; /* words of header [7:4] */
  uint8_t flags;
#endif
  uint16_t window;
  uint16_t checksum;
  union {
    uint16_t urgent_pointer, urgent_ptr;
  };
};

struct udp_header {
  uint16_t src_port;
  uint16_t dest_port;
  uint16_t length;
  uint16_t checksum;
};

#define ETH_HEADER_SIZE 14
#define IPV4_HEADER_SIZE 20
#define TCP_HEADER_SIZE 20
#define UDP_HEADER_SIZE 8

#endif
