// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A channel of card memory that writes and reads pages, and answers each burst.
//
//   page to write ─> address register ─> AW       B ─> queue of answers: the write has failed, or not
//   its beats ─────> beat register ────> W
//   page to read ──> address register ─> AR       R ─> queue of beats: data, and whether the read has failed
//                    1 cycle                           3 cycles; a beat a cycle each way
//
// All bursts have ID 0, so answers come in the order of their bursts. A write's beats follow its address without a gap.
// The manager keeps the queue of answers from overflowing; `read_ready` keeps that of beats.
//
// The channel is dead if the memory owes it an answer to a write, or beats of a read, and moves nothing of that
// direction for 2^PatienceLog2 cycles. A dead channel answers every burst with an error, those under way first, and
// discards what the memory still sends. It finishes the bursts that it has begun, as AXI demands: a burst whose address
// stands gets its beats, whatever they hold. The channel works again when the memory owes it nothing.
module l7_channel
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned PatienceLog2 = 12  // 16 us
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic        write,  // a page, while `write_ready`; then its beats
    input  wire parked_at_t  write_at,
    input  wire page_beats_t write_beats,
    output logic             write_ready,
    input  wire logic             beat_valid,
    input  wire logic             beat_last,
    input  wire logic [DataW-1:0] beat,
    output logic                  beat_ready,
    output logic      written,  // the answer to the oldest write without one
    output logic      written_failed,
    input  wire logic written_pop,

    input  wire logic        read,  // a page, while `read_ready`
    input  wire parked_at_t  read_at,
    input  wire page_beats_t read_beats,
    output logic             read_ready,
    output logic             answer_valid,
    output logic             answer_failed,
    output logic [DataW-1:0] answer,
    input  wire logic        answer_pop,

    axi_if.mgr mem
);
  localparam int unsigned Writes = 64;  // most writes whose answers the manager has not popped
  localparam int unsigned AnswerDepth = 64;  // beats
  localparam logic [1:0] Okay = 2'b00;
  typedef logic [$clog2(Writes):0] writes_t;
  typedef logic [$clog2(AnswerDepth):0] beats_t;

  // ---- answers that the memory owes the channel (due), and the channel the manager (owed)
  logic dead_q, settled, write_answers, read_answers, takes_write, takes_read;
  writes_t writes_due_q, writes_owed_q;
  beats_t beats_due_q, beats_owed_q;
  page_beats_t fill_q;  // beats of the burst that are not in the register yet
  logic aw_valid_q, w_valid_q, ar_valid_q;

  assign takes_write = write && !dead_q;  // the memory gets it
  assign takes_read = read && !dead_q;
  assign write_answers = dead_q ? writes_owed_q != '0 : mem.bvalid;
  assign read_answers = dead_q ? beats_owed_q != '0 : mem.rvalid;
  assign settled = !aw_valid_q && !w_valid_q && !ar_valid_q && fill_q == '0 && writes_due_q == '0 && beats_due_q == '0;

  always_ff @(posedge clk) begin
    writes_due_q  <= writes_due_q + writes_t'(takes_write) - writes_t'(mem.bvalid);
    writes_owed_q <= writes_owed_q + writes_t'(write) - writes_t'(write_answers);
    beats_due_q   <= beats_due_q + (takes_read ? beats_t'(read_beats) : '0) - beats_t'(mem.rvalid);
    beats_owed_q  <= beats_owed_q + (read ? beats_t'(read_beats) : '0) - beats_t'(read_answers);
    if (rst) begin
      writes_due_q <= '0;
      writes_owed_q <= '0;
      beats_due_q <= '0;
      beats_owed_q <= '0;
    end
  end

  // ---- dead or not
  logic [PatienceLog2-1:0] write_wait_q, read_wait_q;  // cycles without progress
  logic write_moves, read_moves, dies;
  assign write_moves = (mem.awvalid && mem.awready) || (mem.wvalid && mem.wready) || mem.bvalid;
  assign read_moves = (mem.arvalid && mem.arready) || mem.rvalid;
  assign dies = write_wait_q == '1 || read_wait_q == '1;

  always_ff @(posedge clk) begin
    write_wait_q <= writes_due_q == '0 || write_moves || dead_q ? '0 : write_wait_q + 1'b1;
    read_wait_q <= beats_due_q == '0 || read_moves || dead_q ? '0 : read_wait_q + 1'b1;
    if (dies) dead_q <= 1'b1;
    else if (settled && writes_owed_q == '0 && beats_owed_q == '0) dead_q <= 1'b0;
    if (rst) begin
      write_wait_q <= '0;
      read_wait_q <= '0;
      dead_q <= 1'b0;
    end
  end

  // ---- writes
  logic real_q;  // the memory gets the beats that come; otherwise they are discarded
  logic fills, w_last_q;
  logic [DataW-1:0] w_data_q;
  parked_at_t aw_at_q;
  page_beats_t aw_beats_q;

  assign write_ready = dead_q ? !settled : !aw_valid_q;
  assign beat_ready = !real_q || !w_valid_q || mem.wready;
  assign fills = fill_q != '0 && (!w_valid_q || mem.wready) && (beat_valid || !real_q);

  always_ff @(posedge clk) begin
    aw_valid_q <= takes_write || (aw_valid_q && !mem.awready);
    w_valid_q  <= fills || (w_valid_q && !mem.wready);
    if (takes_write) begin
      aw_at_q <= write_at;
      aw_beats_q <= write_beats;
    end
    if (fills) begin
      w_data_q <= beat;
      w_last_q <= fill_q == page_beats_t'(1);
    end
    fill_q <= takes_write ? write_beats : fill_q - page_beats_t'(fills);
    if (write || dies) real_q <= takes_write && !dies;
    if (rst) begin
      aw_valid_q <= 1'b0;
      w_valid_q <= 1'b0;
      fill_q <= '0;
      real_q <= 1'b0;
    end
  end

  fifo_dist #(
      .Width(1),
      .Depth(Writes)
  ) i_written (
      .clk,
      .rst,
      .push(write_answers),
      .din(dead_q || mem.bresp != Okay),
      .ready(),
      .valid(written),
      .pop(written_pop),
      .dout(written_failed),
      .level()
  );

  // ---- reads
  beats_t asked_q;  // beats that were asked for and are not popped
  parked_at_t ar_at_q;
  page_beats_t ar_beats_q;

  assign read_ready = (dead_q ? !settled : !ar_valid_q) && 32'(asked_q) + ParkedBeats <= AnswerDepth;

  always_ff @(posedge clk) begin
    ar_valid_q <= takes_read || (ar_valid_q && !mem.arready);
    if (takes_read) begin
      ar_at_q <= read_at;
      ar_beats_q <= read_beats;
    end
    asked_q <= asked_q + (read ? beats_t'(read_beats) : '0) - beats_t'(answer_pop);
    if (rst) begin
      ar_valid_q <= 1'b0;
      asked_q <= '0;
    end
  end

  fifo_block #(
      .Width(1 + DataW),
      .Depth(AnswerDepth)
  ) i_answers (
      .clk,
      .rst,
      .push(read_answers),
      .din({dead_q || mem.rresp != Okay, mem.rdata}),
      .valid(answer_valid),
      .pop(answer_pop),
      .dout({answer_failed, answer})
  );

  assign mem.awid = '0;
  assign mem.awaddr = 40'(aw_at_q) << $clog2(ParkedBytes);
  assign mem.awlen = 8'(aw_beats_q) - 8'd1;
  assign mem.awvalid = aw_valid_q;
  assign mem.wdata = w_data_q;
  assign mem.wstrb = '1;
  assign mem.wlast = w_last_q;
  assign mem.wvalid = w_valid_q;
  assign mem.bready = 1'b1;
  assign mem.arid = '0;
  assign mem.araddr = 40'(ar_at_q) << $clog2(ParkedBytes);
  assign mem.arlen = 8'(ar_beats_q) - 8'd1;
  assign mem.arvalid = ar_valid_q;
  assign mem.rready = 1'b1;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!write || write_ready) else $error("%m: a write without room");
      assert (!read || read_ready) else $error("%m: a read without room");
      assert (!takes_write || fill_q == '0) else $error("%m: a write begins before all beats of the one before");
      assert (!mem.bvalid || writes_due_q != '0) else $error("%m: an answer to no write");
      assert (!mem.rvalid || beats_due_q != '0) else $error("%m: a beat that was not asked for");
      assert (!(beat_valid && beat_ready && real_q) || (fills && beat_last == (fill_q == page_beats_t'(1))))
      else $error("%m: a write has other beats than its address says");
    end
`endif
endmodule

`default_nettype wire
