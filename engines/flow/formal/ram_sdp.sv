// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// lib/rtl/ram_sdp.sv for proofs: a read of the word that is written in the same cycle returns either value, whichever
// is worse: `open_new` is cut open by the proof's script.
module ram_sdp #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 512,
    parameter bit          Ultra = 1'b0
) (
    input wire logic clk,

    input wire logic                     we,
    input wire logic [$clog2(Depth)-1:0] waddr,
    input wire logic [        Width-1:0] wdata,

    input  wire logic                     re,
    input  wire logic [$clog2(Depth)-1:0] raddr,
    output logic      [        Width-1:0] rdata
);
  logic [Width-1:0] mem[Depth];
  wire open_new = 1'b0;
  always_ff @(posedge clk) begin
    if (we) mem[waddr] <= wdata;
    if (re) rdata <= we && waddr == raddr && open_new ? wdata : mem[raddr];
  end
endmodule

`default_nettype wire
