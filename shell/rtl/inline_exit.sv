// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The end of a port's way through the inline chain. Carries out the verdict of the blocks: frames go on to the
// dispatcher, or past the units to an exit, or are dropped because their destination does not exist.
//
//   frames ─┬────────────────────────────────> onward, to the dispatcher
//           ├─> unfold ─> link register ─> stages ─> buffer of this port in the exit (frame_gather.sv)
//           │             1                Stages
//           └─> dropped, and counted
//
// The verdict ends here: the dispatcher gets a unit or a key in a few bits (told_t), and later stages get nothing.
//
// To the exits the way past the units is a link like that of a cluster: one beat a cycle, a folded frame as two, and a
// frame starts only while its exit has room for a frame of maximum length, so the link never stops within a frame. A
// frame that must wait, for its exit or for the dispatcher, blocks only later frames of its own port. Exits wait for no
// part of the card, so a frame that waits for an exit moves on as soon as the exit sends.
module inline_exit
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int unsigned Units = 16,
    parameter int unsigned Stages = 0,        // of the links past the units, there and back
    parameter int unsigned Exits = Ports + 1  // the ports, the host
) (
    input wire logic clk,
    input wire logic rst,

    frame_if.snk         frames,
    input wire tail_t    tail,
    input wire verdict_t verdict,

    frame_if.src  onward,
    output tail_t onward_tail,
    output told_t onward_told,

    output logic      [Exits-1:0] out_valid,  // to these exits: one hot
    output beat_t                 out_beat,   // `meta` with all beats of a frame
    input  wire logic [Exits-1:0] room,       // for a longest frame and what is on its way (frame_gather.sv)

    output logic refused  // for one cycle: a frame was dropped
);
  // The destination of a frame; if it goes to no exit and is not lost, it goes to the dispatcher
  logic [Exits-1:0] named, to, to_q;
  logic lost, loses, loses_q;
  logic first_q, unfolds_q;  // the next beat is a first one; the tail of the one before is to follow
  logic [TailW-1:0] tail_q;
  logic leaves;
  // The link's near end
  logic [Exits-1:0] valid_q, here_room;
  beat_t beat_q;
  link_stages #(
      .Width (Exits),
      .Stages(Stages)
  ) i_room (
      .clk,
      .rst,
      .d(room),
      .q(here_room)
  );
  link_stages #(
      .Width (Exits),
      .Stages(Stages)
  ) i_valid (
      .clk,
      .rst,
      .d(valid_q),
      .q(out_valid)
  );
  link_stages #(
      .Width ($bits(beat_t)),
      .Stages(Stages)
  ) i_beat (
      .clk,
      .rst(1'b0),
      .d(beat_q),
      .q(out_beat)
  );

  always_comb begin
    named = '0;
    lost = 1'b0;
    onward_told = '0;
    unique case (verdict.kind)
      VerdictOnward: ;
      VerdictPort: begin
        for (int unsigned p = 0; p < Ports; p++) named[p] = verdict.target == port_t'(p);
        lost = verdict.target >= port_t'(Ports);
      end
      VerdictHost: begin
        named[Ports] = verdict.target == '0;
        lost = verdict.target != '0;
      end
      VerdictUnit: begin
        onward_told.to_unit = 1'b1;
        onward_told.word = verdict.target[6:0];
        lost = verdict.target >= port_t'(Units);
      end
      VerdictDispatch: begin
        onward_told.to_key = 1'b1;
        onward_told.word = verdict.word[6:0];
      end
      default: lost = 1'b1;
    endcase
  end

  assign to = first_q ? named : to_q;
  assign loses = first_q ? lost : loses_q;
  assign leaves = frames.valid && !unfolds_q && to != '0 && (!first_q || (to & here_room) != '0);

  assign onward.valid = frames.valid && !unfolds_q && to == '0 && !loses;
  assign onward.data = frames.data;
  assign onward.last = frames.last;
  assign onward.meta = frames.meta;
  assign onward_tail = tail;
  assign frames.ready = leaves || (frames.valid && !unfolds_q && loses) || (onward.valid && onward.ready);

  always_ff @(posedge clk) begin
    if (frames.valid && frames.ready) begin
      first_q <= frames.last;
      to_q    <= to;
      loses_q <= loses;
    end
    refused <= frames.valid && frames.ready && first_q && lost && !rst;
    unfolds_q <= leaves && tail.valid;
    tail_q <= tail.data;
    valid_q <= leaves ? to : unfolds_q ? to_q : '0;
    beat_q.data <= unfolds_q ? DataW'(tail_q) : frames.data;
    beat_q.last <= unfolds_q || (frames.last && !tail.valid);
    if (leaves && first_q) beat_q.meta <= frames.meta;
    if (rst) begin
      first_q   <= 1'b1;
      unfolds_q <= 1'b0;
      valid_q <= '0;
    end
  end
endmodule

`default_nettype wire
