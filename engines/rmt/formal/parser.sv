// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A transition takes a frame to the same state with the same places in the same cycle, whatever other tenants do:
// rtl/rmt_transition.sv, rmt_step.sv and rmt_settle.sv as they are, at any depth.
//
// The proof compares two runs. In both, one frame of tenant A comes through lane `Lane`: it is here in cycle 0, with
// the same contents. Everything else is open: the state in which the runs begin, the frames ahead of it, behind it and
// in the other lane, the host's accesses and the rows of all memories. `at_q` counts the cycles.
//
// Taken for granted: the frame's row of PARSER, which is of its own bank and tenant, is the same in both runs; the
// host's slot is not the frame's (entry.sv).
module parse_transition
  import rmt_pkg::*, rmt_parse_pkg::*;
#(
    parameter int unsigned Lane = 0
) (
    input wire logic clk,

    input wire logic [3:0] depth,
    input wire logic  [1:0] slot,
    input wire host_t [1:0] host,
    input wire bt_t     [1:0][Lanes-1:0]      bt,
    input wire logic    [1:0][Lanes-1:0][2:0] state,
    input wire parse_t  [1:0][Lanes-1:0]      parse,
    input wire late_t   [1:0][Lanes-1:0]      late,
    input wire logic    [1:0][Lanes-1:0][5:0] offset,
    input wire origin_t [1:0][Lanes-1:0][Extracted-1:0] place,
    input wire window_t [1:0][Lanes-1:0]      window
);
  logic [2:0] at_q = '0;
  always_ff @(posedge clk) at_q <= at_q + 3'(at_q != '1);
  // The bank and tenant of the frame are a cycle ahead of it.
  bt_t bt_q;
  always_ff @(posedge clk) if (at_q == 3'd0) bt_q <= bt[0][Lane];
  always_comb begin
    if (at_q == 3'd0) assume (slot == '0);
    if (at_q == 3'd1) assume (parse[0][Lane].ctl.bt == bt_q);
  end

  for (genvar r = 0; r < 2; r++) begin : run
    logic slot_out;
    bt_t [Lanes-1:0] in_bt, out_bt;
    logic [Lanes-1:0][2:0] in_state, out_state;
    parse_t [Lanes-1:0] in_parse, out_parse;
    late_t [Lanes-1:0] in_late, out_late;
    logic [Lanes-1:0][5:0] in_offset, out_offset;
    origin_t in_place[Lanes][Extracted];
    origin_t out_place[Lanes][Extracted];
    window_t [Lanes-1:0] in_window, out_window;
    always_comb begin
      {in_bt, in_state, in_parse, in_late, in_offset, in_window} =
          {bt[r], state[r], parse[r], late[r], offset[r], window[r]};
      for (int unsigned l = 0; l < Lanes; l++)
        for (int unsigned w = 0; w < Extracted; w++) in_place[l][w] = place[r][l][w];
      if (at_q == 3'd0) {in_bt[Lane], in_state[Lane]} = {bt[0][Lane], state[0][Lane]};
      if (at_q == 3'd1) begin
        in_parse[Lane] = parse[0][Lane];
        in_late[Lane] = late[0][Lane];
        in_offset[Lane] = offset[0][Lane];
        in_window[Lane] = window[0][Lane];
        for (int unsigned w = 0; w < Extracted; w++) in_place[Lane][w] = place[0][Lane][w];
      end
    end
    rmt_transition i_transition (
        .clk,
        .rst(1'b0),
        .slot(slot[r]),
        .slot_out,
        .depth,
        .host(host[r]),
        .host_word(),
        .bt(in_bt),
        .state(in_state),
        .parse(in_parse),
        .late(in_late),
        .offset(in_offset),
        .place(in_place),
        .window(in_window),
        .out_bt,
        .out_state,
        .out_parse,
        .out_late,
        .out_offset,
        .out_place,
        .out_window
    );
    always_comb begin
      if (at_q == 3'd0) begin
        assert (!i_transition.i_rows.slot);
        assert (i_transition.i_rows.addr[Lane][9:3] == in_bt[Lane]);
      end
      if (at_q == 3'd2) assert (out_bt[Lane] == bt_q && !slot_out);
      if (at_q == 3'd3) assert (out_parse[Lane].ctl.bt == bt_q);
    end
  end

`define SAME(signal) (run[0].signal == run[1].signal)
  always_comb begin
    if (at_q == 3'd0) assert (`SAME(i_transition.i_rows.addr[Lane]));
    if (at_q == 3'd1) assume (`SAME(i_transition.i_rows.data[Lane]));
    if (at_q == 3'd2) assert (`SAME(out_state[Lane]));
    if (at_q == 3'd3) begin
      assert (`SAME(out_parse[Lane]) && `SAME(out_late[Lane]) && `SAME(out_offset[Lane]) && `SAME(out_window[Lane]));
      for (int unsigned w = 0; w < Extracted; w++) assert (`SAME(out_place[Lane][w]));
    end
  end
endmodule

module finish
  import rmt_pkg::*, rmt_parse_pkg::*;
#(
    parameter int unsigned Lane = 0
) (
    input wire logic clk,

    input wire logic  [1:0] slot,
    input wire host_t [1:0] host,
    input wire bt_t     [1:0][Lanes-1:0] bt,
    input wire logic    [1:0][Lanes-1:0] controller,
    input wire parse_t  [1:0][Lanes-1:0] in,
    input wire window_t [1:0][Lanes-1:0] in_window
);
  // The transitions are left open: the frame is behind the last one when at_q is 1, its slot a cycle earlier.
  logic [2:0] at_q = '0;
  always_ff @(posedge clk) at_q <= at_q + 3'(at_q != '1);

  bt_t bt_q;
  for (genvar r = 0; r < 2; r++) begin : run
    logic slot_out;
    logic [Lanes-1:0] came_valid;
    window_t [Lanes-1:0] came_window;
    origin_t [Lanes-1:0][Extracted-1:0] came_place;
    logic [Lanes-1:0][15:0] came_len;
    ctl_t [Lanes-1:0] out_ctl;
    vector_t [Lanes-1:0] out_early, out;
    rmt_parser i_parser (
        .clk,
        .rst(1'b0),
        .slot(slot[r]),
        .slot_out,
        .host(host[r]),
        .host_word(),
        .bt(bt[r]),
        .controller(controller[r]),
        .in(in[r]),
        .in_window(in_window[r]),
        .came_valid,
        .came_window,
        .came_place,
        .came_len,
        .out_ctl,
        .out_early,
        .out
    );
    always_comb begin
      if (at_q == 3'd0) assume (!i_parser.slots[Depths]);
      if (at_q == 3'd1) assume (i_parser.parses[Depths][Lane].ctl.valid);
      if (at_q == 3'd2) begin
        assert (!i_parser.i_rows.slot);
        assert (i_parser.i_rows.addr[Lane] == bt_q);
      end
      if (at_q == 3'd3) assert (came_valid[Lane]);
      if (at_q == 3'd4) assert (!slot_out && out_ctl[Lane].bt == bt_q && out_ctl[Lane].valid);
    end
  end

`define LAST(signal) (run[0].i_parser.signal[Depths][Lane] == run[1].i_parser.signal[Depths][Lane])
  always_ff @(posedge clk) if (at_q == 3'd1) bt_q <= run[0].i_parser.parses[Depths][Lane].ctl.bt;
  always_comb begin
    if (at_q == 3'd1) begin
      assume (`LAST(parses));
      assume (`LAST(lates));
      assume (`LAST(windows));
      for (int unsigned w = 0; w < Extracted; w++)
        assume (run[0].i_parser.places[Depths][Lane][w] == run[1].i_parser.places[Depths][Lane][w]);
    end
    if (at_q == 3'd3) begin
      assume (`SAME(i_parser.i_rows.data[Lane]));
      assert (`SAME(came_window[Lane]) && `SAME(came_place[Lane]) && `SAME(came_len[Lane]));
    end
    if (at_q == 3'd4) assert (`SAME(out_ctl[Lane]));
    if (at_q == 3'd5) assert (`SAME(out_early[Lane]));
    if (at_q == 3'd6) assert (`SAME(out[Lane]));
  end
endmodule

`default_nettype wire
