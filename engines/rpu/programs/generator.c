/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Packet generator: makes frames as the host's debug words say, and meanwhile forwards those that come, in at one port
 * of a pair, out at the other.
 *
 *   low word   length of the shortest frames [15:0], at least 14; port of frames 0, 2, 4, ... [19:16] and of 1, 3, 5, ... [23:20], as in a descriptor;
 *              how much longer, in bytes, each of eight frames in turn is than the one before [31:24]
 *   high word  how many frames [15:0], 0xFFFF: without end; cycles between the starts of two [31:16], 0: as fast as can be
 *
 * Frames begin when the high word changes to one that names some, so write the low word first; a change ends what is
 * going on. To have the same again write 0 and let the program see it. The debug word to the host says how many were
 * made, low, and how often they were begun, high.
 *
 * A frame is UDP over IPv4, from 198.18.0.UNIT port 49152 to 198.19.0.1 port 9 (the block for benchmarks of RFC 2544;
 * the service discard), its Ethernet addresses are 02:00:00:00:00:UNIT and 02:00:00:00:01:00. Bytes 42 to 45 are its
 * number, from 0, and 46 to 49 the cycle in which it was made, lowest byte first; zeros follow. One of less than 50
 * bytes ends where it ends.
 */
#include <packet_headers.h>
#include <penstock.h>
#include <string.h>

#define SLOTS 16u
#define SLOT_BYTES 32768u
/* The frames to send are after the slots: eight buffers in turn, so that no buffer is written before it was read. */
#define FRAMES 8u
#define FRAME_BYTES SLOT_BYTES
#define FIRST (PN_PMEM_BASE + SLOTS * SLOT_BYTES + PN_PACKET_OFFSET)
#define ENDLESS 0xFFFFu
#define NUMBER 42u /* where in a frame */

/* The SEND_DESC_LOW of the frame in each buffer. */
static uint32_t descriptors[FRAMES];

/* The high debug word: number and time. The low one is written before it. */
static inline uint32_t wanted(void) { return PN_REG(RPU_CORE_DEBUG_IN_H); }

static void put16(uint8_t *place, uint32_t value) {
  place[0] = (uint8_t)(value >> 8);
  place[1] = (uint8_t)value;
}

/* Sum of the IPv4 header's halves, folded and inverted (RFC 791). */
static uint32_t checksum(const uint8_t *header) {
  uint32_t sum = 0;
  for (uint32_t n = 0; n < IPV4_HEADER_SIZE; n += 2) sum += (uint32_t)header[n] << 8 | header[n + 1];
  sum = (sum & 0xFFFFu) + (sum >> 16);
  return ~(sum + (sum >> 16)) & 0xFFFFu;
}

/*
 * Writes what stays the same of the frame in a buffer. It takes long when the frame is long: each is written before it
 * is sent first.
 */
static void prepare(uint32_t index, uint32_t shape) {
  uint32_t length = (shape & 0xFFFFu) + index * (shape >> 24), port = shape >> (16 + index % 2 * 4) & 15u;
  uint8_t *frame = (uint8_t *)(uintptr_t)(FIRST + index * FRAME_BYTES);
  static const uint8_t header[NUMBER] = {2, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 198, 18, 0, 0, 198, 19, 0, 1, 192, 0, 0, 9};
  memcpy(frame, header, sizeof header);
  frame[11] = frame[29] = (uint8_t)pn_unit();
  put16(frame + 16, length - ETH_HEADER_SIZE);
  put16(frame + 38, length - ETH_HEADER_SIZE - IPV4_HEADER_SIZE);
  put16(frame + 24, checksum(frame + ETH_HEADER_SIZE));
  descriptors[index] = length | pn_port(port);
  /* The bytes after it are zero; this counts the zeros already written. */
  static uint32_t cleared[FRAMES];
  for (; cleared[index] < length && cleared[index] < SLOT_BYTES / 2; cleared[index] += 16) {
    volatile uint32_t *words = (volatile uint32_t *)(uintptr_t)(frame + NUMBER + cleared[index]);
    words[0] = words[1] = words[2] = words[3] = 0;
  }
}

static inline uint32_t now(void) { return PN_REG(RPU_CORE_TIMER_L); }

static inline void forward(void) {
  if (pn_ready()) pn_send(pn_recv() ^ pn_port(1));
}

/* Sends the frame in a buffer. */
static inline void make(uint32_t index, uint32_t number, uint32_t time) {
  uint32_t place = FIRST + index * FRAME_BYTES, descriptor = pn_now(descriptors[index]);
  volatile uint32_t *words = (volatile uint32_t *)(uintptr_t)(place + NUMBER);
  words[0] = number;
  words[1] = time;
  PN_REG(RPU_CORE_SEND_DESC_LOW) = descriptor;
  PN_REG(RPU_CORE_SEND_FROM) = place;
}

/* Makes the frames of `order` until the order changes. */
static void generate(uint32_t order, uint32_t begun) {
  uint32_t shape = PN_REG(RPU_CORE_DEBUG_IN_L), pace = order >> 16, number = 0;
  uint32_t count = (order & 0xFFFFu) == ENDLESS ? UINT32_MAX : order & 0xFFFFu;
  while (pn_generating()) {
  }
  uint32_t before = now() - pace;
  while (number < count) {
    if (pace == 0 && number >= FRAMES && count - number >= FRAMES) {
#pragma clang loop unroll(full)
      for (uint32_t index = 0; index < FRAMES; index++) make(index, number++, now());
    } else {
      uint32_t time;
      while ((time = now()) - before < pace) {
        forward();
        if (wanted() != order) return;
      }
      before += pace;
      if (number < FRAMES) prepare(number, shape);
      make(number % FRAMES, number, time);
      number++;
    }
    pn_debug(number, begun);
    if (wanted() != order) return;
    forward();
  }
}

int main(void) {
  pn_set_interrupts(PN_INT_POKE | PN_INT_EVICT);
  pn_init_headers(SLOTS, PN_HEADERS_BASE, PN_HEADER_SPACING);
  pn_init_slots(SLOTS, PN_PMEM_BASE + PN_PACKET_OFFSET, SLOT_BYTES);
  uint32_t order = 0, begun = 0;
  for (;;) {
    forward();
    if (wanted() == order) continue;
    order = wanted();
    if (order & 0xFFFFu) generate(order, ++begun);
  }
}
