// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The clock that a unit's programs see, in ns (TIME_L, TIME_H and TIME_RUN in shell/regs/unit.rdl). It counts 4 a cycle
// from the card's reset on. A time that the host sets stands until the host lets it run, so that a frame that enters
// alone finds the time at which it was captured.
module unit_clock (
    input wire logic clk,
    input wire logic rst,

    input wire logic set_high,  // takes `wdata` as the upper word of the next `set_low`
    input wire logic set_low,   // sets the time, and stops it
    input wire logic run,
    input wire logic [31:0] wdata,

    output logic [63:0] ns
);
  logic [31:0] high_q;
  logic stands_q;
  always_ff @(posedge clk) begin
    if (set_high) high_q <= wdata;
    if (set_low) ns <= {high_q, wdata};
    else if (!stands_q) ns <= ns + 64'd4;
    stands_q <= set_low || (stands_q && !run);
    if (rst) begin
      ns <= '0;
      stands_q <= 1'b0;
      high_q <= '0;
    end
  end
endmodule

`default_nettype wire
