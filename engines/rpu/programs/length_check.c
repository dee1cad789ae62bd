/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Length check: forwards a frame if it is as long as its headers claim, else drops it. IPv4 (RFC 791): the header has
 * at least five words, and the frame has the whole header and the total length. IPv6 (RFC 8200): the frame has the
 * payload length. UDP over either, in no fragment (RFC 768, RFC 8085): its length is at least 8 and within IP's. Bytes
 * after them are padding. Frames of other types pass. The debug words count passed and dropped frames.
 */
#include <packet_headers.h>
#include <penstock.h>

#define UDP 17u
#define UDP_HEADER 8u

static uint32_t big16(const uint8_t *bytes) { return (uint32_t)bytes[0] << 8 | bytes[1]; }

/* Whether the length in a UDP header fits the `room` bytes that IP has for it. */
static int udp_fits(const uint8_t *udp, uint32_t room) {
  if (room < UDP_HEADER) return 0;
  uint32_t length = big16(udp + 4);
  return length >= UDP_HEADER && length <= room;
}

static int ipv4_fits(const uint8_t *ip, uint32_t room) {
  if (room < IPV4_HEADER_SIZE) return 0;
  uint32_t header = 4u * (ip[0] & 15u), total = big16(ip + 2);
  if (ip[0] >> 4 != 4 || header < IPV4_HEADER_SIZE || header > total || total > room) return 0;
  int is_part = (big16(ip + 6) & 0x3FFFu) != 0;
  return ip[9] != UDP || is_part || udp_fits(ip + header, total - header);
}

static int ipv6_fits(const uint8_t *ip, uint32_t room) {
  if (room < 40 || ip[0] >> 4 != 6) return 0;
  uint32_t payload = big16(ip + 4);
  if (payload > room - 40) return 0;
  return ip[6] != UDP || udp_fits(ip + 40, payload);
}

static int fits(const uint8_t *frame, uint32_t length) {
  uint32_t type = big16(frame + 12), room = length - ETH_HEADER_SIZE;
  if (type == 0x0800) return ipv4_fits(frame + ETH_HEADER_SIZE, room);
  if (type == 0x86DD) return ipv6_fits(frame + ETH_HEADER_SIZE, room);
  return 1;
}

int main(void) {
  pn_init();
  uint32_t passed = 0, dropped = 0;
  for (;;) {
    pn_desc_t desc = pn_recv();
    if (fits(pn_hdr(), pn_len(desc))) {
      pn_debug(++passed, dropped);
      pn_send(desc ^ pn_port(1));
    } else {
      pn_debug(passed, ++dropped);
      pn_drop(desc);
    }
  }
}
