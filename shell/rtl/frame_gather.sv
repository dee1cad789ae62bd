// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A destination: one buffer per cluster, from which it takes complete frames in turn.
//
//   cluster 0 ─> buffer (512 beats of block RAM) ─┐
//   cluster 1 ─> buffer                          ─┼─> arbiter ─> RAM output ─> output register ─> frames
//   ...                                          ─┘   3         +1            +1 cycles
//
// A frame is a candidate when its last beat is stored: once it starts there is no gap in it (a MAC never underruns). One beat a cycle, also
// when each beat is a frame. `room` of a buffer says that a longest frame and what is on its way fit.
module frame_gather
  import penstock_pkg::*;
#(
    parameter int unsigned Clusters = 4,
    parameter int unsigned Depth    = 512  // beats of a buffer
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic [Clusters-1:0] in_valid,
    input wire beat_t in_beat[Clusters],
    output logic [Clusters-1:0] room,

    frame_if.src frames
);
  localparam int unsigned FrameBeats = MaxFrame / BeatBytes;
  localparam int unsigned OnTheWay = 8;
  localparam int unsigned AddrW = $clog2(Depth);
  localparam int unsigned ClusterW = Clusters > 1 ? $clog2(Clusters) : 1;
  localparam int unsigned IndexW = $clog2(FrameBeats);

  if (Depth < FrameBeats + 2 * OnTheWay) begin : gen_depth
    $error("frame_gather: Depth must be more than a longest frame, %0d beats", FrameBeats);
  end

  typedef struct packed {
    frame_meta_t meta;
    logic [IndexW-1:0] last_index;  // beats - 1
  } desc_t;

  desc_t desc[Clusters];
  logic [Clusters-1:0] ready, pop, grant;
  logic [DataW-1:0] ram_data[Clusters];

  // Reading: stage 1 is the RAM's output, stage 2 the output register
  logic [ClusterW-1:0] chosen, owner_q, chosen1_q;
  logic [IndexW-1:0] left_q;  // beats after this one
  logic busy_q, go, last, step1, step2, valid1_q, last1_q, valid2_q;
  frame_meta_t meta1_q;

  assign step2 = !valid2_q || frames.ready;
  assign step1 = !valid1_q || step2;
  rr_arbiter #(
      .N(Clusters)
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
      for (int unsigned c = 0; c < Clusters; c++) if (grant[c]) chosen |= ClusterW'(c);
    end
  end
  assign go = step1 && (busy_q || ready != 0);
  assign last = busy_q ? left_q == 0 : desc[chosen].last_index == 0;
  always_comb begin
    pop = '0;
    pop[chosen] = go && !busy_q;
  end

  always_ff @(posedge clk) begin
    if (go) begin
      owner_q   <= chosen;
      left_q    <= (busy_q ? left_q : desc[chosen].last_index) - 1'b1;
      busy_q    <= !last;
      chosen1_q <= chosen;
      last1_q   <= last;
      if (!busy_q) meta1_q <= desc[chosen].meta;
    end
    if (step1) valid1_q <= go;
    if (step2) begin
      valid2_q <= valid1_q;
      if (valid1_q) begin
        frames.data <= ram_data[chosen1_q];
        frames.last <= last1_q;
        frames.meta <= meta1_q;
      end
    end
    if (rst) begin
      busy_q   <= 1'b0;
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
    end
  end
  assign frames.valid = valid2_q;

  for (genvar c = 0; c < Clusters; c++) begin : gen_cluster
    logic [AddrW:0] wr_q, rd_q, level_q;
    logic [IndexW-1:0] index_q;
    logic read, few;
    desc_t desc_in;
    assign read = go && chosen == ClusterW'(c);
    assign desc_in = '{meta: in_beat[c].meta, last_index: index_q};

    ram_sdp #(
        .Width(DataW),
        .Depth(Depth)
    ) i_ram (
        .clk,
        .we(in_valid[c]),
        .waddr(wr_q[AddrW-1:0]),
        .wdata(in_beat[c].data),
        .re(read),
        .raddr(rd_q[AddrW-1:0]),
        .rdata(ram_data[c])
    );
    fifo_dist #(
        .Width($bits(desc_t)),
        .Room(OnTheWay)
    ) i_descriptors (
        .clk,
        .rst,
        .push (in_valid[c] && in_beat[c].last),
        .din  (desc_in),
        .ready(few),
        .valid(ready[c]),
        .pop  (pop[c]),
        .dout (desc[c]),
        .level()
    );
    always_ff @(posedge clk) begin
      if (in_valid[c]) begin
        wr_q <= wr_q + 1'b1;
        index_q <= in_beat[c].last ? '0 : index_q + 1'b1;
      end
      if (read) rd_q <= rd_q + 1'b1;
      level_q <= wr_q - rd_q;
      room[c] <= few && level_q <= (AddrW + 1)'(Depth - FrameBeats - OnTheWay);
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
      if (!rst && in_valid[c]) assert ((AddrW + 1)'(wr_q - rd_q) < (AddrW + 1)'(Depth)) else $error("%m: buffer overflow");
`endif
  end
endmodule

`default_nettype wire
