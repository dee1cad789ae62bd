// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// What a program computes, for the proof of the table (flow_table.sv): the ports of rtl/flow_rows.sv, flow_functions.sv and flow_predicates.sv, and
// nothing behind them. The proof leaves their outputs open, so it holds for every program and every frame.
(* blackbox *)
module flow_rows
  import flow_pkg::*;
(
    input  wire row_word_t [Rows-1:0]       rows,
    input  wire logic      [Predicates-1:0] true_p,
    input  wire parts_t                     parts,
    output logic           [Rows-1:0]       of_frame,
    input  wire logic      [Rows-1:0]       of_frame_c,
    input  wire state_t                     state,
    input  wire logic                       is_new,
    output logic           [Rows-1:0]       candidates,
    input  wire logic      [Rows-1:0]       candidates_r,
    input  wire logic      [Conditions-1:0] true_c,
    input  wire logic                       is_full,
    output logic                            fits,
    output row_t                            row,
    output choice_t                         choice
);
endmodule

(* blackbox *)
module flow_functions
  import flow_pkg::*;
(
    input  wire condition_t     [Conditions-1:0] conditions,
    input  wire function_word_t [Functions-1:0]  functions,
    input  wire word_t          [Registers-1:0]  r,
    input  wire word_t          [Globals-1:0]    g,
    input  wire word_t          [Operands-1:0]   x,
    output logic                [Conditions-1:0] true_c,
    output word_t               [Functions-1:0]  results,
    output product_t            [Functions-1:0]  products
);
endmodule

(* blackbox *)
module flow_predicates
  import flow_pkg::*;
(
    input  wire logic                        clk,
    input  wire predicate_t [Predicates-1:0] predicates,
    input  wire word_t      [Operands-1:0]   x,
    output logic            [Predicates-1:0] true_p
);
endmodule

`default_nettype wire
