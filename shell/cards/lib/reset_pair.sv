// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The resets of a crossing's two sides. When either side's reset comes, both sides are reset, and neither leaves its
// reset
// before each has seen the other one in reset. Pointers and toggles of the two sides therefore agree, whichever clock
// stands
// still, however short the reset was. While a clock stands still after a reset, the other side stays in reset.
//
// In reset a side stands still: it moves no word. It clears the pointers and toggles that the other
// side sees with its `clear` only, when the other side stands still as well: a pointer that jumps would look like
// words that are there.
//
//   a_rst_in ─┬─ or ─┬─> reset_bridge ─> a_rst ──> b: seen a in reset ──┐
//   b_rst_in ─┘      └─> reset_bridge ─> b_rst ──> a: seen b in reset ──┴─> each leaves when both have seen
module reset_pair (
    input  wire logic a_clk,
    input  wire logic a_rst_in,  // of any clock
    output logic      a_rst,
    output logic      a_clear,
    input  wire logic b_clk,
    input  wire logic b_rst_in,
    output logic      b_rst,
    output logic      b_clear
);
  logic a_seen, b_seen;
  wire any = a_rst_in || b_rst_in;

  reset_side i_a (
      .clk(a_clk),
      .rst_in(any),
      .rst(a_rst),
      .clear(a_clear),
      .seen(a_seen),
      .peer_clk(b_clk),
      .peer_rst(b_rst),
      .peer_seen(b_seen)
  );
  reset_side i_b (
      .clk(b_clk),
      .rst_in(any),
      .rst(b_rst),
      .clear(b_clear),
      .seen(b_seen),
      .peer_clk(a_clk),
      .peer_rst(a_rst),
      .peer_seen(a_seen)
  );
endmodule

`default_nettype wire
