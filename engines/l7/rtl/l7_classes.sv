// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Classes of the bytes of a beat of an application: a map for each bank from byte values to classes 0 to 15.
//
//   data, bank ─> 64 reads of eight classes each ─> one of eight ─> classes, in the same cycle
//
// Distributed RAM of 64 × 32 bits with 64 read ports: about 2,550 LUTs, and 385 for the selection.
module l7_classes
  import penstock_pkg::*, l7_pkg::*;
(
    input wire logic clk,

    input wire logic        we,
    input wire logic [ 5:0] waddr,  // bank, byte value / 8
    input wire logic [31:0] wdata,

    input  wire logic                      bank,
    input  wire logic    [DataW-1:0]       data,
    output class_t       [BeatBytes-1:0]   classes
);
  (* ram_style = "distributed" *) logic [7:0][3:0] maps[64];

  always_ff @(posedge clk) if (we) maps[waddr] <= wdata;

  for (genvar b = 0; b < BeatBytes; b++) begin : gen_byte
    logic [7:0][3:0] eight;
    assign eight = maps[{bank, data[8*b+3+:5]}];
    assign classes[b] = eight[data[8*b+:3]];
  end
endmodule

`default_nettype wire
