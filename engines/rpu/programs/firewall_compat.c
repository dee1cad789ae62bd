/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * The firewall under Rosebud's names: the same verdicts as firewall.c, with polling and headers read from the frame
 * itself.
 */
#include "core.h"
#include "packet_headers.h"

#define FIREWALL_SOURCE (*(volatile uint32_t *)(IO_EXT_BASE + 0x00))
#define FIREWALL_MATCH (*(volatile uint8_t *)(IO_EXT_BASE + 0x04))
#define ETHERTYPE_IPV4 PN_BE16(0x0800)

static int passes(const struct Desc *frame) {
  const struct eth_header *eth = (const struct eth_header *)frame->data;
  if (frame->len < ETH_HEADER_SIZE + IPV4_HEADER_SIZE || eth->type != ETHERTYPE_IPV4) return 0;
  const struct ipv4_header *ip = (const struct ipv4_header *)(frame->data + ETH_HEADER_SIZE);
  FIREWALL_SOURCE = ip->src_ip;
  return !FIREWALL_MATCH;
}

int main(void) {
  init_hdr_slots(16, 0x804000, 128);
  init_slots(16, 0x00000A, 16384);
  set_masks(0x30);

  for (;;) {
    if (!in_pkt_ready()) continue;
    struct Desc frame;
    read_in_pkt(&frame);
    frame.port ^= 1;
    if (!passes(&frame)) frame.len = 0;
    pkt_send(&frame);
  }
}
