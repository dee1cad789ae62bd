/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency probe: writes into each frame how long, in cycles, it took from the port to the program (bytes 14 to 17,
 * lowest first) and from here to the neighbour (unit number with the lowest bit flipped) and back over loopback (bytes
 * 18 to 21), and sends it out at the other port of the pair. Frames of less than 22 bytes leave as they came. One
 * frame at a time is on its way to the neighbour, so that none waits for another. Needs an even number of units; while
 * the neighbour is disabled or reloaded a frame on its way is dropped, and the unit probes no more.
 */
#include <penstock.h>

static uint32_t now(void) { return PN_REG(RPU_CORE_TIMER_L); }

static void put(volatile uint8_t *place, uint32_t value) {
  for (int i = 0; i < 4; i++) place[i] = (uint8_t)(value >> 8 * i);
}

/* Byte 18 of a frame from a neighbour: the frame is to go back, or has come back. */
enum { THERE = 1, BACK = 2 };

int main(void) {
  pn_init();
  uint32_t neighbour = PN_PORT_UNIT(pn_unit() ^ 1u);
  uint32_t held[PN_MAX_SLOTS], first = 0, count = 0;
  int away = 0;
  uint32_t port = 0, sent = 0;
  for (;;) {
    pn_desc_t desc = pn_recv();
    volatile uint8_t *data = pn_data();
    if (pn_from(desc) != PN_PORT_LOOPBACK) {
      if (pn_len(desc) < 22) {
        pn_send(desc ^ pn_port(1));
        continue;
      }
      put(data + 14, now() - pn_arrival());
      held[(first + count++) % PN_MAX_SLOTS] = desc;
    } else if (data[18] == THERE) {
      data[18] = BACK;
      pn_send(pn_to(desc, neighbour));
    } else {
      put(data + 18, now() - sent);
      pn_send(pn_to(desc, port));
      away = 0;
    }
    if (!away && count > 0) {
      desc = held[first];
      first = (first + 1) % PN_MAX_SLOTS;
      count--;
      port = pn_from(desc) ^ 1u;
      data = (volatile uint8_t *)(uintptr_t)(PN_PMEM_BASE + PN_PACKET_OFFSET + (pn_slot(desc) - 1) * (PN_PMEM_SIZE / PN_MAX_SLOTS));
      data[18] = THERE;
      away = 1;
      sent = now();
      pn_send(pn_to(desc, neighbour));
    }
  }
}
