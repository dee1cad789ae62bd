// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An element up to its rows and registers: vectors of headers in.
module flow_front_bench
  import flow_pkg::*;
#(
    parameter int unsigned Entries = 64,
    localparam int unsigned AddrW  = $clog2(Entries / Ways)
) (
    input wire clk,
    input wire rst,
    input wire shift,
    input wire word_t word,
    output logic [31:0] program_words,
    input wire word_t now,
    input wire [KeyBits+Ways*AddrW-1:0] secret,

    input  wire                                   valid,
    output logic                                  ready,
    input  wire [$bits(fields_pkg::headers_t)-1:0] headers,
    input  wire [7:0]                             port,
    input  wire [15:0]                            len,
    input  wire word_t                            hash,
    input  wire word_t                            meta0,
    input  wire word_t                            meta1,

    // the frame that is offered
    output logic                    keyed,
    output logic [KeyBits-1:0]      key,
    output logic [32*Operands-1:0]  x,

    output logic                    out_valid,
    output logic                    out_fits,
    output logic [31:0]             out_row,
    output logic                    out_unkept,
    output logic [32*Registers-1:0] out_r,
    output logic [32*Globals-1:0]   out_g
);
  program_t loaded;
  vector_t vector;
  row_t row;

  flow_program words (
      .clk,
      .shift,
      .word,
      .program_o(loaded)
  );

  assign vector = '{
      headers: headers,
      meta0: meta0,
      meta1: meta1,
      hash: hash,
      port: port,
      len: len,
      verdict: '{kind: VerdictOnward, port: '0},
      next: '0
  };

  flow_extract extract (
      .key_i(loaded.key),
      .operands_i(loaded.operands),
      .vector,
      .now,
      .keyed,
      .key,
      .x
  );

  flow_core #(
      .KeyW(KeyBits),
      .Entries(Entries),
      .SideW(1)
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
      .parts(vector.headers.parts),
      .side(1'b0),
      .out_valid,
      .out_fits,
      .out_row(row),
      .out_unkept,
      .out_r,
      .out_g,
      .out_x(),
      .out_side(),
      .host_valid(1'b0),
      .host_taken(),
      .host_op(OpRead),
      .host_key('0),
      .host_context('0),
      .host_where('0),
      .host_addr('0),
      .answer_valid(),
      .answer_found(),
      .answer_key(),
      .answer_context(),
      .event_new(),
      .event_expired(),
      .event_notified(),
      .event_key(),
      .event_context(),
      .contexts(),
      .is_full(),
      .stash_used(),
      .moved()
  );

  assign program_words = ProgramWords;
  assign out_row = 32'(row);
endmodule

`default_nettype wire
