/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * The flow_hash accelerator: Toeplitz hash over up to 36 bytes that the program pushes, in registers as a load from the
 * frame gives them. Over source address, destination address, source port and destination port the result is the hash
 * of RSS and of pn_hash().
 */
#ifndef PENSTOCK_FLOW_HASH_H
#define PENSTOCK_FLOW_HASH_H

#include "penstock.h"

/* Begins a new hash. */
static inline void pn_flow_hash_clear(void) { PN_ACCEL_REG(PN_FLOW_HASH, FLOW_HASH_CLEAR) = 0; }
/* Pushes four bytes, two, or one. */
static inline void pn_flow_hash_push4(uint32_t bytes) { PN_ACCEL_REG(PN_FLOW_HASH, FLOW_HASH_PUSH4) = bytes; }
static inline void pn_flow_hash_push2(uint32_t bytes) { PN_ACCEL_REG(PN_FLOW_HASH, FLOW_HASH_PUSH2) = bytes; }
static inline void pn_flow_hash_push1(uint32_t byte) { PN_ACCEL_REG(PN_FLOW_HASH, FLOW_HASH_PUSH1) = byte; }
/* The hash of the bytes pushed; waits in hardware, for one cycle at most. */
static inline uint32_t pn_flow_hash_result(void) { return PN_ACCEL_REG(PN_FLOW_HASH, FLOW_HASH_HASH); }

#endif
