// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Arithmetic of EX without multiply and divide. Combinational: `fast` is forwarded to DECODE in the same cycle, `minmax`,
// `unary` and `count` go to the MEM register only.
module core_alu
  import core_pkg::*;
(
    input  wire alu_ctl_t    ctl,
    input  wire       [31:0] a,
    input  wire       [31:0] b,
    output logic      [31:0] fast,
    output logic      [31:0] minmax,
    output logic      [31:0] unary,
    output logic      [5:0]  count,
    output logic             equal,
    output logic             less
);

  // One carry chain adds, subtracts and compares.
  wire [32:0] b_signed = {!ctl.uns & b[31], b};
  wire [32:0] sum = {!ctl.uns & a[31], a} + (ctl.sub ? ~b_signed : b_signed) + 33'(ctl.sub);
  assign less   = sum[32];
  assign equal  = a == b;
  assign minmax = (less ^ ctl.max) ? a : b;

  logic [31:0] logic_res;
  always_comb begin
    unique case (ctl.lop)
      LogicXor: logic_res = a ^ (b ^ {32{ctl.inv_b}});
      LogicOr:  logic_res = a | (b ^ {32{ctl.inv_b}});
      LogicAnd: logic_res = a & (b ^ {32{ctl.inv_b}});
      LogicB:   logic_res = b;
    endcase
  end

  // A shift is a rotation to the right; what it should not have brought in is replaced. Bit i keeps its place in a shift to
  // the left when i >= amount, in a shift to the right when 31 - i >= amount.
  wire [4:0] amount = b[4:0];
  wire [4:0] turn = ctl.left ? -amount : amount;
  wire fill = ctl.arith & a[31];
  logic [31:0] turned3, turned15, turned, shifted;
  logic [31:0] keep;
  always_comb begin
    unique case (turn[1:0])
      2'd0: turned3 = a;
      2'd1: turned3 = {a[0], a[31:1]};
      2'd2: turned3 = {a[1:0], a[31:2]};
      2'd3: turned3 = {a[2:0], a[31:3]};
    endcase
    unique case (turn[3:2])
      2'd0: turned15 = turned3;
      2'd1: turned15 = {turned3[3:0], turned3[31:4]};
      2'd2: turned15 = {turned3[7:0], turned3[31:8]};
      2'd3: turned15 = {turned3[11:0], turned3[31:12]};
    endcase
    turned = turn[4] ? {turned15[15:0], turned15[31:16]} : turned15;
    for (int i = 0; i < 32; i++) keep[i] = ctl.left ? 5'(i) >= amount : 5'(31 - i) >= amount;
    for (int i = 0; i < 32; i++) shifted[i] = keep[i] || ctl.rotate ? turned[i] : fill;
  end

  always_comb begin
    unique case (ctl.fast)
      FastAdd:   fast = sum[31:0];
      FastLogic: fast = logic_res;
      FastShift: fast = shifted;
      FastLess:  fast = {31'd0, less};
    endcase
  end

  always_comb begin
    unique case (ctl.unary)
      UnarySextB: unary = {{24{a[7]}}, a[7:0]};
      UnarySextH: unary = {{16{a[15]}}, a[15:0]};
      UnaryRev8:  unary = {a[7:0], a[15:8], a[23:16], a[31:24]};
      UnaryOrcB:  unary = {{8{|a[31:24]}}, {8{|a[23:16]}}, {8{|a[15:8]}}, {8{|a[7:0]}}};
    endcase
  end

  // clz, ctz, cpop: rs2[1:0] of the instruction, which is b[1:0] of its immediate, says which. Leading zeros are the trailing
  // zeros of the reversed word; they are found by halves: is the low half 0, and which half to look at then.
  logic [31:0] scan;
  logic [15:0] scan16;
  logic [7:0] scan8;
  logic [3:0] scan4;
  logic [1:0] scan2;
  logic [4:0] zeros;
  always_comb begin
    for (int i = 0; i < 32; i++) scan[i] = b[0] ? a[i] : a[31-i];
    zeros[4] = scan[15:0] == '0;
    scan16   = zeros[4] ? scan[31:16] : scan[15:0];
    zeros[3] = scan16[7:0] == '0;
    scan8    = zeros[3] ? scan16[15:8] : scan16[7:0];
    zeros[2] = scan8[3:0] == '0;
    scan4    = zeros[2] ? scan8[7:4] : scan8[3:0];
    zeros[1] = scan4[1:0] == '0;
    scan2    = zeros[1] ? scan4[3:2] : scan4[1:0];
    zeros[0] = !scan2[0];
    if (b[1]) count = 6'($countones(a));
    else count = scan2 == '0 ? 6'd32 : {1'b0, zeros};
  end

endmodule

`default_nettype wire
