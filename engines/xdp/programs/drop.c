/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Drops every frame: the lowest cost of a program. */
#include <bpf.h>

SEC("xdp") int drop(struct xdp_md *ctx) { return XDP_DROP; }
