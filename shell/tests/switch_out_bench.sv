// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// switch_out and the buffers of its destinations, with flat ports. The data of a beat is a tag of 32 bits.
module switch_out_bench
  import penstock_pkg::*;
#(
    parameter int unsigned Ports    = 2,
    parameter int unsigned Units    = 8,
    parameter int unsigned Stages   = 0,
    parameter int unsigned Dests    = Ports + 3,
    parameter int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [Units-1:0]       in_valid,
    output logic      [Units-1:0]       in_ready,
    input  wire logic [Units-1:0]       in_last,
    input  wire logic [Units-1:0][31:0] in_tag,
    input  wire logic [Units-1:0][15:0] in_len,
    input  wire logic [Units-1:0][ 7:0] in_dst,

    output logic      [Dests-1:0]       out_valid,
    input  wire logic [Dests-1:0]       out_ready,
    output logic      [Dests-1:0]       out_last,
    output logic      [Dests-1:0][31:0] out_tag,
    output logic      [Dests-1:0][ 7:0] out_dst    // with a frame's first beat
);
  frame_if links[Units] ();
  frame_if frames[Dests] ();
  logic [Clusters-1:0] valid[Dests];
  beat_t beat[Clusters];
  logic [Clusters-1:0] room[Dests];

  for (genvar u = 0; u < Units; u++) begin : gen_unit
    assign links[u].valid = in_valid[u];
    assign in_ready[u] = links[u].ready;
    assign links[u].last = in_last[u];
    assign links[u].data = DataW'(in_tag[u]);
    assign links[u].meta = '{len: in_len[u], dst: in_dst[u], default: '0};
    frame_check i_check (
        .clk,
        .rst,
        .link(links[u])
    );
  end

  switch_out #(
      .Ports(Ports),
      .Units(Units),
      .Stages(Stages)
  ) i_switch (
      .clk,
      .rst,
      .from_units(links),
      .out_valid(valid),
      .out_beat(beat),
      .room
  );

  for (genvar d = 0; d < Dests; d++) begin : gen_dest
    frame_gather #(
        .Links(Clusters),
        .Stages(Stages)
    ) i_gather (
        .clk,
        .rst,
        .in_valid(valid[d]),
        .in_beat(beat),
        .room(room[d]),
        .stuck(1'b0),
        .dropped(),
        .frames(frames[d]),
        .tail()
    );
    assign out_valid[d] = frames[d].valid;
    assign frames[d].ready = out_ready[d];
    assign out_last[d] = frames[d].last;
    assign out_tag[d] = frames[d].data[31:0];
    assign out_dst[d] = frames[d].meta.dst;
    frame_check i_check (
        .clk,
        .rst,
        .link(frames[d])
    );
  end
endmodule

`default_nettype wire
