// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Takes bits from one clock to another. Between two edges of `src_clk` at most one bit may change: a single level, or
// a Gray
// code that counts by one.
//
//   d ─> source register ─┆─> first ─> second ─> q
//        src_clk            clk       clk
//
// The source register makes sure that no glitch of a sum crosses. `q` follows `d` by one cycle of src_clk and two of
// clk.
//
// With PENSTOCK_METASTABLE a simulation models metastability: a bit that changed since the last edge of `clk` may be
// sampled
// as it was in the source's last cycle, and then arrives one edge later.
module sync_bits #(
    parameter int unsigned Width = 1
) (
    input wire logic             src_clk,
    input wire logic             src_rst,
    input wire logic [Width-1:0] d,

    input  wire logic             clk,
    input  wire logic             rst,
    output logic      [Width-1:0] q
);
  (* keep = "true" *) logic [Width-1:0] src_q;
  (* ASYNC_REG = "TRUE", altera_attribute = "-name SYNCHRONIZER_IDENTIFICATION FORCED" *)
  logic [Width-1:0] first_q, second_q;

  always_ff @(posedge src_clk) src_q <= src_rst ? '0 : d;

  logic [Width-1:0] sampled;
`ifdef PENSTOCK_METASTABLE
  logic [Width-1:0] before_q, seen_q, late;
  always_ff @(posedge src_clk) before_q <= src_rst ? '0 : src_q;
  always_ff @(posedge clk) seen_q <= src_q;
`ifndef FORMAL  // there it is open
  always_ff @(posedge clk) late <= Width'({$urandom, $urandom});
`endif
  assign sampled = ((src_q ^ seen_q) & late & before_q) | (~((src_q ^ seen_q) & late) & src_q);
`else
  assign sampled = src_q;
`endif

  always_ff @(posedge clk) begin
    first_q  <= sampled;
    second_q <= first_q;
    if (rst) begin
      first_q  <= '0;
      second_q <= '0;
    end
  end
  assign q = second_q;
endmodule

`default_nettype wire
