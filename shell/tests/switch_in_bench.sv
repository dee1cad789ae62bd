// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// switch_in with flat ports. The data of a beat is a tag of 32 bits; that of a tail is its beat's with 1 added. The
// first sources have tails.
module switch_in_bench
  import penstock_pkg::*;
#(
    parameter int unsigned Sources  = 4,
    parameter int unsigned Tails    = 2,
    parameter int unsigned Units    = 8,
    parameter int unsigned Stages   = 0,
    parameter int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic [Sources-1:0][Clusters-1:0] in_valid,
    input wire logic [Sources-1:0]               in_last,
    input wire logic [Sources-1:0][31:0]         in_tag,
    input wire logic [Sources-1:0][15:0]         in_len,
    input wire logic [Sources-1:0][ 4:0]         in_unit,
    output logic     [Sources-1:0][Clusters-1:0] start_room,
    output logic     [Sources-1:0][Clusters-1:0] beat_room,

    output logic      [Units-1:0]       out_valid,
    input  wire logic [Units-1:0]       out_room,
    output logic      [Units-1:0]       out_last,
    output logic      [Units-1:0][31:0] out_tag,
    output logic      [Units-1:0][ 4:0] out_unit
);
  logic [Clusters-1:0] valid[Sources];
  beat_t beat[Sources];
  tail_t tail[Tails];
  logic [Clusters-1:0] starts[Sources];
  logic [Clusters-1:0] beats[Sources];
  beat_t links[Clusters];
  frame_if answers ();  // of host memory: none here
  assign answers.valid = 1'b0;
  assign answers.data = '0;
  assign answers.last = 1'b0;
  assign answers.meta = '0;

  for (genvar s = 0; s < Sources; s++) begin : gen_source
    assign valid[s] = in_valid[s];
    assign beat[s].data = DataW'(in_tag[s]);
    assign beat[s].last = in_last[s];
    assign beat[s].meta = '{len: in_len[s], unit_id: in_unit[s], default: '0};
    assign start_room[s] = starts[s];
    assign beat_room[s] = beats[s];
  end
  for (genvar s = 0; s < Tails; s++) begin : gen_tail
    assign tail[s] = '{valid: is_folded(in_len[s]), data: TailW'(in_tag[s] + 32'd1)};
  end
  for (genvar u = 0; u < Units; u++) begin : gen_unit
    assign out_last[u] = links[u/UnitsPerCluster].last;
    assign out_tag[u] = links[u/UnitsPerCluster].data[31:0];
    assign out_unit[u] = links[u/UnitsPerCluster].meta.unit_id;
    beat_check i_check (
        .clk,
        .rst,
        .valid(out_valid[u]),
        .beat (links[u/UnitsPerCluster])
    );
  end

  switch_in #(
      .Sources(Sources),
      .Tails(Tails),
      .Units(Units),
      .Stages(Stages)
  ) i_switch (
      .clk,
      .rst,
      .in_valid(valid),
      .in_beat(beat),
      .in_tail(tail),
      .start_room(starts),
      .beat_room(beats),
      .answers(answers),
      .out_valid,
      .out_beat(links),
      .room(out_room)
  );
endmodule

`default_nettype wire
