// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Merges records of two sources, which take turns while both have some. 1 cycle, a record every other cycle.
module rmt_records
  import penstock_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    record_if.snk from[2],
    record_if.src to
);
  logic turn_q;  // source 1 goes first if both have a record
  logic second;  // it goes now

  assign second = from[1].valid && (turn_q || !from[0].valid);
  assign from[0].ready = !to.valid && !second;
  assign from[1].ready = !to.valid && second;

  always_ff @(posedge clk) begin
    if (!to.valid) to.data <= second ? from[1].data : from[0].data;
    if (!to.valid && (from[0].valid || from[1].valid)) turn_q <= !second;
    to.valid <= to.valid ? !to.ready : from[0].valid || from[1].valid;
    if (rst) {to.valid, turn_q} <= '0;
  end
endmodule

`default_nettype wire
