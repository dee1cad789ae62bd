// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A memory in UltraRAM with two ports: port A reads, port B writes or reads. `rdata` follows `addr` by one cycle and
// holds until the port's next read, also while port B writes. If port B writes the word that port A reads in the same
// cycle, port A gets either value: users keep away from it, or forward what is written; `no_rw_check` tells yosys so.
module ram_two #(
    parameter int unsigned Width = 72,
    parameter int unsigned Depth = 4096
) (
    input wire logic clk,

    input  wire logic                     re_a,
    input  wire logic [$clog2(Depth)-1:0] addr_a,
    output logic      [        Width-1:0] rdata_a,

    input  wire logic                     we_b,     // in place of a read
    input  wire logic                     re_b,
    input  wire logic [$clog2(Depth)-1:0] addr_b,
    input  wire logic [        Width-1:0] wdata_b,
    output logic      [        Width-1:0] rdata_b
);
  (* ram_style = "ultra", no_rw_check *) logic [Width-1:0] mem[Depth];

  always_ff @(posedge clk) if (re_a) rdata_a <= mem[addr_a];

  always_ff @(posedge clk) begin
    if (we_b) mem[addr_b] <= wdata_b;
    else if (re_b) rdata_b <= mem[addr_b];
  end
endmodule

`default_nettype wire
