// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Counts the rows that each context has executed for its frame, and signals the limit.
//
//   ROW  whether it is over -> register      EXEC  the count -> register      MEM  one more
module xdp_row_limit
  import xdp_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic start,      // a context begins
    input wire ctx_t start_ctx,

    input  wire ctx_t row_ctx,
    output logic      over,      // in READ: its row is to be an exit
    input  wire ctx_t exec_ctx,
    input  wire logic row,       // in MEM: one was carried out
    input  wire ctx_t mem_ctx
);
  localparam int unsigned Width = $clog2(MaxRows);

  (* ram_style = "distributed" *) logic [Width-1:0] counts[Contexts];
  logic [Contexts-1:0] fresh_q, over_q;  // has carried out none, may carry out no more
  logic [Width-1:0] count_q;
  wire [Width:0] more = {1'b0, count_q} + 1'b1;

  always_ff @(posedge clk) begin
    over <= over_q[row_ctx];
    count_q <= fresh_q[exec_ctx] ? '0 : counts[exec_ctx];
    if (row) counts[mem_ctx] <= more[Width-1:0];
  end

  always_ff @(posedge clk) begin
    if (row) begin
      fresh_q[mem_ctx] <= 1'b0;
      if (more[Width]) over_q[mem_ctx] <= 1'b1;
    end
    if (start) begin
      fresh_q[start_ctx] <= 1'b1;
      over_q[start_ctx]  <= 1'b0;
    end
    if (rst) over_q <= '0;
  end

`ifndef SYNTHESIS
  // No context may end later than in the row after its last.
  logic late_q[Contexts];
  always_ff @(posedge clk) begin
    if (row) late_q[mem_ctx] <= over_q[mem_ctx];
    if (start) late_q[start_ctx] <= 1'b0;
    if (!rst && row && over_q[mem_ctx]) assert (!late_q[mem_ctx]) else $error("%m: a context goes on");
  end
`endif
endmodule

`default_nettype wire
