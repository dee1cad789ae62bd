// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// From the units to the destinations' buffers (frame_gather.sv): unit -> cluster, then cluster -> destination.
//
//   unit ─> queue ─> frame arbiter of the cluster ─> link register ─> stages ─> buffer of this cluster in the destination
//           2      (on keys; the beat follows) 1     1                Stages cycles
//
// 512 bits, one beat a cycle on every link, also when each beat is a frame. The link of a cluster takes a frame only
// when its destination's buffer has room for a longest one (the same rule for all lengths, so that no length starves),
// and when the frame is complete in the queue or half of the queue is full. A link therefore never stops for a
// destination, and frames to one destination do not hold frames to another, except behind each other within one unit. A
// destination that does not exist swallows the frame.
module switch_out
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports    = 2,
    parameter int unsigned Units    = 16,
    parameter int unsigned Stages   = 0,          // of the links, there and back
    parameter int unsigned Dests    = Ports + 3,  // the ports, the host, the loopback, host memory
    parameter int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster
) (
    input wire logic clk,
    input wire logic rst,

    frame_if.snk from_units[Units],

    output logic [Clusters-1:0] out_valid[Dests],    // from these clusters
    output beat_t               out_beat [Clusters], // `meta` with all beats of a frame
    input wire logic [Clusters-1:0] room[Dests]      // for a longest frame and what is on its way (frame_gather.sv)
);
  localparam int unsigned Depth = 32;
  localparam int unsigned LevelW = $clog2(Depth) + 1;

  typedef struct packed {
    logic [Dests-1:0] dest;  // with a frame's first beat: one hot; zero when it does not exist
    logic last;
  } key_t;

  function automatic logic [Dests-1:0] dest_of(port_t dst);
    logic [Dests-1:0] dest;
    dest = '0;
    dest[Ports:0] = (Ports + 1)'(exit_of(dst, Ports));
    dest[Ports+1] = dst == PortLoopback || (dst >= PortUnit && dst < PortUnit + 8'(MaxUnits));
    dest[Ports+2] = dst == PortHostMem || dst == PortHostRead;
    return dest;
  endfunction

  logic [Dests-1:0] link_dest[Clusters];
  for (genvar d = 0; d < Dests; d++) begin : gen_dest
    for (genvar c = 0; c < Clusters; c++) begin : gen_from
      assign out_valid[d][c] = link_dest[c][d];
    end
  end

  for (genvar c = 0; c < Clusters; c++) begin : gen_cluster
    localparam int unsigned First = c * UnitsPerCluster;
    localparam int unsigned Here = (Units - First < UnitsPerCluster) ? Units - First : UnitsPerCluster;

    // Heads of the units' queues, and the beats that were popped in the cycle before
    key_t key[UnitsPerCluster];
    beat_t beat[UnitsPerCluster];
    logic [UnitsPerCluster-1:0] valid, pop, start;
    logic [Dests-1:0] here_room;
    logic [Dests-1:0] far_room;
    always_comb for (int unsigned d = 0; d < Dests; d++) far_room[d] = room[d][c];
    link_stages #(
        .Width (Dests),
        .Stages(Stages)
    ) i_room (
        .clk,
        .rst,
        .d(far_room),
        .q(here_room)
    );

    for (genvar u = 0; u < UnitsPerCluster; u++) begin : gen_unit
      if (u < Here) begin : gen_here
        logic [LevelW-1:0] level, frames_q;  // frames: complete ones in the queue and at its head
        logic push, half_q, popped_last_q, whole;
        beat_t in_beat;
        assign push = from_units[First+u].valid && from_units[First+u].ready;
        assign in_beat =
            '{meta: from_units[First+u].meta, last: from_units[First+u].last, data: from_units[First+u].data};
        fifo_keyed #(
            .KeyW ($bits(key_t)),
            .BodyW($bits(beat_t)),
            .Depth(Depth)
        ) i_queue (
            .clk,
            .rst,
            .push,
            .key_in({dest_of(from_units[First+u].meta.dst), from_units[First+u].last}),
            .body_in(in_beat),
            .ready(from_units[First+u].ready),
            .valid(valid[u]),
            .key(key[u]),
            .pop(pop[u]),
            .body(beat[u]),
            .level
        );
        // A frame that was popped in the cycle before is still in `frames_q`.
        assign whole = frames_q > LevelW'(popped_last_q);
        always_ff @(posedge clk) begin
          half_q <= level >= LevelW'(Depth / 2);
          popped_last_q <= pop[u] && key[u].last && !rst;
          frames_q <= frames_q + LevelW'(push && from_units[First+u].last) - LevelW'(popped_last_q);
          if (rst) begin
            half_q   <= 1'b0;
            frames_q <= '0;
          end
        end
        assign start[u] = valid[u] && (whole || half_q) && (key[u].dest & ~here_room) == 0;
      end else begin : gen_absent
        assign valid[u] = 1'b0;
        assign key[u] = '0;
        assign beat[u] = '0;
        assign start[u] = 1'b0;
      end
    end

    logic [UnitsPerCluster-1:0] grant, owner_q;
    logic busy_q, busy_d;
    rr_arbiter #(
        .N(UnitsPerCluster)
    ) i_arbiter (
        .clk,
        .rst,
        .req(start),
        .accept(!busy_q && start != 0),
        .grant
    );
    assign pop = busy_q ? valid & owner_q : grant;

    // The beat of the popped word is there in the next cycle, and on the link in the one after. `meta` and the
    // destination arrive with the first beat and are kept for the others.
    logic [UnitsPerCluster-1:0] pop_q;
    logic [Dests-1:0] dest, dest_q, link_dest_q;
    logic first_q;
    beat_t link, link_q;
    always_comb begin
      busy_d = busy_q;
      dest   = '0;
      for (int unsigned u = 0; u < UnitsPerCluster; u++)
        if (pop[u]) begin
          busy_d = !key[u].last;
          dest |= key[u].dest;
        end
    end
    always_comb begin
      link = '0;
      for (int unsigned u = 0; u < UnitsPerCluster; u++) if (pop_q[u]) link |= beat[u];
    end
    always_ff @(posedge clk) begin
      if (!busy_q) begin
        owner_q <= grant;
        dest_q  <= dest;
      end
      busy_q  <= busy_d;
      first_q <= !busy_q;
      pop_q   <= pop;
      if (pop_q != 0) begin
        link_q.data <= link.data;
        link_q.last <= link.last;
        if (first_q) link_q.meta <= link.meta;
      end
      link_dest_q <= pop_q != 0 ? dest_q : '0;
      if (rst) begin
        busy_q <= 1'b0;
        pop_q <= '0;
        link_dest_q <= '0;
      end
    end
    link_stages #(
        .Width (Dests),
        .Stages(Stages)
    ) i_dest (
        .clk,
        .rst,
        .d(link_dest_q),
        .q(link_dest[c])
    );
    link_stages #(
        .Width ($bits(beat_t)),
        .Stages(Stages)
    ) i_beat (
        .clk,
        .rst(1'b0),
        .d(link_q),
        .q(out_beat[c])
    );
`ifndef SYNTHESIS
    always_ff @(posedge clk)
      if (!rst) begin
        assert ($onehot0(pop)) else $error("%m: two frames at once on the link");
        assert ($onehot0(link_dest_q)) else $error("%m: a beat for two exits");
        assert (busy_q || (dest & ~here_room) == 0) else $error("%m: a frame starts without room in its exit");
      end
`endif
  end
endmodule

`default_nettype wire
