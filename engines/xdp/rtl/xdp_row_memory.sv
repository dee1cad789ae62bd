// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Rows of a program, in two banks: the core reads one, while the host writes a new program into the other. A row
// arrives two cycles after its address. UltraRAM; the host writes words of 64 bits.
module xdp_row_memory
  import xdp_pkg::*;
#(
    parameter int unsigned Lanes = 4
) (
    input wire logic clk,

    input  wire logic                  bank,
    input  wire row_t                  row,
    output logic [64*Lanes+31:0]       word,

    input wire logic                   we,
    input wire logic                   write_bank,
    input wire row_t                   write_row,
    input wire logic [$clog2(Lanes+1)-1:0] write_part,  // 0 the control word, then the lanes
    input wire word_t                  write_data
);
  (* ram_style = "ultra", no_rw_check *) logic [31:0] controls[2*Rows];
  logic [31:0] control_q;
  always_ff @(posedge clk) begin
    if (we && write_part == 0) controls[{write_bank, write_row}] <= write_data[31:0];
    control_q <= controls[{bank, row}];
    word[31:0] <= control_q;
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    (* ram_style = "ultra", no_rw_check *) word_t mem[2*Rows];
    word_t lane_q;
    always_ff @(posedge clk) begin
      if (we && 32'(write_part) == l + 1) mem[{write_bank, write_row}] <= write_data;
      lane_q <= mem[{bank, row}];
      word[32+64*l+:64] <= lane_q;
    end
  end
endmodule

`default_nettype wire
