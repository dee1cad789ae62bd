/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers each message over IPv4 with itself, as an echo server does, out of Ethernet port 0: addresses and UDP ports
 * change places, and the answer acknowledges the message. Frames that are no such message are dropped.
 */
#include <packet_headers.h>
#include <penstock.h>

/* The header of QNP, in halfwords: it begins at a multiple of two. Numbers are in network order. */
struct qnp_header {
  uint8_t application;
  uint8_t type;
  uint16_t id[2];
  uint16_t acked_id[2];
  uint8_t count;
  uint8_t number;
  uint8_t flag;
  uint8_t segments;
  uint16_t padding[4];
};

#define QNP_AT (ETH_HEADER_SIZE + IPV4_HEADER_SIZE + UDP_HEADER_SIZE)
/* The port byte of frames that an inline block made, which for the l7 block are messages: 0x80 + the block's number. */
#define FROM_BLOCK 0x80u

static inline void swap16(uint16_t *a, uint16_t *b) {
  uint16_t kept = *a;
  *a = *b;
  *b = kept;
}

static void answer(pn_desc_t desc, uint8_t *frame) {
  struct eth_header *eth = (struct eth_header *)frame;
  struct ipv4_header *ip = (struct ipv4_header *)(frame + ETH_HEADER_SIZE);
  struct udp_header *udp = (struct udp_header *)(ip + 1);
  struct qnp_header *qnp = (struct qnp_header *)(frame + QNP_AT);
  uint16_t *dest = (uint16_t *)eth->dest_mac;
  uint16_t *src = (uint16_t *)eth->src_mac;
  for (int at = 0; at < ETH_ALEN / 2; at++) swap16(dest + at, src + at);
  uint32_t address = ip->src_ip;
  ip->src_ip = ip->dest_ip;
  ip->dest_ip = address;
  swap16(&udp->src_port, &udp->dest_port);
  /* A checksum of 0 means no checksum: that of the request would be wrong. */
  udp->checksum = 0;
  qnp->acked_id[0] = qnp->id[0];
  qnp->acked_id[1] = qnp->id[1];
  pn_send(pn_to(desc, PN_PORT_ETH(0)));
}

static int is_message(pn_desc_t desc, const uint8_t *frame) {
  const struct eth_header *eth = (const struct eth_header *)frame;
  const struct ipv4_header *ip = (const struct ipv4_header *)(frame + ETH_HEADER_SIZE);
  if ((pn_from(desc) & 0xF8u) != FROM_BLOCK) return 0;
  return eth->type == PN_BE16(0x0800) && ip->version_ihl == 0x45;
}

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    uint8_t *frame = pn_data();
    if (is_message(desc, frame)) {
      answer(desc, frame);
    } else {
      pn_drop(desc);
    }
  }
}
