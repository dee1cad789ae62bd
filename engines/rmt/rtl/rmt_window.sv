// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Takes a port's frames: all beats wait in the delay queue, and the first bytes go on as the frame's window.
//
//   frames ─┬─> delay queue (Depth beats) ─────────────> bodies
//           └─> GATHER ──────> MASK ─> queue (32) ─────> window, info
//               until the      zeros
//               second beat    behind the frame's end
//
// One beat a cycle. A frame's window follows its second beat, or its only one, by 4 cycles. Only the two queues are
// asked for room; the queue of windows empties by itself, so only a full delay queue can hold the port for long.
module rmt_window
  import penstock_pkg::*, rmt_pkg::*;
#(
    parameter int unsigned Number = 0,   // of the block, from the ports on
    parameter int unsigned Depth = 512,  // beats between `frames` and the way out, a power of two
    localparam int unsigned BodyW = $bits(frame_meta_t) + $bits(verdict_t) + 1 + $bits(tail_t) + DataW
) (
    input wire logic clk,
    input wire logic rst,

    frame_if.snk         frames,
    input wire tail_t    tail,
    input wire verdict_t verdict,

    output logic             valid,
    input  wire logic        pop,
    output window_t          window,
    output info_t            info,

    output logic             body_valid,
    input  wire logic        body_pop,
    output logic [BodyW-1:0] body,  // {meta, verdict, last, tail, data}
    output logic             begins  // a frame enters
);
  localparam int unsigned LevelW = $clog2(Depth) + 1;
  localparam int unsigned Bytes = 2 * BeatBytes;

  logic [LevelW-1:0] level_q;
  logic ready_q, starts_q, take, room;

  assign frames.ready = ready_q;
  assign take = frames.valid && ready_q;
  assign begins = take && starts_q;

  always_ff @(posedge clk) begin
    if (take) starts_q <= frames.last;
    level_q <= level_q + LevelW'(take) - LevelW'(body_valid && body_pop);
    // One may be taken before this is seen, and two wait behind the queue for their edits.
    ready_q <= level_q < LevelW'(Depth - 3) && room;
    if (rst) begin
      starts_q <= 1'b1;
      level_q  <= '0;
      ready_q  <= 1'b0;
    end
  end

  fifo_block #(
      .Width(BodyW),
      .Depth(Depth)
  ) i_delay (
      .clk,
      .rst,
      .push (take),
      .din  ({frames.meta, verdict, frames.last, tail, frames.data}),
      .valid(body_valid),
      .pop  (body_pop),
      .dout (body)
  );

  // ---- GATHER: byte 0 is the frame's first one
  logic [Bytes-1:0][7:0] bytes_q;
  logic gathered_q, second_q;
  info_t info1_q, info2_q;

  always_ff @(posedge clk) begin
    if (take && starts_q) begin
      bytes_q <= {{(DataW - TailW) {1'b0}}, tail.data, frames.data};
      info1_q <= '{
          len: frames.meta.len,
          tenant: frames.meta.tenant,
          controller: frames.meta.src == PortBlock + port_t'(Number),
          mark: frames.meta.mark
      };
    end
    if (take && second_q) bytes_q[Bytes-1:BeatBytes] <= frames.data;
    if (take) second_q <= starts_q && !frames.last;
    gathered_q <= take && (second_q || (starts_q && frames.last));
    if (rst) {gathered_q, second_q} <= '0;
  end

  // ---- MASK
  window_t window_d, window_q;
  logic push_q;

  always_comb begin
    window_d = '0;
    for (int unsigned n = 0; n < WindowBytes; n++)
      if (len_t'(n) < info1_q.len) window_d[(n+PadBytes)/4][8*(3-(n+PadBytes)%4)+:8] = bytes_q[n];
  end

  always_ff @(posedge clk) begin
    window_q <= window_d;
    info2_q  <= info1_q;
    push_q   <= gathered_q && !rst;
  end

  fifo_dist #(
      .Width($bits(window_t) + $bits(info_t)),
      .Room (5)
  ) i_windows (
      .clk,
      .rst,
      .push (push_q),
      .din  ({window_q, info2_q}),
      .ready(room),
      .valid,
      .pop,
      .dout ({window, info}),
      .level()
  );
endmodule

`default_nettype wire
