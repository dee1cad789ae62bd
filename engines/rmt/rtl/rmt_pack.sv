// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Moves those halfwords that are emitted to the front and keeps their order; the others become 0.
//
//   halves, by ─> by 1, 2, 4 ─> by 8, 16, 32 ─> packed     2 cycles, a head a cycle
//
// `by` is the number of halfwords in front of each that are not emitted. Two never meet in one place: of two that are
// emitted, the later one moves as far as the earlier one and over the gaps between them.
module rmt_pack
  import rmt_pkg::*;
(
    input wire logic clk,

    input wire logic [HeadHalves-1:0]       emitted,
    input wire logic [HeadHalves-1:0][ 5:0] by,
    input wire logic [HeadHalves-1:0][15:0] halves,
    output     logic [HeadHalves-1:0][15:0] packed_halves
);
  localparam int unsigned Steps = 6;

  typedef struct packed {
    logic        valid;
    logic [5:0]  by;
    logic [15:0] half;
  } item_t;

  typedef item_t [HeadHalves-1:0] items_t;

  function automatic items_t moved(items_t items, int unsigned level);
    items_t result;
    for (int unsigned n = 0; n < HeadHalves; n++) begin
      result[n] = items[n].valid && !items[n].by[level] ? items[n] : '0;
      if (n + (1 << level) < HeadHalves)
        if (items[n+(1<<level)].valid && items[n+(1<<level)].by[level]) result[n] |= items[n+(1<<level)];
    end
    return result;
  endfunction

  items_t first_d, first_q, second_d;

  always_comb begin
    for (int unsigned n = 0; n < HeadHalves; n++)
      first_d[n] = emitted[n] ? '{valid: 1'b1, by: by[n], half: halves[n]} : '0;
    for (int unsigned level = 0; level < Steps / 2; level++) first_d = moved(first_d, level);
    second_d = first_q;
    for (int unsigned level = Steps / 2; level < Steps; level++) second_d = moved(second_d, level);
  end

  always_ff @(posedge clk) begin
    first_q <= first_d;
    for (int unsigned n = 0; n < HeadHalves; n++) packed_halves[n] <= second_d[n].half;
  end
endmodule

`default_nettype wire
