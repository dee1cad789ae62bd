// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The answers of the flow table to a port, in the order of the port's lookups. The table gives them in any order, each
// with the number of its lookup: a line from card memory takes longer than one on the chip.
//
//   answers ─> RAM (InFlight), by number ─> output register ─> pop
//
// Latency 2 cycles, one a cycle. The port has at most InFlight lookups under way.
module ids_answers
  import ids_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic       write,
    input wire logic [4:0] number,
    input wire answer_t    din,

    output logic      valid,
    input  wire logic pop,    // ignored while !valid
    output answer_t   dout
);
  (* ram_style = "distributed" *) logic [$bits(answer_t)-1:0] mem[InFlight];
  logic [InFlight-1:0] there_q;
  logic [4:0] next_q;
  logic load;

  assign load = there_q[next_q] && (!valid || pop);

  always_ff @(posedge clk) begin
    if (write) mem[number] <= din;
    if (load) dout <= mem[next_q];
  end

  always_ff @(posedge clk) begin
    if (write) there_q[number] <= 1'b1;
    if (load) there_q[next_q] <= 1'b0;
    if (load) next_q <= next_q + 1'b1;
    valid <= load || (valid && !pop);
    if (rst) begin
      there_q <= '0;
      next_q  <= '0;
      valid   <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst && write) assert (!there_q[number]) else $error("%m: two answers to one lookup");
`endif
endmodule

`default_nettype wire
