/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* 64-bit division, which the core has no instruction for: the compiler calls these by name. One quotient bit a step. */
#include <stdint.h>

static uint64_t divide(uint64_t dividend, uint64_t divisor, uint64_t *remainder) {
  if (divisor == 0) { /* as the core's own instructions answer */
    *remainder = dividend;
    return UINT64_MAX;
  }
  uint64_t quotient = 0;
  uint64_t rest = 0;
  for (int bit = 63; bit >= 0; bit--) {
    uint64_t carry = rest >> 63;
    rest = rest << 1 | (dividend >> bit & 1);
    if (carry || rest >= divisor) {
      rest -= divisor;
      quotient |= (uint64_t)1 << bit;
    }
  }
  *remainder = rest;
  return quotient;
}

static uint64_t magnitude(int64_t value) { return value < 0 ? -(uint64_t)value : (uint64_t)value; }

uint64_t __udivdi3(uint64_t a, uint64_t b) {
  uint64_t remainder;
  return divide(a, b, &remainder);
}

uint64_t __umoddi3(uint64_t a, uint64_t b) {
  uint64_t remainder;
  divide(a, b, &remainder);
  return remainder;
}

int64_t __divdi3(int64_t a, int64_t b) {
  uint64_t remainder;
  uint64_t quotient = divide(magnitude(a), magnitude(b), &remainder);
  return (int64_t)((a < 0) != (b < 0) ? -quotient : quotient);
}

int64_t __moddi3(int64_t a, int64_t b) {
  uint64_t remainder;
  divide(magnitude(a), magnitude(b), &remainder);
  return (int64_t)(a < 0 ? -remainder : remainder);
}
