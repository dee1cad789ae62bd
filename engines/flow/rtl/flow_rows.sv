// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The rows of a program. What a row needs of the frame is known before its context, what it needs of state and flow before its conditions; so only
// those are left to the second half of the element's loop, which takes the first row that fits.
//
//   predicates, parts ────> of_frame (a bit a row)      in the cycle before the context is known
//   context ──────────────> candidates                  with the conditions
//   conditions ───────────> fits, the first, its choice the cycle after
//
// Without registers: the element has them.
module flow_rows
  import flow_pkg::*;
(
    input wire row_word_t [Rows-1:0] rows,

    input  wire logic [Predicates-1:0] true_p,
    input  wire parts_t                parts,     // what the frame has
    output logic      [Rows-1:0]       of_frame,

    input  wire logic [Rows-1:0] of_frame_c,
    input  wire state_t          state,
    input  wire logic            is_new,
    output logic      [Rows-1:0] candidates,

    input  wire logic [Rows-1:0]       candidates_r,
    input  wire logic [Conditions-1:0] true_c,
    input  wire logic                  is_full,
    output logic                       fits,
    output row_t                       row,
    output choice_t                    choice
);
  logic [Rows-1:0] all, first;

  always_comb begin
    for (int unsigned i = 0; i < Rows; i++) begin
      automatic match_t m = rows[i].match;
      of_frame[i] = m.used && (m.true_p & ~true_p) == 0 && (m.false_p & true_p) == 0 && (m.has & ~parts) == 0 &&
          (m.lacks & parts) == 0;
      candidates[i] = of_frame_c[i] && (m.any_state || m.state == state) && !(is_new ? m.not_new : m.is_new);
      all[i] = candidates_r[i] && (m.true_c & ~true_c) == 0 && (m.false_c & true_c) == 0 && !(is_full ? m.not_full : m.is_full);
    end
  end

  assign first = all & (~all + Rows'(1));
  assign fits = all != 0;

  // One bit is set at most, so the choice is a sum.
  always_comb begin
    row = '0;
    choice = '0;
    for (int unsigned i = 0; i < Rows; i++) begin
      if (first[i]) row |= row_t'(i);
      choice |= rows[i].choice & {$bits(choice_t) {first[i]}};
    end
  end
endmodule

`default_nettype wire
