// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The directory of the flow lines in card memory: for each bucket, the tags of its lines. No two valid lines of a bucket
// have the same tag, so a lookup reads one line of card memory at most.
//
//   raddr ─> RAM (2^BucketsLog2 rows of 288 bits) ─> output register ─> row        2 cycles, one a cycle
//
// A write changes one line of a row; UltraRAM has an enable for each 9 bits. A row is not written while it is read.
module ids_directory
  import ids_pkg::*;
#(
    parameter int unsigned BucketsLog2 = BucketW
) (
    input wire logic clk,

    input  wire logic  [BucketsLog2-1:0] raddr,
    output home_t      [      Homes-1:0] row,

    input wire logic [      Homes-1:0] we,
    input wire logic [BucketsLog2-1:0] waddr,
    input wire home_t                  wdata
);
  localparam int unsigned HomeW = $bits(home_t);

  (* ram_style = "ultra", no_rw_check *) logic [Homes*HomeW-1:0] mem[1 << BucketsLog2];
  logic [Homes*HomeW-1:0] read_q;

  always_ff @(posedge clk) begin
    for (int unsigned n = 0; n < Homes; n++) if (we[n]) mem[waddr][n*HomeW+:HomeW] <= wdata;
    read_q <= mem[raddr];
    row <= read_q;
  end
endmodule

`default_nettype wire
