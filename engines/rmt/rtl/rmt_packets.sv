// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Sends frames that go to a controller to the host, in records of 32 bytes each.
//
//   frames of each lane ─> queue of 512 beats ─┐
//   a beat a cycle                             ├─> GATHER: a piece of the frame every other cycle ─> record ─> to_host
//                       ─> queue of 512 beats ─┘
//
// The lanes take turns, a frame each, so the pieces of a frame follow each other. A frame is kept if all its beats fit;
// else it is lost and counted. No frame ever waits, and neither do the copies behind it.
//
// A lane costs 10 block memories and about 700 flip-flops for its queue.
module rmt_packets
  import penstock_pkg::*, rmt_pkg::*;
#(
    parameter int unsigned Ports = 2
) (
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [63:0] now,  // ns

    input wire packet_t [Lanes-1:0] packets,

    record_if.src            to_host,
    output logic [Lanes-1:0] lost  // a frame of the lane
);
  localparam int unsigned Depth = 512;
  localparam int unsigned LevelW = $clog2(Depth) + 1;

  // A beat of a frame that is kept
  typedef struct packed {
    logic             bank;
    tenant_t          tenant;
    logic [31:0]      mark;
    logic [31:0]      hash;
    len_t             len;
    logic             last;
    logic [TailW-1:0] tail;
    logic [DataW-1:0] data;
  } beat_kept_t;

  typedef logic [$clog2(Lanes)-1:0] lane_t;

  logic [Lanes-1:0] waits, pop, full;
  beat_kept_t [Lanes-1:0] head;

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    if (l < Ports) begin : gen_queue
      packet_t packet;
      beat_kept_t kept;
      logic push, fits, fits_q, first_q;
      logic [8:0] beats;
      logic [LevelW-1:0] level_q;

      assign packet = packets[l];
      assign beats = is_folded(packet.meta.len) ? 9'd1 : 9'(beats_of(packet.meta.len));
      assign fits = first_q ? 11'(level_q) + 11'(beats) <= 11'(Depth) : fits_q;
      assign push = packet.valid && fits;
      assign kept = '{
          bank: packet.bank,
          tenant: packet.meta.tenant,
          mark: packet.meta.mark,
          hash: packet.meta.hash,
          len: packet.meta.len,
          last: packet.last,
          tail: packet.tail.data,
          data: packet.data
      };
      assign full[l] = packet.valid && packet.last && !fits;

      always_ff @(posedge clk) begin
        if (packet.valid) begin
          fits_q  <= fits;
          first_q <= packet.last;
        end
        level_q <= level_q + LevelW'(push) - LevelW'(pop[l]);
        if (rst) begin
          first_q <= 1'b1;
          level_q <= '0;
        end
      end
`ifndef SYNTHESIS
      always_ff @(posedge clk)
        if (!rst) begin
          assert (level_q <= LevelW'(Depth)) else $error("%m: the queue holds more than it has room for");
          assert (!pop[l] || waits[l]) else $error("%m: a beat is taken that is not there");
        end
`endif

      fifo_block #(
          .Width($bits(beat_kept_t)),
          .Depth(Depth)
      ) i_queue (
          .clk,
          .rst,
          .push,
          .din  (kept),
          .valid(waits[l]),
          .pop  (pop[l]),
          .dout (head[l])
      );
    end else begin : gen_no_queue
      assign waits[l] = 1'b0;
      assign full[l] = 1'b0;
      assign head[l] = '0;
    end
  end

  // ---- GATHER
  logic active_q, first_q, sends, beat_ends;
  lane_t lane_q, lane_d;
  logic [1:0] at_q;  // piece of the beat
  len_t left_q;      // bytes of the frame that are left, with this piece
  beat_kept_t from;
  piece_t piece;
  record_t record_d;

  always_comb begin
    lane_d = lane_q;
    for (int unsigned n = Lanes; n > 0; n--) if (waits[lane_t'(32'(lane_q)+n)]) lane_d = lane_t'(32'(lane_q) + n);
  end

  assign from = head[lane_q];
  wire len_t left = first_q ? from.len : left_q;
  wire ends = left <= len_t'(PieceBytes);
  assign sends = active_q && waits[lane_q] && !to_host.valid;
  assign beat_ends = ends || (at_q == 2'd1 && !is_folded(from.len));

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) pop[l] = sends && beat_ends && 32'(lane_q) == l;
    piece = '0;
    piece.len = from.len;
    case (at_q)
      2'd0:    piece.data = from.data[PieceW-1:0];
      2'd1:    piece.data = from.data[DataW-1:PieceW];
      default: piece.data = PieceW'(from.tail);
    endcase
    record_d = '0;
    record_d.own = piece;
    record_d.mark = from.mark;
    record_d.hash = from.hash;
    record_d.at = now;
    record_d.queue_id = {14'd0, first_q, from.bank};
    record_d.port = port_t'(lane_q);
    record_d.tenant = 8'(from.tenant);
    record_d.reason = ReasonPacket;
  end

  always_ff @(posedge clk) begin
    if (!active_q) begin
      active_q <= waits != '0;
      lane_q   <= lane_d;
      first_q  <= 1'b1;
      at_q     <= '0;
    end
    if (sends) begin
      active_q     <= !ends;
      first_q      <= 1'b0;
      left_q       <= left - len_t'(PieceBytes);
      at_q         <= beat_ends ? '0 : at_q + 2'd1;
      to_host.data <= record_d;
    end
    to_host.valid <= sends || (to_host.valid && !to_host.ready);
    lost <= full;
    if (rst) begin
      active_q <= 1'b0;
      lane_q <= '0;
      to_host.valid <= 1'b0;
      lost <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!sends || !ends || from.last) else $error("%m: a frame has more beats than bytes");
`endif
endmodule

`default_nettype wire
