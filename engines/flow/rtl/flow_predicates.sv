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
    // The mask is one more input of each comparison; after the choice it would be an extra level.
    wire word_t masked = chosen_q & predicates[i].mask;
    wire [32:0] left = {1'b0, predicates[i].value} - {1'b0, masked};
    wire at_most = !left[32];
    wire equal = masked == predicates[i].value;
    wire unused = &{1'b0, left[31:0]};
    always_ff @(posedge clk) begin
      chosen_q <= x[predicates[i].x];
      unique case (predicates[i].is)
        PredicateEqual: true_q <= equal;
        PredicateLess: true_q <= at_most && !equal;
        default: true_q <= at_most;
      endcase
    end
    assign true_p[i] = true_q;
  end
endmodule

`default_nettype wire
