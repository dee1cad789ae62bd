// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The rows of two matchers: one copy of 4,096 × 1,367 bits in 19 UltraRAMs, with a port for each matcher.
//
// A write takes the port of the second matcher in a cycle in which that matcher cannot read (`second_free`), and waits
// for such a cycle. A matcher that runs a program has one in each step.
module l7_rows
  import l7_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic    we,
    input wire row_no_t waddr,  // these stay until the write is done
    input wire row_t    wdata,
    output logic        busy,   // a write waits, or is done in this cycle

    input wire logic    [1:0] re,
    input wire row_no_t [1:0] raddr,
    input wire logic          second_free,
    output row_t        [1:0] rows          // a cycle later, until the matcher's next read
);
  logic waits_q, writes;
  assign busy = we || waits_q;
  assign writes = busy && second_free;
  always_ff @(posedge clk) waits_q <= busy && !second_free && !rst;

  ram_two #(
      .Width($bits(row_t)),
      .Depth(Rows)
  ) i_rows (
      .clk,
      .re_a(re[0]),
      .addr_a(raddr[0]),
      .rdata_a(rows[0]),
      .we_b(writes),
      .re_b(re[1]),
      .addr_b(second_free ? waddr : raddr[1]),
      .wdata_b(wdata),
      .rdata_b(rows[1])
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!(second_free && re[1])) else $error("%m: a matcher reads in a cycle in which it said that it cannot");
`endif
endmodule

`default_nettype wire
