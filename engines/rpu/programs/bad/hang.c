/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Wrong on purpose: forwards, but a frame whose first byte is 0xEE is never given back. */
#include <penstock.h>

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    while (*pn_hdr() == 0xEE) pn_barrier();
    pn_send(desc ^ pn_port(1));
  }
}
