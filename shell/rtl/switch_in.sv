// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// From the sources to the units: source -> cluster, then cluster -> unit.
//
//   source ─> queue per source and cluster ─> frame arbiter of the cluster ─> link register ─> queue of the unit ─> unit
//             2                                                              1                2 cycles
//
// 512 bits, one beat a cycle on every link, also when each beat is a frame. A queue per pair keeps a source that waits for one
// cluster's link from holding another source; the queue of a unit takes what a unit cannot take at once, so that its neighbours
// on the link go on. Answers of host memory come to the arbiters as they are, without a queue. A frame starts on a link only when its unit's queue has room, and is never interleaved with another.
module switch_in
  import penstock_pkg::*;
#(
    parameter int unsigned Sources  = 4,
    parameter int unsigned Units    = 16,
    parameter int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic [Clusters-1:0] in_valid[Sources],
    input wire beat_t in_beat[Sources],  // `meta` with all beats of a frame
    output logic [Clusters-1:0] start_room[Sources],  // half of the queue is free
    output logic [Clusters-1:0] beat_room[Sources],  // room for a beat and what is on its way

    frame_if.snk answers,  // of host memory: `meta` with all beats of a frame

    frame_if.src to_units[Units]
);
  localparam int unsigned Depth = 32;
  localparam int unsigned BeatW = $bits(beat_t);
  localparam int unsigned Takers = Sources + 1;  // of the link: the sources, then the answers
  localparam int unsigned TakerW = $clog2(Takers);

  logic [Clusters-1:0] answers_pop;
  assign answers.ready = answers_pop != 0;

  for (genvar c = 0; c < Clusters; c++) begin : gen_cluster
    localparam int unsigned First = c * UnitsPerCluster;
    localparam int unsigned Here = (Units - First < UnitsPerCluster) ? Units - First : UnitsPerCluster;

    // Heads of the sources' queues
    beat_t head[Takers];
    logic [Takers-1:0] head_valid, head_pop;
    for (genvar s = 0; s < Sources; s++) begin : gen_queue
      logic [$clog2(Depth):0] level;
      fifo_dist #(
          .Width(BeatW),
          .Depth(Depth),
          .Room (4)
      ) i_queue (
          .clk,
          .rst,
          .push (in_valid[s][c]),
          .din  (in_beat[s]),
          .ready(beat_room[s][c]),
          .valid(head_valid[s]),
          .pop  (head_pop[s]),
          .dout (head[s]),
          .level
      );
      always_ff @(posedge clk) start_room[s][c] <= !rst && level <= ($clog2(Depth) + 1)'(Depth / 2);
    end

    assign head[Sources] = '{meta: answers.meta, last: answers.last, data: answers.data};
    assign head_valid[Sources] = answers.valid && 32'(answers.meta.unit_id[4:2]) == c;
    assign answers_pop[c] = head_valid[Sources] && head_pop[Sources];

    // One frame after another onto the link
    logic [UnitsPerCluster-1:0] unit_room;
    logic [Takers-1:0] ready, grant;
    logic [TakerW-1:0] chosen, owner_q;
    logic busy_q, go;
    always_comb
      for (int unsigned s = 0; s < Takers; s++) ready[s] = head_valid[s] && unit_room[head[s].meta.unit_id[1:0]];
    rr_arbiter #(
        .N(Takers)
    ) i_arbiter (
        .clk,
        .rst,
        .req(ready),
        .accept(go && !busy_q),
        .grant
    );
    always_comb begin
      chosen = owner_q;
      if (!busy_q) begin
        chosen = '0;
        for (int unsigned s = 0; s < Takers; s++) if (grant[s]) chosen |= TakerW'(s);
      end
    end
    assign go = busy_q ? ready[owner_q] : ready != 0;
    always_comb begin
      head_pop = '0;
      head_pop[chosen] = go;
    end

    beat_t link_q;
    logic [UnitsPerCluster-1:0] link_valid_q;
    always_ff @(posedge clk) begin
      link_valid_q <= '0;
      if (go) begin
        link_q <= head[chosen];
        link_valid_q[head[chosen].meta.unit_id[1:0]] <= 1'b1;
        owner_q <= chosen;
        busy_q <= !head[chosen].last;
      end
      if (rst) begin
        link_valid_q <= '0;
        busy_q <= 1'b0;
      end
    end

    for (genvar u = 0; u < UnitsPerCluster; u++) begin : gen_unit
      if (u < Here) begin : gen_here
        beat_t beat;
        fifo_dist #(
            .Width(BeatW),
            .Depth(Depth),
            .Room (4)
        ) i_queue (
            .clk,
            .rst,
            .push (link_valid_q[u]),
            .din  (link_q),
            .ready(unit_room[u]),
            .valid(to_units[First+u].valid),
            .pop  (to_units[First+u].ready),
            .dout (beat),
            .level()
        );
        assign to_units[First+u].data = beat.data;
        assign to_units[First+u].last = beat.last;
        assign to_units[First+u].meta = beat.meta;
      end else begin : gen_absent
        assign unit_room[u] = 1'b1;
      end
    end
  end
endmodule

`default_nettype wire
