// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// Data between header_parser and deparser beside the headers themselves (fields_pkg.sv).
package headers_pkg;
  import penstock_pkg::*, fields_pkg::*;

  // Bytes before the first VLAN tag, label or packet, if there is no tag: addresses and type.
  localparam int unsigned EthBytes = 14;

  // The beginnings of a frame's layers, in words of 4 bytes after its first EthBytes. The place of an absent layer
  // means nothing.
  typedef struct packed {
    logic [1:0] net;   // IP, or what is in its place: the number of VLAN tags and labels before it
    logic [4:0] l4;    // TCP, UDP, ICMP
    logic [4:0] data;  // the payload of TCP and UDP
  } layout_t;

  // The change of a frame. The headers on entry and exit differ in fields that are present and can be set, and in tags;
  // for absent layers, both have the same bits. Checksums are those of the frame on entry.
  typedef struct packed {
    verdict_t    verdict;
    logic [31:0] mark;    // in its metadata
    layout_t     layout;   // as it came
    headers_t    came;
    // `eth`, from its 12th byte on, holds the tags on exit, and `kind` the type after them
    headers_t    leaves;
  } edit_t;
endpackage
