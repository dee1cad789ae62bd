// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The store of a lane: 1 to 8 bytes, at their places in a memory's row. The value is rotated within 8 bytes and copied
// to all groups; strobes select the bytes of each group.
//
//   EXEC  order of the bytes
//   MEM   turned; strobes  -> registers, in TURN
module xdp_lane_store
  import xdp_pkg::*;
(
    input wire logic clk,

    // EXEC
    input wire word_t      value,
    input wire logic [3:0] count,  // 1..8
    input wire logic       swap,

    // MEM
    input wire logic       packet,  // it stores there
    input wire logic       stack,
    input wire logic [5:0] at,      // the first byte's place in the row

    // TURN
    output logic [7:0][7:0]   bytes,         // of each group
    output logic [Window-1:0] packet_be,
    output logic [Window-1:0] stack_be
);
  logic [7:0][7:0] plain, ordered_q, turned;
  logic [3:0] count_q;
  logic [Window-1:0] be;

  assign plain = value;

  always_ff @(posedge clk) begin
    for (int unsigned b = 0; b < 8; b++) ordered_q[b] <= swap ? plain[3'(count-4'd1)-3'(b)] : plain[b];
    count_q <= count;
  end

  always_comb begin
    for (int unsigned b = 0; b < 8; b++) turned[b] = ordered_q[3'(b)-at[2:0]];
    for (int unsigned b = 0; b < Window; b++) be[b] = 6'(6'(b) - at) < 6'(count_q);
  end

  always_ff @(posedge clk) begin
    bytes <= turned;
    packet_be <= packet ? be : '0;
    stack_be <= stack ? be : '0;
  end
endmodule

`default_nettype wire
