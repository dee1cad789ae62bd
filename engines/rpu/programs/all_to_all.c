/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Every unit asks all others, by broadcast: byte 14 of a frame is the number of units, bytes 18 to 20 a number. The
 * unit that has the frame tells it to all, each answers with the number plus its own, and the frame leaves with the
 * sum of all answers in bytes 18 to 21, at the neighbour of the port at which it came. Questions come as interrupts,
 * also while a unit waits for answers; for these it looks into the region.
 */
#include <penstock.h>

/* A question and its answers have the same turn, so that an old answer is not taken for a new one. */
typedef union {
  struct {
    uint32_t number : 24;
    uint32_t turn : 8;
  };
  uint32_t word;
} said_t;

static volatile uint32_t *questions;              /* [asker] */
static volatile uint32_t (*answers)[PN_MAX_UNITS]; /* [asker][who answers] */
static uint32_t me;

static said_t answer(said_t question) {
  question.number += me;
  return question;
}

void int_handler(void) {
  pn_ack(pn_interrupts());
  for (const volatile uint32_t *question; (question = pn_message()) != NULL; pn_message_done()) {
    answers[question - questions][me] = answer((said_t){.word = *question}).word;
  }
}

int main(void) {
  questions = pn_broadcast();
  answers = (volatile uint32_t(*)[PN_MAX_UNITS])(pn_broadcast() + PN_BROADCAST_SIZE / 8);
  me = pn_unit();
  pn_listen(0x1F80, 0);
  pn_init();
  pn_set_interrupts(PN_INT_BROADCAST);
  said_t question = {.turn = 0};
  for (;;) {
    pn_desc_t desc = pn_recv();
    const uint8_t *header = pn_hdr();
    uint32_t units = header[14];
    question.number = header[18] | (uint32_t)header[19] << 8 | (uint32_t)header[20] << 16;
    question.turn++;
    questions[me] = question.word;
    uint32_t sum = answer(question).number;
    for (uint32_t unit = 0; unit < units; unit++) {
      if (unit == me) continue;
      said_t said;
      do {
        said.word = answers[me][unit];
      } while (said.turn != question.turn);
      sum += said.number;
    }
    *(volatile uint32_t *)(void *)(pn_data() + 18) = sum;
    pn_send(desc ^ pn_port(1));
  }
}
