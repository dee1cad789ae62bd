// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// ids_block with flat ports and the checkers of the card's inline chain.
module ids_block_bench
  import penstock_pkg::*;
#(
    parameter int unsigned Ports    = 2,
    parameter int unsigned SetsLog2 = 8,
    parameter int unsigned EntriesLog2 = 8,
    parameter int unsigned RowsLog2 = 12,
    parameter int unsigned BucketsLog2 = 0
) (
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [63:0] now_base,  // ns at the first cycle

    input  wire logic [Ports-1:0]            in_valid,
    output logic      [Ports-1:0]            in_ready,
    input  wire logic [Ports-1:0][DataW-1:0] in_data,
    input  wire logic [Ports-1:0]            in_last,
    input  wire logic [Ports-1:0][     15:0] in_len,
    input  wire logic [Ports-1:0][     31:0] in_hash,
    input  wire logic [Ports-1:0][  TailW:0] in_tail,

    output logic      [Ports-1:0]            out_valid,
    input  wire logic [Ports-1:0]            out_ready,
    output logic      [Ports-1:0][DataW-1:0] out_data,
    output logic      [Ports-1:0]            out_last,
    output logic      [Ports-1:0][     15:0] out_len,
    output logic      [Ports-1:0][     31:0] out_word,
    output logic      [Ports-1:0][  TailW:0] out_tail,
    output logic      [Ports-1:0]            dropped,
    output logic                             busy,

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
  tail_t tails[Ports];
  tail_t out_tails[Ports];
  verdict_t verdicts[Ports];
  verdict_t out_verdicts[Ports];
  block_event_t events[Ports];
  cfg_if #(.ADDR_W(24)) cfg ();
  axi_if mem[MemoryChannels] ();

  assign cfg.req = cfg_req;
  assign cfg.we = cfg_we;
  assign cfg.addr = cfg_addr;
  assign cfg.wdata = cfg_wdata;
  assign cfg_ack = cfg.ack;
  assign cfg_err = cfg.err;
  assign cfg_rdata = cfg.rdata;

  time_t cycle_q;
  wire [63:0] now = now_base + {30'b0, cycle_q, 2'b0};
  always_ff @(posedge clk) cycle_q <= rst ? '0 : cycle_q + 1'b1;

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    time_t begun_q;
    logic waits_q;
    always_ff @(posedge clk) begin
      waits_q <= frames[p].valid && !frames[p].ready;
      if (!waits_q) begun_q <= cycle_q;
      if (rst) waits_q <= 1'b0;
    end
    assign frames[p].valid = in_valid[p];
    assign frames[p].data = in_data[p];
    assign frames[p].last = in_last[p];
    assign frames[p].meta =
        '{len: in_len[p], hash: in_hash[p], src: port_t'(p), timestamp: waits_q ? begun_q : cycle_q, default: '0};
    assign tails[p] = in_tail[p];
    assign verdicts[p] = '{kind: VerdictDispatch, target: '0, reason: ReasonBlocked, word: {16'd0, ~in_len[p]}};
    assign in_ready[p] = frames[p].ready;
    assign out[p].ready = out_ready[p];
    assign out_valid[p] = out[p].valid;
    assign out_data[p] = out[p].data;
    assign out_last[p] = out[p].last;
    assign out_len[p] = out[p].meta.len;
    assign out_word[p] = out_verdicts[p].word;
    assign out_tail[p] = out_tails[p];
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

  ids_block #(
      .Ports(Ports),
      .Param({32'b0, 8'(BucketsLog2), 8'(RowsLog2), 8'(EntriesLog2), 8'(SetsLog2)})
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
      .mem(mem)
  );

  for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_channel
    axi_memory #(
        .Bytes(64'd1 << 25)
    ) i_memory (
        .clk,
        .rst,
        .link(mem[c])
    );
    axi_check i_check_mem (
        .clk,
        .rst,
        .link(mem[c])
    );
  end

  block_check #(
      .Ports(Ports)
  ) i_check (
      .clk,
      .rst,
      .frames(frames),
      .out(out),
      .out_verdicts,
      .events,
      .busy
  );
endmodule

`default_nettype wire
