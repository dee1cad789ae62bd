/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The crc32 accelerator: CRC-32 of Ethernet over bytes of packet memory. */
#ifndef PENSTOCK_CRC32_H
#define PENSTOCK_CRC32_H

#include "penstock.h"

/*
 * Starts the CRC of `bytes` bytes from `data` on, in packet memory, at any alignment. `before` is the CRC of the bytes
 * in front of these, or 0 at the start.
 */
static inline void pn_crc32_start(const void *data, uint32_t bytes, uint32_t before) {
  pn_barrier(); /* the program's stores to these bytes come first */
  PN_ACCEL_REG(PN_CRC32, CRC32_INITIAL) = before;
  PN_ACCEL_REG(PN_CRC32, CRC32_ADDR) = (uint32_t)(uintptr_t)data;
  PN_ACCEL_REG(PN_CRC32, CRC32_LENGTH) = bytes;
}
/* Waits in hardware for the last CRC started, and returns it. */
static inline uint32_t pn_crc32_result(void) {
  uint32_t crc = PN_ACCEL_REG(PN_CRC32, CRC32_CRC);
  pn_barrier();
  return crc;
}
/* The CRC of `bytes` bytes from `data` on. */
static inline uint32_t pn_crc32(const void *data, uint32_t bytes) {
  pn_crc32_start(data, bytes, 0);
  return pn_crc32_result();
}

#endif
