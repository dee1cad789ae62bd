// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Round robin among N requesters, decided in the cycle of the request. The requester that `accept` confirms comes last
// in the next round.
module rr_arbiter #(
    parameter int unsigned N = 4
) (
    input  wire logic         clk,
    input  wire logic         rst,
    input  wire logic [N-1:0] req,
    input  wire logic         accept,
    output logic      [N-1:0] grant    // one hot, or zero without a request
);
  logic [N-1:0] after_q;  // the requesters behind the last winner
  logic [N-1:0] preferred;

  assign preferred = req & after_q;
  assign grant = (preferred != 0) ? preferred & (~preferred + 1'b1) : req & (~req + 1'b1);

  always_ff @(posedge clk) begin
    if (accept) after_q <= ~(grant | (grant - 1'b1));
    if (rst) after_q <= '0;
  end
endmodule

`default_nettype wire
