// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Lines of banks in a channel of card memory (lib/rtl/axi_if.sv), in beats of four rows: byte a of the maps is at address
// a of the channel.
//
//   banks ─> one of them ─> AW           rows ─> beat register ─> W           B ─> the bank whose turn it is
//   banks ─> one of them ─> AR           R ─> queue ─> beat register ─> rows ─> the bank whose turn it is
//                                             2 cycles 1 cycle
//
// A row a cycle each way. All has one ID, so answers come in the order of the questions; writes and reads wait for
// nobody but the memory and the bank that takes its rows. A bank reads a line only when its last write was answered.
// The queue has room for all lines that are asked for. They are five at most, which hides the memory's latency: a bank
// takes 16 cycles for the rows of a line.
//
// If the memory answers with an error, `failed` says so, and a row that was read is zeros, as in a map without entries.
// A bank whose answer never comes waits for ever, and its units with it.
//
// The memory forgets at a reset, as the card does: an answer that came afterwards would go to the next bank that asks.
module map_memory
  import penstock_pkg::*;
  import map_pkg::*;
  import maps_pkg::*;
#(
    parameter int unsigned Banks = 16,    // a power of two
    parameter int unsigned Rows  = 65536  // of 16 bytes, of each bank
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [Banks-1:0]                        line_write,
    input  wire logic [Banks-1:0]                        line_read,
    input  wire logic [Banks-1:0][$clog2(Rows/LineRows)-1:0] line,
    output logic [Banks-1:0]                             line_taken,
    input  wire data_t                                   line_row[Banks],
    output logic [Banks-1:0]                             line_pop,
    output logic [Banks-1:0]                             line_written,
    output logic [Banks-1:0]                             coming,
    output data_t                                        coming_row,
    input  wire logic [Banks-1:0]                        coming_pop,

    axi_if.mgr   memory,
    output logic failed   // for one cycle: an answer was an error
);
  localparam int unsigned BankW = $clog2(Banks);
  localparam int unsigned LineBytes = LineRows * FlitBytes;
  localparam int unsigned BeatRows = BeatBytes / FlitBytes;
  localparam int unsigned Beats = LineRows / BeatRows;
  localparam int unsigned Lines = 4;  // that are asked for, besides the one that comes
  typedef logic [BankW-1:0] bank_t;

  function automatic bank_t number_of(logic [Banks-1:0] one);
    bank_t number;
    number = '0;
    for (int unsigned b = 0; b < Banks; b++) if (one[b]) number |= bank_t'(b);
    return number;
  endfunction
  function automatic logic [39:0] address_of(bank_t bank, logic [$clog2(Rows/LineRows)-1:0] at);
    return 40'({bank, at}) * 40'(LineBytes);
  endfunction

  // ---- writes
  logic [Banks-1:0] write_grant;
  logic writing_q, asked_q, sent_q, answers_room;  // a line is on its way; its AW is, its last beat was taken
  bank_t writer_q;
  logic [$clog2(LineRows):0] rows_q;    // of the line, taken
  logic [$clog2(BeatRows):0] filled_q;  // of the beat
  logic [BeatRows-1:0][8*FlitBytes-1:0] beat_q;
  logic last_q;
  wire put = memory.wvalid && memory.wready;
  wire take = writing_q && rows_q != ($clog2(LineRows) + 1)'(LineRows) &&
      (filled_q != ($clog2(BeatRows) + 1)'(BeatRows) || put);
  rr_arbiter #(
      .N(Banks)
  ) i_writer (
      .clk,
      .rst,
      .req(line_write),
      .accept(!writing_q && answers_room),
      .grant(write_grant)
  );
  assign memory.awid = '0;
  assign memory.awvalid = asked_q;
  assign memory.awlen = 8'(Beats - 1);
  assign memory.wdata = beat_q;
  assign memory.wstrb = '1;
  assign memory.wvalid = filled_q == ($clog2(BeatRows) + 1)'(BeatRows);
  assign memory.wlast = last_q;
  always_comb begin
    line_pop = '0;
    line_pop[writer_q] = take;
  end
  always_ff @(posedge clk) begin
    if (!writing_q) begin
      memory.awaddr <= address_of(number_of(write_grant), line[number_of(write_grant)]);
      writer_q <= number_of(write_grant);
      rows_q <= '0;
      filled_q <= '0;
      sent_q <= 1'b0;
      if (write_grant != '0 && answers_room) begin
        writing_q <= 1'b1;
        asked_q <= 1'b1;
      end
    end else begin
      if (memory.awready) asked_q <= 1'b0;
      if (take) begin
        beat_q <= {line_row[writer_q], beat_q[BeatRows-1:1]};
        rows_q <= rows_q + 1'b1;
        last_q <= rows_q == ($clog2(LineRows) + 1)'(LineRows - 1);
      end
      filled_q <= (put ? '0 : filled_q) + ($clog2(BeatRows) + 1)'(take);
      if (put && last_q) sent_q <= 1'b1;
      if (sent_q && !asked_q) writing_q <= 1'b0;
    end
    if (rst) begin
      writing_q <= 1'b0;
      asked_q <= 1'b0;
      filled_q <= '0;
    end
  end

  logic answer_due;
  bank_t answers;
  fifo_dist #(
      .Width(BankW),
      .Depth(2 * Banks)
  ) i_answers (
      .clk,
      .rst,
      .push (!writing_q && write_grant != '0 && answers_room),
      .din  (number_of(write_grant)),
      .ready(answers_room),
      .valid(answer_due),
      .pop  (memory.bvalid),
      .dout (answers),
      .level()
  );
  assign memory.bready = answer_due;
  always_comb begin
    line_written = '0;
    line_written[answers] = memory.bvalid && answer_due;
  end

  // ---- reads
  logic [Banks-1:0] read_grant;
  logic reading_q, readers_room, reader_due, held_q;
  bank_t reader;
  logic [BeatRows-1:0][8*FlitBytes-1:0] came_q;
  logic [$clog2(BeatRows)-1:0] row_q;
  logic came_last_q;
  wire asks = !reading_q && read_grant != '0 && readers_room;
  wire goes = held_q && coming_pop[reader];
  wire beat_goes = goes && row_q == '1;
  rr_arbiter #(
      .N(Banks)
  ) i_reader (
      .clk,
      .rst,
      .req(line_read & ~line_taken),
      .accept(asks),
      .grant(read_grant)
  );
  assign memory.arid = '0;
  assign memory.arvalid = reading_q;
  assign memory.arlen = 8'(Beats - 1);
  // Beats that have come. Each has room: the queue holds more lines than are asked for at a time.
  logic beat_here, beat_last, queue_room;
  logic [8*BeatBytes-1:0] beat;
  wire beat_taken = beat_here && (!held_q || beat_goes);
  fifo_dist #(
      .Width(8 * BeatBytes + 1),
      .Depth(2 * Lines * Beats)
  ) i_beats (
      .clk,
      .rst,
      .push (memory.rvalid),
      .din  ({memory.rlast, memory.rresp[1] ? '0 : memory.rdata}),
      .ready(queue_room),
      .valid(beat_here),
      .pop  (beat_taken),
      .dout ({beat_last, beat}),
      .level()
  );
  assign memory.rready = queue_room;
  assign coming_row = came_q[0];
  always_comb begin
    coming = '0;
    coming[reader] = held_q;
  end
  always_ff @(posedge clk) begin
    line_taken <= asks ? read_grant : '0;
    if (!reading_q) memory.araddr <= address_of(number_of(read_grant), line[number_of(read_grant)]);
    if (asks) reading_q <= 1'b1;
    else if (memory.arready) reading_q <= 1'b0;
    if (beat_taken) begin
      came_q <= beat;
      came_last_q <= beat_last;
      held_q <= 1'b1;
      row_q <= '0;
    end else if (goes) begin
      came_q <= came_q >> 8 * FlitBytes;
      row_q <= row_q + 1'b1;
      if (beat_goes) held_q <= 1'b0;
    end
    if (rst) begin
      line_taken <= '0;
      reading_q <= 1'b0;
      held_q <= 1'b0;
    end
  end
  fifo_dist #(
      .Width(BankW),
      .Depth(Lines)
  ) i_readers (
      .clk,
      .rst,
      .push (asks),
      .din  (number_of(read_grant)),
      .ready(readers_room),
      .valid(reader_due),
      .pop  (beat_goes && came_last_q),
      .dout (reader),
      .level()
  );

  always_ff @(posedge clk) begin
    failed <= !rst && ((memory.bvalid && memory.bresp[1]) || (memory.rvalid && memory.rresp[1]));
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      assert (!memory.rvalid || queue_room) else $error("%m: a beat has no room");
      assert (!memory.bvalid || answer_due) else $error("%m: an answer to no write");
    end
  end
`endif
endmodule

`default_nettype wire
