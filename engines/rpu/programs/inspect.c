/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * The second step of designs/chain.toml: a frame in which one of the patterns occurs behind the Ethernet header is
 * dropped, others leave. The first of each two units gets what entered at port 0 (classify.c), so it sends to port 1,
 * the second to port 0.
 */
#include <packet_headers.h>
#include <penstock.h>
#include <string_match.h>

#ifndef PN_COUNT_INSPECT
#error "this needs a design with a group of units named inspect, such as designs/chain.toml"
#endif

int main(void) {
  pn_init();
  uint32_t to = (pn_unit() - PN_FIRST_INSPECT) & 1u ? PN_PORT_ETH(0) : PN_PORT_ETH(1);
  for (;;) {
    pn_desc_t desc = pn_recv();
    pn_match_start(pn_data() + ETH_HEADER_SIZE, pn_len(desc) - ETH_HEADER_SIZE);
    if (pn_match_found()) pn_drop(desc);
    else pn_send(pn_to(desc, to));
  }
}
