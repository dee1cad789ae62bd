// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The transitions of the parser, for the proof of the rest (parser.sv): any result.
module rmt_transition
  import rmt_pkg::*, rmt_parse_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    output     logic  slot_out,
    input wire logic [3:0] depth,
    input wire host_t host,
    output     word_t host_word,

    input wire bt_t     [Lanes-1:0]      bt,
    input wire logic    [Lanes-1:0][2:0] state,
    input wire parse_t  [Lanes-1:0]      parse,
    input wire late_t   [Lanes-1:0]      late,
    input wire logic    [Lanes-1:0][5:0] offset,
    input wire origin_t                  place     [Lanes][Extracted],
    input wire window_t [Lanes-1:0]      window,
    output     bt_t     [Lanes-1:0]      out_bt,
    output     logic    [Lanes-1:0][2:0] out_state,
    output     parse_t  [Lanes-1:0]      out_parse,
    output     late_t   [Lanes-1:0]      out_late,
    output     logic    [Lanes-1:0][5:0] out_offset,
    output     origin_t                  out_place [Lanes][Extracted],
    output     window_t [Lanes-1:0]      out_window
);
  wire open_slot = '0;
  wire word_t open_word = '0;
  assign slot_out = open_slot;
  assign host_word = open_word;
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    wire parse_t open_parse = '0;
    wire late_t open_late = '0;
    wire window_t open_window = '0;
    assign out_bt[l] = '0;
    assign out_state[l] = '0;
    assign out_parse[l] = open_parse;
    assign out_late[l] = open_late;
    assign out_offset[l] = '0;
    assign out_window[l] = open_window;
    for (genvar w = 0; w < Extracted; w++) begin : gen_word
      wire origin_t open_place = '0;
      assign out_place[l][w] = open_place;
    end
  end
endmodule

`default_nettype wire
