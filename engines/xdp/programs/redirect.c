/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Sends every frame out of one port, which the loader sets. */
#include <bpf.h>

volatile const __u32 port = 1;

SEC("xdp") int redirect(struct xdp_md *ctx) { return bpf_redirect(port, 0); }
