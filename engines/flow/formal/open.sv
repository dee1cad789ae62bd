// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The results of a program, for the proof of the table (flow_table.sv), in place of rtl/flow_update.sv: any value, so
// that the proof holds for every program and every frame. The proof's script cuts the signals whose names begin with
// `open`.
module flow_update
  import flow_pkg::*;
(
    input  wire logic                  clk,
    input  wire program_t              program_i,
    input  wire word_t [Operands-1:0]  t_x,
    input  wire parts_t                x_parts,
    input  wire word_t [Operands-1:0]  c_x,
    input  wire word_t                 c_now,
    input  wire logic                  c_is_new,
    input  wire state_t                c_state,
    input  wire word_t [Registers-1:0] c_r,
    input  wire logic                  r_takes,
    input  wire logic                  r_is_full,
    input  wire word_t [Registers-1:0] r_r,
    output logic                       r_fits,
    output row_t                       r_row,
    input  wire choice_t               r_choice,
    output word_t      [Registers-1:0] r_values,
    output word_t      [Functions-1:0] r_results,
    output word_t      [Periods-1:0]   r_ends,
    input  wire logic                  begin_g,
    input  wire logic  [Globals-1:0]   set_g,
    input  wire word_t                 set_g_to,
    output word_t      [Globals-1:0]   g
);
  wire open_fits = 1'b0;
  wire row_t open_row = '0;
  wire word_t [Registers-1:0] open_values = '0;
  wire word_t [Periods-1:0] open_ends = '0;
  assign r_fits = open_fits && r_takes;  // only a frame takes a row, and only one of a program with a key has a flow
  assign r_row = open_row;
  assign r_values = open_values;
  assign r_ends = open_ends;
  assign r_results = '0;
  assign g = '0;
endmodule

`default_nettype wire
