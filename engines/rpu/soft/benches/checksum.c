/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Internet checksum (RFC 1071) over 1,500 bytes of data memory, again and again. */
#include <penstock.h>

static uint16_t data[750];

int main(void) {
  for (;;) {
    pn_barrier();
    uint32_t sum = 0;
    for (int i = 0; i < 750; i++) sum += data[i];
    while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
    data[0] = (uint16_t)~sum;
  }
}
