// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Arithmetic of EX without multiply and divide. Combinational: `fast` is forwarded to DECODE in the same cycle,
// `minmax` and `unary` go to the MEM register only.
module core_alu
  import core_pkg::*;
(
    input  wire alu_ctl_t    ctl,
    input  wire       [31:0] a,
    input  wire       [31:0] b,       // complemented when ctl.inv_b
    output logic      [31:0] fast,
    output logic      [31:0] minmax,
    output logic      [31:0] unary,
    output logic             equal,
    output logic             less
);

  // One carry chain adds, subtracts and compares. For operations with the complement of b, `b` already holds the
  // complement.
  wire [32:0] sum = {!ctl.uns & a[31], a} + {ctl.uns | b[31], b} + 33'(ctl.inv_b);
  assign less   = sum[32];
  assign equal  = a == ~b;
  assign minmax = (less ^ ctl.max) ? a : ~b;

  logic [31:0] logic_res;
  always_comb begin
    unique case (ctl.lop)
      LogicXor: logic_res = a ^ b;
      LogicOr:  logic_res = a | b;
      LogicAnd: logic_res = a & b;
      LogicB:   logic_res = b;
    endcase
  end

  // A shift is a rotation to the right in which the bits that wrapped around are replaced. Bit i keeps its place in a
  // shift to the left when i >= amount, in a shift to the right when 31 - i >= amount.
  wire [4:0] amount = b[4:0];
  wire fill = ctl.arith & a[31];
  logic [31:0] turned3, turned15, turned, shifted;
  logic [31:0] keep;
  logic [4:0] turn;  // amount, or what is left of 32
  always_comb begin
    for (int i = 0; i < 5; i++) turn[i] = amount[i] ^ (ctl.left & |(amount & 5'((1 << i) - 1)));
    turned3 = turn[1] ? (turn[0] ? {a[2:0], a[31:3]} : {a[1:0], a[31:2]}) : (turn[0] ? {a[0], a[31:1]} : a);
    turned15 = turn[3] ? (turn[2] ? {turned3[11:0], turned3[31:12]} : {turned3[7:0], turned3[31:8]})
                       : (turn[2] ? {turned3[3:0], turned3[31:4]} : turned3);
    turned = turn[4] ? {turned15[15:0], turned15[31:16]} : turned15;
    for (int i = 0; i < 32; i++) begin
      keep[i] = 1'b1;
      for (int k = 0; k < 5; k++) begin
        if (((i >> k) & 1) != 0) keep[i] = ctl.left ? keep[i] | ~amount[k] : keep[i] & ~amount[k];
        else keep[i] = ctl.left ? keep[i] & ~amount[k] : keep[i] | ~amount[k];
      end
    end
    for (int i = 0; i < 32; i++) shifted[i] = keep[i] || ctl.rotate ? turned[i] : fill;
  end

  always_comb begin
    fast = ctl.fast[1] ? (ctl.fast[0] ? {31'd0, less} : shifted) : (ctl.fast[0] ? logic_res : sum[31:0]);
  end

  always_comb begin
    unique case (ctl.unary)
      UnarySextB: unary = {{24{a[7]}}, a[7:0]};
      UnarySextH: unary = {{16{a[15]}}, a[15:0]};
      UnaryRev8:  unary = {a[7:0], a[15:8], a[23:16], a[31:24]};
      UnaryOrcB:  unary = {{8{|a[31:24]}}, {8{|a[23:16]}}, {8{|a[15:8]}}, {8{|a[7:0]}}};
    endcase
  end

endmodule

`default_nettype wire
