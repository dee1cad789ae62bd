// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The load of a lane: 1 to 8 bytes of a window. A window's groups of 8 bytes come at their own places in the memory's
// row, so its byte `at` is byte `at[2:0]` of group `at[5:3]`: for each of the 8 places in a group the right group is
// chosen, then the 8 bytes are turned.
//
//   MEM    which groups              -> register
//   TURN   groups chosen, bytes turned -> register
//   WRITE  order, sign                 -> value, in the same cycle
module xdp_lane_load
  import xdp_pkg::*;
(
    input wire logic clk,

    // MEM
    input wire logic [5:0] at,      // the first byte's place in the row

    // TURN
    input wire window_t    packet,
    input wire window_t    stack,
    input wire logic       from_stack,
    input wire logic [3:0] count,   // 1..8
    input wire logic       is_signed,
    input wire logic       swap,

    output word_t value     // in WRITE
);
  logic [7:0][7:0] chosen, turned, turned_q;
  logic [3:0] count_q;
  logic signed_q, swap_q;

  logic [7:0][2:0] group_q;
  logic [2:0] first_q;
  always_ff @(posedge clk) begin
    for (int unsigned b = 0; b < 8; b++) group_q[b] <= at[5:3] + 3'(4'(b) < {1'b0, at[2:0]});
    first_q <= at[2:0];
  end

  always_comb begin
    for (int unsigned b = 0; b < 8; b++)
      chosen[b] = from_stack ? stack[group_q[b]][b*8+:8] : packet[group_q[b]][b*8+:8];
    for (int unsigned b = 0; b < 8; b++) turned[b] = chosen[3'(b)+first_q];
  end

  always_ff @(posedge clk) begin
    turned_q <= turned;
    count_q <= count;
    signed_q <= is_signed;
    swap_q <= swap;
  end

  logic [7:0][7:0] ordered;
  logic sign;
  always_comb begin
    sign = signed_q && (swap_q ? turned_q[0][7] : turned_q[3'(count_q-4'd1)][7]);
    for (int unsigned b = 0; b < 8; b++) begin
      ordered[b] = swap_q ? turned_q[3'(count_q-4'd1)-3'(b)] : turned_q[b];
      if (4'(b) >= count_q) ordered[b] = {8{sign}};
    end
  end

  assign value = ordered;
endmodule

`default_nettype wire
