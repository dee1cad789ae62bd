// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// From the units to the destinations' buffers (frame_gather.sv): unit -> cluster, then cluster -> destination.
//
//   unit ─> queue ─> frame arbiter of the cluster ─> link register ─> buffer of this cluster in the destination
//           2                                        1 cycle
//
// 512 bits, one beat a cycle on every link, also when each beat is a frame. The link of a cluster takes a frame only when its
// destination's buffer has room for a longest one (the same rule for all lengths, so that no length starves), and when the frame is
// complete in the queue or half of the queue is full. A link therefore never stops for a destination, and frames to one destination do not
// hold frames to another, except behind each other within one unit. A destination that does not exist swallows the frame.
module switch_out
  import penstock_pkg::*;
#(
    parameter int unsigned Ports    = 2,
    parameter int unsigned Units    = 16,
    parameter int unsigned Dests    = Ports + 3,  // the ports, the host, the loopback, host memory
    parameter int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster
) (
    input wire logic clk,
    input wire logic rst,

    frame_if.snk from_units[Units],

    output logic [Clusters-1:0] out_valid[Dests],    // from these clusters
    output beat_t               out_beat [Clusters], // `meta` with all beats of a frame
    input wire logic [Clusters-1:0] room[Dests]      // room for a longest frame and what is on its way
);
  localparam int unsigned Depth = 32;
  localparam int unsigned LevelW = $clog2(Depth) + 1;

  typedef struct packed {
    logic [Dests-1:0] dest;  // one hot; zero when it does not exist
    beat_t beat;
  } entry_t;

  function automatic logic [Dests-1:0] dest_of(port_t dst);
    logic [Dests-1:0] dest;
    dest = '0;
    for (int unsigned p = 0; p < Ports; p++) dest[p] = (p < 2 && dst == 8'(p)) || dst == PortEthHigh + 8'(p);
    dest[Ports] = dst == PortHost;
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

    entry_t head[UnitsPerCluster];
    logic [UnitsPerCluster-1:0] head_valid, head_pop, start;
    logic [Dests-1:0] here_room;
    always_comb for (int unsigned d = 0; d < Dests; d++) here_room[d] = room[d][c];

    for (genvar u = 0; u < UnitsPerCluster; u++) begin : gen_unit
      if (u < Here) begin : gen_here
        entry_t entry;
        logic [LevelW-1:0] level, frames_q;  // frames: complete ones in the queue and at its head
        logic push, half_q;
        assign push = from_units[First+u].valid && from_units[First+u].ready;
        assign entry = '{
                dest: dest_of(from_units[First+u].meta.dst),
                beat: '{meta: from_units[First+u].meta, last: from_units[First+u].last, data: from_units[First+u].data}
            };
        fifo_dist #(
            .Width($bits(entry_t)),
            .Depth(Depth)
        ) i_queue (
            .clk,
            .rst,
            .push,
            .din  (entry),
            .ready(from_units[First+u].ready),
            .valid(head_valid[u]),
            .pop  (head_pop[u]),
            .dout (head[u]),
            .level
        );
        always_ff @(posedge clk) begin
          half_q   <= level >= LevelW'(Depth / 2);
          frames_q <= frames_q + LevelW'(push && from_units[First+u].last) - LevelW'(head_pop[u] && head[u].beat.last);
          if (rst) begin
            half_q   <= 1'b0;
            frames_q <= '0;
          end
        end
        assign start[u] = head_valid[u] && (frames_q != 0 || half_q) && (head[u].dest & ~here_room) == 0;
      end else begin : gen_absent
        assign head_valid[u] = 1'b0;
        assign head[u] = '0;
        assign start[u] = 1'b0;
      end
    end

    logic [UnitsPerCluster-1:0] grant;
    logic [1:0] chosen, owner_q;
    logic busy_q, go;
    rr_arbiter #(
        .N(UnitsPerCluster)
    ) i_arbiter (
        .clk,
        .rst,
        .req(start),
        .accept(go && !busy_q),
        .grant
    );
    always_comb begin
      chosen = owner_q;
      if (!busy_q) begin
        chosen[0] = grant[1] | grant[3];
        chosen[1] = grant[2] | grant[3];
      end
    end
    assign go = busy_q ? head_valid[owner_q] : start != 0;
    always_comb begin
      head_pop = '0;
      head_pop[chosen] = go;
    end

    // `meta` and the destination come with the first beat and are kept for the others.
    logic [Dests-1:0] dest_q, link_dest_q;
    beat_t link_q;
    always_ff @(posedge clk) begin
      link_dest_q <= '0;
      if (go) begin
        link_q.data <= head[chosen].beat.data;
        link_q.last <= head[chosen].beat.last;
        if (!busy_q) begin
          link_q.meta <= head[chosen].beat.meta;
          dest_q <= head[chosen].dest;
        end
        link_dest_q <= busy_q ? dest_q : head[chosen].dest;
        owner_q <= chosen;
        busy_q <= !head[chosen].beat.last;
      end
      if (rst) begin
        link_dest_q <= '0;
        busy_q <= 1'b0;
      end
    end
    assign link_dest[c] = link_dest_q;
    assign out_beat[c]  = link_q;
  end
endmodule

`default_nettype wire
