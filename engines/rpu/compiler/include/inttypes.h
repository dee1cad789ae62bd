/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Firmware has no formatted output, so this inttypes.h only has the types. */
#ifndef PENSTOCK_INTTYPES_H
#define PENSTOCK_INTTYPES_H

#include <stdint.h>

#endif
