// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The predicates of a program: operands against constants. Two cycles, of which the first chooses the operand.
module flow_predicates
  import flow_pkg::*;
(
    input wire logic clk,

    input  wire predicate_t [Predicates-1:0] predicates,
    input  wire word_t      [Operands-1:0]   x,
    output logic            [Predicates-1:0] true_p
);
  for (genvar i = 0; i < Predicates; i++) begin : gen_predicate
    word_t chosen_q;
    logic true_q;
    wire less = chosen_q < predicates[i].value;
    wire equal = chosen_q == predicates[i].value;
    always_ff @(posedge clk) begin
      chosen_q <= x[predicates[i].x] & predicates[i].mask;
      unique case (predicates[i].is)
        PredicateEqual: true_q <= equal;
        PredicateLess: true_q <= less;
        default: true_q <= less || equal;
      endcase
    end
    assign true_p[i] = true_q;
  end
endmodule

`default_nettype wire
