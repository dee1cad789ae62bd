// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Arithmetic of a lane.
//
//   EXEC  sum, logic, comparison; shift by multiples of 8; partial products   -> outcome
//   MEM   shift by the rest; sum of the products; one value of all
//   TURN  fields and shifts to the left put right, 32-bit results cut         -> result
//
// One operation a cycle, nothing stalls. A shift to the left is one to the right with the bits in the other order.
module xdp_lane_alu
  import xdp_pkg::*;
#(
    parameter bit Mul = 1'b0  // this lane multiplies
) (
    input wire logic clk,

    // EXEC
    input wire op_t         op,
    input wire word_t       a,
    input wire word_t       b,
    input wire logic [31:0] imm,

    output logic  outcome,  // in MEM
    output word_t result    // in WRITE
);
  function automatic word_t turned(word_t x);
    word_t y;
    for (int unsigned i = 0; i < 64; i++) y[i] = x[63-i];
    return y;
  endfunction

  function automatic word_t swapped(word_t x);
    return {<<8{x}};
  endfunction

  // ---- EXEC: comparison
  wire a_top = op.compare.is_signed && (op.w64 ? a[63] : a[31]);
  wire b_top = op.compare.is_signed && (op.w64 ? b[63] : b[31]);
  wire [64:0] a_wide = op.w64 ? {a_top, a} : {{33{a_top}}, a[31:0]};
  wire [64:0] b_wide = op.w64 ? {b_top, b} : {{33{b_top}}, b[31:0]};
  wire equal = a_wide[63:0] == b_wide[63:0];
  wire less = $signed(a_wide) < $signed(b_wide);
  wire common = (a_wide[63:0] & b_wide[63:0]) != 0;

  always_ff @(posedge clk)
    outcome <= ((equal && op.compare.equal) || (less && op.compare.less) ||
                (common && op.compare.common)) != op.compare.invert;

  // ---- EXEC: all else
  word_t plain, plain_q;
  always_comb begin
    unique case (op.logic_op)
      LogicAnd: plain = a & b;
      LogicOr: plain = a | b;
      LogicXor: plain = a ^ b;
      LogicMov: plain = b;
      LogicMovHigh: plain = {imm, a[31:0]};
      LogicSext8: plain = {{56{a[7]}}, a[7:0]};
      LogicSext16: plain = {{48{a[15]}}, a[15:0]};
      LogicSext32: plain = {{32{a[31]}}, a[31:0]};
      LogicSwap16: plain = {48'd0, a[7:0], a[15:8]};
      LogicSwap32: plain = {32'd0, a[7:0], a[15:8], a[23:16], a[31:24]};
      LogicSwap64: plain = swapped(a);
      default: plain = '0;
    endcase
  end

  wire [5:0] by = op.field ? imm[5:0] : op.w64 ? b[5:0] : {1'b0, b[4:0]};
  wire fill = op.arithmetic && (op.w64 ? a[63] : a[31]);
  wire word_t cut = op.w64 ? a : {{32{fill}}, a[31:0]};
  wire word_t to_shift = op.left ? turned(a) : cut;

  op_t mem_op_q, turn_op_q;
  logic [2:0] by_q;
  logic fill_q;
  logic [18:8] field_mem_q, field_q;
  word_t sum_q, coarse_q;

  always_ff @(posedge clk) begin
    mem_op_q <= op;
    sum_q <= op.subtract ? a - b : a + b;
    plain_q <= plain;
    coarse_q <= 64'({{64{fill}}, to_shift} >> {by[5:3], 3'd0});
    by_q <= by[2:0];
    fill_q <= fill;
    field_mem_q <= imm[18:8];
  end

  // ---- MEM
  word_t product, value, value_q, shifted_q;
  wire word_t fine = 64'({{7{fill_q}}, coarse_q} >> by_q);

  always_comb begin
    unique case (mem_op_q.kind)
      KindAdd: value = sum_q;
      KindLogic: value = mem_op_q.sets ? word_t'(outcome) : plain_q;
      KindMul: value = product;
      default: value = '0;
    endcase
  end

  always_ff @(posedge clk) begin
    turn_op_q <= mem_op_q;
    value_q <= value;
    shifted_q <= fine;
    field_q <= field_mem_q;
  end

  if (Mul) begin : gen_mul
    word_t low_q;
    logic [31:0] cross_a_q, cross_b_q;
    always_ff @(posedge clk) begin
      low_q <= word_t'(a[31:0]) * word_t'(b[31:0]);
      cross_a_q <= a[63:32] * b[31:0];
      cross_b_q <= a[31:0] * b[63:32];
    end
    assign product = low_q + {cross_a_q + cross_b_q, 32'd0};
  end else begin : gen_no_mul
    assign product = '0;
  end

  // ---- TURN
  wire [31:0] mask = 32'hFFFFFFFF >> (5'd31 - field_q[12:8]);
  wire word_t field = {32'd0, shifted_q[31:0] & mask} << field_q[18:16];
  word_t final_value;

  always_comb begin
    if (turn_op_q.kind != KindShift) final_value = value_q;
    else if (turn_op_q.field) final_value = field;
    else if (turn_op_q.left) final_value = turned(shifted_q);
    else final_value = shifted_q;
    if (!turn_op_q.w64) final_value[63:32] = '0;
  end

  always_ff @(posedge clk) result <= final_value;
endmodule

`default_nettype wire
