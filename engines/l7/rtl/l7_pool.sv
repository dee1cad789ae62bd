// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Allocates the numbers 0 to Depth - 1, each to one user at a time: first unused ones, then returned ones, in order of
// their return. A number can be allocated again four cycles after its return.
module l7_pool #(
    parameter int unsigned Depth = 512,  // a power of two
    localparam int unsigned IdW = $clog2(Depth)
) (
    input wire logic clk,
    input wire logic rst,

    output logic           valid,
    output logic [IdW-1:0] id,
    input  wire logic      take,  // only while `valid`

    input wire logic           give,
    input wire logic [IdW-1:0] give_id
);
  logic [IdW:0] fresh_q;
  logic is_fresh, old_valid;
  logic [IdW-1:0] old;

  assign is_fresh = !fresh_q[IdW];
  assign valid = is_fresh || old_valid;
  assign id = is_fresh ? fresh_q[IdW-1:0] : old;

  fifo_block #(
      .Width(IdW),
      .Depth(Depth)
  ) i_old (
      .clk,
      .rst,
      .push(give),
      .din(give_id),
      .valid(old_valid),
      .pop(take && !is_fresh),
      .dout(old)
  );

  always_ff @(posedge clk) begin
    if (take && is_fresh) fresh_q <= fresh_q + 1'b1;
    if (rst) fresh_q <= '0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) assert (!take || valid) else $error("%m: taken from an empty pool");
`endif
endmodule

`default_nettype wire
