// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The element's loop closed, as in flow_core: the context that a row gives in R is the context of the flow's next frame
// in C. The program is in its registers and memories around it, for the Fmax of both.
module flow_loop
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

    // a frame in T, and its flow's table entry in X
    input wire word_t [Operands-1:0] t_x,
    input wire parts_t               x_parts,
    input wire word_t                x_now,
    input wire logic                 x_takes,
    input wire logic                 x_same,     // as of the frame in R
    input wire logic                 x_present,
    input wire context_t             x_content,
    input wire logic                 r_can,      // there is a place
    input wire logic                 r_is_full,

    // a register after R
    output logic                  a_fits_q,
    output row_t                  a_row_q,
    output word_t [Registers-1:0] a_values_q,
    output word_t [Functions-1:0] a_results_q,
    output word_t [Globals-1:0]   g,

    input wire logic                begin_g,
    input wire logic  [Globals-1:0] set_g,
    input wire word_t               set_g_to
);
  program_t loaded;
  row_t r_row;
  choice_t r_choice;
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
      .choice_row(r_row),
      .choice(r_choice),
      .edit_row('0),
      .edit
  );

  word_t [Operands-1:0] s_x_q, x_x_q, c_x_q;
  word_t c_now_q;
  logic c_takes_q, r_takes_q, c_present_q, r_present_q, r_made_present, r_fits, r_stores;
  context_t c_content_q, r_content_q, r_made;
  word_t [Registers-1:0] r_values;
  word_t [Functions-1:0] r_results;
  word_t [Periods-1:0] r_ends;
  wire context_t fresh = '{state: '0, r: loaded.initial_r, hard: '0, idle: '0};

  flow_update update (
      .clk,
      .program_i(loaded),
      .t_x,
      .x_parts,
      .c_x(c_x_q),
      .c_now(c_now_q),
      .c_is_new(!c_present_q),
      .c_state(c_content_q.state),
      .c_r(c_content_q.r),
      .r_takes(r_takes_q),
      .r_is_full,
      .r_r(r_content_q.r),
      .r_fits,
      .r_row,
      .r_choice,
      .r_values,
      .r_results,
      .r_ends,
      .begin_g,
      .set_g,
      .set_g_to,
      .g
  );

  always_comb begin
    r_stores = r_choice.named;
    for (int unsigned i = 0; i < Registers; i++) r_stores |= r_choice.r[i].set;
    r_made = r_content_q;
    r_made_present = r_present_q;
    if (r_fits) begin
      r_made.r = r_values;
      if (r_choice.set_state) r_made.state = r_choice.state;
      r_made.idle.at = r_ends[r_content_q.idle.period];
      if (r_choice.named) begin
        r_made.hard = '{on: r_choice.hard.on, period: r_choice.hard.period, at: r_ends[r_choice.hard.period]};
        r_made.idle = '{on: r_choice.idle.on, period: r_choice.idle.period, at: r_ends[r_choice.idle.period]};
      end
      r_made_present = !r_choice.forget && (r_present_q || (r_stores && r_can));
    end
  end

  always_ff @(posedge clk) begin
    {c_x_q, x_x_q, s_x_q} <= {x_x_q, s_x_q, t_x};
    c_now_q <= x_now;
    c_takes_q <= x_takes;
    c_present_q <= x_same ? r_made_present : x_present;
    c_content_q <= x_same ? (r_made_present ? r_made : fresh) : x_content;
    r_takes_q <= c_takes_q;
    r_present_q <= c_present_q;
    r_content_q <= c_content_q;
    a_fits_q <= r_fits;
    a_row_q <= r_row;
    a_values_q <= r_values;
    a_results_q <= r_results;
  end
endmodule

`default_nettype wire
