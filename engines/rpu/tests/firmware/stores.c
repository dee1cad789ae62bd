/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Test firmware: stores without end, 256 times before it looks for a frame, which it forwards unless bit 8 of the debug
 * word says not to. The low byte says where to: 0 packet memory, 1 data memory, 2 both in turn, 3 packet memory with
 * the bytes of words in reverse order.
 */
#include <penstock.h>

static volatile uint32_t here[2];

#define STORES(count, ...) __asm__ volatile(".rept " #count "\n" __VA_ARGS__ "\n.endr" : : "r"(a), "r"(b) : "memory")

int main(void) {
  pn_init();
  /* The upper half of the first slot */
  uintptr_t packet = PN_PMEM_BASE + 0x4000u, a = packet, b = (uintptr_t)here;
  for (;;) {
    uint32_t order = PN_REG(RPU_CORE_DEBUG_IN_L);
    switch (order & 0xFFu) {
      case 0: STORES(256, "sw zero, 0(%0)"); break;
      case 1: STORES(256, "sw zero, 0(%1)"); break;
      case 2: STORES(128, "sw zero, 0(%0)\nsw zero, 0(%1)"); break;
      default: a = (uintptr_t)PN_SWAPPED(packet); STORES(256, "sw zero, 0(%0)"); a = packet; break;
    }
    if (pn_ready() && !(order & 0x100u)) pn_send(pn_recv() ^ pn_port(1));
  }
}
