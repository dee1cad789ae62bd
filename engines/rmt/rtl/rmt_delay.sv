// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Delays data beside a pipeline by a number of cycles. With `Reset` it is a shift register that reset clears; without,
// and from three cycles on, a ring in distributed RAM.
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
  if (!Reset && Cycles >= 3) begin : gen_ring
    localparam int unsigned Depth = Cycles - 1;  // the output register is the last cycle
    localparam int unsigned AddrW = $clog2(Depth);
    (* ram_style = "distributed" *) logic [Width-1:0] ring[Depth];
    logic [AddrW-1:0] at_q;

    always_ff @(posedge clk) begin
      ring[at_q] <= d;
      q <= ring[at_q];
    end
    always_ff @(posedge clk) begin
      at_q <= 32'(at_q) == Depth - 1 ? '0 : at_q + 1'b1;
      if (rst) at_q <= '0;
    end
  end else begin : gen_line
    logic [Cycles-1:0][Width-1:0] line_q;
    always_ff @(posedge clk) begin
      line_q[0] <= d;
      for (int unsigned n = 1; n < Cycles; n++) line_q[n] <= line_q[n-1];
      if (Reset && rst) line_q <= '0;
    end
    assign q = line_q[Cycles-1];
  end
endmodule

`default_nettype wire
