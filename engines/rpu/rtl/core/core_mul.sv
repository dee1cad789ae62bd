// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Multiplier of 32 x 32 bits, signed or not. A product a cycle, two cycles after its operands.
//   EX: four products of 17 x 17 bits | MEM: their sum -> `res`, for the WB register
module core_mul (
    input  wire         clk,
    input  wire         en,     // operands are in EX and go to MEM
    input  wire  [1:0]  f3,
    input  wire  [31:0] a,
    input  wire  [31:0] b,
    output logic [31:0] res
);

  // mulh: both signed, mulhsu: a signed; mul: low word, sign does not matter.
  wire signed [16:0] a_high = {a[31] & (f3 != 2'd3), a[31:16]};
  wire signed [16:0] b_high = {b[31] & !f3[1], b[31:16]};
  wire signed [16:0] a_low = {1'b0, a[15:0]};
  wire signed [16:0] b_low = {1'b0, b[15:0]};

  logic signed [33:0] low_q, cross1_q, cross2_q, high_q;
  logic               high_word_q;

  always_ff @(posedge clk) begin
    if (en) begin
      low_q       <= a_low * b_low;
      cross1_q    <= a_low * b_high;
      cross2_q    <= a_high * b_low;
      high_q      <= a_high * b_high;
      high_word_q <= f3 != 2'd0;
    end
  end

  wire signed [34:0] middle = cross1_q + cross2_q;
  wire [47:0] upper = {high_q[31:0], low_q[31:16]} + 48'(middle);
  assign res = high_word_q ? upper[47:16] : {upper[15:0], low_q[15:0]};

  wire unused = &{1'b0, low_q[33:32], high_q[33:32]};

endmodule

`default_nettype wire
