// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The queue of reported frames: the port, and the place of the record in its log.
//
//   ports ─> arbiter ─> FIFO (512) ─> RECORD        one a cycle
//
// `full` rises with room for 16 left, which is more than the ports have under way.
module ids_records
  import penstock_pkg::*, ids_pkg::*;
#(
    parameter int unsigned Ports = 2
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [Ports-1:0] tell_valid,
    output logic      [Ports-1:0] tell_ready,
    input  wire row_t             tell[Ports],
    output logic                  full,

    output logic        valid,
    input  wire logic   pop,
    output logic [30:0] head    // port [30:29], position [28:0]
);
  localparam int unsigned Depth = 512;

  logic [$clog2(Depth):0] level_q;
  logic [30:0] din;

  rr_arbiter #(
      .N(Ports)
  ) i_arbiter (
      .clk,
      .rst,
      .req(tell_valid),
      .accept(tell_valid != '0),
      .grant(tell_ready)
  );

  always_comb begin
    din = '0;
    for (int unsigned p = 0; p < Ports; p++) if (tell_ready[p]) din = {2'(p), tell[p][28:0]};
  end

  fifo_block #(
      .Width(31),
      .Depth(Depth)
  ) i_queue (
      .clk,
      .rst,
      .push (tell_valid != '0),
      .din,
      .valid,
      .pop,
      .dout (head)
  );

  always_ff @(posedge clk) begin
    level_q <= level_q + ($clog2(Depth) + 1)'(tell_valid != '0) - ($clog2(Depth) + 1)'(valid && pop);
    full <= 32'(level_q) >= Depth - 16;
    if (rst) begin
      level_q <= '0;
      full <= 1'b0;
    end
  end
endmodule

`default_nettype wire
