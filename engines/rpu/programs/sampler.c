/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampler, by the card's flow hash: of the frames whose hash ends in the same 10 bits every eighth, the first
 * included, goes to the host, the others to the other port of the pair. Frames of a flow meet the same unit under the
 * flow hash policy.
 */
#include <penstock.h>

#define FLOWS 1024u
#define EVERY 8u

int main(void) {
  pn_init();
  static uint8_t seen[FLOWS];
  for (;;) {
    pn_desc_t desc = pn_recv();
    uint8_t *count = &seen[pn_hash() % FLOWS];
    pn_send((*count)++ % EVERY == 0 ? pn_to(desc, PN_PORT_HOST) : desc ^ pn_port(1));
  }
}
