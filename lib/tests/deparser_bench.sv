// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// deparser with flat ports.
module deparser_bench
  import penstock_pkg::*, fields_pkg::*, headers_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input  wire logic             in_valid,
    output logic                  in_ready,
    input  wire logic [DataW-1:0] in_data,
    input  wire logic             in_last,
    input  wire logic [     15:0] in_len,
    input  wire logic [     31:0] in_time,
    input  wire logic [  TailW:0] in_tail,

    input  wire logic                        edit_valid,
    output logic                             edit_ready,
    input  wire logic                        edit_drop,
    input  wire logic [                31:0] edit_mark,  // the verdict's word is its inverse
    input  wire logic [$bits(layout_t)-1:0]  edit_layout,
    input  wire logic [$bits(headers_t)-1:0] edit_came,
    input  wire logic [$bits(headers_t)-1:0] edit_leaves,

    output logic                  out_valid,
    input  wire logic             out_ready,
    output logic      [DataW-1:0] out_data,
    output logic                  out_last,
    output logic      [     15:0] out_len,
    output logic      [     31:0] out_time,
    output logic      [     31:0] out_mark,
    output logic      [     31:0] out_word,
    output logic      [  TailW:0] out_tail
);
  frame_if frames ();
  frame_if out ();
  edit_t edit;
  verdict_t out_verdict;

  assign edit.verdict =
      '{kind: edit_drop ? VerdictDrop : VerdictDispatch, target: '0, reason: ReasonBlocked, word: ~edit_mark};
  assign edit.mark = edit_mark;
  assign edit.layout = edit_layout;
  assign edit.came = edit_came;
  assign edit.leaves = edit_leaves;

  assign frames.valid = in_valid;
  assign frames.data = in_data;
  assign frames.last = in_last;
  assign frames.meta = '{len: in_len, timestamp: in_time, default: '0};
  assign in_ready = frames.ready;

  assign out.ready = out_ready;
  assign out_valid = out.valid;
  assign out_data = out.data;
  assign out_last = out.last;
  assign out_len = out.meta.len;
  assign out_time = out.meta.timestamp;
  assign out_mark = out.meta.mark;
  assign out_word = out_verdict.word;

  frame_check #(
      .Tails(1'b1)
  ) i_check_in (
      .clk,
      .rst,
      .link(frames)
  );
  frame_check #(
      .Tails(1'b1)
  ) i_check_out (
      .clk,
      .rst,
      .link(out)
  );

  deparser i_deparser (
      .clk,
      .rst,
      .frames(frames),
      .tail(in_tail),
      .edit_valid,
      .edit,
      .edit_ready,
      .out(out),
      .out_tail,
      .out_verdict
  );
endmodule

`default_nettype wire
