/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Every frame through the host's memory: written there, read back to another slot's place and sent from it out of its
 * pair's other port. Each unit has 1 MiB of the host's memory, and each slot 32 KiB of that, which begins at a place
 * that is never a multiple of 64.
 */
#include <penstock.h>

#define SLOTS 16u
#define SLOT_BYTES 32768u
#define SPARE (PN_PMEM_BASE + SLOTS * SLOT_BYTES) /* where frames come back to, slot by slot, at packet offsets of their own */

int main(void) {
  pn_set_interrupts(PN_INT_POKE | PN_INT_EVICT);
  pn_init_slots(SLOTS, PN_PMEM_BASE + PN_PACKET_OFFSET, SLOT_BYTES);
  for (;;) {
    pn_desc_t desc = pn_recv();
    uint32_t slot = pn_slot(desc), bytes = pn_len(desc);
    uint64_t host = ((uint64_t)pn_unit() << 20) + (slot - 1) * SLOT_BYTES + slot * 3u + bytes % 61u;
    uint8_t *back = (uint8_t *)(uintptr_t)(SPARE + (slot - 1) * SLOT_BYTES + slot % 8u * 2u);
    pn_host_write(slot, host, pn_data(), bytes);
    pn_host_wait(slot);
    pn_host_read(slot, host, back, bytes);
    pn_host_wait(slot);
    pn_send_from(desc ^ pn_port(1), back);
  }
}
