// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// One depth of the parser: the rows of its states, and for each lane a step (rmt_step.sv), 2 cycles. The address of a
// row and the host's slot come a cycle ahead of the frame.
module rmt_transition
  import rmt_pkg::*, rmt_parse_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    output     logic  slot_out,
    input wire logic [3:0] depth,  // number, a constant
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
  logic slot_q;
  logic [Lanes-1:0][9:0] addr;
  state_row_t [Lanes-1:0] row;

  rmt_ram #(
      .Width($bits(state_row_t)),
      .Depth(1024)
  ) i_rows (
      .clk,
      .slot,
      .selected(host.memory == MemParser && host.stage == 8'(depth)),
      .host,
      .host_word,
      .addr,
      .data(row)
  );

  always_ff @(posedge clk) begin
    {slot_out, slot_q} <= {slot_q, slot};
    if (rst) {slot_out, slot_q} <= '0;
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    assign addr[l] = {bt[l], state[l]};

    rmt_step i_step (
        .clk,
        .rst,
        .parse(parse[l]),
        .late(late[l]),
        .offset(offset[l]),
        .place(place[l]),
        .window(window[l]),
        .row(row[l]),
        .next_bt(out_bt[l]),
        .next_state(out_state[l]),
        .out_parse(out_parse[l]),
        .out_late(out_late[l]),
        .out_offset(out_offset[l]),
        .out_place(out_place[l]),
        .out_window(out_window[l])
    );
  end
endmodule

`default_nettype wire
