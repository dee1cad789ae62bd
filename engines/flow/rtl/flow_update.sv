// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The element's loop: it computes the new registers of the flow and the globals.
//
//   T          S ────────> X ───────────> C ─────────────────> R ──────────────────> result, a frame each cycle
//   operands   one of      predicates,    conditions, first    first row, second
//   of the     them for    rows that fit  half of functions,   half of functions,
//   frame      each        the frame      rows that fit        choice
//              predicate
//
// Names begin with the cycle to which they belong. Globals are written at the end of R and read in C, so the next frame
// that reads them is two cycles behind.
module flow_update
  import flow_pkg::*;
(
    input wire logic clk,

    input wire program_t program_i,  // changes only while nothing is on its way

    input wire word_t [Operands-1:0]  t_x,
    input wire parts_t                x_parts,  // what the frame has
    input wire word_t [Operands-1:0]  c_x,
    input wire word_t                 c_now,
    input wire logic                  c_is_new,
    input wire state_t                c_state,
    input wire word_t [Registers-1:0] c_r,

    input  wire logic                  r_takes,    // it is a frame of which rows are to be asked
    input  wire logic                  r_is_full,
    input  wire word_t [Registers-1:0] r_r,        // as they were in C
    output logic                       r_fits,
    output row_t                       r_row,
    input  wire choice_t               r_choice,   // of that row, in the same cycle
    output word_t      [Registers-1:0] r_values,   // of the flow's registers
    output word_t      [Functions-1:0] r_results,
    output word_t      [Periods-1:0]   r_ends,     // when timeouts that begin now are over

    // globals
    input  wire logic                 begin_g,  // gives them their first values
    input  wire logic  [Globals-1:0]  set_g,    // the host sets them
    input  wire word_t                set_g_to,
    output word_t      [Globals-1:0]  g
);
  word_t [Globals-1:0] g_q;
  logic [Predicates-1:0] x_true_p;
  logic [Rows-1:0] x_of_frame, c_of_frame_q, c_candidates, r_candidates_q;
  logic [Conditions-1:0] c_true_c;
  half_t [Functions-1:0] c_halves, r_halves_q;
  word_t [Periods-1:0] r_ends_q;
  logic r_any;

  flow_predicates compare_fields (
      .clk,
      .predicates(program_i.predicates),
      .x(t_x),
      .true_p(x_true_p)
  );

  flow_functions calculate (
      .conditions(program_i.conditions),
      .functions(program_i.functions),
      .r(c_r),
      .g(g_q),
      .x(c_x),
      .true_c(c_true_c),
      .halves(c_halves),
      .halves_r(r_halves_q),
      .results(r_results)
  );

  flow_rows choose_row (
      .rows(program_i.rows),
      .true_p(x_true_p),
      .parts(x_parts),
      .of_frame(x_of_frame),
      .of_frame_c(c_of_frame_q),
      .state(c_state),
      .is_new(c_is_new),
      .true_c(c_true_c),
      .candidates(c_candidates),
      .candidates_r(r_candidates_q),
      .is_full(r_is_full),
      .fits(r_any),
      .row(r_row)
  );

  always_ff @(posedge clk) begin
    c_of_frame_q <= x_of_frame;
    r_candidates_q <= c_candidates;
    r_halves_q <= c_halves;
    for (int unsigned i = 0; i < Periods; i++) r_ends_q[i] <= c_now + program_i.periods[i].duration;
  end

  assign r_fits = r_any && r_takes;
  assign r_ends = r_ends_q;
  for (genvar i = 0; i < Registers; i++) begin : gen_value
    assign r_values[i] = r_choice.r[i].set ? r_results[r_choice.r[i].f] : r_r[i];
  end

  always_ff @(posedge clk) begin
    for (int unsigned i = 0; i < Globals; i++) begin
      if (r_fits && r_choice.g[i].set) g_q[i] <= r_results[r_choice.g[i].f];
      if (set_g[i]) g_q[i] <= set_g_to;
    end
    if (begin_g) g_q <= program_i.initial_g;
  end
  assign g = g_q;

  wire unused = &{1'b0, program_i};
endmodule

`default_nettype wire
