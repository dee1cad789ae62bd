// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A memory with two ports: lane 0 reads or the host writes on one, lane 1 reads on the other. The lanes of the filter
// share it. Data follow the address by one cycle. A read of a word that is written in the same cycle returns either
// value.
module ids_bitmap #(
    parameter int unsigned Width = 1,
    parameter int unsigned Depth = 65536
) (
    input wire logic clk,

    input  wire logic                     we,     // only while lane 0 does not read
    input  wire logic [        Width-1:0] wdata,
    input  wire logic                     re_0,
    input  wire logic [$clog2(Depth)-1:0] addr_0,
    output logic      [        Width-1:0] rdata_0,

    input  wire logic                     re_1,
    input  wire logic [$clog2(Depth)-1:0] addr_1,
    output logic      [        Width-1:0] rdata_1
);
  (* ram_style = "block", no_rw_check *) logic [Width-1:0] mem[Depth];

  always_ff @(posedge clk) begin
    if (we) mem[addr_0] <= wdata;
    else if (re_0) rdata_0 <= mem[addr_0];
  end
  always_ff @(posedge clk) if (re_1) rdata_1 <= mem[addr_1];

`ifndef SYNTHESIS
  always_ff @(posedge clk) assert (!(we && re_0)) else $error("%m: a write takes a read's cycle");
`endif
endmodule

`default_nettype wire
