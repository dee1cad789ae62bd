/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest forwarder: a frame that enters at one port of a pair leaves at the other. Three instructions a frame,
 * unrolled.
 */
#include <penstock.h>

int main(void) {
  pn_init();
#pragma clang loop unroll_count(8)
  for (;;) pn_send(pn_recv() ^ pn_port(1));
}
