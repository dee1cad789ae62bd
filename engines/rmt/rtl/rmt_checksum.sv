// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The Internet checksum (RFC 1071) of those halfwords of a vector that a row covers.
//
//   vector, row ─> 64 to 16 ─> 16 to 1 ─> ends around ─> sum     3 cycles, a vector a cycle
//                                     └─> fits                   2 cycles
module rmt_checksum
  import rmt_pkg::*;
(
    input wire logic clk,

    input wire vector_t       vector,
    input wire checksum_row_t row,
    output     logic          fits,  // the sum is the halfword that holds it
    output     logic [15:0]   sum
);
  localparam int unsigned Groups = 16;

  logic [Groups-1:0][17:0] some_d, some_q;  // of four halfwords
  logic [21:0] all_d, all_q;
  logic [16:0] once;
  logic [15:0] half_q, once_wanted_q, carried_wanted_q;

  always_comb
    for (int unsigned g = 0; g < Groups; g++) begin
      some_d[g] = '0;
      for (int unsigned h = 4 * g; h < 4 * g + 4; h++)
        if (row.covers[h]) some_d[g] = some_d[g] + 18'(h[0] ? vector[h/2][15:0] : vector[h/2][31:16]);
    end
  always_ff @(posedge clk) begin
    some_q <= some_d;
    half_q <= half_of(vector, row.half);
  end

  always_comb begin
    all_d = '0;
    for (int unsigned g = 0; g < Groups; g++) all_d = all_d + 22'(some_q[g]);
  end
  // What is wanted of the sum before its carry is added, without a carry and with one
  always_ff @(posedge clk) begin
    all_q            <= all_d;
    once_wanted_q    <= ~half_q;
    carried_wanted_q <= ~half_q - 16'd1;
  end

  // `once` has its carry to be added, and the sum is the complement of that.
  assign once = 17'(all_q[15:0]) + 17'(all_q[21:16]);
  assign fits = once[15:0] == (once[16] ? carried_wanted_q : once_wanted_q);
  always_ff @(posedge clk) sum <= ~(once[15:0] + 16'(once[16]));
endmodule

`default_nettype wire
