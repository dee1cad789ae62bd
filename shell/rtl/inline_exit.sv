// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The end of a port's way through the inline chain: frames go on to the dispatcher, or past the units to an exit.
//
//   frames ─┬────────────────────────────────> onward, to the dispatcher
//           └─> unfold ─> link register ─────> buffer of this port in the exit (frame_gather.sv)
//                         1
//
// To the exits the way past the units is a link like that of a cluster: one beat a cycle, a folded frame as two, and a frame starts only while its exit
// has room for a longest one, so the link never stops within a frame. A frame that must wait, for its exit or for the dispatcher, holds those behind it of
// its port, and nobody else's. Exits wait for nobody inside the card, so whoever waits for one moves on as soon as it sends.
module inline_exit
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int unsigned Exits = Ports + 1  // the ports, the host
) (
    input wire logic clk,
    input wire logic rst,

    frame_if.snk      frames,  // `dst` says where to; what names no exit goes to the dispatcher
    input wire tail_t tail,

    frame_if.src  onward,
    output tail_t onward_tail,

    output logic      [Exits-1:0] out_valid,  // to these exits: one hot
    output beat_t                 out_beat,   // `meta` with all beats of a frame
    input  wire logic [Exits-1:0] room        // for a longest frame and what is on its way
);
  logic [Exits-1:0] named, to, to_q;  // of the frame; none: the dispatcher
  logic first_q, unfolds_q;  // the next beat is a first one; the tail of the one before is to follow
  logic [TailW-1:0] tail_q;
  logic leaves;

  assign named = Exits'(exit_of(frames.meta.dst, Ports));
  assign to = first_q ? named : to_q;
  assign leaves = frames.valid && !unfolds_q && to != '0 && (!first_q || (to & room) != '0);

  assign onward.valid = frames.valid && !unfolds_q && to == '0;
  assign onward.data = frames.data;
  assign onward.last = frames.last;
  assign onward.meta = frames.meta;
  assign onward_tail = tail;
  assign frames.ready = leaves || (onward.valid && onward.ready);

  always_ff @(posedge clk) begin
    if (frames.valid && frames.ready) begin
      first_q <= frames.last;
      to_q    <= to;
    end
    unfolds_q <= leaves && tail.valid;
    tail_q <= tail.data;
    out_valid <= leaves ? to : unfolds_q ? to_q : '0;
    out_beat.data <= unfolds_q ? DataW'(tail_q) : frames.data;
    out_beat.last <= unfolds_q || (frames.last && !tail.valid);
    if (leaves && first_q) out_beat.meta <= frames.meta;
    if (rst) begin
      first_q   <= 1'b1;
      unfolds_q <= 1'b0;
      out_valid <= '0;
    end
  end
endmodule

`default_nettype wire
