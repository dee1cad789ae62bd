// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A unit's end of the broadcast: the words that it stores go out, and the words of all units come in, to all units in
// the same cycle.
//
// Out: handshake. In: no handshake, a unit takes every word; at least one cycle in 64 has no word, so that the host
// gets its turn at the memory behind. A unit's own words also come back to it, and `from` identifies them.
interface broadcast_if
  import penstock_pkg::*;
();
  logic out_valid;
  logic out_ready;
  broadcast_t out;

  logic in_valid;
  unit_t from;
  broadcast_t in;

  modport unit(output out_valid, out, input out_ready, in_valid, from, in);
  modport shell(input out_valid, out, output out_ready, in_valid, from, in);
endinterface

`default_nettype wire
