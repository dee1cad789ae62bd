/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * A token goes from unit to unit by broadcast. A unit that has a frame sends out a token, and each unit adds its number
 * plus one and passes the token on. When the token returns, the frame leaves at the neighbour of its port, with the sum
 * in bytes 18 to 21. Byte 14 of a frame is the number of units. Tokens arrive as interrupts, even while a unit waits
 * for its own.
 */
#include <penstock.h>

typedef union {
  struct {
    uint16_t sum;
    uint16_t units;
  };
  uint32_t word;
} token_t;

static volatile uint32_t (*tokens)[PN_MAX_UNITS]; /* [whose turn it is][who has the frame] */
static uint32_t me;
static volatile uint32_t returned;

/* Adds this unit's number to the token of `origin`'s frame and hands it on. */
static void hand_on(uint32_t origin, token_t token) {
  uint32_t next = me + 1 == token.units ? 0 : me + 1;
  token.sum += (uint16_t)(me + 1);
  tokens[next][origin] = token.word;
}

void int_handler(void) {
  pn_ack(pn_interrupts());
  for (const volatile uint32_t *message; (message = pn_message()) != NULL; pn_message_done()) {
    uint32_t origin = (uint32_t)(message - tokens[me]);
    if (origin == me) {
      returned = *message;
    } else {
      hand_on(origin, (token_t){.word = *message});
    }
  }
}

int main(void) {
  tokens = (volatile uint32_t(*)[PN_MAX_UNITS])pn_broadcast();
  me = pn_unit();
  pn_listen(0x1F80, me * sizeof *tokens);
  pn_init();
  pn_set_interrupts(PN_INT_BROADCAST);
  for (;;) {
    pn_desc_t desc = pn_recv();
    returned = 0;
    hand_on(me, (token_t){.units = pn_hdr()[14]});
    while (returned == 0) {
    }
    *(volatile uint32_t *)(void *)(pn_data() + 18) = (token_t){.word = returned}.sum;
    pn_send(desc ^ pn_port(1));
  }
}
