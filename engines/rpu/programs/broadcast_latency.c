/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a broadcast word takes: senders store the time, the others compare it with theirs when they see it. The
 * host starts it with DEBUG_IN: units that send, from 0 on, in the low word; cycles between two words of a unit in the
 * high one, 0 as many as it can. Each unit looks at the words of one sender and gives, in DEBUG_OUT, the shortest time
 * [15:0] and the longest [31:16] in cycles, and how many it saw.
 */
#include <penstock.h>

static uint32_t now(void) { return PN_REG(RPU_CORE_TIMER_L); }

int main(void) {
  pn_init();
  uint64_t orders;
  while ((uint32_t)(orders = pn_debug_in()) == 0) {
  }
  uint32_t me = pn_unit(), senders = (uint32_t)orders, gap = (uint32_t)(orders >> 32);
  volatile uint32_t *words = pn_broadcast();
  volatile uint32_t *watched = &words[(me ^ 1u) < senders ? me ^ 1u : 0];
  uint32_t seen = *watched, sent = now(), shortest = 0xFFFF, longest = 0, count = 0;
  for (;;) {
    if (me < senders && now() - sent >= gap) {
      /* As many as it can: the turn of this loop would be a pause. */
      for (uint32_t more = gap == 0 ? 7 : 0; more > 0; more--) words[me] = now();
      words[me] = sent = now();
    }
    uint32_t word = *watched, came = now();
    if (word == seen) continue;
    uint32_t took = came - word;
    seen = word;
    if (took < shortest) shortest = took;
    if (took > longest) longest = took;
    pn_debug(shortest | longest << 16, ++count);
  }
}
