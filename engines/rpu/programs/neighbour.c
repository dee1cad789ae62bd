/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * A unit that behaves as the low debug word from the host says, so that a bench can see what its neighbours lose. The
 * program waits for a word that is not 0 before it takes the first frame.
 *
 *   1  forwards: a frame that enters at one port of a pair leaves at the other
 *   2  forwards, and gives UDP frames to port 54 to the host
 *   3  drops each frame
 *   4  stores 2,048 words to packet memory for each frame, then drops it
 *   5  takes one frame, and stores to packet memory for ever
 *   6  takes one frame, and does nothing for ever
 */
#include <packet_headers.h>
#include <penstock.h>

#define FORWARD 1u
#define TO_HOST 2u
#define DROP 3u
#define STORE 4u
#define STORE_ONLY 5u
#define UDP_PORT 36u /* where in a frame: destination port behind an IPv4 header without options */

/* Stores 16 words to the last frame's place, beyond the frame, without a pause. */
static inline void store(void) {
  volatile uint32_t *words = (volatile uint32_t *)(uintptr_t)(pn_data() + 2 + 4096);
#pragma clang loop unroll(full)
  for (uint32_t n = 0; n < 16; n++) words[n] = n;
}

static inline uint32_t is_for_host(void) {
  return *(const uint16_t *)(const void *)(pn_hdr() + UDP_PORT) == PN_BE16(54);
}

int main(void) {
  uint32_t mode;
  pn_init();
  while ((mode = PN_REG(RPU_CORE_DEBUG_IN_L)) == 0) {
  }
  while (mode == FORWARD) pn_send(pn_recv() ^ pn_port(1));
  while (mode == TO_HOST) {
    pn_desc_t frame = pn_recv();
    pn_send(is_for_host() ? pn_to(frame, PN_PORT_HOST) : frame ^ pn_port(1));
  }
  while (mode == DROP) pn_drop(pn_recv());
  while (mode == STORE) {
    pn_desc_t frame = pn_recv();
    for (uint32_t n = 0; n < 128; n++) store();
    pn_drop(frame);
  }
  pn_recv();
  while (mode == STORE_ONLY) store();
  for (;;) {
  }
}
