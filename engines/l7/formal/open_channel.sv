// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Queues that the proof of l7_channel (channel.sv) replaces (lib/formal/fifos.sv): they count their words and give any
// value. The script cuts signals whose names begin with `open`.

module fifo_dist #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 32,
    parameter int unsigned Room  = 1
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic             push,
    input  wire logic [Width-1:0] din,
    output logic                  ready,

    output logic                  valid,
    input  wire logic             pop,
    output logic      [Width-1:0] dout,

    output logic [$clog2(Depth):0] level
);
  wire open_valid = '0;
  wire [Width-1:0] open_dout = '0;
  assign ready = 1'b1;
  assign valid = open_valid && level != '0;
  assign dout  = open_dout;

  always_ff @(posedge clk) begin
    level <= level + ($clog2(Depth) + 1)'(push) - ($clog2(Depth) + 1)'(valid && pop);
    if (rst) level <= '0;
  end
  always_comb if (!rst) assert (!push || 32'(level) < Depth);
endmodule

module fifo_block #(
    parameter int unsigned Width  = 8,
    parameter int unsigned Depth  = 512,
    parameter bit          Bypass = 1'b0
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic             push,
    input wire logic [Width-1:0] din,

    output logic             valid,
    input  wire logic        pop,
    output logic [Width-1:0] dout
);
  wire open_valid = '0;
  wire [Width-1:0] open_dout = '0;
  logic [$clog2(Depth):0] level;
  assign valid = open_valid && level != '0;
  assign dout  = open_dout;

  always_ff @(posedge clk) begin
    level <= level + ($clog2(Depth) + 1)'(push) - ($clog2(Depth) + 1)'(valid && pop);
    if (rst) level <= '0;
  end
  always_comb if (!rst) assert (!push || 32'(level) < Depth);
endmodule

`default_nettype wire
