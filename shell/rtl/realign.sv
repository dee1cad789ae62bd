// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Moves a stream of beats by `rot` bytes: a byte b of a beat goes to b + rot, and what that pushes out of the beat comes first in the next one.
//
//   step ─> rotate by 16s ─> by 4s ─> by 1s ─> merge with the step before ─> out        4 cycles, one step a cycle, never stops
//
// Each step gives the bytes below `rot` of the step before and the others of its own. So a step with data that nobody wants lets
// out what is left over. `side` travels with its step. `rot` stays the same from a transfer's first step to its last.
module realign
  import penstock_pkg::*;
#(
    parameter int unsigned SideW = 1
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic             step,
    input wire logic [DataW-1:0] data,
    input wire logic [5:0]       rot,
    input wire logic [SideW-1:0] side,

    output logic             out_step,
    output logic [DataW-1:0] out_data,
    output logic [SideW-1:0] before_side,  // one cycle before the others
    output logic [SideW-1:0] out_side
);
  function automatic logic [DataW-1:0] rotated(logic [DataW-1:0] beat, int unsigned bytes);
    logic [2*DataW-1:0] twice;
    twice = {beat, beat};
    return twice[DataW-8*bytes+:DataW];
  endfunction

  logic [2:0] step_q;
  logic [5:0] rot_q[3];
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

  always_ff @(posedge clk) begin
    rot_q  <= '{rot, rot_q[0], rot_q[1]};
    side_q <= '{side, side_q[0], side_q[1]};
    unique case (rot[5:4])
      2'd0: by16_q <= data;
      2'd1: by16_q <= rotated(data, 16);
      2'd2: by16_q <= rotated(data, 32);
      2'd3: by16_q <= rotated(data, 48);
    endcase
    unique case (rot_q[0][3:2])
      2'd0: by4_q <= by16_q;
      2'd1: by4_q <= rotated(by16_q, 4);
      2'd2: by4_q <= rotated(by16_q, 8);
      2'd3: by4_q <= rotated(by16_q, 12);
    endcase
    unique case (rot_q[1][1:0])
      2'd0: by1_q <= by4_q;
      2'd1: by1_q <= rotated(by4_q, 1);
      2'd2: by1_q <= rotated(by4_q, 2);
      2'd3: by1_q <= rotated(by4_q, 3);
    endcase
    if (step_q[2]) last_q <= by1_q;
    for (int unsigned b = 0; b < BeatBytes; b++) out_data[b*8+:8] <= b < 32'(rot_q[2]) ? last_q[b*8+:8] : by1_q[b*8+:8];
    out_side <= side_q[2];
  end

  assign before_side = side_q[2];
endmodule

`default_nettype wire
