// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The end of an element after the memory from which it reads a row's edits, for the Fmax of both.
module flow_end
  import flow_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    // the program
    input  wire logic  first,
    input  wire logic  shift,
    input  wire word_t word,
    output logic       complete,
    input  wire logic  commit,

    input  wire logic                  in_valid,
    input  wire logic                  takes,
    input  wire logic                  fits,
    input  wire row_t                  row,
    input  wire vector_t               in,
    input  wire word_t [Functions-1:0] results,
    input  wire word_t [Operands-1:0]  x,
    input  wire word_t [Registers-1:0] r,
    input  wire word_t [Globals-1:0]   g,
    output logic                       out_valid,
    output vector_t                    out
);
  program_t loaded;
  choice_t choice;
  edit_pkg::edit_t edit;
  flow_program program_ (
      .clk,
      .rst,
      .first,
      .shift,
      .word,
      .complete,
      .commit,
      .program_o(loaded),
      .choice_row('0),
      .choice,
      .edit_row(row),
      .edit
  );

  flow_act act (
      .clk,
      .rst,
      .in_valid,
      .takes,
      .fits,
      .in,
      .row(edit),
      .results,
      .x,
      .r,
      .g,
      .out_valid,
      .out
  );
endmodule

`default_nettype wire
