// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Takes pulses of one cycle from one clock to another. A pulse that comes less than three cycles of `clk` and one of
// `src_clk`
// after the one before may be lost. Both resets come together (reset_pair).
//
//   pulse ─> toggle ─┆─> synchroniser ─> change ─> pulse
module sync_pulse (
    input wire logic src_clk,
    input wire logic src_clear,  // both sides are in reset
    input wire logic src_pulse,

    input  wire logic clk,
    input  wire logic rst,
    output logic      pulse
);
  logic toggle_q, toggle, before_q;
  always_ff @(posedge src_clk) toggle_q <= !src_clear && (toggle_q ^ src_pulse);
  sync_bits i_toggle (
      .src_clk,
      .src_rst(src_clear),
      .d(toggle_q),
      .clk,
      .rst,
      .q(toggle)
  );
  always_ff @(posedge clk) begin
    before_q <= !rst && toggle;
    pulse    <= !rst && (toggle ^ before_q);
  end
endmodule

`default_nettype wire
