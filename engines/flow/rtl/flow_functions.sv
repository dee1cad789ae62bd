// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Conditions and functions of a program, all at once, in the element's loop of two cycles. Without registers: between
// the halves the element has them.
//
//   context, globals, operands ─> sources ─┬─> comparisons ─> conditions
//                                          └─> one sum, bitwise operations, multipliers ──> halves
//   halves, the cycle after ──> turned, cut off, added ──> results
//
// The second half runs while the row is selected. The first functions share one such half: it rotates a shift and
// removes the bits that wrapped around, adds the parts of a product, or adds the old value of an average to its rotated
// difference. It passes all other results unchanged.
module flow_functions
  import flow_pkg::*;
(
    input  wire condition_t     [Conditions-1:0] conditions,
    input  wire function_word_t [Functions-1:0]  functions,

    input  wire word_t [Registers-1:0]  r,
    input  wire word_t [Globals-1:0]    g,
    input  wire word_t [Operands-1:0]   x,
    output logic       [Conditions-1:0] true_c,
    output half_t      [Functions-1:0]  halves,

    input  wire half_t [Functions-1:0] halves_r,
    output word_t      [Functions-1:0] results
);
  // Chosen by fours, as LUTs of six inputs do. There are 48 of these, and as a choice among all at once each takes a
  // third more.
  function automatic word_t value_of(source_t source, word_t constant);
    logic is_global = source.from[0];  // of FromGlobal and FromOperand
    logic [1:0] low = source.index[1:0];
    word_t lower = is_global ? g[{1'b0, low}] : x[{1'b0, low}];
    word_t upper = is_global ? g[{1'b1, low}] : x[{1'b1, low}];
    word_t rest = source.index[2] ? upper : lower;
    return source.from == FromFlow ? r[low] : source.from == FromConstant ? constant : rest;
  endfunction

  for (genvar i = 0; i < Conditions; i++) begin : gen_condition
    wire word_t a = value_of(conditions[i].a, conditions[i].value);
    wire word_t b = value_of(conditions[i].b, conditions[i].value);
    // One difference decides all: its borrow gives "less", its sign gives "before".
    wire [32:0] difference = {1'b0, a} - {1'b0, b};
    wire less = difference[32];
    wire equal = a == b;
    wire unused = &{1'b0, difference[30:0]};
    always_comb begin
      unique case (conditions[i].is)
        ConditionEqual: true_c[i] = equal;
        ConditionLess: true_c[i] = less;
        ConditionLessSigned: true_c[i] = less ^ a[31] ^ b[31];
        default: true_c[i] = difference[31];
      endcase
    end
  end

  // But for the first, a function reads half of the operands and of the globals on each side: that is half of what a
  // choice among all takes.
  function automatic word_t near_value_of(source_t source, word_t constant, logic upper);
    logic [1:0] low = source.index[1:0];
    word_t rest = source.from[0] ? g[{upper, low}] : x[{upper, low}];
    return source.from == FromFlow ? r[low] : source.from == FromConstant ? constant : rest;
  endfunction

  for (genvar i = 0; i < Functions; i++) begin : gen_function
    localparam bit Full = i < FullFunctions;
    localparam bit [1:0] Upper = 2'(i);  // on the left, and on the right
    word_t a, b;
    if (Full) begin : gen_from_all
      assign a = value_of(functions[i].a, functions[i].value);
      assign b = value_of(functions[i].b, functions[i].value);
    end else begin : gen_from_half
      assign a = near_value_of(functions[i].a, functions[i].value, Upper[0]);
      assign b = near_value_of(functions[i].b, functions[i].value, Upper[1]);
    end
    wire function_e is = functions[i].is;
    wire averages = Full && is == FunctionAverage;
    wire shifts = Full && (is == FunctionShiftLeft || is == FunctionShiftRight || is == FunctionRotate);
    wire multiplies = Full && is == FunctionMultiply;
    wire sums = is == FunctionAdd || is == FunctionSub || averages;

    // ---- the first half
    // Without the carry a - b lacks 1, so that its complement is b - a: what an average moves by a part of, without
    // another sum.
    wire subtracts = is != FunctionAdd;
    wire word_t other = b ^ {32{subtracts}};
    wire [32:0] sum = {1'b0, a} + {1'b0, other} + 33'(subtracts && !averages);
    wire less = !sum[32];
    // All else is a function of a bit of each side: its values for 3, 2, 1 and 0, of which a's bit is the upper.
    logic [3:0] bitwise;
    word_t of_bits;
    always_comb begin
      unique case (is)
        FunctionAdd, FunctionSub, FunctionAverage, FunctionMultiply: bitwise = 4'b0000;
        FunctionAnd: bitwise = 4'b1000;
        FunctionOr: bitwise = 4'b1110;
        FunctionXor: bitwise = 4'b0110;
        FunctionNot: bitwise = 4'b0011;
        FunctionMin: bitwise = less ? 4'b1100 : 4'b1010;
        FunctionMax: bitwise = less ? 4'b1010 : 4'b1100;
        default: bitwise = 4'b1100;
      endcase
      for (int unsigned bit_ = 0; bit_ < 32; bit_++) of_bits[bit_] = bitwise[{a[bit_], b[bit_]}];
      halves[i].base = of_bits | ((sum[31:0] ^ {32{averages}}) & {32{sums}});
      halves[i].shift = averages ? functions[i].shift : shifts ? b[4:0] : '0;
      halves[i].more = averages ? a : '0;
      halves[i].mul.low = multiplies ? 32'(a[15:0]) * 32'(b[15:0]) : '0;
      halves[i].mul.ab = multiplies ? a[31:16] * b[15:0] : '0;
      halves[i].mul.ba = multiplies ? a[15:0] * b[31:16] : '0;
    end

    // ---- the second
    if (Full) begin : gen_full
      wire half_t half = halves_r[i];
      wire left = is == FunctionShiftLeft;
      wire [4:0] turn = left ? -half.shift : half.shift;
      wire word_t turned = word_t'({half.base, half.base} >> turn);
      // The bits that have not wrapped around: for a shift to the right those below.
      wire word_t kept_left = {32{1'b1}} << half.shift;
      wire word_t kept_right = {32{1'b1}} >> half.shift;
      wire word_t kept = left ? kept_left : is == FunctionRotate ? '1 : kept_right;
      wire sign = averages && half.base[31];
      wire word_t cut = (turned & kept) | ({32{sign}} & ~kept);
      wire [15:0] crossed = half.mul.ab + half.mul.ba;
      assign results[i] = (cut | half.mul.low) + (half.more | {crossed, 16'b0});
    end else begin : gen_base
      assign results[i] = halves_r[i].base;
    end
  end
endmodule

`default_nettype wire
