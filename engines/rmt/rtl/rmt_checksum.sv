// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The Internet checksum (RFC 1071) of those halfwords of a vector that a row covers.
//
//   vector, row ─> 64 to 16 ─> 16 to 1 ─> fold, complement ─> sum     3 cycles, a vector a cycle
module rmt_checksum
  import rmt_pkg::*;
(
    input wire logic clk,

    input wire vector_t       vector,
    input wire checksum_row_t row,
    output     logic [15:0]   sum
);
  localparam int unsigned Groups = 16;

  logic [Groups-1:0][17:0] some_q;  // of four halfwords
  logic [21:0] all_d, all_q;
  logic [16:0] once;

  always_ff @(posedge clk)
    for (int unsigned g = 0; g < Groups; g++) begin
      logic [17:0] some;
      some = '0;
      for (int unsigned h = 4 * g; h < 4 * g + 4; h++)
        if (row.covers[h]) some = some + 18'(h[0] ? vector[h/2][15:0] : vector[h/2][31:16]);
      some_q[g] <= some;
    end

  always_comb begin
    all_d = '0;
    for (int unsigned g = 0; g < Groups; g++) all_d = all_d + 22'(some_q[g]);
  end
  always_ff @(posedge clk) all_q <= all_d;

  assign once = 17'(all_q[15:0]) + 17'(all_q[21:16]);
  always_ff @(posedge clk) sum <= ~(once[15:0] + 16'(once[16]));
endmodule

`default_nettype wire
