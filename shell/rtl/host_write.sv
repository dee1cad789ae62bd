// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Writes frames to host memory, one after another, at any address.
//
//   frame ─> address and lengths ─┬─> bursts ─> AW
//            1 cycle              └─> realign ─> queue ─> W       4 + 2 cycles
//                                            B ─> bursts on their way ─> answer, when all of a frame's have come
//
// Two cycles a frame and one a beat that it touches; nothing waits for answers until 32 bursts are on their way.
// An answer that is no OKAY marks its frame as refused.
//
// A denied frame, of which one beat comes, goes straight to the bursts on their way, where it waits for no B. Its answer
// keeps its turn.
module host_write
  import penstock_pkg::*, shell_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    frame_if.snk     frames,
    input wire logic denied,  // with the beat of such a frame
    axi_write_if.mgr axi,

    output logic         done_valid,
    input  wire logic    done_pop,
    output host_write_done_t done
);
  // Steps between the frame and the queue, and the lag of the queue's `ready`.
  localparam int unsigned InFlight = 7;

  // ---- frame
  logic busy_q, first_q, bursts_ready, w_ready, away_ready;
  logic [63:0] addr;
  logic [5:0] shift_q, end_q, page_q;  // page: place of the beat in its page
  logic [8:0] in_left_q, out_left_q;
  unit_t unit_q;
  slot_t tag_q;
  len_t len_q;

  assign addr = {frames.meta.timestamp, frames.meta.hash};
  wire [16:0] stop = {11'd0, addr[5:0]} + {1'b0, frames.meta.len};  // byte after the last, from the first beat's start
  wire [8:0] beats = 9'((stop + 17'd63) >> 6);

  wire start = !busy_q && frames.valid && bursts_ready && !denied;
  wire deny = !busy_q && bursts_ready && away_ready && denied;  // if there is a frame
  wire step = busy_q && w_ready && (in_left_q == 0 || frames.valid);
  wire last = out_left_q == 9'd1;

  assign frames.ready = deny || (busy_q && w_ready && in_left_q != 0);

  always_ff @(posedge clk) begin
    if (start) busy_q <= 1'b1;
    else if (step && last) busy_q <= 1'b0;
    if (rst) busy_q <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (start) begin
      shift_q <= addr[5:0];
      end_q <= stop[5:0];
      page_q <= addr[11:6];
      in_left_q <= 9'((17'(frames.meta.len) + 17'd63) >> 6);
      out_left_q <= beats;
      first_q <= 1'b1;
      unit_q <= frames.meta.unit_id;
      tag_q <= frames.meta.slot;
      len_q <= frames.meta.len;
    end else if (step) begin
      page_q <= page_q + 6'd1;
      if (in_left_q != 0) in_left_q <= in_left_q - 9'd1;
      out_left_q <= out_left_q - 9'd1;
      first_q <= 1'b0;
    end
  end

  // ---- beats
  typedef struct packed {
    logic first;
    logic last;
    logic wlast;
    logic [5:0] first_byte;  // of the first beat
    logic [5:0] end_byte;    // byte after the last, of the last beat; 0 is 64
  } side_t;

  side_t side, early, out_side;
  logic [BeatBytes-1:0] strb_q;
  logic [DataW-1:0] out_data;
  logic out_step;

  assign side = '{first: first_q, last: last, wlast: last || page_q == 6'd63, first_byte: shift_q, end_byte: end_q};

  realign #(
      .SideW($bits(side_t))
  ) i_realign (
      .clk,
      .rst,
      .start,
      .rot(addr[5:0]),
      .step,
      .data(frames.data),
      .side,
      .out_step,
      .out_data,
      .before_side(early),
      .out_side
  );

  always_ff @(posedge clk)
    for (int unsigned b = 0; b < BeatBytes; b++)
      strb_q[b] <= (!early.first || b >= 32'(early.first_byte)) && (!early.last || early.end_byte == 0 || b < 32'(early.end_byte));

  // Queues side by side that move in step: one read pointer for all bits would be a wire across the block.
  localparam int unsigned Lanes = 4;
  localparam int unsigned LaneBytes = BeatBytes / Lanes;
  logic [Lanes-1:0] lane_ready, lane_valid, lane_wlast;

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    fifo_dist #(
        .Width(LaneBytes * 9 + 1),
        .Room (InFlight)
    ) i_beats (
        .clk,
        .rst,
        .push (out_step),
        .din  ({out_side.wlast, strb_q[l*LaneBytes+:LaneBytes], out_data[l*LaneBytes*8+:LaneBytes*8]}),
        .ready(lane_ready[l]),
        .valid(lane_valid[l]),
        .pop  (axi.wready),
        .dout ({lane_wlast[l], axi.wstrb[l*LaneBytes+:LaneBytes], axi.wdata[l*LaneBytes*8+:LaneBytes*8]}),
        .level()
    );
  end

  assign w_ready = lane_ready[0];
  assign axi.wvalid = lane_valid[0];
  assign axi.wlast = lane_wlast[0];

  // ---- bursts
  logic made, final_burst;

  axi_bursts i_bursts (
      .clk,
      .rst,
      .start,
      .ready(bursts_ready),
      .start_addr(addr[63:6]),
      .start_beats(beats),
      .go(away_ready),
      .made,
      .final_burst,
      .valid(axi.awvalid),
      .accept(axi.awready),
      .addr(axi.awaddr),
      .len(axi.awlen)
  );

  // ---- answers
  typedef struct packed {
    logic  denied;  // the host knows nothing of it
    logic  last;    // of its frame
    unit_t unit_id;
    slot_t tag;
    len_t  len;
  } away_t;

  away_t away, denied_away, burst_away, oldest;
  logic oldest_valid, done_ready, error_q;
  wire answered = done_ready && oldest_valid && (oldest.denied || axi.bvalid);
  wire refused = error_q || oldest.denied || axi.bresp[1];

  // All bursts of a frame are made before the next frame is looked at.
  assign denied_away = '{
          denied: 1'b1,
          last: 1'b1,
          unit_id: frames.meta.unit_id,
          tag: frames.meta.slot,
          len: frames.meta.len
      };
  assign burst_away = '{denied: 1'b0, last: final_burst, unit_id: unit_q, tag: tag_q, len: len_q};
  assign away = bursts_ready ? denied_away : burst_away;
  assign axi.bready = done_ready && oldest_valid && !oldest.denied;

  fifo_dist #(
      .Width($bits(away_t)),
      .Room (2)
  ) i_away (
      .clk,
      .rst,
      .push (made || (deny && frames.valid)),
      .din  (away),
      .ready(away_ready),
      .valid(oldest_valid),
      .pop  (answered),
      .dout (oldest),
      .level()
  );

  host_write_done_t done_in;
  assign done_in = '{denied: oldest.denied, error: refused, unit_id: oldest.unit_id, tag: oldest.tag, len: oldest.len};

  fifo_dist #(
      .Width($bits(host_write_done_t)),
      .Room (2)
  ) i_done (
      .clk,
      .rst,
      .push (answered && oldest.last),
      .din  (done_in),
      .ready(done_ready),
      .valid(done_valid),
      .pop  (done_pop),
      .dout (done),
      .level()
  );

  always_ff @(posedge clk) begin
    if (answered) error_q <= refused && !oldest.last;
    if (rst) error_q <= 1'b0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst && frames.valid && frames.ready && denied)
      assert (deny && frames.last && !made) else $error("%m: a beat of a denied frame in another one");
`endif
endmodule

`default_nettype wire
