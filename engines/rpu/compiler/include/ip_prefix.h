/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The ip_prefix accelerator: class of the longest IPv4 prefix that holds an address. The host loads the prefixes. */
#ifndef PENSTOCK_IP_PREFIX_H
#define PENSTOCK_IP_PREFIX_H

#include "penstock.h"

/* Starts a lookup; `address` in the byte order of a load from the frame. */
static inline void ip_prefix_start(uint32_t address) { PN_ACCEL_REG(PN_IP_PREFIX, IP_PREFIX_ADDR) = address; }
/* Class 1..15 of the last lookup, 0 if no prefix matches; waits in hardware for the answer. */
static inline uint32_t ip_prefix_class(void) { return PN_ACCEL_REG(PN_IP_PREFIX, IP_PREFIX_CLASS); }
/* All ones when no prefix matches; else a mask that makes a descriptor's length 0, which drops. Waits in hardware. */
static inline uint32_t ip_prefix_pass_mask(void) { return PN_ACCEL_REG(PN_IP_PREFIX, IP_PREFIX_PASS_MASK); }

#endif
