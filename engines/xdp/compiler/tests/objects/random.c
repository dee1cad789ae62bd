/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Maps for random programs. */
#include <packet.h>

#include "map.h"

MAP(array, ARRAY, 4, 16, 3, 0);
MAP(own, PERCPU_ARRAY, 4, 8, 4, 0);
MAP(hash, HASH, 4, 8, 3, 0);
MAP(wide, HASH, 12, 32, 8, 0);

SEC("xdp") int nothing(struct xdp_md *ctx) { return XDP_PASS; }
