/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The string_match accelerator: searches bytes of packet memory for the patterns that the host has loaded. */
#ifndef PENSTOCK_STRING_MATCH_H
#define PENSTOCK_STRING_MATCH_H

#include "penstock.h"

/* Starts a search in `bytes` bytes from `data` on, in packet memory, at any alignment. */
static inline void pn_match_start(const void *data, uint32_t bytes) {
  pn_barrier(); /* the program's stores to these bytes come first */
  PN_ACCEL_REG(PN_STRING_MATCH, STRING_MATCH_ADDR) = (uint32_t)(uintptr_t)data;
  PN_ACCEL_REG(PN_STRING_MATCH, STRING_MATCH_LENGTH) = bytes;
}
/* Waits in hardware for the end of the search. Bit n of the result: pattern n occurs; the first of the list is 0. */
static inline uint32_t pn_match_found(void) {
  uint32_t found = PN_ACCEL_REG(PN_STRING_MATCH, STRING_MATCH_FOUND);
  pn_barrier();
  return found;
}
/* Bytes up to the end of the occurrence that ends first; 0 if no pattern occurs. Waits like pn_match_found(). */
static inline uint32_t pn_match_end(void) { return PN_ACCEL_REG(PN_STRING_MATCH, STRING_MATCH_END); }

#endif
