/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Firewall (Rosebud, section 7.2): IPv4 frames leave at the other port of the pair unless their source is in the
 * table; all others are dropped. The look-up starts before it is known to be needed, and its answer is a mask for the
 * descriptor. Eleven instructions a frame, of which one waits for one cycle.
 */
#include <ip_prefix.h>
#include <packet_headers.h>
#include <penstock.h>

#define ETHERTYPE_IPV4 PN_BE16(0x0800)

static inline void filter(void) {
  pn_desc_t desc = pn_recv();
  const volatile struct eth_header *eth = (const volatile struct eth_header *)pn_window();
  const volatile struct ipv4_header *ip = (const volatile struct ipv4_header *)(pn_window() + ETH_HEADER_SIZE);
  uint32_t source = ip->src_ip;
  /* Two instructions while the answer is computed. */
  uint32_t type = eth->type;
  uint32_t length = pn_now(pn_len(desc));
  ip_prefix_start(source);
  if (__builtin_expect(length >= ETH_HEADER_SIZE + IPV4_HEADER_SIZE, 1)) {
    if (__builtin_expect(type == ETHERTYPE_IPV4, 1)) {
      pn_send((desc ^ pn_port(1)) & ip_prefix_pass_mask());
      return;
    }
  }
  pn_drop(desc);
}

int main(void) {
  pn_init();
#pragma clang loop unroll_count(4)
  for (;;) filter();
}
