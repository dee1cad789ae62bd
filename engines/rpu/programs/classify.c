/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * The first step of designs/chain.toml, for two ports: TCP over IPv4 goes over loopback to the units of the group
 * `inspect`, everything else straight to the other port. A frame that comes over loopback does not say where it
 * entered, so of each two inspecting units the first gets what came from port 0, the second what came from port 1. The
 * flow hash chooses the two, so flows keep their order.
 */
#include <packet_headers.h>
#include <penstock.h>

#ifndef PN_COUNT_INSPECT
#error "this needs a design with a group of units named inspect: compile it with --design designs/chain.toml"
#endif

#define IP_TCP 6

static int is_tcp(uint32_t length) {
  const volatile struct eth_header *eth = (const volatile struct eth_header *)pn_window();
  const volatile struct ipv4_header *ip = (const volatile struct ipv4_header *)(pn_window() + ETH_HEADER_SIZE);
  if (length < ETH_HEADER_SIZE + IPV4_HEADER_SIZE || eth->type != PN_BE16(0x0800)) return 0;
  return ip->version_ihl >> 4 == 4 && ip->protocol == IP_TCP;
}

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    uint32_t from = pn_from(desc) & 1u; /* the host's frames go where those of port 0 go */
    uint32_t pair = pn_hash() % (PN_COUNT_INSPECT / 2u);
    uint32_t to = is_tcp(pn_len(desc)) ? PN_PORT_UNIT(PN_FIRST_INSPECT + 2u * pair + from) : PN_PORT_ETH(1u - from);
    pn_send(pn_to(desc, to));
  }
}
