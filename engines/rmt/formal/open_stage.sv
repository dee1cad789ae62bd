// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Modules that the proof of the stage (stage.sv) replaces: their results are any value. The proof restricts the results
// of the frame that it watches to what the proofs of these modules say. The scripts cut signals whose names begin with
// `open`.

// lookups.sv
module rmt_exact
  import rmt_pkg::*;
(
    input wire logic clk,

    input wire logic  slot,
    input wire logic [3:0] stage,
    input wire host_t host,
    output     word_t host_word,

    input wire logic    [Lanes-1:0]                       valid,
    input wire logic    [Lanes-1:0][Ways-1:0][BucketW-1:0] bucket,
    input wire key_t    [Lanes-1:0]                       key,
    input wire logic    [Lanes-1:0][5:0]                  tenant,
    output     found_t  [Lanes-1:0]                       found
);
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    wire found_t open_found = '0;
    assign found[l] = open_found;
  end
  wire word_t open_word = '0;
  assign host_word = open_word;
endmodule

module rmt_lpm
  import rmt_pkg::*;
(
    input wire logic clk,

    input wire logic  slot,
    input wire logic [3:0] stage,
    input wire host_t host,
    output     word_t host_word,

    input wire walk_t [Lanes-1:0]      walk,
    input wire logic  [Lanes-1:0][5:0] tenant,
    output     found_t[Lanes-1:0]      found
);
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    wire found_t open_found = '0;
    assign found[l] = open_found;
  end
  wire word_t open_word = '0;
  assign host_word = open_word;
endmodule

// ternary.sv
module rmt_ternary
  import rmt_pkg::*;
#(
    parameter int unsigned TernaryW = 7
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    input wire logic [3:0] stage,
    input wire host_t host,
    output     word_t host_word,
    output     logic  busy,

    input wire logic   [Lanes-1:0]      valid,
    input wire logic   [Lanes-1:0][6:0] bt,
    input wire key_t   [Lanes-1:0]      key,
    output     found_t [Lanes-1:0]      found
);
  wire found_t [Lanes-1:0] open_found = '0;
  wire word_t open_word = '0;
  wire open_busy = '0;
  assign found = open_found;
  assign host_word = open_word;
  assign busy = open_busy;
endmodule

// action.sv
module rmt_action
  import rmt_pkg::*;
#(
    parameter bit HasMeters = 1'b1
) (
    input wire logic clk,
    input wire logic rst,
    input wire logic [63:0] now,

    input wire logic  slot,
    input wire logic [3:0] stage,
    input wire host_t host,
    output     word_t host_word,

    input wire ctl_t    [Lanes-1:0] ctl,
    input wire vector_t [Lanes-1:0] vector,
    input wire found_t  [Lanes-1:0] found,
    input wire hash_t   [Lanes-1:0] crcs,
    output     vector_t [Lanes-1:0] early,
    output     vector_t [Lanes-1:0] out,
    output     insert_t [Lanes-1:0] insert,
    output     insert_t [Lanes-1:0] late
);
  wire word_t open_word = '0;
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    wire vector_t open_early = '0;
    wire vector_t open_out = '0;
    wire insert_t open_insert = '0;
    wire insert_t open_late = '0;
    assign early[l] = open_early;
    assign out[l] = open_out;
    assign insert[l] = open_insert;
    assign late[l] = open_late;
  end
  assign host_word = open_word;
endmodule

`default_nettype wire
