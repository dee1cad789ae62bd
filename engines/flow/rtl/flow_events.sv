// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The queue of events for the host: one entry for each operation with events of the kinds that the host has selected.
// Events that find the queue full are lost, each kind of an operation for itself; no frame ever waits for the queue.
module flow_events
  import flow_pkg::*;
#(
    parameter int unsigned Depth = 512  // a power of two
) (
    input wire logic clk,
    input wire logic rst,

    input wire kinds_t tell,  // these kinds

    input wire logic   in_valid,
    input wire event_t in,

    output logic      valid,
    input  wire logic take,    // ignored while !valid
    output event_t    out,
    output kinds_count_t lost  // events
);
  localparam int unsigned LevelW = $clog2(Depth) + 1;

  logic in_valid_q, push;
  event_t in_q;
  logic [LevelW-1:0] level_q;  // entries, with that at the exit

  assign push = in_valid_q && !level_q[LevelW-1];
  always_ff @(posedge clk) begin
    in_valid_q <= in_valid && (in.kinds & tell) != '0 && !rst;
    in_q <= in;
    in_q.kinds <= in.kinds & tell;
    level_q <= level_q + LevelW'(push) - LevelW'(valid && take);
    if (rst) level_q <= '0;
  end
  assign lost = in_valid_q && !push ? kinds_count_t'($countones(in_q.kinds)) : '0;

  fifo_block #(
      .Width($bits(event_t)),
      .Depth(Depth)
  ) queue (
      .clk,
      .rst,
      .push,
      .din(in_q),
      .valid,
      .pop(take),
      .dout(out)
  );
endmodule

`default_nettype wire
