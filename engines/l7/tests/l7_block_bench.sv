// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// l7_block with flat ports, and the checkers that every simulation binds to an inline block. A frame's metadata are its
// length, tenant and hash; its timestamp is the cycle in which the bench takes it over.
module l7_block_bench
  import penstock_pkg::*;
#(
    parameter int unsigned Ports  = 2,
    parameter int unsigned Number = 1,
    parameter int unsigned SetsLog2 = 0  // of the table of messages in card memory
) (
    input wire logic clk,
    input wire logic rst,
    input wire logic [63:0] now,

    input  wire logic [Ports-1:0]            in_valid,
    output logic      [Ports-1:0]            in_ready,
    input  wire logic [Ports-1:0][DataW-1:0] in_data,
    input  wire logic [Ports-1:0]            in_last,
    input  wire logic [Ports-1:0][     15:0] in_len,
    input  wire logic [Ports-1:0][      5:0] in_tenant,
    input  wire logic [Ports-1:0][     31:0] in_hash,
    input  wire logic [Ports-1:0][  TailW:0] in_tail,
    input  wire logic [Ports-1:0][     31:0] in_word,  // of the verdict with which it comes

    output logic      [Ports-1:0]            out_valid,
    input  wire logic [Ports-1:0]            out_ready,
    output logic      [Ports-1:0][DataW-1:0] out_data,
    output logic      [Ports-1:0]            out_last,
    output logic      [Ports-1:0][     15:0] out_len,
    output logic      [Ports-1:0][      5:0] out_tenant,
    output logic      [Ports-1:0][     31:0] out_hash,
    output logic      [Ports-1:0][     31:0] out_mark,
    output logic      [Ports-1:0][      7:0] out_src,
    output logic      [Ports-1:0][  TailW:0] out_tail,
    output logic      [Ports-1:0][      2:0] out_kind,
    output logic      [Ports-1:0][      7:0] out_target,
    output logic      [Ports-1:0][     31:0] out_word,

    output logic [Ports-1:0] made,
    output logic [Ports-1:0] absorbed,
    output logic [Ports-1:0] dropped,
    output logic [Ports-1:0] crowded,
    output logic             busy,
    output logic             decided,  // a decision is in its register

    // Faults of the channels of card memory (lib/sim/axi_fault.sv)
    input wire logic [MemoryChannels-1:0]      fail_write,
    input wire logic [MemoryChannels-1:0][1:0] fail_read,
    input wire logic [MemoryChannels-1:0]      stop,

    input  wire logic        cfg_req,
    input  wire logic        cfg_we,
    input  wire logic [23:0] cfg_addr,
    input  wire logic [31:0] cfg_wdata,
    output logic             cfg_ack,
    output logic             cfg_err,
    output logic      [31:0] cfg_rdata
);
  frame_if frames[Ports] ();
  frame_if out[Ports] ();
  cfg_if #(.ADDR_W(24)) cfg ();
  tail_t tails[Ports];
  tail_t out_tails[Ports];
  verdict_t verdicts[Ports];
  verdict_t out_verdicts[Ports];
  block_event_t events[Ports];
  time_t cycle_q;

  always_ff @(posedge clk) cycle_q <= rst ? '0 : cycle_q + 1'b1;

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    // The time at which a frame is first offered stays while it waits.
    logic waits_q;
    time_t since_q;
    always_ff @(posedge clk) begin
      waits_q <= in_valid[p] && !in_ready[p] && !rst;
      if (!waits_q) since_q <= cycle_q;
    end
    assign frames[p].valid = in_valid[p];
    assign frames[p].data = in_data[p];
    assign frames[p].last = in_last[p];
    assign frames[p].meta = '{
            len: in_len[p],
            tenant: in_tenant[p],
            hash: in_hash[p],
            src: port_t'(p),
            timestamp: waits_q ? since_q : cycle_q,
            default: '0
        };
    assign tails[p] = in_tail[p];
    assign in_ready[p] = frames[p].ready;
    assign verdicts[p] = '{kind: VerdictDispatch, target: '0, reason: ReasonBlocked, word: in_word[p]};
    assign out[p].ready = out_ready[p];
    assign out_valid[p] = out[p].valid;
    assign out_data[p] = out[p].data;
    assign out_last[p] = out[p].last;
    assign out_len[p] = out[p].meta.len;
    assign out_tenant[p] = out[p].meta.tenant;
    assign out_hash[p] = out[p].meta.hash;
    assign out_mark[p] = out[p].meta.mark;
    assign out_src[p] = out[p].meta.src;
    assign out_tail[p] = out_tails[p];
    assign out_kind[p] = out_verdicts[p].kind;
    assign out_target[p] = out_verdicts[p].target;
    assign out_word[p] = out_verdicts[p].word;
    assign made[p] = events[p].made;
    assign absorbed[p] = events[p].absorbed;
    assign dropped[p] = events[p].dropped;

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
  ) i_check (
      .clk,
      .rst,
      .frames(frames),
      .out(out),
      .out_verdicts(out_verdicts),
      .events,
      .busy
  );

  axi_if mem[MemoryChannels] ();
  axi_if behind[MemoryChannels] ();
  for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_channel
    axi_check i_check_mem (
        .clk,
        .rst,
        .link(mem[c])
    );
    axi_fault i_fault (
        .clk,
        .rst,
        .fail_write(fail_write[c]),
        .fail_read(fail_read[c]),
        .stop(stop[c]),
        .from(mem[c]),
        .to(behind[c])
    );
    axi_memory #(
        .Bytes(64'd1 << 25)
    ) i_memory (
        .clk,
        .rst,
        .link(behind[c])
    );
  end

  assign cfg.req = cfg_req;
  assign cfg.we = cfg_we;
  assign cfg.addr = cfg_addr;
  assign cfg.wdata = cfg_wdata;
  assign cfg_ack = cfg.ack;
  assign cfg_err = cfg.err;
  assign cfg_rdata = cfg.rdata;

  l7_block #(
      .Ports(Ports),
      .Number(Number),
      .Param(64'(SetsLog2))
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
      .crowded,
      .busy,
      .cfg(cfg),
      .mem(mem)
  );
  assign decided = i_block.decided_valid;
endmodule

`default_nettype wire
