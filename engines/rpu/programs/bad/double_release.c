/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Wrong on purpose: sends each frame, then drops it although the slot is no longer its own. */
#include <penstock.h>

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    pn_send(desc ^ pn_port(1));
    while (PN_REG(RPU_CORE_ACTIVE_SLOTS) & 1u << (pn_slot(desc) - 1)) pn_barrier();
    pn_drop(desc);
  }
}
