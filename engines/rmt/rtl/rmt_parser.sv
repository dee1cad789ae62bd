// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The parser of both lanes: eight transitions, then the crossbar from window to vector, then the check of a checksum.
//
//   frame, window ─> transition 0 ─> … ─> transition 7 ─> FINISH ─> EXTRACT ─> checksum, CHECK ─> vector
//                   2 cycles each                        1         1 └ window, 3
//                                                                      places out
//
// 21 cycles, a frame a cycle in each lane; nothing stops. The slot and the bank and tenant of a frame are a cycle ahead
// of it.
module rmt_parser
  import rmt_pkg::*, rmt_parse_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    output     logic  slot_out,
    input wire host_t host,
    output     word_t host_word,

    input wire bt_t     [Lanes-1:0] bt,
    input wire logic    [Lanes-1:0] controller,  // the frame is a controller's
    input wire parse_t  [Lanes-1:0] in,
    input wire window_t [Lanes-1:0] in_window,

    // the sources of words of the vector; they wait for the deparser
    output logic    [Lanes-1:0]                came_valid,
    output window_t [Lanes-1:0]                came_window,
    output origin_t  [Lanes-1:0][Extracted-1:0] came_place,
    output logic    [Lanes-1:0][15:0]          came_len,

    output ctl_t    [Lanes-1:0] out_ctl,     // two cycles ahead of the vector, as the slot is
    output vector_t [Lanes-1:0] out_early,  // a cycle ahead: without the row of CHECK and its result
    output vector_t [Lanes-1:0] out
);
  localparam int unsigned CheckCycles = 3;
  localparam int unsigned Ahead = 2;

  // ---- transitions
  logic [Depths:0] slots;
  bt_t [Depths:0][Lanes-1:0] bts;
  logic [Depths:0][Lanes-1:0][2:0] states;
  logic [Depths:0][Lanes-1:0][5:0] offsets;
  parse_t [Depths:0][Lanes-1:0] parses;
  late_t [Depths:0][Lanes-1:0] lates;
  origin_t places[Depths+1][Lanes][Extracted];
  window_t [Depths:0][Lanes-1:0] windows;
  word_t [Depths:0] words;

  assign slots[0] = slot;
  assign parses[0] = in;
  assign bts[0] = bt;
  // Frames of controllers begin in a state of their own.
  for (genvar l = 0; l < Lanes; l++) begin : gen_begin
    assign states[0][l] = {2'd0, controller[l]};
  end
  assign offsets[0] = '0;
  assign lates[0] = '0;  // nothing to do
  for (genvar l = 0; l < Lanes; l++) begin : gen_start
    for (genvar w = 0; w < Extracted; w++) begin : gen_word
      assign places[0][l][w] = '0;
    end
  end
  assign windows[0] = in_window;

  for (genvar d = 0; d < Depths; d++) begin : gen_depth
    rmt_transition i_transition (
        .clk,
        .rst,
        .slot(slots[d]),
        .slot_out(slots[d+1]),
        .depth(4'(d)),
        .host,
        .host_word(words[d]),
        .bt(bts[d]),
        .state(states[d]),
        .parse(parses[d]),
        .late(lates[d]),
        .offset(offsets[d]),
        .place(places[d]),
        .window(windows[d]),
        .out_bt(bts[d+1]),
        .out_state(states[d+1]),
        .out_parse(parses[d+1]),
        .out_late(lates[d+1]),
        .out_offset(offsets[d+1]),
        .out_place(places[d+1]),
        .out_window(windows[d+1])
    );
  end

  // ---- FINISH, EXTRACT
  logic slot0_q, slot1_q, slot2_q;
  logic [Lanes-1:0][6:0] addr;
  edge_row_t [Lanes-1:0] row;

  always_ff @(posedge clk) begin
    {slot2_q, slot1_q, slot0_q} <= {slot1_q, slot0_q, slots[Depths]};
    if (rst) {slot2_q, slot1_q, slot0_q} <= '0;
  end

  rmt_ram #(
      .Width($bits(edge_row_t)),
      .Depth(128)
  ) i_rows (
      .clk,
      .slot(slot1_q),
      .selected(host.memory == MemCheck),
      .host,
      .host_word(words[Depths]),
      .addr,
      .data(row)
  );

  rmt_delay #(
      .Width(1),
      .Cycles(CheckCycles - Ahead),
      .Reset(1'b1)
  ) i_slot (
      .clk,
      .rst,
      .d(slot2_q),
      .q(slot_out)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    parse_t parse_q;
    origin_t place_q[Extracted];
    window_t window_q;
    ctl_t ctl2_q;
    vector_t vector_d, vector2_q, summed, checked, checked_q;
    logic fits;
    word_t first;
    predicate_t predicate;

    assign addr[l] = parse_q.ctl.bt;

    rmt_settle i_finish (
        .clk,
        .rst,
        .parse(parses[Depths][l]),
        .place(places[Depths][l]),
        .late(lates[Depths][l]),
        .out(parse_q),
        .out_place(place_q)
    );
    always_ff @(posedge clk) window_q <= windows[Depths][l];

    always_comb begin
      vector_d = '0;
      for (int unsigned w = 0; w < Extracted; w++) if (place_q[w].valid) vector_d[w] = window_q[place_q[w].at];
      vector_d[MarkWord] = parse_q.info.mark;
      vector_d[InfoWord] = {
          1'b0, parse_q.info.tenant, parse_q.info.controller ? PortController : 9'(l), parse_q.info.len
      };
      vector_d[FlagsWord] = {13'd0, parse_q.done ? parse_q.error : ErrorTimeout, parse_q.flags};
    end

    always_ff @(posedge clk) begin
      ctl2_q         <= parse_q.ctl;
      vector2_q      <= vector_d;
      came_valid[l]  <= parse_q.ctl.valid;
      came_window[l] <= window_q;
      came_len[l]    <= parse_q.info.len;
      for (int unsigned w = 0; w < Extracted; w++) came_place[l][w] <= place_q[w];
      if (rst) begin
        ctl2_q.valid  <= 1'b0;
        came_valid[l] <= 1'b0;
      end
    end

    // ---- CHECK
    rmt_checksum i_checksum (
        .clk,
        .vector(vector2_q),
        .row(row[l].checksum),
        .fits,
        .sum()
    );
    rmt_delay #(
        .Width($bits(vector_t) + 32 + $bits(predicate_t)),
        .Cycles(CheckCycles - 1)
    ) i_beside (
        .clk,
        .rst,
        .d({vector2_q, row[l].first, row[l].checksum.predicate}),
        .q({summed, first, predicate})
    );
    rmt_delay #(
        .Width($bits(ctl_t)),
        .Cycles(CheckCycles - Ahead),
        .Reset(1'b1)
    ) i_ctl (
        .clk,
        .rst,
        .d(ctl2_q),
        .q(out_ctl[l])
    );

    always_comb begin
      checked = summed;
      checked[VerdictWord] = first;
      checked[FlagsWord][ChecksumErrorBit] =
          holds(predicate, {summed[FlagsWord], summed[HitWord]}) && !fits;
    end
    always_ff @(posedge clk) checked_q <= checked;
    assign out_early[l] = summed;
    assign out[l] = checked_q;
  end

  always_comb begin
    host_word = '0;
    for (int unsigned n = 0; n <= Depths; n++) host_word |= words[n];
  end
endmodule

`default_nettype wire
