/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Drops every frame: what a program costs at least. */
#include <bpf.h>

SEC("xdp") int drop(struct xdp_md *ctx) { return XDP_DROP; }
