// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// What goes between header_parser and deparser beside the headers themselves (fields_pkg.sv).
package headers_pkg;
  import penstock_pkg::*, fields_pkg::*;

  // Bytes before the first VLAN tag, label or packet, if there is no tag: addresses and type.
  localparam int unsigned EthBytes = 14;

  // Where a frame's layers begin, in words of 4 bytes behind its first EthBytes. Of a layer that is not there the place
  // means nothing.
  typedef struct packed {
    logic [1:0] net;   // IP, or what is in its place: the number of VLAN tags and labels before it
    logic [4:0] l4;    // TCP, UDP, ICMP
    logic [4:0] data;  // the payload of TCP and UDP
  } layout_t;

  // What becomes of a frame. Headers differ in fields that can be set and are there, and in tags; of what they show of
  // layers that are not there, both show the same. Checksums are those of the frame as it came.
  typedef struct packed {
    verdict_t    verdict;
    logic [31:0] mark;    // in its metadata
    layout_t     layout;   // as it came
    headers_t    came;
    // `eth`, from its 12th byte on, holds as many tags as there are then, `kind` the type behind them
    headers_t    leaves;
  } edit_t;
endpackage
