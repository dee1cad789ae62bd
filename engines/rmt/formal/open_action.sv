// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Registers, meters and counters, which the lanes share, for the proof of the action (action.sv): they give any result.
// The proof restricts the results of the frame that it watches to those that state.sv proves. The script cuts signals
// whose names begin with `open`.

// state.sv
module rmt_register
  import rmt_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    input wire logic [3:0] stage,
    input wire host_t host,
    output     word_t host_word,

    input wire access_t [Lanes-1:0] access,
    output     word_t               result
);
  wire word_t open_result = '0;
  wire word_t open_word = '0;
  assign result = open_result;
  assign host_word = open_word;
endmodule

module rmt_meter
  import rmt_pkg::*;
(
    input wire logic clk,
    input wire logic rst,
    input wire logic [63:0] now,

    input wire logic  slot,
    input wire logic [3:0] stage,
    input wire host_t host,
    output     word_t host_word,

    input wire access_t [Lanes-1:0] access,
    output     color_t              color
);
  wire color_t open_color = '0;
  wire word_t open_word = '0;
  assign color = open_color;
  assign host_word = open_word;
endmodule

module rmt_counter
  import rmt_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    input wire logic [3:0] stage,
    input wire host_t host,
    output     word_t host_word,

    input wire count_t [Lanes-1:0] count
);
  wire word_t open_word = '0;
  assign host_word = open_word;
endmodule

`default_nettype wire
