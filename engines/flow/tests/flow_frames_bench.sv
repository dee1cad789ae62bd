// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// flow_frames with flat ports. A frame arrives with its own verdict, whose word is its inverted length; with
// `from_keep` it leaves with that verdict.
module flow_frames_bench
  import penstock_pkg::*, fields_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int unsigned Depth = 64,
    parameter int unsigned PortW = $clog2(Ports+1)
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [Ports-1:0]            in_valid,
    output logic      [Ports-1:0]            in_ready,
    input  wire logic [Ports-1:0][DataW-1:0] in_data,
    input  wire logic [Ports-1:0]            in_last,
    input  wire logic [Ports-1:0][     15:0] in_len,
    input  wire logic [Ports-1:0][  TailW:0] in_tail,

    output logic                              to_valid,
    input  wire logic                         to_ready,
    output logic      [            PortW-1:0] to_port,
    output logic      [                 15:0] to_len,
    output logic      [$bits(headers_t)-1:0]  to_headers,
    input  wire logic                         from_valid,
    input  wire logic [            PortW-1:0] from_port,
    input  wire logic                         from_drop,
    input  wire logic                         from_keep,
    input  wire logic [                  7:0] from_dst,
    input  wire logic [                 31:0] from_mark,
    input  wire logic [$bits(headers_t)-1:0]  from_headers,

    output logic      [Ports-1:0]            out_valid,
    input  wire logic [Ports-1:0]            out_ready,
    output logic      [Ports-1:0][DataW-1:0] out_data,
    output logic      [Ports-1:0]            out_last,
    output logic      [Ports-1:0][     15:0] out_len,
    output logic      [Ports-1:0][      7:0] out_dst,
    output logic      [Ports-1:0][     31:0] out_word,
    output logic      [Ports-1:0][     31:0] out_mark,
    output logic                             busy,
    output logic      [Ports-1:0][  TailW:0] out_tail
);
  frame_if frames[Ports] ();
  frame_if out[Ports] ();
  tail_t tail[Ports];
  tail_t tails[Ports];
  verdict_t verdict[Ports];
  verdict_t verdicts[Ports];
  verdict_t from_verdict;
  frame_meta_t meta;

  assign from_verdict.kind = from_drop ? VerdictDrop : from_keep ? VerdictOnward : VerdictPort;
  assign from_verdict.target = from_dst;
  assign from_verdict.reason = ReasonBlocked;
  assign from_verdict.word = '0;

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign frames[p].valid = in_valid[p];
    assign frames[p].data = in_data[p];
    assign frames[p].last = in_last[p];
    assign frames[p].meta = '{len: in_len[p], default: '0};
    assign tail[p] = in_tail[p];
    assign in_ready[p] = frames[p].ready;
    assign out[p].ready = out_ready[p];
    assign out_valid[p] = out[p].valid;
    assign out_data[p] = out[p].data;
    assign out_last[p] = out[p].last;
    assign out_len[p] = out[p].meta.len;
    assign out_dst[p] = verdicts[p].target;
    assign out_word[p] = verdicts[p].word;
    assign out_mark[p] = out[p].meta.mark;
    assign verdict[p] = '{kind: VerdictDispatch, target: '0, reason: ReasonBlocked, word: {16'd0, ~in_len[p]}};
    assign out_tail[p] = tails[p];

    frame_check #(
        .Tails(1'b1)
    ) i_check_in (
        .clk,
        .rst,
        .link(frames[p])
    );
    frame_check #(
        .Tails(1'b1)
    ) i_check_out (
        .clk,
        .rst,
        .link(out[p])
    );
  end

  assign to_len = meta.len;

  flow_frames #(
      .Ports(Ports),
      .Depth(Depth)
  ) i_inline (
      .clk,
      .rst,
      .frames(frames),
      .tail,
      .verdict,
      .to_valid,
      .to_ready,
      .to_port,
      .to_meta(meta),
      .to_headers,
      .from_valid,
      .from_port,
      .from_verdict,
      .from_mark,
      .from_headers,
      .out(out),
      .out_tail(tails),
      .out_verdict(verdicts),
      .busy
  );
endmodule

`default_nettype wire
