// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// lib/rtl/ram_sdp.sv for proofs, of any size: it keeps one row, which the solver chooses, and a read of another row
// returns any value. A read of the row that is written in the same cycle returns any value too, since users must not look
// at it. The scripts cut signals whose names begin with `open`.
module ram_sdp #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 512,
    parameter bit          Ultra = 1'b0
) (
    input wire logic clk,

    input wire logic                     we,
    input wire logic [$clog2(Depth)-1:0] waddr,
    input wire logic [        Width-1:0] wdata,

    input  wire logic                     re,
    input  wire logic [$clog2(Depth)-1:0] raddr,
    output logic      [        Width-1:0] rdata
);
  wire [$clog2(Depth)-1:0] open_watched = '0;  // the proof keeps it constant
  wire [Width-1:0] open_other = '0;
  logic [Width-1:0] row_q;

  always_ff @(posedge clk) begin
    if (we && waddr == open_watched) row_q <= wdata;
    if (re) rdata <= raddr == open_watched && !(we && waddr == raddr) ? row_q : open_other;
  end
endmodule

`default_nettype wire
