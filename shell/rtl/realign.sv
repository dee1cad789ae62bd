// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Moves a stream of beats by `rot` bytes: byte b of a beat goes to b + rot, and the bytes that this pushes out of the
// beat come first in the next one.
//
//   step ─> rotate by 16s ─> by 4s ─> by 1s ─> merge with the step before ─> out        4 cycles, one step a cycle, never stops
//
// Each step gives the bytes below `rot` of the step before and the others of its own. A step with unused data therefore
// flushes the remaining bytes. `side` travels with its step. `rot` is loaded with `start`, at least a cycle before a
// transfer's first step and not before the last one of the transfer before; each quarter of the bus has its own copy,
// because a wire to all of it is slow.
module realign
  import penstock_pkg::*;
#(
    parameter int unsigned SideW = 1
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic             start,
    input wire logic [5:0]       rot,

    input wire logic             step,
    input wire logic [DataW-1:0] data,
    input wire logic [SideW-1:0] side,

    output logic             out_step,
    output logic [DataW-1:0] out_data,
    output logic [SideW-1:0] before_side,  // one cycle before the others
    output logic [SideW-1:0] out_side
);
  localparam int unsigned Quarters = 4;
  localparam int unsigned QuarterBytes = BeatBytes / Quarters;

  // The byte for place `b` when a beat is rotated by 0 to 3 times `unit` bytes: one of four.
  function automatic logic [7:0] rotated(logic [DataW-1:0] beat, int unsigned b, int unsigned unit, logic [1:0] times);
    unique case (times)
      2'd0: return beat[8*b+:8];
      2'd1: return beat[8*((b+BeatBytes-unit)%BeatBytes)+:8];
      2'd2: return beat[8*((b+BeatBytes-2*unit)%BeatBytes)+:8];
      2'd3: return beat[8*((b+BeatBytes-3*unit)%BeatBytes)+:8];
    endcase
  endfunction

  logic [2:0] step_q;
  logic [SideW-1:0] side_q[3];
  logic [DataW-1:0] by16_q, by4_q, by1_q, last_q;

  always_ff @(posedge clk) begin
    step_q <= {step_q[1:0], step};
    out_step <= step_q[2];
    if (rst) begin
      step_q <= '0;
      out_step <= 1'b0;
    end
  end

  for (genvar q = 0; q < Quarters; q++) begin : gen_quarter
    logic [5:0] rot_q, rot16_q, rot4_q, rot1_q;  // of the next step, and with what is rotated already

    reg_copy #(
        .Width(6)
    ) i_rot (
        .clk,
        .load(start),
        .d(rot),
        .q(rot_q)
    );

    always_ff @(posedge clk) begin
      rot16_q <= rot_q;
      rot4_q  <= rot16_q;
      rot1_q  <= rot4_q;
      for (int unsigned b = q * QuarterBytes; b < (q + 1) * QuarterBytes; b++) begin
        by16_q[8*b+:8] <= rotated(data, b, 16, rot_q[5:4]);
        by4_q[8*b+:8] <= rotated(by16_q, b, 4, rot16_q[3:2]);
        by1_q[8*b+:8] <= rotated(by4_q, b, 1, rot4_q[1:0]);
        if (step_q[2]) last_q[8*b+:8] <= by1_q[8*b+:8];
        out_data[8*b+:8] <= b < 32'(rot1_q) ? last_q[8*b+:8] : by1_q[8*b+:8];
      end
    end
  end

  always_ff @(posedge clk) begin
    side_q <= '{side, side_q[0], side_q[1]};
    out_side <= side_q[2];
  end

  assign before_side = side_q[2];
endmodule

`default_nettype wire
