/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A program to be debugged: writes a sum of each frame, a key and the unit's number into it and sends it to port 1. */
#include <penstock.h>

static volatile uint32_t key = 0x20;
static volatile uint32_t count;

__attribute__((noinline)) static uint32_t mix(const uint8_t *bytes, uint32_t length) {
  uint32_t sum = 5381;
  for (uint32_t n = 0; n < length; n++) {
    sum = sum * 33 + bytes[n]; /* in the loop */
    if (sum % 7 == 3) sum ^= 0x5A5A0000u + n;
  }
  return sum;
}

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    uint8_t *frame = pn_data();
    uint32_t sum = mix(frame, 20);
    count++;
    frame[20] = (uint8_t)key; /* the frame is here */
    frame[21] = (uint8_t)pn_unit();
    frame[22] = (uint8_t)sum;
    frame[23] = (uint8_t)(sum >> 8);
    pn_send(pn_to(desc, 1));
  }
}
