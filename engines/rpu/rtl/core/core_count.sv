// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// clz, ctz and cpop. A result a cycle, two cycles after its operand.
//   EX: which half has the lowest one; ones of each byte | MEM: where in that half; sum -> `res`, for the WB register
module core_count (
    input  wire         clk,
    input  wire         en,     // operand is in EX and goes to MEM
    input  wire  [1:0]  which,  // rs2[1:0] of the instruction: 0 clz, 1 ctz, 2 cpop
    input  wire  [31:0] a,
    output logic [5:0]  res
);

  logic [31:0] scan;  // leading zeros are the trailing zeros of the reversed word
  always_comb for (int i = 0; i < 32; i++) scan[i] = which[0] ? a[i] : a[31-i];

  logic high_q, ones_q;
  logic [15:0] half_q;
  logic [3:0] ones_of_q[4];
  wire low_empty = scan[15:0] == '0;

  always_ff @(posedge clk) begin
    if (en) begin
      ones_q <= which[1];
      high_q <= low_empty;
      half_q <= low_empty ? scan[31:16] : scan[15:0];
      for (int i = 0; i < 4; i++) ones_of_q[i] <= 4'($countones(a[8*i+:8]));
    end
  end

  logic [7:0] eighth;
  logic [3:0] nibble, zeros;
  logic [1:0] pair;
  always_comb begin
    zeros[3] = half_q[7:0] == '0;
    eighth   = zeros[3] ? half_q[15:8] : half_q[7:0];
    zeros[2] = eighth[3:0] == '0;
    nibble   = zeros[2] ? eighth[7:4] : eighth[3:0];
    zeros[1] = nibble[1:0] == '0;
    pair     = zeros[1] ? nibble[3:2] : nibble[1:0];
    zeros[0] = !pair[0];
    if (ones_q) res = (6'(ones_of_q[0]) + 6'(ones_of_q[1])) + (6'(ones_of_q[2]) + 6'(ones_of_q[3]));
    else if (pair == '0) res = 6'd32;
    else res = {1'b0, high_q, zeros};
  end

endmodule

`default_nettype wire
