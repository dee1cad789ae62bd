// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The core of an element and its program, with ports that a test can set one by one.
module flow_core_bench
  import flow_pkg::*;
#(
    parameter int unsigned KeyW    = 32,
    parameter int unsigned Entries = 64,
    parameter int unsigned SideW   = 16,
    localparam int unsigned AddrW  = $clog2(Entries / Ways)
) (
    input wire clk,
    input wire rst,
    input wire shift,
    input wire word_t word,
    output logic [31:0] program_words,
    output logic [31:0] entries,
    input wire word_t now,
    input wire [KeyW+Ways*AddrW-1:0] secret,

    input  wire                     valid,
    output logic                    ready,
    input  wire                     keyed,
    input  wire [KeyW-1:0]          key,
    input  wire [32*Operands-1:0]   x,
    input  wire [$bits(parts_t)-1:0] parts,
    input  wire [SideW-1:0]         side,

    output logic                    out_valid,
    output logic                    out_fits,
    output logic [31:0]             out_row,
    output logic                    out_unkept,
    output logic [32*Registers-1:0] out_r,
    output logic [32*Globals-1:0]   out_g,
    output logic [SideW-1:0]        out_side,

    input  wire                     host_valid,
    output logic                    host_taken,
    input  wire [2:0]               host_op,
    input  wire [KeyW-1:0]          host_key,
    input  wire [7:0]               host_state,
    input  wire [32*Registers-1:0]  host_r,
    input  wire                     host_stash,
    input  wire [3:0]               host_slot,  // of the stash, or the way
    input  wire [AddrW-1:0]         host_addr,
    output logic                    answer_valid,
    output logic                    answer_found,
    output logic [KeyW-1:0]         answer_key,
    output logic [7:0]              answer_state,
    output logic [32*Registers-1:0] answer_r,

    output logic                    event_new,
    output logic                    event_expired,
    output logic                    event_notified,
    output logic [KeyW-1:0]         event_key,
    output logic [7:0]              event_state,
    output logic [31:0]             contexts,
    output logic                    is_full,
    output logic [31:0]             stash_used,
    output logic                    moved
);
  program_t loaded;
  context_t host_context, answer_context, event_context;
  row_t row;
  logic [$clog2(Entries):0] count;
  logic [$clog2(StashEntries):0] used;

  flow_program program_words_ (
      .clk,
      .shift,
      .word,
      .program_o(loaded)
  );

  flow_core #(
      .KeyW(KeyW),
      .Entries(Entries),
      .SideW(SideW)
  ) core (
      .clk,
      .rst,
      .program_i(loaded),
      .now,
      .secret,
      .valid,
      .ready,
      .keyed,
      .key,
      .x,
      .parts,
      .side,
      .out_valid,
      .out_fits,
      .out_row(row),
      .out_unkept,
      .out_r,
      .out_g,
      .out_x(),
      .out_side,
      .host_valid,
      .host_taken,
      .host_op(op_e'(host_op)),
      .host_key,
      .host_context,
      .host_where('{stash: host_stash, way: host_slot[1:0], slot: host_slot}),
      .host_addr,
      .answer_valid,
      .answer_found,
      .answer_key,
      .answer_context,
      .event_new,
      .event_expired,
      .event_notified,
      .event_key,
      .event_context,
      .contexts(count),
      .is_full,
      .stash_used(used),
      .moved
  );

  assign program_words = ProgramWords;
  assign entries = Entries;
  assign host_context = '{state: host_state, r: host_r, hard: '0, idle: '0};
  assign answer_state = answer_context.state;
  assign answer_r = answer_context.r;
  assign event_state = event_context.state;
  assign out_row = 32'(row);
  assign contexts = 32'(count);
  assign stash_used = 32'(used);
endmodule

`default_nettype wire
