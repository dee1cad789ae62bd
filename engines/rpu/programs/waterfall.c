/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * A token goes from unit to unit by broadcast: who has a frame sends one out, each unit adds its number plus one and hands it to the next, and
 * when it comes back the frame leaves with what was added in bytes 18 to 21, at the neighbour of the port at which it came. Byte 14 of a frame is
 * the number of units. Tokens come as interrupts, also while a unit waits for its own.
 */
#include <penstock.h>

/* The token of the frame that `origin` has, as `unit` handed it on. */
typedef union {
  struct {
    uint16_t sum;
    uint8_t units;
    uint8_t from;
  };
  uint32_t word;
} token_t;

static volatile uint32_t *tokens; /* [unit][origin] */
static uint32_t me;
static volatile uint32_t returned;

static void hand_on(uint32_t origin, token_t token) { tokens[me * PN_MAX_UNITS + origin] = token.word; }

void int_handler(void) {
  uint32_t flags = pn_interrupts();
  pn_ack(flags);
  for (const volatile uint32_t *message; (message = pn_message()) != NULL; pn_message_done()) {
    token_t token = {.word = *message};
    uint32_t place = (uint32_t)(message - tokens), origin = place % PN_MAX_UNITS;
    uint32_t next = token.from + 1u;
    if ((next == token.units ? 0 : next) != me) continue;
    if (origin == me) {
      returned = token.word;
    } else {
      token.sum += (uint16_t)(me + 1);
      token.from = (uint8_t)me;
      hand_on(origin, token);
    }
  }
}

int main(void) {
  tokens = pn_broadcast();
  me = pn_unit();
  pn_listen(0, 0);
  pn_init();
  pn_set_interrupts(PN_INT_BROADCAST);
  for (;;) {
    pn_desc_t desc = pn_recv();
    token_t token = {.sum = (uint16_t)(me + 1), .units = pn_hdr()[14], .from = (uint8_t)me};
    if (token.units > 1) {
      returned = 0;
      hand_on(me, token);
      while (returned == 0) {
      }
      token.word = returned;
    }
    *(volatile uint32_t *)(void *)(pn_data() + 18) = token.sum;
    pn_send(desc ^ pn_port(1));
  }
}
