// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A destination: one buffer per link, from which it takes complete frames in turn.
//
//   link 0    ─> buffer (512 beats of block RAM) ─┐
//   link 1    ─> buffer                          ─┼─> arbiter ─> RAM output ─> output register ─> frames
//   ...                                          ─┘   3         +1            +1 cycles
//
// A frame is a candidate when its last beat is stored: once it starts there is no gap in it (a MAC never underruns).
// One beat a cycle, also when each beat is a frame. `room` of a buffer says that a longest frame fits, and before it the
// beats that are on their way when the frame starts (the room contract in penstock_pkg.sv).
//
// With Tails = 1 a frame of 65 to 80 bytes leaves as one beat: what its second one brings is written beside the first,
// as its tail.
//
// With Drops = 1, `room` is always up while `stuck` is. A frame whose first beat then finds no room for a longest frame
// is dropped whole. A frame that was started because there was room is never dropped, even if `stuck` changes while it
// is on its way.
module frame_gather
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Links    = 4,
    parameter int unsigned Depth    = 512,  // beats of a buffer
    parameter int unsigned Frames   = 32,   // that wait in a buffer, at most
    parameter int unsigned Stages   = 0,    // of the links that lead here
    parameter bit          Tails    = 1'b0,
    parameter bit          Drops    = 1'b0
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic [Links-1:0] in_valid,
    input wire beat_t in_beat[Links],
    output logic [Links-1:0] room,
    input wire logic stuck,                 // frames without room are dropped; 0 with Drops = 0
    output logic [Links-1:0] dropped,    // a frame was dropped: one cycle

    frame_if.src  frames,
    output tail_t tail     // with the beat of `frames`; none with Tails = 0
);
  localparam int unsigned FrameBeats = MaxFrame / BeatBytes;
  // `room` follows the store of a beat by two registers, `level_q` and its own (of a frame's descriptor by `ready` and
  // its own): one more than the contract counts.
  localparam int unsigned OnTheWay = room_of(ExitSender, Stages) + 1;
  localparam int unsigned AddrW = $clog2(Depth);
  localparam int unsigned LinkW = Links > 1 ? $clog2(Links) : 1;
  localparam int unsigned IndexW = $clog2(FrameBeats);

  if (Depth < FrameBeats + 2 * OnTheWay) begin : gen_depth
    $error("frame_gather: Depth must be more than a longest frame, %0d beats", FrameBeats);
  end
  if (Frames < 2 * OnTheWay) begin : gen_frames
    $error("frame_gather: Frames must be at least %0d", 2 * OnTheWay);
  end

  typedef struct packed {
    frame_meta_t meta;
    logic folded;
    logic single;             // its first beat is its last
    logic [IndexW-1:0] left;  // beats after the second; undefined when there is none
  } desc_t;

  desc_t desc[Links];
  logic [Links-1:0] ready, pop, grant;
  logic [DataW-1:0] ram_data[Links];
  logic [TailW-1:0] ram_tail[Links];

  // Reading: stage 1 is the RAM's output, stage 2 the output register
  logic [Links-1:0] chosen, owner_q, read;
  logic [LinkW-1:0] index, index1_q;  // of `chosen`
  logic [IndexW-1:0] left, left_q;       // beats after this one
  logic busy_q, go, last, folded, step1, step2, valid1_q, last1_q, folded1_q, valid2_q;
  frame_meta_t meta, meta1_q;

  assign step2 = !valid2_q || frames.ready;
  assign step1 = !valid1_q || step2;
  rr_arbiter #(
      .N(Links)
  ) i_arbiter (
      .clk,
      .rst,
      .req(ready),
      .accept(go && !busy_q),
      .grant
  );
  assign chosen = busy_q ? owner_q : grant;
  assign go = step1 && (busy_q || ready != 0);
  assign read = step1 ? chosen : '0;
  assign pop = (step1 && !busy_q) ? grant : '0;
  always_comb begin
    index = '0;
    left = '0;
    meta = '0;
    last = busy_q && left_q == 0;
    folded = 1'b0;
    for (int unsigned c = 0; c < Links; c++) begin
      if (chosen[c]) index |= LinkW'(c);
      if (grant[c]) begin
        left |= desc[c].left;
        meta |= desc[c].meta;
      end
      last |= !busy_q && grant[c] && desc[c].single;
      folded |= Tails && !busy_q && grant[c] && desc[c].folded;
    end
  end

  always_ff @(posedge clk) begin
    if (go) begin
      owner_q  <= chosen;
      left_q   <= busy_q ? left_q - 1'b1 : left;
      busy_q   <= !last;
      index1_q <= index;
      last1_q  <= last;
      folded1_q <= folded;
      if (!busy_q) meta1_q <= meta;
    end
    if (step1) valid1_q <= go;
    if (step2) begin
      valid2_q <= valid1_q;
      if (valid1_q) begin
        frames.data <= ram_data[index1_q];
        frames.last <= last1_q;
        frames.meta <= meta1_q;
        tail <= '{valid: folded1_q, data: ram_tail[index1_q]};
      end
    end
    if (rst) begin
      busy_q   <= 1'b0;
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
    end
  end
  assign frames.valid = valid2_q;

  for (genvar c = 0; c < Links; c++) begin : gen_link
    logic [AddrW:0] wr_q, rd_q, level_q;
    logic [IndexW-1:0] index_q;
    logic few, folds, store, drop;
    logic [$clog2(Frames):0] frames_level;
    desc_t desc_in;
    assign folds = Tails && index_q == 1 && in_beat[c].last && is_folded(in_beat[c].meta.len);
    assign desc_in = '{meta: in_beat[c].meta, folded: folds, single: folds || index_q == 0, left: index_q - 1'b1};

    ram_sdp #(
        .Width(DataW),
        .Depth(Depth)
    ) i_ram (
        .clk,
        .we(store),
        .waddr(wr_q[AddrW-1:0]),
        .wdata(in_beat[c].data),
        .re(read[c]),
        .raddr(rd_q[AddrW-1:0]),
        .rdata(ram_data[c])
    );
    if (Tails) begin : gen_tail
      logic [AddrW-1:0] first_q;  // where the first beat is, when the second one comes
      always_ff @(posedge clk) if (store) first_q <= wr_q[AddrW-1:0];
      ram_sdp #(
          .Width(TailW),
          .Depth(Depth)
      ) i_tail (
          .clk,
          .we(store && index_q == 1),
          .waddr(first_q),
          .wdata(in_beat[c].data[TailW-1:0]),
          .re(read[c]),
          .raddr(rd_q[AddrW-1:0]),
          .rdata(ram_tail[c])
      );
    end else begin : gen_no_tail
      assign ram_tail[c] = '0;
    end
    fifo_dist #(
        .Width($bits(desc_t)),
        .Depth(Frames),
        .Room(OnTheWay)
    ) i_descriptors (
        .clk,
        .rst,
        .push (store && in_beat[c].last),
        .din  (desc_in),
        .ready(few),
        .valid(ready[c]),
        .pop  (pop[c]),
        .dout (desc[c]),
        .level(frames_level)
    );
    if (Drops) begin : gen_drops
      // `level_q` misses at most one beat. A frame that was started because `room` was up arrives within `OnTheWay`
      // beats, so it always fits.
      logic first_q, drop_q, listed_q;
      assign drop = first_q ? level_q >= (AddrW + 1)'(Depth - FrameBeats) || !listed_q : drop_q;
      always_ff @(posedge clk) begin
        if (in_valid[c]) first_q <= in_beat[c].last;
        if (rst) first_q <= 1'b1;
        listed_q <= frames_level + ($clog2(Frames) + 1)'(store && in_beat[c].last) < ($clog2(Frames) + 1)'(Frames);
        if (in_valid[c]) drop_q <= drop;
        dropped[c] <= in_valid[c] && in_beat[c].last && drop && !rst;
      end
    end else begin : gen_keeps
      assign drop = 1'b0;
      assign dropped[c] = 1'b0;
    end
    assign store = in_valid[c] && !drop;
    always_ff @(posedge clk) begin
      if (store && !folds) wr_q <= wr_q + 1'b1;
      if (in_valid[c]) begin
        index_q <= in_beat[c].last ? '0 : index_q + 1'b1;
      end
      if (read[c]) rd_q <= rd_q + 1'b1;
      level_q <= wr_q - rd_q;
      room[c] <= (few && level_q <= (AddrW + 1)'(Depth - FrameBeats - OnTheWay)) || (Drops && stuck);
      if (rst) begin
        wr_q <= '0;
        rd_q <= '0;
        index_q <= '0;
        level_q <= '0;
        room[c] <= 1'b0;
      end
    end
`ifndef SYNTHESIS
    always_ff @(posedge clk)
      if (!rst && store) assert ((AddrW + 1)'(wr_q - rd_q) < (AddrW + 1)'(Depth)) else $error("%m: buffer overflow");
`endif
  end
endmodule

`default_nettype wire
