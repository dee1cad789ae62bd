/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Hands UDP over IPv4 on to the units of the group `filters`, flow by flow; everything else leaves at the other
 * port. */
#include <packet_headers.h>
#include <penstock.h>

#define IP_UDP 17

static int is_udp(uint32_t length) {
  const volatile struct eth_header *eth = (const volatile struct eth_header *)pn_window();
  const volatile struct ipv4_header *ip = (const volatile struct ipv4_header *)(pn_window() + ETH_HEADER_SIZE);
  if (length < ETH_HEADER_SIZE + IPV4_HEADER_SIZE || eth->type != PN_BE16(0x0800)) return 0;
  return ip->version_ihl >> 4 == 4 && ip->protocol == IP_UDP;
}

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    int hands_on = is_udp(pn_len(desc));
    uint32_t filter = PN_FIRST_FILTERS + pn_hash() % PN_COUNT_FILTERS;
    pn_send(hands_on ? pn_to(desc, PN_PORT_UNIT(filter)) : desc ^ pn_port(1));
  }
}
