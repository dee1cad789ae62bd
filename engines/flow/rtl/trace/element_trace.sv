// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Tells when an element of the inline chain takes the headers of a frame, and when it gives them back. It does that in
// their order, which alone says whose they are.
module element_trace #(
    parameter int unsigned Number = 0
) (
    input wire logic clk,
    input wire logic rst,
    input wire logic take,
    input wire logic give
);
  localparam byte StepIn = 7;
  localparam byte StepOut = 8;

  import "DPI-C" function void penstock_hop(
    input byte place, input byte index, input byte source, input byte to_unit, input byte slot, input int timestamp
  );

  always_ff @(posedge clk) begin
    if (take && !rst) penstock_hop(StepIn, byte'(Number), 0, 0, 0, 0);
    if (give && !rst) penstock_hop(StepOut, byte'(Number), 0, 0, 0, 0);
  end
endmodule

bind flow_stage element_trace #(
    .Number(Number)
) i_trace (
    .clk,
    .rst,
    .take(valid && ready),
    .give(out_valid)
);

`default_nettype wire
