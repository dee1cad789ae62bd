// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Counts events of one clock for another one. The count crosses as a Gray code, so a reader of `clk` sees a value that
// the counter
// had, and never one that it skipped.
module cross_count #(
    parameter int unsigned Width = 32
) (
    input wire logic src_clk,
    input wire logic src_rst,
    input wire logic event_in,

    input  wire logic             clk,
    input  wire logic             rst,
    output logic      [Width-1:0] count
);
  logic [Width-1:0] count_q, gray;
  always_ff @(posedge src_clk) count_q <= src_rst ? '0 : count_q + Width'(event_in);
  sync_bits #(
      .Width(Width)
  ) i_gray (
      .src_clk,
      .src_rst,
      .d(count_q ^ (count_q >> 1)),
      .clk,
      .rst,
      .q(gray)
  );
  always_ff @(posedge clk) for (int unsigned i = 0; i < Width; i++) count[i] <= !rst && ^(gray >> i);
endmodule

`default_nettype wire
