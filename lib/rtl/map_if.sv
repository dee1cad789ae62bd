// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A unit's link with the card's maps, wide enough for a key of 16 bytes a cycle. Both ends drive it from registers.
//
// To the maps: while `room` is up there is room for LinkRoom parts of requests (map_pkg.sv). Parts of a
// request follow each other; there may be cycles between them. A context has one request at
// most that waits for an answer. From the maps: no handshake, a unit takes every answer.
interface map_if
  import map_pkg::*;
();
  logic valid;
  flit_t flit;
  logic room;

  logic reply_valid;
  reply_t reply;

  modport unit(output valid, flit, input room, reply_valid, reply);
  modport maps(input valid, flit, output room, reply_valid, reply);
endinterface

`default_nettype wire
