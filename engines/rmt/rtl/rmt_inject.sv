// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Puts the frames of controllers, which come from the host in records of 32 bytes each, among those of a port.
//
//   records ─> COLLECT ─> memory of 64 beats, a frame ─┐
//              a record a cycle                        v
//   frames of the port ───────────────────────────> CHOOSE ─> lane       no cycle for the port's frames
//
// A frame enters when its last record has come, between two frames of the port, which wait for its beats. The next
// frame's records wait until then. A record that begins a frame ends the one before. A frame of less than 14 or more than
// 4,096 bytes is ignored: the driver sends none.
module rmt_inject
  import penstock_pkg::*, rmt_pkg::*;
#(
    parameter int unsigned Number = 0  // of the block, from the ports on
) (
    input wire logic clk,
    input wire logic rst,

    record_if.snk from_host,

    frame_if.snk         frames,
    input wire tail_t    tail,
    input wire verdict_t verdict,

    frame_if.src     lane,
    output tail_t    lane_tail,
    output verdict_t lane_verdict,

    output logic waits,     // a frame waits to enter
    output logic begins,    // it enters
    input  wire logic hold  // none may enter
);
  localparam int unsigned Beats = 64;
  localparam int unsigned BeatW = $clog2(Beats);
  localparam int unsigned PieceNoW = BeatW + 2;  // a piece more than fits

  typedef logic [PieceNoW-1:0] number_t;

  // ---- COLLECT
  piece_t piece;
  record_t record;
  number_t number_q, number;  // of the piece in its frame
  logic take, ends, good, full_q, done;
  len_t len_q;
  tenant_t tenant_q;
  logic [PieceW-1:0] half_q;   // the beat's first piece
  logic [TailW-1:0] tail_q;    // the third piece of a folded frame

  assign record = from_host.data;
  assign piece = piece_t'(record.own);
  assign from_host.ready = !full_q;
  assign take = from_host.valid && !full_q;
  assign number = record.queue_id[1] ? '0 : number_q;
  assign good = piece.len >= len_t'(MinFrame) && piece.len <= len_t'(Beats * BeatBytes);
  // Bytes up to the end of this piece
  assign ends = 16'(number) * 16'(PieceBytes) + 16'(PieceBytes) >= piece.len;

  always_ff @(posedge clk) begin
    if (take) begin
      number_q <= number + 1'b1;
      len_q    <= piece.len;
      tenant_q <= record.tenant[5:0];
      tail_q   <= piece.data[TailW-1:0];
      if (!number[0]) half_q <= piece.data;
    end
    full_q <= (take && ends && good) || (full_q && !done);
    if (rst) full_q <= 1'b0;
  end

  // ---- the memory
  logic read, valid_q, folded, last;
  logic [BeatW-1:0] at_q, at;  // of the beat that leaves, and of the one that is read
  logic [DataW-1:0] data;

  ram_sdp #(
      .Width(DataW),
      .Depth(Beats)
  ) i_ram (
      .clk,
      .we(take && (number[0] || ends) && !(is_folded(piece.len) && number == number_t'(2))),
      .waddr(number[BeatW:1]),
      .wdata(number[0] ? {piece.data, half_q} : {PieceW'(0), piece.data}),
      .re(read),
      .raddr(at),
      .rdata(data)
  );

  assign folded = is_folded(len_q);
  assign last = folded || 11'(at_q) + 11'd1 == beats_of(len_q);
  assign at = valid_q ? at_q + 1'b1 : '0;
  assign waits = full_q;

  // ---- CHOOSE
  logic turn_q, within_q, leaves;
  assign leaves = turn_q && valid_q && lane.ready;
  assign done = leaves && last;
  assign read = full_q && (!valid_q || (leaves && !last));
  assign begins = leaves && at_q == '0;

  always_ff @(posedge clk) begin
    if (read) {at_q, valid_q} <= {at, 1'b1};
    if (frames.valid && frames.ready) within_q <= !frames.last;
    if (done) {turn_q, valid_q} <= '0;
    else if (!turn_q)
      turn_q <= valid_q && !hold && (frames.valid ? frames.ready && frames.last : !within_q);
    if (rst) {turn_q, valid_q, within_q} <= '0;
  end

  always_comb begin
    frames.ready = lane.ready && !turn_q;
    lane.valid = turn_q || frames.valid;
    lane.data = frames.data;
    lane.last = frames.last;
    lane.meta = frames.meta;
    lane_tail = tail;
    lane_verdict = verdict;
    if (turn_q) begin
      lane.data = data;
      lane.last = last;
      lane.meta = '{len: len_q, tenant: tenant_q, src: PortBlock + port_t'(Number), default: '0};
      lane_tail = '{valid: folded, data: tail_q};
      lane_verdict = '0;
    end
  end
endmodule

`default_nettype wire
