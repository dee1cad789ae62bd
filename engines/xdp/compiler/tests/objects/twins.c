/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Maps of random programs for cards: each kind that units in RTL have. */
#include <packet.h>

#include "map.h"

MAP(array, ARRAY, 4, 16, 3, 0);
MAP(own, PERCPU_ARRAY, 4, 8, 4, 0);
MAP(few, HASH, 4, 8, 3, 0);
MAP(wide, HASH, 12, 32, 8, 0);
MAP(lru, LRU_HASH, 8, 16, 64, 0);
MAP(each, PERCPU_HASH, 4, 8, 3, 0);
MAP(each_lru, LRU_PERCPU_HASH, 8, 20, 64, 0);
MAP(prefixes, LPM_TRIE, 8, 8, 3, BPF_F_NO_PREALLOC);

SEC("xdp") int nothing(struct xdp_md *ctx) { return XDP_PASS; }
