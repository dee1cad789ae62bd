// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The proof that the buffer of a link in an exit never overflows: rtl/frame_gather.sv as it is, with its own assertions
// and those of its queue of descriptors, at the sizes of small_gather_pkg.sv, behind a link with one stage each way.
// The solver chooses what a sender sends and when, and when the exit reads: the proof has cut `read` and `pop` off.
//
// Taken for granted, the room contract (penstock_pkg.sv): a frame starts only while the sender sees `room`; a beat is at
// the link's end ExitSender cycles and the stages later; a frame has up to three beats, and no other begins before its
// last one. And the exit reads no beat that is not there.
module gather
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter bit Drops = 1'b0  // frames without room are dropped while the exit is stuck
) (
    input wire logic clk,
    input wire logic go,         // the sender lets a beat go
    input wire logic last,       // which is the last one of its frame
    input wire logic [DataW-1:0] data,
    input wire logic stuck,
    input wire logic ready
);
  localparam int unsigned Depth = 16;
  localparam int unsigned Frames = 16;
  localparam int unsigned Stages = 1;
  localparam int unsigned Beats = MaxFrame / BeatBytes;

  logic started_q = 1'b0;
  always_ff @(posedge clk) started_q <= 1'b1;
  wire rst = !started_q;

  logic [0:0] valid, room, seen, dropped;
  beat_t beat[1];

  // ---- the sender
  logic [1:0] sent_q;  // beats of the frame that has begun
  always_comb begin
    assume (!go || sent_q != 0 || seen[0]);
    assume (!go || last || sent_q < 2'(Beats - 1));
    assume (!(rst && go));
  end
  always_ff @(posedge clk) begin
    if (go) sent_q <= last ? '0 : sent_q + 1'b1;
    if (rst) sent_q <= '0;
  end
  link_stages #(
      .Stages(Stages)
  ) i_room (
      .clk,
      .rst,
      .d(room),
      .q(seen)
  );
  link_stages #(
      .Stages(ExitSender + Stages)
  ) i_valid (
      .clk,
      .rst,
      .d(go),
      .q(valid)
  );
  link_stages #(
      .Width ($bits(beat_t)),
      .Stages(ExitSender + Stages)
  ) i_beat (
      .clk,
      .rst(1'b0),
      .d({4'd0, last, data}),
      .q(beat[0])
  );

  frame_if frames ();
  assign frames.ready = ready;
  frame_gather #(
      .Links(1),
      .Depth(Depth),
      .Frames(Frames),
      .Stages(Stages),
      .Drops(Drops)
  ) exit (
      .clk,
      .rst,
      .in_valid(valid),
      .in_beat(beat),
      .room,
      .stuck(Drops && stuck),
      .dropped,
      .frames(frames),
      .tail()
  );

  // ---- what is stored
  logic [4:0] stored;
  assign stored = exit.gen_link[0].wr_q - exit.gen_link[0].rd_q;
  always_comb assume (!exit.read[0] || stored != 0);

  // Beats on their way, and last ones among them
  localparam int unsigned LinkCycles = ExitSender + Stages;
  logic [4:0] beats_coming, frames_coming, level;
  always_comb begin
    beats_coming  = '0;
    frames_coming = '0;
    for (int unsigned i = 0; i < LinkCycles; i++) begin
      beats_coming += 5'(i_valid.gen_stages.stage_q[i]);
      frames_coming += 5'(i_valid.gen_stages.stage_q[i] && i_beat.gen_stages.stage_q[i][DataW]);
    end
  end
  assign level = 5'(exit.gen_link[0].frames_level);

  // Beats of the frame that the link's far end is in, and of those behind it: the sender has let go of the last of them.
  logic [1:0] at;
  logic too_long;
  always_comb begin
    at = 2'(exit.gen_link[0].index_q);
    too_long = at >= 2'(Beats);
    for (int i = int'(LinkCycles) - 1; i >= 0; i--)
      if (i_valid.gen_stages.stage_q[i]) begin
        at = i_beat.gen_stages.stage_q[i][DataW] ? '0 : at + 1'b1;
        too_long |= at >= 2'(Beats);
      end
  end

  // Whether the exit has ever been stuck: until then, no frame is dropped.
  logic was_stuck_q;
  always_ff @(posedge clk) was_stuck_q <= (was_stuck_q || (Drops && stuck)) && !rst;

  always_ff @(posedge clk)
    if (!rst) begin
      assert (stored <= 5'(Depth));
      assert (level <= 5'(Frames));
      assert (sent_q < 2'(Beats));
      assert (Drops || !was_stuck_q);
      assert (at == sent_q && !too_long);
      if (!was_stuck_q) begin
        assert (!dropped[0]);
        // For the induction: all that is on its way has a place, and so have the other beats of a frame that has begun.
        assert (stored + beats_coming + (sent_q != 0 ? 5'(Beats) - 5'(sent_q) : 5'd0) <= 5'(Depth));
        assert (level + frames_coming + 5'(sent_q != 0) <= 5'(Frames));
      end
    end

  // While the exit is stuck, a frame that begins to be stored has places for the rest of it.
  if (Drops) begin : gen_drops
    wire [1:0] index = exit.gen_link[0].index_q;
    always_ff @(posedge clk)
      if (!rst) begin
        assert (exit.gen_link[0].gen_drops.first_q == (index == 0));
        assert (was_stuck_q || index == 0 || !exit.gen_link[0].gen_drops.drop_q);
        if (index != 0 && !exit.gen_link[0].gen_drops.drop_q) begin
          assert (stored + 5'(Beats) - 5'(index) <= 5'(Depth));
          assert (level < 5'(Frames));
        end
      end
  end

`ifdef COVER
  always_ff @(posedge clk)
    if (!rst) begin
      cover (stored == 5'(Depth));                                        // to the last place
      cover (exit.gen_link[0].frames_level == 5'(Frames));
      cover (!Drops || dropped[0]);
    end
`endif
endmodule

`default_nettype wire
