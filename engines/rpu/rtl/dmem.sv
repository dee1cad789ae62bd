// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Data memory: rows of 32 bytes in eight lanes of block RAM.
//
//   core   reads 32 bits in every cycle: the lane and row of the address; they are there in the next one, in two parts, one of them zero
//   wide   256 bits with byte strobes: stores of the core, header copies, and the host; a read answers in the next cycle
//
// The core sees the old contents of a row that is written in the same cycle.
module dmem #(
    parameter int unsigned Bytes = 32768
) (
    input wire logic clk,

    input  wire logic [$clog2(Bytes)-1:2] core_addr,
    output logic [1:0][31:0]              core_rdata,

    input  wire logic                     wide_en,
    input  wire logic                     wide_we,
    input  wire logic [31:0]              wide_be,
    input  wire logic [$clog2(Bytes)-1:5] wide_row,
    input  wire logic [255:0]             wide_wdata,
    output logic      [255:0]             wide_rdata
);
  localparam int unsigned Lanes = 8;

  logic [31:0] lane_rdata[Lanes];

  // Lanes that are not read give zero: a memory's output arrives late, so only an OR follows it.
  always_comb begin
    core_rdata = '0;
    for (int unsigned l = 0; l < Lanes; l++) core_rdata[l/4] |= lane_rdata[l];
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [31:0] core_q, wide_q;
    (* ram_style = "block", no_rw_check *) logic [31:0] mem[Bytes/32];

    always @(posedge clk) core_q <= core_addr[4:2] == 3'(l) ? mem[core_addr[$clog2(Bytes)-1:5]] : '0;

    always @(posedge clk) begin
      if (wide_en) begin
        // Reads first, even on a write: a port that only writes would spoil the other port's read.
        wide_q <= mem[wide_row];
        if (wide_we)
          for (int unsigned b = 0; b < 4; b++) if (wide_be[l*4+b]) mem[wide_row][b*8+:8] <= wide_wdata[l*32+b*8+:8];
      end
    end

    assign lane_rdata[l] = core_q;
    assign wide_rdata[l*32+:32] = wide_q;
  end
endmodule

`default_nettype wire
