// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Modules that the proof of l7_park (park.sv) replaces: their results are any value. The proof restricts the results to
// what the proofs of these modules say. The script cuts signals whose names begin with `open`.

// lib/formal/fifos.sv
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
  wire open_ready = '0;
  wire open_valid = '0;
  wire [Width-1:0] open_dout = '0;
  assign ready = open_ready;
  assign valid = open_valid;
  assign dout  = open_dout;
  assign level = '0;
endmodule

// lib/formal/fifos.sv
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
  assign valid = open_valid;
  assign dout  = open_dout;
endmodule

module l7_channel
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned PatienceLog2 = 12
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic        write,
    input  wire parked_at_t  write_at,
    input  wire page_beats_t write_beats,
    output logic             write_ready,
    input  wire logic             beat_valid,
    input  wire logic             beat_last,
    input  wire logic [DataW-1:0] beat,
    output logic                  beat_ready,
    output logic      written,
    output logic      written_failed,
    input  wire logic written_pop,

    input  wire logic        read,
    input  wire parked_at_t  read_at,
    input  wire page_beats_t read_beats,
    output logic             read_ready,
    output logic             answer_valid,
    output logic             answer_failed,
    output logic [DataW-1:0] answer,
    input  wire logic        answer_pop,

    axi_if.mgr mem
);
  wire [5:0] open_flags = '0;
  wire [DataW-1:0] open_answer = '0;
  assign {write_ready, beat_ready, written, written_failed, read_ready, answer_valid} = open_flags;
  assign answer_failed = 1'b0;
  assign answer = open_answer;
endmodule

`default_nettype wire
