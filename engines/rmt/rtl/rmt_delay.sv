// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Delays what goes beside a pipeline by so many cycles.
module rmt_delay #(
    parameter int unsigned Width  = 1,
    parameter int unsigned Cycles = 1,
    parameter bit          Reset  = 1'b0  // clears what is on its way; without it synthesis may take shift registers
) (
    input wire logic             clk,
    input wire logic             rst,
    input wire logic [Width-1:0] d,
    output logic     [Width-1:0] q
);
  logic [Width-1:0] line_q[Cycles];

  always_ff @(posedge clk) begin
    line_q[0] <= d;
    for (int unsigned n = 1; n < Cycles; n++) line_q[n] <= line_q[n-1];
    if (Reset && rst) for (int unsigned n = 0; n < Cycles; n++) line_q[n] <= '0;
  end
  assign q = line_q[Cycles-1];
endmodule

`default_nettype wire
