// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Conditions and functions of a program, all at once: the first half of the element's loop. Without registers.
//
//   context, globals, operands ─> sources ─┬─> comparisons ─> conditions
//                                          └─> operations ──> results, products
//
// A product of 32 bits is a sum of products of halves. That sum is left to the next cycle, so a multiplier is all that is in this one.
module flow_functions
  import flow_pkg::*;
(
    input  wire condition_t     [Conditions-1:0] conditions,
    input  wire function_word_t [Functions-1:0]  functions,
    input  wire word_t          [Registers-1:0]  r,
    input  wire word_t          [Globals-1:0]    g,
    input  wire word_t          [Operands-1:0]   x,
    output logic                [Conditions-1:0] true_c,
    output word_t               [Functions-1:0]  results,  // 0 of a multiplication, which has
    output product_t            [Functions-1:0]  products  // these, for all others without a meaning
);
  function automatic word_t value_of(source_t source, word_t constant);
    unique case (source.from)
      FromFlow: return r[source.index[$clog2(Registers)-1:0]];
      FromGlobal: return g[source.index];
      FromOperand: return x[source.index];
      FromConstant: return constant;
    endcase
  endfunction

  for (genvar i = 0; i < Conditions; i++) begin : gen_condition
    wire word_t a = value_of(conditions[i].a, conditions[i].value);
    wire word_t b = value_of(conditions[i].b, conditions[i].value);
    // One difference says all: its borrow which is less, its sign which is before.
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

  for (genvar i = 0; i < Functions; i++) begin : gen_function
    wire word_t a = value_of(functions[i].a, functions[i].value);
    wire word_t b = value_of(functions[i].b, functions[i].value);
    wire function_e is = functions[i].is;
    wire subtracts = is != FunctionAdd;
    wire word_t other = b ^ {32{subtracts}};
    wire [32:0] sum = {1'b0, a} + {1'b0, other} + 33'(subtracts);
    wire less = !sum[32];
    // The average moves by a part of b - a, which has the sign that it has modulo 2^32.
    wire word_t away = b - a;
    wire word_t way = word_t'($signed(away) >>> functions[i].shift);
    always_comb begin
      unique case (is)
        FunctionAdd, FunctionSub: results[i] = sum[31:0];
        FunctionAnd: results[i] = a & b;
        FunctionOr: results[i] = a | b;
        FunctionXor: results[i] = a ^ b;
        FunctionNot: results[i] = ~a;
        FunctionShiftLeft: results[i] = a << b[4:0];
        FunctionShiftRight: results[i] = a >> b[4:0];
        FunctionRotate: results[i] = word_t'({a, a} >> b[4:0]);
        FunctionMin: results[i] = less ? a : b;
        FunctionMax: results[i] = less ? b : a;
        FunctionAverage: results[i] = a + way;
        FunctionMultiply: results[i] = '0;
        default: results[i] = a;
      endcase
    end
    assign products[i].low = 32'(a[15:0]) * 32'(b[15:0]);
    assign products[i].ab = a[31:16] * b[15:0];
    assign products[i].ba = a[15:0] * b[31:16];
  end
endmodule

`default_nettype wire
