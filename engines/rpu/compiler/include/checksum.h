/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * The checksum accelerator: Internet checksum (RFC 1071) over bytes of packet memory. Sums and checksums are in the
 * byte order of the frame: store them into it, and compare them with its fields, without conversion.
 */
#ifndef PENSTOCK_CHECKSUM_H
#define PENSTOCK_CHECKSUM_H

#include "packet_headers.h"
#include "penstock.h"

/*
 * Starts a sum over `bytes` bytes from `data` on, in packet memory, at any alignment. The sum starts from `initial`:
 * one or two 16-bit words, such as the sum of a pseudo header, or 0.
 */
static inline void pn_checksum_start(const void *data, uint32_t bytes, uint32_t initial) {
  pn_barrier(); /* the program's stores to these bytes come first */
  PN_ACCEL_REG(PN_CHECKSUM, CHECKSUM_INITIAL) = initial;
  PN_ACCEL_REG(PN_CHECKSUM, CHECKSUM_ADDR) = (uint32_t)(uintptr_t)data;
  PN_ACCEL_REG(PN_CHECKSUM, CHECKSUM_LENGTH) = bytes;
}
/* Waits in hardware for the last sum started, and returns it. 0xFFFF over data with its checksum means no error. */
static inline uint32_t pn_checksum_sum(void) {
  uint32_t sum = PN_ACCEL_REG(PN_CHECKSUM, CHECKSUM_SUM);
  pn_barrier();
  return sum;
}
/* The checksum of `bytes` bytes from `data` on, for the header's field, which must be 0 meanwhile. */
static inline uint16_t pn_checksum(const void *data, uint32_t bytes, uint32_t initial) {
  pn_checksum_start(data, bytes, initial);
  return (uint16_t)~pn_checksum_sum();
}

/*
 * The sum of the pseudo header of a segment over IPv4 (RFC 9293, section 3.1), for pn_checksum() over `bytes` bytes of
 * TCP (6) or UDP (17). If the checksum of UDP is 0, send 0xFFFF (RFC 768).
 */
static inline uint32_t pn_pseudo_header(const struct ipv4_header *ip, uint32_t protocol, uint32_t bytes) {
  uint32_t source = ip->src_ip, target = ip->dest_ip;
  /* Four halves of 16 bits, and two more, are less than three times 2^17. */
  return (source & 0xFFFFu) + (source >> 16) + (target & 0xFFFFu) + (target >> 16) + PN_BE16(protocol) + PN_BE16(bytes);
}

#endif
