// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Makes of a port's bodies and edits the frames that leave.
//
//   edits ──> queue (Depth) ─┐
//   bodies ─────────────────>┴─> MERGE ─> out      1 cycle; a beat a cycle, those of dropped frames too
//
// A frame has a beat in the delay queue until its edit is taken, so the queue of edits, which is as deep, never
// overflows.
module rmt_out
  import penstock_pkg::*, rmt_pkg::*;
#(
    parameter int unsigned Depth = 512,
    localparam int unsigned BodyW = $bits(frame_meta_t) + $bits(verdict_t) + 1 + $bits(tail_t) + DataW
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic     edit_valid,
    input wire verdict_t edit_verdict,
    input wire logic     edit_marks,
    input wire word_t    edit_mark,
    input wire window_t  edit_window,

    input  wire logic             body_valid,
    output logic                  body_pop,
    input  wire logic [BodyW-1:0] body,

    frame_if.src         out,
    output tail_t        out_tail,
    output verdict_t     out_verdict,
    output block_event_t report
);
  typedef struct packed {
    frame_meta_t      meta;
    verdict_t         verdict;
    logic             last;
    tail_t            tail;
    logic [DataW-1:0] data;
  } body_t;

  typedef struct packed {
    verdict_t verdict;
    logic     marks;
    word_t    mark;
    window_t  window;
  } edit_t;

  body_t beat;
  edit_t edit;
  logic edited, starts_q, second_q, valid_q, drop, go;

  fifo_block #(
      .Width($bits(edit_t)),
      .Depth(Depth)
  ) i_edits (
      .clk,
      .rst,
      .push (edit_valid),
      .din  ({edit_verdict, edit_marks, edit_mark, edit_window}),
      .valid(edited),
      .pop  (go && beat.last),
      .dout (edit)
  );

  assign beat = body;
  assign drop = edit.verdict.kind == VerdictDrop;
  assign go = body_valid && edited && (drop || !valid_q || out.ready);
  assign body_pop = go;

  // ---- MERGE: the frame's first bytes come from the window
  logic [WindowBytes-1:0][7:0] head;
  logic [DataW-1:0] data_d;
  tail_t tail_d;
  frame_meta_t meta_d;
  verdict_t verdict_d;

  always_comb begin
    for (int unsigned n = 0; n < WindowBytes; n++) head[n] = edit.window[(n+PadBytes)/4][8*(3-(n+PadBytes)%4)+:8];
    data_d = beat.data;
    if (starts_q) data_d = head[BeatBytes-1:0];
    if (second_q) data_d[8*(WindowBytes-BeatBytes)-1:0] = head[WindowBytes-1:BeatBytes];
    tail_d = '{valid: beat.tail.valid, data: head[BeatBytes+:TailBytes]};
    meta_d = beat.meta;
    if (edit.marks) meta_d.mark = edit.mark;
    verdict_d = edit.verdict.kind == VerdictOnward ? beat.verdict : edit.verdict;
  end

  always_ff @(posedge clk) begin
    if (go) begin
      starts_q <= beat.last;
      second_q <= starts_q && !beat.last;
    end
    if (go && !drop) begin
      out.data    <= data_d;
      out.last    <= beat.last;
      out.meta    <= meta_d;
      out_tail    <= tail_d;
      out_verdict <= verdict_d;
    end
    valid_q <= (go && !drop) || (valid_q && !out.ready);
    report  <= '{dropped: go && drop && beat.last, reason: edit.verdict.reason, default: '0};
    if (rst) begin
      starts_q <= 1'b1;
      second_q <= 1'b0;
      valid_q  <= 1'b0;
      report   <= '0;
    end
  end
  assign out.valid = valid_q;
endmodule

`default_nettype wire
