// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A memory that one clock writes and another one reads: block RAM. `rdata` follows `raddr` by one cycle and holds
// while !re. Nobody
// reads a word while it is written.
module ram_two_clocks #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 512
) (
    input wire logic                     wclk,
    input wire logic                     we,
    input wire logic [$clog2(Depth)-1:0] waddr,
    input wire logic [        Width-1:0] wdata,

    input  wire logic                     rclk,
    input  wire logic                     re,
    input  wire logic [$clog2(Depth)-1:0] raddr,
    output logic      [        Width-1:0] rdata
);
  (* ram_style = "block", ramstyle = "M20K", no_rw_check *) logic [Width-1:0] mem[Depth];
  always_ff @(posedge wclk) if (we) mem[waddr] <= wdata;
  always_ff @(posedge rclk) if (re) rdata <= mem[raddr];
endmodule

`default_nettype wire
