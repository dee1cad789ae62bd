// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// From the sources to the units: source -> cluster, then cluster -> unit.
//
//   source ─> stages ─> queue per source and cluster ─> frame arbiter of the cluster ─> link register ─> unit
//             Stages    2                               (on keys; the beat follows) 1   1 cycle
//                                                                    └─> tail register ─┘ one cycle behind its beat
//
// A folded frame unfolds on the link: in the cycle after its beat its tail follows, as a beat of its own, for which
// units always have room.
//
// 512 bits, one beat a cycle on every link, even if each beat is a frame. With a queue per pair, a source that waits
// for one cluster's link does not block another source. Units have their own queues and signal when they have room, so
// that a unit that cannot take a frame at once does not block its neighbours on the link (a unit without room in the
// middle of a frame does). Answers of host memory reach the arbiters directly, without a queue. A frame is never
// interleaved with another.
//
// A frame comes here with a slot of its unit, so there is room for all of it in that unit's packet memory, and the unit
// takes it whatever its program does: it is never without room for long (engines/unit.sv). Therefore a slot is all the
// credit that a frame needs, and a frame for a unit whose program is stuck does not stand in front of another unit's
// for longer than its own beats take.
module switch_in
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Sources  = 4,
    parameter int unsigned Tails    = 2,  // the first so many sources, at least one, have tails
    parameter int unsigned Units    = 16,
    parameter int unsigned Stages   = 0,  // from the sources, and of their room back
    parameter int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic [Clusters-1:0] in_valid[Sources],
    input wire beat_t in_beat[Sources],  // `meta` with all beats of a frame
    input wire tail_t in_tail[Tails],
    output logic [Clusters-1:0] start_room[Sources],  // half of the queue is free
    output logic [Clusters-1:0] beat_room[Sources],  // room for a beat and what is on its way

    frame_if.snk answers,  // of host memory: `meta` with all beats of a frame

    output logic     [Units-1:0] out_valid,           // to these units
    output beat_t                out_beat[Clusters],  // `meta` with all beats of a frame
    input wire logic [Units-1:0] room  // in the unit: see UnitRoom in penstock_pkg.sv
);
  localparam int unsigned Depth = 32;
  localparam int unsigned BeatW = $bits(beat_t);
  localparam int unsigned Room = room_of(ClusterSender, Stages);
  localparam int unsigned Starters = Sources + 1;  // who may start a frame on the link: the sources, then the answers
  localparam int unsigned Takers = Starters + 1;   // and the tail of the frame that has started

  typedef struct packed {
    logic folded;         // the tail is to follow
    logic last;
    logic [1:0] unit_id;  // within the cluster
  } key_t;

  // `start_room` follows the push of a beat by one register more than `beat_room`, and one body more than `level` is
  // in the queue.
  if (Depth / 2 + Room + 2 > Depth) begin : gen_depth
    $error("switch_in: the queues are too small for %0d stages", Stages);
  end

  // The far end of the sources' links
  logic [Clusters-1:0] far_valid[Sources];
  logic [Clusters-1:0] far_start_room[Sources];
  logic [Clusters-1:0] far_beat_room[Sources];
  beat_t far_beat[Sources];
  tail_t far_tail[Tails];
  for (genvar s = 0; s < Sources; s++) begin : gen_source
    link_stages #(
        .Width (Clusters),
        .Stages(Stages)
    ) i_valid (
        .clk,
        .rst,
        .d(in_valid[s]),
        .q(far_valid[s])
    );
    link_stages #(
        .Width ($bits(beat_t)),
        .Stages(Stages)
    ) i_beat (
        .clk,
        .rst(1'b0),
        .d(in_beat[s]),
        .q(far_beat[s])
    );
    link_stages #(
        .Width (2 * Clusters),
        .Stages(Stages)
    ) i_room (
        .clk,
        .rst,
        .d({far_start_room[s], far_beat_room[s]}),
        .q({start_room[s], beat_room[s]})
    );
    if (s < Tails) begin : gen_tail
      link_stages #(
          .Width ($bits(tail_t)),
          .Stages(Stages)
      ) i_tail (
          .clk,
          .rst(1'b0),
          .d(in_tail[s]),
          .q(far_tail[s])
      );
    end
  end

  logic [Clusters-1:0] answers_pop;
  assign answers.ready = answers_pop != 0;

  for (genvar c = 0; c < Clusters; c++) begin : gen_cluster
    localparam int unsigned First = c * UnitsPerCluster;
    localparam int unsigned Here = (Units - First < UnitsPerCluster) ? Units - First : UnitsPerCluster;

    // Heads of the sources' queues, and the beats that were popped in the cycle before
    key_t key[Starters];
    beat_t beat[Starters];
    logic [TailW-1:0] tail[Tails];
    logic [Starters-1:0] valid;
    logic [Takers-1:0] pop;
    for (genvar s = 0; s < Sources; s++) begin : gen_queue
      localparam bit HasTail = s < Tails;
      localparam int unsigned BodyW = BeatW + (HasTail ? TailW : 0);
      logic [$clog2(Depth):0] level;
      tail_t in;
      beat_t first;
      key_t head;
      logic [BodyW-1:0] body;
      if (HasTail) begin : gen_tail
        assign in = far_tail[s];
        assign tail[s] = body[BeatW+:TailW];
      end else begin : gen_no_tail
        assign in = '0;
      end
      assign first = '{meta: far_beat[s].meta, last: far_beat[s].last && !in.valid, data: far_beat[s].data};
      assign beat[s] = body[BeatW-1:0];
      // As it was written; synthesis does not look through a memory
      assign key[s] = '{folded: HasTail && head.folded, last: head.last, unit_id: head.unit_id};
      fifo_keyed #(
          .KeyW ($bits(key_t)),
          .BodyW(BodyW),
          .Depth(Depth),
          .Room (Room)
      ) i_queue (
          .clk,
          .rst,
          .push(far_valid[s][c]),
          .key_in({in.valid, first.last, far_beat[s].meta.unit_id[1:0]}),
          .body_in(BodyW'({in.data, first})),
          .ready(far_beat_room[s][c]),
          .valid(valid[s]),
          .key(head),
          .pop(pop[s]),
          .body,
          .level
      );
      always_ff @(posedge clk) far_start_room[s][c] <= !rst && level <= ($clog2(Depth) + 1)'(Depth / 2);
    end

    assign key[Sources] = '{folded: 1'b0, last: answers.last, unit_id: answers.meta.unit_id[1:0]};
    assign valid[Sources] = answers.valid && 32'(answers.meta.unit_id[4:2]) == c;
    assign answers_pop[c] = pop[Sources];
    beat_t answer_q;
    assign beat[Sources] = answer_q;
    always_ff @(posedge clk)
      if (pop[Sources]) answer_q <= '{meta: answers.meta, last: answers.last, data: answers.data};

    // One frame after another onto the link
    logic [UnitsPerCluster-1:0] unit_room;
    always_comb begin
      unit_room = '1;
      unit_room[Here-1:0] = room[First+:Here];
    end
    logic [Takers-1:0] ready, owner, owner_q;
    logic [Starters-1:0] grant;
    logic busy_q, busy_d;
    always_comb begin
      for (int unsigned s = 0; s < Starters; s++) ready[s] = valid[s] && unit_room[key[s].unit_id];
      ready[Starters] = 1'b1;
    end
    rr_arbiter #(
        .N(Starters)
    ) i_arbiter (
        .clk,
        .rst,
        .req(ready[Starters-1:0]),
        .accept(!busy_q && ready[Starters-1:0] != 0),
        .grant
    );
    assign pop = busy_q ? ready & owner_q : {1'b0, grant};
    // The next beat of the frame that starts comes from its source, or from its tail.
    always_comb begin
      owner = '0;
      for (int unsigned s = 0; s < Starters; s++)
        if (key[s].folded) owner[Starters] |= grant[s];
        else owner[s] = grant[s];
    end

    // The beat of the popped word is there in the next cycle, and on the link in the one after.
    logic [Takers-1:0] pop_q;
    logic [Tails-1:0] pop_tail_q;
    logic [UnitsPerCluster-1:0] to_unit, to_unit_q;
    always_comb begin
      busy_d  = busy_q && !pop[Starters];
      to_unit = pop[Starters] ? to_unit_q : '0;
      for (int unsigned s = 0; s < Starters; s++)
        if (pop[s]) begin
          busy_d = !key[s].last;
          to_unit[key[s].unit_id] = 1'b1;
        end
    end
    reg_copy #(
        .Width(Tails)
    ) i_pop_tail (
        .clk,
        .load(1'b1),
        .d(pop[Tails-1:0]),
        .q(pop_tail_q)
    );
    beat_t link, link_q;
    logic [TailW-1:0] link_tail, tail_q;
    logic [UnitsPerCluster-1:0] link_valid_q;
    always_comb begin
      link = '0;
      for (int unsigned s = 0; s < Starters; s++) if (pop_q[s]) link |= beat[s];
      if (pop_q[Starters]) begin
        link.last = 1'b1;
        link.data[TailW-1:0] |= tail_q;
      end
      link_tail = '0;
      for (int unsigned s = 0; s < Tails; s++) if (pop_tail_q[s]) link_tail |= tail[s];
    end
    always_ff @(posedge clk) begin
      if (!busy_q) owner_q <= owner;
      busy_q <= busy_d;
      pop_q <= pop;
      to_unit_q <= to_unit;
      if (pop_q != 0) begin
        link_q.data <= link.data;
        link_q.last <= link.last;
        if (!pop_q[Starters]) link_q.meta <= link.meta;
      end
      tail_q <= link_tail;
      link_valid_q <= to_unit_q;
      if (rst) begin
        busy_q <= 1'b0;
        to_unit_q <= '0;
        link_valid_q <= '0;
      end
    end
    assign out_valid[First+:Here] = link_valid_q[Here-1:0];
`ifndef SYNTHESIS
    always_ff @(posedge clk) begin
      if (!rst) assert ($onehot0(pop_q)) else $error("%m: two frames at once on the link");
      if (!rst) assert ($onehot0(to_unit_q)) else $error("%m: a beat for two units");
    end
`endif
    assign out_beat[c] = link_q;
  end
endmodule

`default_nettype wire
