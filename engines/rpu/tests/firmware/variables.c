// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Variables of all kinds, for test_variables.py. Each frame adds to a count, and its length is stored by length / 64.
#include <penstock.h>
#include <stdbool.h>

enum mode { OFF, FORWARD, MIRROR = 7 };
typedef struct {
  uint32_t frames;
  uint64_t bytes;
} flow_t;

struct entry {
  uint8_t mac[6];
  int16_t offset;
  union {
    uint32_t rate;
    uint16_t parts[2];
  };
  unsigned low : 3, middle : 10, high : 19;
  enum mode mode;
  flow_t flow;
};

volatile uint32_t count = 5;
volatile int8_t small = -3;
volatile bool is_set = true;
volatile uint64_t wide = 0x123456789abcdef0;
volatile enum mode mode = FORWARD;
volatile char name[12] = "penstock";
volatile uint16_t grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
volatile struct entry table[4] = {{.mac = {2, 0, 0, 0, 0, 1}, .offset = -7, .rate = 0x20001, .low = 5, .middle = 700,
                                   .high = 400000, .mode = MIRROR, .flow = {.frames = 9, .bytes = 1ULL << 40}}};
volatile const uint32_t *volatile next = &count;
volatile float share = 0.25f;
static volatile uint16_t lengths[16];

int main(void) {
  static volatile uint32_t calls = 2;
  pn_init();
  for (;;) {
    pn_desc_t frame = pn_recv();
    count = count + 1;
    calls = calls + 1;
    lengths[pn_len(frame) / 64 % 16] = (uint16_t)pn_len(frame);
    pn_send(mode == OFF ? 0 : frame ^ pn_port(1));
  }
}
