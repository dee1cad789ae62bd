// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Stands between clients at port 0 and servers at the other ports, beside messages that the l7 block sends to the ports of its
// rules: answers of servers go to the clients, all other frames of clients to the server at port 1.
#include <penstock.h>

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t frame = pn_recv();
    pn_send(pn_to(frame, pn_from(frame) == 0 ? 1 : 0));
  }
}
