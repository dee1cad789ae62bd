// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Frames of a port that wait for the host's verdict, and those that wait behind them (engines/ids/machine.md, section
// 5).
//
//   beats ─> RAM (Beats) ─────────────────────────────┬─> out, or dropped
//   tickets ─> RAM (256) ─> oldest: verdict, deadline ─┘
//
// A beat a cycle in and out. Frames leave in the order in which they came; the oldest one leaves when it waits for
// nothing, has its verdict, or is late. `force_late` makes the oldest frame late at once.
module ids_hold
  import penstock_pkg::*, ids_pkg::*;
#(
    parameter int unsigned Beats = 2048
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic        late_drops,
    input wire logic [31:0] timeout,     // ns, below 2^31
    input wire logic [31:0] elapsed,     // ns

    // a frame: `start` with its first beat
    input  wire logic        push,
    input  wire logic        start,
    input  wire logic        waits,      // for a verdict
    input  wire logic        at_once,    // the host was not told: late
    input  wire logic [ 7:0] bucket,
    input  wire body_t       din,
    output logic      [15:0] ticket,     // of the next frame
    input  wire logic [10:0] beats,      // of the frame that wants in
    output logic             room,       // there is room for it
    input  wire logic        force_late,
    output logic     [255:0] held,       // buckets of frames that are in

    input wire logic        verdict,
    input wire logic [15:0] verdict_ticket,
    input wire logic        verdict_drop,

    output logic      ready,  // the oldest frame can leave
    input  wire logic pop,    // a beat of it
    output logic      drops,  // it is dropped
    output body_t     dout,
    output logic      late    // the policy decided
);
  localparam int unsigned Frames = 256;

  typedef struct packed {
    logic        waits;
    logic        at_once;
    logic [7:0]  bucket;
    logic [31:0] deadline;
  } ticket_t;

  logic [15:0] head_q, next_q;
  logic [$clog2(Beats):0] level_q;
  logic [8:0] count_q[256];
  logic [255:0] held_q;
  logic [Frames-1:0] answered_q, drop_q;
  logic body_valid, ticket_valid, decided_q, drops_q, is_late, ends;
  ticket_t ticket_in, first;
  wire [15:0] ahead = verdict_ticket - head_q;
  wire [15:0] count = next_q - head_q;

  assign ticket = next_q;
  assign room = 13'(level_q) + 13'(beats) <= 13'(Beats) && count < 16'(Frames - 1);
  assign held = held_q;
  assign ticket_in = '{waits: waits, at_once: at_once, bucket: bucket, deadline: elapsed + timeout};

  fifo_block #(
      .Width($bits(body_t)),
      .Depth(Beats)
  ) i_beats (
      .clk,
      .rst,
      .push,
      .din,
      .valid(body_valid),
      .pop,
      .dout
  );
  fifo_block #(
      .Width($bits(ticket_t)),
      .Depth(Frames)
  ) i_tickets (
      .clk,
      .rst,
      .push (push && start),
      .din  (ticket_in),
      .valid(ticket_valid),
      .pop  (ends),
      .dout (first)
  );

  // The decision is stable from the cycle in which it is made until the frame has left.
  assign is_late = first.at_once || force_late || !(32'(elapsed - first.deadline) >> 31 != '0);
  assign ready = body_valid && decided_q;
  assign drops = drops_q;
  assign ends = pop && ready && dout.last;

  always_ff @(posedge clk) begin
    late <= 1'b0;
    if (ticket_valid && !decided_q) begin
      if (!first.waits) begin
        decided_q <= 1'b1;
        drops_q   <= 1'b0;
      end else if (answered_q[head_q[7:0]]) begin
        decided_q <= 1'b1;
        drops_q   <= drop_q[head_q[7:0]];
      end else if (is_late) begin
        decided_q <= 1'b1;
        drops_q   <= late_drops;
        late      <= 1'b1;
      end
    end
    if (ends) begin
      decided_q <= 1'b0;
      head_q <= head_q + 1'b1;
    end
    if (verdict && ahead < count) begin
      answered_q[verdict_ticket[7:0]] <= 1'b1;
      drop_q[verdict_ticket[7:0]] <= verdict_drop;
    end
    if (push && start) begin
      next_q <= next_q + 1'b1;
      answered_q[next_q[7:0]] <= 1'b0;
    end
    level_q <= level_q + ($clog2(Beats) + 1)'(push) - ($clog2(Beats) + 1)'(pop && ready);
    if (push && start && !(ends && first.bucket == bucket)) begin
      count_q[bucket] <= count_q[bucket] + 1'b1;
      held_q[bucket]  <= 1'b1;
    end
    if (ends && !(push && start && first.bucket == bucket)) begin
      count_q[first.bucket] <= count_q[first.bucket] - 1'b1;
      held_q[first.bucket]  <= count_q[first.bucket] != 9'd1;
    end
    if (rst) begin
      decided_q <= 1'b0;
      late <= 1'b0;
      head_q <= '0;
      next_q <= '0;
      level_q <= '0;
      held_q <= '0;
      for (int unsigned n = 0; n < 256; n++) count_q[n] <= '0;
    end
  end
endmodule

`default_nettype wire
