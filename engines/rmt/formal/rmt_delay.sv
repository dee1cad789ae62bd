// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// rtl/rmt_delay.sv for proofs: always a shift register. memory.sv proves that the ring does the same.
module rmt_delay #(
    parameter int unsigned Width  = 1,
    parameter int unsigned Cycles = 1,
    parameter bit          Reset  = 1'b0
) (
    input wire logic             clk,
    input wire logic             rst,
    input wire logic [Width-1:0] d,
    output logic     [Width-1:0] q
);
  logic [Cycles-1:0][Width-1:0] line_q;
  always_ff @(posedge clk) begin
    line_q[0] <= d;
    for (int unsigned n = 1; n < Cycles; n++) line_q[n] <= line_q[n-1];
    if (Reset && rst) line_q <= '0;
  end
  assign q = line_q[Cycles-1];
endmodule

`default_nettype wire
