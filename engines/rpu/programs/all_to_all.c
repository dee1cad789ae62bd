/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * All units tell all others a number by broadcast: byte 14 of a frame is the number of units, bytes 18 to 21 a number. When each unit has a
 * frame, each of them leaves with the sum of their numbers in its place, at the neighbour of the port at which it came.
 * It takes as many frames as units, again and again, dealt out round robin.
 */
#include <penstock.h>

/* What a unit says: of this round and of the next, which others may have reached. */
typedef struct {
  uint32_t number;
  uint32_t round; /* stored last: who sees it sees the number */
} said_t;

int main(void) {
  pn_init();
  volatile said_t(*said)[PN_MAX_UNITS] = (volatile said_t(*)[PN_MAX_UNITS])pn_broadcast();
  uint32_t me = pn_unit();
  for (uint32_t round = 1;; round++) {
    pn_desc_t desc = pn_recv();
    const uint8_t *header = pn_hdr();
    uint32_t units = header[14];
    volatile said_t *now = said[round & 1];
    now[me].number = *(const uint32_t *)(const void *)(header + 18);
    now[me].round = round;
    uint32_t sum = 0;
    for (uint32_t unit = 0; unit < units; unit++) {
      while (now[unit].round != round) {
      }
      sum += now[unit].number;
    }
    *(volatile uint32_t *)(void *)(pn_data() + 18) = sum;
    pn_send(desc ^ pn_port(1));
  }
}
