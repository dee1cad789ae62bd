/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Counts frames by IP protocol and drops them. */
#include "protocols.h"

SEC("xdp") int xdp1(struct xdp_md *ctx) {
  count_protocol(ctx);
  return XDP_DROP;
}
