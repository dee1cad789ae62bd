// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// rmt_block with flat ports. A frame arrives with a verdict whose word is its inverted length.
module rmt_bench
  import penstock_pkg::*, rmt_pkg::*;
#(
    parameter int unsigned Ports  = 2,
    parameter int unsigned Stages = 2,
    // Stages with these, bit s for stage s
    parameter logic [MaxStages-1:0] Ternary  = '1,
    parameter logic [MaxStages-1:0] Prefixes = '1,
    parameter logic [MaxStages-1:0] Meters   = '1,
    parameter int unsigned TernaryW = 7  // log2 of the ternary rows of a stage
) (
    input wire logic clk,
    input wire logic rst,
    input wire logic [63:0] now,

    input  wire logic [Ports-1:0]            in_valid,
    output logic      [Ports-1:0]            in_ready,
    input  wire logic [Ports-1:0][DataW-1:0] in_data,
    input  wire logic [Ports-1:0]            in_last,
    input  wire logic [Ports-1:0][     15:0] in_len,
    input  wire logic [Ports-1:0][  TailW:0] in_tail,
    input  wire logic [Ports-1:0][      5:0] in_tenant,
    input  wire logic [Ports-1:0][     31:0] in_mark,

    output logic      [Ports-1:0]            out_valid,
    input  wire logic [Ports-1:0]            out_ready,
    output logic      [Ports-1:0][DataW-1:0] out_data,
    output logic      [Ports-1:0]            out_last,
    output logic      [Ports-1:0][     15:0] out_len,
    output logic      [Ports-1:0][  TailW:0] out_tail,
    output logic      [Ports-1:0][      5:0] out_tenant,
    output logic      [Ports-1:0][     31:0] out_mark,
    output logic      [Ports-1:0]            out_made,
    output logic      [Ports-1:0][      2:0] out_kind,
    output logic      [Ports-1:0][      7:0] out_target,
    output logic      [Ports-1:0][     31:0] out_word,
    output logic      [Ports-1:0]            dropped,
    output logic      [Ports-1:0][      1:0] reason,
    output logic                             busy,

    output logic         record_valid,
    input  wire logic    record_ready,
    output logic [511:0] record,
    input  wire logic         from_valid,
    output logic              from_ready,
    input  wire logic [511:0] from_record,

    input  wire logic        req,
    input  wire logic        we,
    input  wire logic [23:0] addr,
    input  wire logic [31:0] wdata,
    output logic             ack,
    output logic             err,
    output logic      [31:0] rdata
);
  frame_if frames[Ports] ();
  frame_if out[Ports] ();
  record_if to_host ();
  record_if from_host ();
  cfg_if #(.ADDR_W(24)) cfg ();
  tail_t tails[Ports];
  tail_t out_tails[Ports];
  verdict_t verdicts[Ports];
  verdict_t out_verdicts[Ports];
  block_event_t events[Ports];
  time_t cycle_q;

  always_ff @(posedge clk) cycle_q <= rst ? '0 : cycle_q + 1'b1;

  assign record_valid = to_host.valid;
  assign record = to_host.data;
  assign to_host.ready = record_ready;
  assign from_host.valid = from_valid;
  assign from_host.data = from_record;
  assign from_ready = from_host.ready;

  assign cfg.req = req;
  assign cfg.we = we;
  assign cfg.addr = addr;
  assign cfg.wdata = wdata;
  assign ack = cfg.ack;
  assign err = cfg.err;
  assign rdata = cfg.rdata;

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    time_t stamp_q;  // a frame's metadata may not change while it waits
    logic waits_q;
    always_ff @(posedge clk) begin
      waits_q <= in_valid[p] && !in_ready[p];
      if (!waits_q) stamp_q <= cycle_q;
    end
    assign frames[p].valid = in_valid[p];
    assign frames[p].data = in_data[p];
    assign frames[p].last = in_last[p];
    assign frames[p].meta = '{
        len: in_len[p],
        tenant: in_tenant[p],
        mark: in_mark[p],
        src: port_t'(p),
        timestamp: waits_q ? stamp_q : cycle_q,
        default: '0
    };
    assign tails[p] = in_tail[p];
    assign verdicts[p] = '{kind: VerdictDispatch, target: '0, reason: ReasonBlocked, word: {16'd0, ~in_len[p]}};
    assign in_ready[p] = frames[p].ready;
    assign out[p].ready = out_ready[p];
    assign out_valid[p] = out[p].valid;
    assign out_data[p] = out[p].data;
    assign out_last[p] = out[p].last;
    assign out_len[p] = out[p].meta.len;
    assign out_tenant[p] = out[p].meta.tenant;
    assign out_mark[p] = out[p].meta.mark;
    assign out_made[p] = out[p].meta.src == PortBlock + port_t'(Ports);
    assign out_tail[p] = out_tails[p];
    assign out_kind[p] = out_verdicts[p].kind;
    assign out_target[p] = out_verdicts[p].target;
    assign out_word[p] = out_verdicts[p].word;
    assign dropped[p] = events[p].dropped;
    assign reason[p] = events[p].reason;

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
    order_check i_order (
        .clk,
        .rst,
        .link(out[p])
    );
  end

  block_check #(
      .Ports(Ports)
  ) i_block_check (
      .clk,
      .rst,
      .frames(frames),
      .out(out),
      .out_verdicts(out_verdicts),
      .events(events),
      .busy
  );

  localparam pipeline_t Pipeline = '{
      unused: '0,
      ternary_w: 4'(TernaryW),
      meters: Meters,
      prefixes: Prefixes,
      ternary: Ternary,
      stages: 8'(Stages)
  };

  rmt_block #(
      .Ports(Ports),
      .Number(Ports),
      .Param(Pipeline)
  ) i_block (
      .clk,
      .rst,
      .now,
      .frames(frames),
      .tails,
      .verdicts,
      .out(out),
      .out_tails,
      .out_verdicts,
      .events,
      .crowded(),
      .busy,
      .cfg(cfg),
      .to_host(to_host),
      .from_host(from_host)
  );
endmodule

`default_nettype wire
