/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The functions that samples expect of the object xdp_sample, which bpftool links to them: it counts the fates of
 * frames, and otherwise only traces a kernel. */
#include "xdp_sample.bpf.h"

array_map rx_cnt SEC(".maps");
const volatile int nr_cpus = 16;
