/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Wrong on purpose: writes where no memory is, with a frame in hand. */
#include <penstock.h>

int main(void) {
  pn_init();
  volatile uint32_t *nowhere = (volatile uint32_t *)0x0F000040u;
  for (;;) {
    pn_desc_t desc = pn_recv();
    *nowhere = 1;
    pn_send(desc ^ pn_port(1));
  }
}
