// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A memory with one write port and one read port, both synchronous. `rdata` follows `raddr` by one cycle and holds
// while !re. A read of the word that is written in the same cycle returns either value: users keep away from it, or
// forward what is written; `no_rw_check` tells yosys so.
module ram_sdp #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 512,
    parameter bit          Ultra = 1'b0   // large and deep: UltraRAM instead of block RAM
) (
    input wire logic clk,

    input wire logic                     we,
    input wire logic [$clog2(Depth)-1:0] waddr,
    input wire logic [        Width-1:0] wdata,

    input  wire logic                     re,
    input  wire logic [$clog2(Depth)-1:0] raddr,
    output logic      [        Width-1:0] rdata
);
  if (Ultra) begin : gen_ultra
    (* ram_style = "ultra", no_rw_check *) logic [Width-1:0] mem[Depth];
    always_ff @(posedge clk) begin
      if (we) mem[waddr] <= wdata;
      if (re) rdata <= mem[raddr];
    end
  end else begin : gen_block
    (* ram_style = "block", no_rw_check *) logic [Width-1:0] mem[Depth];
    always_ff @(posedge clk) begin
      if (we) mem[waddr] <= wdata;
      if (re) rdata <= mem[raddr];
    end
  end
endmodule

`default_nettype wire
