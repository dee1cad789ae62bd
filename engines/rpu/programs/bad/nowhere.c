/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Wrong on purpose: sends to a port that no card has. */
#include <penstock.h>

int main(void) {
  pn_init();
  for (;;) pn_send(pn_to(pn_recv(), 0x3F));
}
