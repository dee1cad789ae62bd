/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Wrong on purpose: meets an illegal instruction with a frame in hand. */
#include <penstock.h>

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    __asm__ volatile("unimp");
    pn_send(desc ^ pn_port(1));
  }
}
