/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Appends to each frame what the accelerators say about it, in words of 32 bits, lowest byte first: CRC-32 of the
 * frame, sum of its 16-bit words, sum of what follows its first 14 bytes and of a number, flow hash, patterns found,
 * end of the first, CRC-32 of all but the first byte in two parts, class of the source address. It leaves at the other
 * port of the pair. Three accelerators work at a time.
 */
#include <checksum.h>
#include <crc32.h>
#include <flow_hash.h>
#include <ip_prefix.h>
#include <packet_headers.h>
#include <penstock.h>
#include <string.h>
#include <string_match.h>

#define ALL (1u << PN_IP_PREFIX | 1u << PN_FLOW_HASH | 1u << PN_CHECKSUM | 1u << PN_CRC32 | 1u << PN_STRING_MATCH)
#define LONGEST 16384u

/* RSS over addresses and, without a fragment or options, ports; 0 for frames without IPv4. */
static uint32_t hash_of(const uint8_t *header, uint32_t length) {
  const struct eth_header *eth = (const struct eth_header *)header;
  const struct ipv4_header *ip = (const struct ipv4_header *)(header + ETH_HEADER_SIZE);
  if (length < ETH_HEADER_SIZE + IPV4_HEADER_SIZE || eth->type != PN_BE16(0x0800)) return 0;
  if (header[ETH_HEADER_SIZE] >> 4 != 4 || (header[ETH_HEADER_SIZE] & 15) < 5) return 0;
  pn_flow_hash_clear();
  pn_flow_hash_push4(ip->src_ip);
  pn_flow_hash_push4(ip->dest_ip);
  int has_ports = (ip->protocol == 6 || ip->protocol == 17) && header[ETH_HEADER_SIZE] == 0x45;
  const uint8_t *ports = header + ETH_HEADER_SIZE + IPV4_HEADER_SIZE;
  int is_fragment = header[20] & 0x3F || header[21];
  if (has_ports && !is_fragment && length >= ETH_HEADER_SIZE + IPV4_HEADER_SIZE + 4) {
    pn_flow_hash_push2(*(const uint16_t *)ports);
    pn_flow_hash_push1(ports[2]);
    pn_flow_hash_push1(ports[3]);
  }
  return pn_flow_hash_result();
}

int main(void) {
  pn_init();
  while (pn_accelerators() != ALL) {
  }
  for (;;) {
    pn_desc_t desc = pn_recv();
    uint32_t length = pn_len(desc);
    uint8_t *frame = pn_data();
    uint32_t words[9];
    if (length + sizeof words > LONGEST) {
      pn_drop(desc);
      continue;
    }
    pn_match_start(frame, length);
    pn_crc32_start(frame, length, 0);
    pn_checksum_start(frame, length, 0);
    const uint8_t *header = pn_hdr();
    const struct ipv4_header *ip = (const struct ipv4_header *)(header + ETH_HEADER_SIZE);
    ip_prefix_start(length < ETH_HEADER_SIZE + IPV4_HEADER_SIZE ? 0 : ip->src_ip);
    words[3] = hash_of(header, length);
    words[1] = pn_checksum_sum();
    pn_checksum_start(frame + 14, length - 14, 0xABCD1234u);
    words[0] = pn_crc32_result();
    pn_crc32_start(frame + 1, length / 3, 0);
    pn_crc32_start(frame + 1 + length / 3, length - 1 - length / 3, pn_crc32_result());
    words[2] = pn_checksum_sum();
    words[4] = pn_match_found();
    words[5] = pn_match_end();
    words[6] = pn_crc32_result();
    words[7] = ip_prefix_class();
    words[8] = pn_hash();
    memcpy(frame + length, words, sizeof words);
    pn_send((desc ^ pn_port(1)) + sizeof words);
  }
}
