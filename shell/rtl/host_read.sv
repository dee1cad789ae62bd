// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Reads from host memory, at any address, and gives what it has read as frames, whole and in the order of the requests.
//
//   request ─> lengths ─> room in the buffer? ─┬─> bursts ─> AR
//              1 cycle                         └─> on their way ─┐
//                                         R ────────────────────>┴─> realign ─> buffer (512 beats of block RAM) ─> frames
//                                                                    4          3 cycles
//
// A read asks only when the buffer has room for all of it, so R never waits for a unit. Up to 32 reads are on their
// way. One cycle a beat, and two more for each read. Bytes that the host refuses are zero, and mark the whole read as
// refused. A denied read asks the host for nothing and brings nothing into the buffer; its frame, in its turn, is one
// beat without meaning.
//
// The host may not be reset with the card: beats of reads from before a reset still come. They are counted across the
// reset and taken without a use, and until the last of them has come, no burst is asked for. Therefore no
// beat answers a later read.
module host_read
  import penstock_pkg::*, shell_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input  wire logic           request,  // only while `ready`
    input  wire host_request_t  request_data,
    output logic                ready,

    axi_read_if.mgr axi,

    output logic            done_valid,  // a beat of the frame is there
    input  wire logic       done_pop,
    output host_read_done_t done,        // with all beats of a frame
    output logic [DataW-1:0] done_data,
    output logic            done_last
);
  localparam int unsigned Depth = 512;

  // ---- requests, and the next one with its lengths
  host_request_t next, asked_q;
  logic next_valid, next_pop, asked_valid_q, ask;
  logic [8:0] in_beats_q, frame_beats_q;

  fifo_dist #(
      .Width($bits(host_request_t))
  ) i_requests (
      .clk,
      .rst,
      .push (request),
      .din  (request_data),
      .ready,
      .valid(next_valid),
      .pop  (next_pop),
      .dout (next),
      .level()
  );

  assign next_pop = !asked_valid_q || ask;

  always_ff @(posedge clk) begin
    if (next_pop) begin
      asked_valid_q <= next_valid;
      asked_q <= next;
      in_beats_q <= next.denied ? 9'd0 : 9'(({11'd0, next.addr[5:0]} + {1'b0, next.len} + 17'd63) >> 6);
      frame_beats_q <= next.denied ? 9'd0 : 9'(({1'b0, next.len} + 17'd63) >> 6);
    end
    if (rst) asked_valid_q <= 1'b0;
  end

  // ---- beats that the host owes, which a reset does not change
  localparam int unsigned OwedW = 14;  // 32 reads of up to 257 beats
  logic [OwedW-1:0] owed_q;
  initial owed_q = '0;
  logic stale_q;  // they are of reads from before a reset
  always_ff @(posedge clk)
    owed_q <= owed_q + (axi.arvalid && axi.arready ? OwedW'(axi.arlen) + 1'b1 : '0) -
        OwedW'(axi.rvalid && axi.rready);
  always_ff @(posedge clk) begin
    if (owed_q == 0) stale_q <= 1'b0;
    if (rst) stale_q <= 1'b1;
  end

  // ---- bursts
  logic bursts_ready, away_ready, take_beat;
  logic [9:0] room_q;

  assign ask = asked_valid_q && bursts_ready && away_ready && room_q >= {1'b0, frame_beats_q};

  always_ff @(posedge clk) begin
    room_q <= room_q + 10'(take_beat) - (ask ? {1'b0, frame_beats_q} : 10'd0);
    if (rst) room_q <= 10'(Depth);
  end

  axi_bursts i_bursts (
      .clk,
      .rst,
      .start(ask && !asked_q.denied),
      .ready(bursts_ready),
      .start_addr(asked_q.addr[63:6]),
      .start_beats(in_beats_q),
      .go(!stale_q),
      .made(),
      .final_burst(),
      .valid(axi.arvalid),
      .accept(axi.arready),
      .addr(axi.araddr),
      .len(axi.arlen)
  );

  // ---- reads on their way
  typedef struct packed {
    logic denied;
    logic [5:0] rot;
    logic [8:0] in_beats;
    logic [8:0] steps;
    unit_t unit_id;
    slot_t tag;
    len_t len;
    place_t place;
  } away_t;

  away_t away, oldest;
  logic oldest_valid, oldest_pop;

  assign away = '{
          denied: asked_q.denied,
          rot: 6'd0 - asked_q.addr[5:0],
          in_beats: in_beats_q,
          steps: frame_beats_q + 9'(asked_q.addr[5:0] != 0 || asked_q.denied),
          unit_id: asked_q.unit_id,
          tag: asked_q.tag,
          len: asked_q.len,
          place: asked_q.place
      };

  fifo_dist #(
      .Width($bits(away_t)),
      .Room (2)
  ) i_away (
      .clk,
      .rst,
      .push (ask),
      .din  (away),
      .ready(away_ready),
      .valid(oldest_valid),
      .pop  (oldest_pop),
      .dout (oldest),
      .level()
  );

  // ---- beats that come. The first step of a read that is not aligned only brings what the second one needs. The only
  // step of a denied read brings nothing.
  logic busy_q, skip_q, out_step, out_emit, done_ready;
  logic [8:0] in_left_q, steps_left_q;
  logic [DataW-1:0] out_data;
  host_read_done_t coming_q;  // with `error` of the beats before

  wire step = busy_q && done_ready && (in_left_q == 0 || (axi.rvalid && !stale_q));
  wire final_step = step && steps_left_q == 9'd1;
  wire refused = coming_q.error || (in_left_q != 0 && axi.rresp[1]);

  assign axi.rready = stale_q || (busy_q && done_ready && in_left_q != 0);
  assign oldest_pop = !busy_q;

  always_ff @(posedge clk) begin
    if (!busy_q) busy_q <= oldest_valid;
    else if (final_step) busy_q <= 1'b0;
    if (rst) busy_q <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (!busy_q) begin
      in_left_q <= oldest.in_beats;
      steps_left_q <= oldest.steps;
      skip_q <= oldest.rot != 0 || oldest.denied;
      coming_q <= '{
          denied: oldest.denied,
          error: oldest.denied,
          unit_id: oldest.unit_id,
          tag: oldest.tag,
          len: oldest.len,
          place: oldest.place
      };
    end else if (step) begin
      if (in_left_q != 0) in_left_q <= in_left_q - 9'd1;
      steps_left_q <= steps_left_q - 9'd1;
      skip_q <= 1'b0;
      coming_q.error <= refused;
    end
  end

  realign #(
      .SideW(1)
  ) i_realign (
      .clk,
      .rst,
      .start(!busy_q),
      .rot(oldest.rot),
      .step,
      .data(axi.rresp[1] ? '0 : axi.rdata),
      .side(!skip_q),
      .out_step,
      .out_data,
      .before_side(),
      .out_side(out_emit)
  );

  // ---- frames
  logic head_valid, buffer_valid;
  logic [8:0] beat_q;  // of the frame that leaves
  host_read_done_t done_full;

  always_comb begin
    done_full = coming_q;
    done_full.error = refused;
  end

  fifo_dist #(
      .Width($bits(host_read_done_t)),
      .Room (2)
  ) i_done (
      .clk,
      .rst,
      .push (final_step),
      .din  (done_full),
      .ready(done_ready),
      .valid(head_valid),
      .pop  (done_pop && done_valid && done_last),
      .dout (done),
      .level()
  );

  fifo_block #(
      .Width(DataW),
      .Depth(Depth)
  ) i_buffer (
      .clk,
      .rst,
      .push (out_step && out_emit),
      .din  (out_data),
      .valid(buffer_valid),
      .pop  (take_beat),
      .dout (done_data)
  );

  assign done_valid = head_valid && (buffer_valid || done.denied);
  assign take_beat = done_pop && done_valid && !done.denied;
  assign done_last = done.denied || 11'(beat_q) + 11'd1 == beats_of(done.len);

  always_ff @(posedge clk) begin
    if (take_beat) beat_q <= done_last ? 9'd0 : beat_q + 9'd1;
    if (rst) beat_q <= '0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst && axi.rvalid && axi.rready && !stale_q)
      assert (in_left_q != 0 && busy_q) else $error("%m: a beat that nobody asked for");
`endif
endmodule

`default_nettype wire
