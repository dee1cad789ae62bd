// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The rows of a program. A row's conditions on the frame are known before the context, and its conditions on state,
// flow and comparisons in the first half of the element's loop. Except for one bit, the whole second half is free to
// select the first row that matches.
//
//   predicates, parts ───────────────> of_frame (a bit a row)       in the cycle before the context is known
//   of_frame, context, conditions ───> candidates                   with the conditions
//   candidates, whether it is full ──> fits, the first              the cycle after
//
// Without registers: the element has them.
module flow_rows
  import flow_pkg::*;
(
    input wire match_t [Rows-1:0] rows,

    input  wire logic [Predicates-1:0] true_p,
    input  wire parts_t                parts,     // what the frame has
    output logic      [Rows-1:0]       of_frame,

    input  wire logic [Rows-1:0]       of_frame_c,
    input  wire state_t                state,
    input  wire logic                  is_new,
    input  wire logic [Conditions-1:0] true_c,
    output logic      [Rows-1:0]       candidates,

    input  wire logic [Rows-1:0] candidates_r,
    input  wire logic            is_full,
    output logic                 fits,
    output row_t                 row
);
  localparam int unsigned Group = 8;  // rows
  localparam int unsigned Groups = Rows / Group;
  localparam int unsigned GroupW = $clog2(Group);

  logic [Groups-1:0][Group-1:0] all;

  always_comb begin
    for (int unsigned i = 0; i < Rows; i++) begin
      automatic match_t m = rows[i];
      of_frame[i] = m.used && (m.true_p & ~true_p) == 0 && (m.false_p & true_p) == 0 && (m.has & ~parts) == 0 &&
          (m.lacks & parts) == 0;
      candidates[i] = of_frame_c[i] && (m.any_state || m.state == state) && !(is_new ? m.not_new : m.is_new) &&
          (m.true_c & ~true_c) == 0 && (m.false_c & true_c) == 0;
      all[i/Group][i%Group] = candidates_r[i] && !(is_full ? m.not_full : m.is_full);
    end
  end

  // The first group in which one fits, and beside that the first of each group: a chain along all rows would be as long
  // as all else here.
  logic [Groups-1:0] any, first_group;
  logic [Groups-1:0][Group-1:0] first;
  logic [Groups-1:0][GroupW-1:0] number;

  always_comb begin
    for (int unsigned g = 0; g < Groups; g++) begin
      any[g] = all[g] != 0;
      first[g] = all[g] & (~all[g] + Group'(1));
    end
    first_group = any & (~any + Groups'(1));
    fits = any != 0;
  end

  // One bit is set at most, so the number is a sum.
  always_comb begin
    row = '0;
    for (int unsigned g = 0; g < Groups; g++) begin
      number[g] = '0;
      for (int unsigned i = 0; i < Group; i++) if (first[g][i]) number[g] |= GroupW'(i);
      if (first_group[g]) row |= {($bits(row_t) - GroupW)'(g), number[g]};
    end
  end
endmodule

`default_nettype wire
