// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A channel of card memory answers each write once and each beat of a read once, in order, whatever the memory does:
// rtl/l7_channel.sv as it is, with its own assertions, but with a patience of four cycles. By induction from a reset
// on, for any write, any beat of it and any beat of a read, which the proof watches.
//
// - A write that is answered without failure stood at its address with all of its beats, each as the manager gave it,
//   and the memory answered this write without an error. A beat that is answered without failure is the memory's answer
//   to this beat, and was read at its address.
// - Nothing waits for ever: if an answer is owed, there is an answer, or the memory moves something of this direction,
//   at least every six cycles (two more than the patience).
// - A burst whose address stands keeps its address until the memory takes it, and gets as many beats as it says.
// - The memory's answers to what was asked before a silence are never taken for answers to what is asked behind it. A
//   channel that is dead asks for nothing.
// - Neither queue of answers overflows.
//
// Taken for granted:
// - of the manager (l7_park.sv): it asks only while the channel is ready, for 1 to 32 beats; it gives a write's beats
//   behind its address, all of them before the next write; it pops answers that are there, and has up to 64 writes
//   whose answers it has not popped;
// - of the memory: it answers a write behind its address and its last beat, and a read behind its address, with as many
//   beats as were asked for, in order. It may stop at any time, and begin again.
module channel
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned PatienceLog2 = 2
) (
    input wire logic clk,

    input wire logic        write,
    input wire parked_at_t  write_at,
    input wire page_beats_t write_beats,
    input wire logic        beat_valid,
    input wire logic [DataW-1:0] beat,
    input wire logic        written_pop,
    input wire logic        read,
    input wire parked_at_t  read_at,
    input wire page_beats_t read_beats,
    input wire logic        answer_pop,

    input wire logic             awready,
    input wire logic             wready,
    input wire logic             bvalid,
    input wire logic [1:0]       bresp,
    input wire logic             arready,
    input wire logic             rvalid,
    input wire logic [1:0]       rresp,
    input wire logic [DataW-1:0] rdata,

    input wire logic        watch_write,
    input wire logic        watch_read,
    input wire page_beats_t watched_beat  // of the write, and of the read
);
  localparam int unsigned Most = 64;  // writes whose answers are not popped; beats of reads
  typedef logic [7:0] count_t;

  logic started_q = 1'b0;
  always_ff @(posedge clk) started_q <= 1'b1;
  wire rst = !started_q;

  axi_if mem ();
  assign mem.awready = awready;
  assign mem.wready = wready;
  assign mem.bid = '0;
  assign mem.bvalid = bvalid;
  assign mem.bresp = bresp;
  assign mem.arready = arready;
  assign mem.rid = '0;
  assign mem.rlast = 1'b0;
  assign mem.rvalid = rvalid;
  assign mem.rresp = rresp;
  assign mem.rdata = rdata;

  count_t given_left_q;  // beats that the manager still has to give
  logic write_ready, beat_ready, written, read_ready, answer_valid;
  l7_channel #(
      .PatienceLog2(PatienceLog2)
  ) dut (
      .clk,
      .rst,
      .write,
      .write_at,
      .write_beats,
      .write_ready,
      .beat_valid,
      .beat_last(given_left_q == 8'd1),
      .beat,
      .beat_ready,
      .written,
      .written_failed(),
      .written_pop,
      .read,
      .read_at,
      .read_beats,
      .read_ready,
      .answer_valid,
      .answer_failed(),
      .answer(),
      .answer_pop,
      .mem(mem)
  );
  wire dead = dut.dead_q;

  // ---- what others guarantee
  count_t held_q;  // writes whose answers are not popped
  count_t aws_q, wlasts_q;  // addresses and last beats of writes that the memory has and has not answered
  count_t rbeats_q;  // beats that the memory has still to send for the addresses that it has
  wire aw = mem.awvalid && mem.awready;
  wire w = mem.wvalid && mem.wready;
  wire ar = mem.arvalid && mem.arready;

  always_ff @(posedge clk) begin
    if (write) given_left_q <= count_t'(write_beats);
    else if (beat_valid && beat_ready) given_left_q <= given_left_q - 8'd1;
    held_q <= held_q + 8'(write) - 8'(written && written_pop);
    aws_q <= aws_q + 8'(aw) - 8'(bvalid);
    wlasts_q <= wlasts_q + 8'(w && mem.wlast) - 8'(bvalid);
    rbeats_q <= rbeats_q + (ar ? 8'(mem.arlen) + 8'd1 : 8'd0) - 8'(rvalid);
    if (rst) {given_left_q, held_q, aws_q, wlasts_q, rbeats_q} <= '0;
  end

  always_comb begin
    if (rst) assume (!write && !read && !bvalid && !rvalid && !beat_valid);
    if (write) assume (write_ready && given_left_q == '0 && held_q < 8'(Most));
    if (read) assume (read_ready);
    assume (write_beats >= 6'd1 && 32'(write_beats) <= ParkedBeats);
    assume (read_beats >= 6'd1 && 32'(read_beats) <= ParkedBeats);
    if (beat_valid) assume (given_left_q != '0);
    if (answer_pop) assume (answer_valid);
    if (bvalid) assume (aws_q != '0 && wlasts_q != '0);
    if (rvalid) assume (rbeats_q != '0);
  end

  // ---- a watched write: where it stands among those that are not answered, for the manager and for the memory
  typedef enum logic [1:0] {
    None,
    Waits,  // the manager has no answer
    Over    // it has, but not from the memory
  } watch_e;

  watch_e write_q;
  logic taken_q;  // by the memory: the channel was not dead
  logic aw_good_q, w_good_q, before_q;  // `before`: the last beat of the write before it is in the register
  count_t write_pos_q, write_due_q, given_q, sent_q;
  parked_at_t write_at_q;
  page_beats_t write_beats_q, write_index_q;
  logic [DataW-1:0] expected_q;
  wire watches_write = write && watch_write && write_q == None;
  wire write_answered = write_q == Waits && dut.write_answers && write_pos_q == '0;
  wire write_due_over = taken_q && bvalid && write_due_q == '0;
  wire sending = taken_q && sent_q < 8'(write_beats_q);
  wire w_mine = sending && !before_q && w;
  wire aw_mine = taken_q && !aw_good_q && aw && aws_q == write_due_q;

  always_ff @(posedge clk) begin
    if (watches_write) begin
      write_q <= Waits;
      taken_q <= !dead;
      write_pos_q <= 8'(dut.writes_owed_q) - 8'(dut.write_answers);
      write_due_q <= 8'(dut.writes_due_q) - 8'(bvalid);
      write_at_q <= write_at;
      write_beats_q <= write_beats;
      write_index_q <= watched_beat;
      before_q <= dut.w_valid_q && !wready;
      {aw_good_q, w_good_q, given_q, sent_q} <= '0;
    end else begin
      if (dut.write_answers && write_q == Waits) write_pos_q <= write_pos_q - 8'd1;
      if (bvalid && taken_q) write_due_q <= write_due_q - 8'd1;
      if (write_answered) write_q <= Over;
      if (write_due_over) taken_q <= 1'b0;
      if ((write_answered || write_q == Over) && (write_due_over || !taken_q)) write_q <= None;
      if (taken_q && given_q < 8'(write_beats_q) && beat_valid && beat_ready) begin
        given_q <= given_q + 8'd1;
        if (given_q == 8'(write_index_q)) expected_q <= beat;
      end
      if (w) before_q <= 1'b0;
      if (w_mine) begin
        sent_q <= sent_q + 8'd1;
        if (sent_q == 8'(write_index_q)) w_good_q <= mem.wdata == expected_q;
      end
      if (aw_mine) aw_good_q <= mem.awaddr == 40'(write_at_q) << 11 && mem.awlen == 8'(write_beats_q) - 8'd1;
    end
    if (rst) begin
      write_q <= None;
      {taken_q, before_q} <= '0;
    end
  end

  // ---- a watched beat of a read, likewise
  watch_e read_q;
  logic asked_q, ar_good_q;
  count_t read_pos_q, read_due_q;
  parked_at_t read_at_q;
  page_beats_t read_beats_q, read_index_q;
  wire watches_read = read && watch_read && read_q == None && watched_beat < read_beats;
  wire read_answered = read_q == Waits && dut.read_answers && read_pos_q == '0;
  wire read_due_over = asked_q && rvalid && read_due_q == '0;
  wire ar_mine = asked_q && !ar_good_q && ar;

  always_ff @(posedge clk) begin
    if (watches_read) begin
      read_q <= Waits;
      asked_q <= !dead;
      read_pos_q <= 8'(dut.beats_owed_q) - 8'(dut.read_answers) + 8'(watched_beat);
      read_due_q <= 8'(dut.beats_due_q) - 8'(rvalid) + 8'(watched_beat);
      read_at_q <= read_at;
      read_beats_q <= read_beats;
      read_index_q <= watched_beat;
      ar_good_q <= 1'b0;
    end else begin
      if (dut.read_answers && read_q == Waits) read_pos_q <= read_pos_q - 8'd1;
      if (rvalid && asked_q) read_due_q <= read_due_q - 8'd1;
      if (read_answered) read_q <= Over;
      if (read_due_over) asked_q <= 1'b0;
      if ((read_answered || read_q == Over) && (read_due_over || !asked_q)) read_q <= None;
      if (ar_mine) ar_good_q <= mem.araddr == 40'(read_at_q) << 11 && mem.arlen == 8'(read_beats_q) - 8'd1;
    end
    if (rst) begin
      read_q  <= None;
      asked_q <= 1'b0;
    end
  end

  // ---- cycles in which an answer is owed and nothing happens
  count_t write_still_q, read_still_q;
  always_ff @(posedge clk) begin
    write_still_q <= dut.writes_owed_q == '0 || dut.write_answers || aw || w ? '0 : write_still_q + 8'd1;
    read_still_q  <= dut.beats_owed_q == '0 || dut.read_answers || ar ? '0 : read_still_q + 8'd1;
    if (rst) {write_still_q, read_still_q} <= '0;
  end

  // ---- requests that stand
  logic aw_waits_q, w_waits_q, ar_waits_q, w_last_q, finishes_q;  // `finishes`: a burst, though the channel is dead
  logic [47:0] aw_q, ar_q;
  logic [DataW-1:0] w_q;
  always_ff @(posedge clk) begin
    {aw_waits_q, w_waits_q, ar_waits_q} <= {mem.awvalid && !awready, mem.wvalid && !wready, mem.arvalid && !arready};
    aw_q <= {mem.awaddr, mem.awlen};
    ar_q <= {mem.araddr, mem.arlen};
    finishes_q <= dead && dut.fill_q != '0 && !rst;
    {w_last_q, w_q} <= {mem.wlast, mem.wdata};
    if (rst) {aw_waits_q, w_waits_q, ar_waits_q} <= '0;
  end

  // ---- what must hold
  always_comb
    if (started_q) begin
      // An answer is to something that was asked, and a successful one is the memory's own.
      assert (!dut.write_answers || dut.writes_owed_q != '0);
      assert (!dut.read_answers || dut.beats_owed_q != '0);
      if (write_answered && !dut.i_written.din) begin
        assert (bvalid && bresp == 2'b00 && taken_q && write_due_q == '0);
        assert (aw_good_q && sent_q == 8'(write_beats_q) && (w_good_q || write_index_q >= write_beats_q));
      end
      if (read_answered && !dut.i_answers.din[DataW]) begin
        assert (rvalid && rresp == 2'b00 && asked_q && read_due_q == '0 && ar_good_q);
        assert (dut.i_answers.din[DataW-1:0] == rdata);
      end
      // Nothing waits for ever.
      assert (32'(write_still_q) <= (1 << PatienceLog2) + 1);
      assert (32'(read_still_q) <= (1 << PatienceLog2) + 1);
      // Requests stand until they are taken; bursts have their beats.
      if (aw_waits_q) assert (mem.awvalid && {mem.awaddr, mem.awlen} == aw_q);
      if (w_waits_q) assert (mem.wvalid && {mem.wlast, mem.wdata} == {w_last_q, w_q});
      if (ar_waits_q) assert (mem.arvalid && {mem.araddr, mem.arlen} == ar_q);
      if (finishes_q) assert (mem.wvalid);
      if (w_mine) assert (mem.wlast == (sent_q + 8'd1 == 8'(write_beats_q)));
      if (sending && before_q && w) assert (mem.wlast);
    end

  // ---- for the induction
  wire burst = dut.fill_q != '0;
  wire count_t unsent = 8'(burst) + 8'(dut.w_valid_q && dut.w_last_q);
  wire mine = dut.w_valid_q && !before_q;  // the beat in the register, while the watched write's are sent
  always_comb
    if (started_q) begin
      assert (held_q == 8'(dut.writes_owed_q) + 8'(dut.i_written.level) && held_q <= 8'(Most));
      assert (8'(dut.asked_q) == 8'(dut.beats_owed_q) + 8'(dut.i_answers.level) && 32'(dut.asked_q) <= Most);
      assert (8'(dut.writes_due_q) == aws_q + 8'(dut.aw_valid_q));
      assert (8'(dut.writes_due_q) == wlasts_q + unsent);
      assert (8'(dut.beats_due_q) == rbeats_q + (dut.ar_valid_q ? 8'(dut.ar_beats_q) : 8'd0));
      assert (32'(dut.writes_due_q) <= Most && 32'(dut.beats_due_q) <= Most);
      assert (aws_q <= 8'(Most) && wlasts_q <= 8'(Most) && rbeats_q <= 8'(Most) && unsent <= 8'(Most));
      assert (32'(dut.fill_q) <= ParkedBeats && given_left_q <= 8'(ParkedBeats));
      if (dut.w_valid_q && !dut.w_last_q) assert (burst);
      if (dut.ar_valid_q) assert (dut.ar_beats_q != '0 && 32'(dut.ar_beats_q) <= ParkedBeats);
      if (dut.aw_valid_q) assert (dut.aw_beats_q != '0 && 32'(dut.aw_beats_q) <= ParkedBeats);
      if (!dead) begin
        assert (dut.writes_due_q == dut.writes_owed_q && dut.beats_due_q == dut.beats_owed_q);
        assert (dut.real_q || !burst);
      end else assert (!dut.real_q);
      if (dut.real_q) assert (given_left_q == 8'(dut.fill_q));
      assert (8'(dut.write_wait_q) >= write_still_q || dead);
      assert (8'(dut.read_wait_q) >= read_still_q || dead);

      if (write_q == Waits) assert (write_pos_q < 8'(dut.writes_owed_q));
      if (taken_q) begin
        assert (write_q != None && write_due_q < 8'(dut.writes_due_q));
        assert (write_beats_q != '0 && 32'(write_beats_q) <= ParkedBeats && sent_q <= 8'(write_beats_q));
        assert ((sent_q == 8'(write_beats_q)) == (wlasts_q > write_due_q));
        // Its address waits, and then counts.
        if (aws_q <= write_due_q)
          assert (!aw_good_q && aws_q == write_due_q && dut.aw_at_q == write_at_q && dut.aw_beats_q == write_beats_q);
        else assert (aw_good_q);
        if (sending) begin
          // The rest of its beats comes, or its last one is in the register.
          if (sent_q + 8'(mine) < 8'(write_beats_q))
            assert (sent_q + 8'(mine) + 8'(dut.fill_q) == 8'(write_beats_q) && (!mine || !dut.w_last_q));
          else assert (mine && dut.w_last_q);
          if (before_q) assert (dut.w_valid_q && dut.w_last_q && sent_q == '0);
          assert (wlasts_q + 8'(before_q) == write_due_q);
        end
        if (!dead) begin
          assert (write_q == Waits && write_pos_q == write_due_q);
          // Each beat that the writer gave is in the register or was sent.
          assert (given_q == sent_q + 8'(sending && mine));
          if (given_q > 8'(write_index_q) && sent_q <= 8'(write_index_q)) assert (dut.w_data_q == expected_q);
          if (sent_q > 8'(write_index_q)) assert (w_good_q);
        end
      end else if (write_q == Waits) assert (dead);
      if (write_q == Over) assert (taken_q && dead);

      if (read_q == Waits) assert (read_pos_q < 8'(dut.beats_owed_q));
      if (asked_q) begin
        assert (read_q != None && read_due_q < 8'(dut.beats_due_q));
        assert (read_index_q < read_beats_q);
        if (rbeats_q <= read_due_q)
          assert (!ar_good_q && dut.ar_valid_q && dut.ar_at_q == read_at_q && dut.ar_beats_q == read_beats_q);
        else assert (ar_good_q && !(ar_mine));
        if (!dead) assert (read_q == Waits && read_pos_q == read_due_q);
      end else if (read_q == Waits) assert (dead);
      if (read_q == Over) assert (asked_q && dead);
    end
endmodule

`default_nettype wire
