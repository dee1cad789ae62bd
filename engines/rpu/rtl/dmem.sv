// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Data memory: rows of 32 bytes in eight lanes of block RAM.
//
//   core   32 bits: the row and lane of its address; answers in the next cycle
//   wide   256 bits with byte strobes: header copies, and the host; a read answers in the next cycle
//
// A byte that both ports write in one cycle gets either value.
module dmem #(
    parameter int unsigned Bytes = 32768
) (
    input wire logic clk,

    input  wire logic                     core_en,
    input  wire logic                     core_we,
    input  wire logic [3:0]               core_be,
    input  wire logic [$clog2(Bytes)-1:2] core_addr,
    input  wire logic [31:0]              core_wdata,
    output logic      [31:0]              core_rdata,

    input  wire logic                     wide_en,
    input  wire logic                     wide_we,
    input  wire logic [31:0]              wide_be,
    input  wire logic [$clog2(Bytes)-1:5] wide_row,
    input  wire logic [255:0]             wide_wdata,
    output logic      [255:0]             wide_rdata
);
  localparam int unsigned Lanes = 8;

  logic [31:0] lane_rdata[Lanes];
  logic [2:0] lane_q;

  always_ff @(posedge clk) if (core_en) lane_q <= core_addr[4:2];
  assign core_rdata = lane_rdata[lane_q];

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    wire en = core_en && core_addr[4:2] == 3'(l);
    logic [31:0] core_q, wide_q;
    // Two ports write one array: that is what a true dual port RAM is.
    /* verilator lint_off MULTIDRIVEN */
    (* ram_style = "block", no_rw_check *) logic [31:0] mem[Bytes/32];
    /* verilator lint_on MULTIDRIVEN */

    always @(posedge clk) begin
      if (en) begin
        if (core_we) begin
          for (int unsigned b = 0; b < 4; b++) if (core_be[b]) mem[core_addr[$clog2(Bytes)-1:5]][b*8+:8] <= core_wdata[b*8+:8];
        end else core_q <= mem[core_addr[$clog2(Bytes)-1:5]];
      end
    end

    always @(posedge clk) begin
      if (wide_en) begin
        if (wide_we) begin
          for (int unsigned b = 0; b < 4; b++) if (wide_be[l*4+b]) mem[wide_row][b*8+:8] <= wide_wdata[l*32+b*8+:8];
        end else wide_q <= mem[wide_row];
      end
    end

    assign lane_rdata[l] = core_q;
    assign wide_rdata[l*32+:32] = wide_q;
  end
endmodule

`default_nettype wire
