// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Any memory, for proofs of modules that have memories, in place of rtl/rmt_ram.sv: each read returns any value. A
// proof restricts the reads of the frame that it watches. memory.sv proves what it may restrict them to.
module rmt_ram
  import rmt_pkg::*;
#(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 512,
    localparam int unsigned AddrW = Depth > 1 ? $clog2(Depth) : 1
) (
    input wire logic clk,

    input wire logic        slot,
    input wire logic        selected,
    input wire host_t       host,
    output     word_t       host_word,

    input wire logic [Lanes-1:0][AddrW-1:0] addr,
    output     logic [Lanes-1:0][Width-1:0] data
);
  // The proof's script cuts signals whose names begin with `open`.
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    wire [Width-1:0] open_data = '0;
    assign data[l] = open_data;
  end
  wire word_t open_word = '0;
  assign host_word = selected ? open_word : '0;
endmodule

`default_nettype wire
