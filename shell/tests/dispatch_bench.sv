// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The dispatcher with flat ports. The data of a beat is a tag of 32 bits, which must come out with it. The last source
// is the loopback: of its requests the low bits of the tag are the unit that asks. The tail of a folded frame, which
// ports have, is its tag inverted.
module dispatch_bench
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int unsigned Units = 8,
    parameter int unsigned Frames = Ports + 1,
    parameter int unsigned Sources = Frames + 1,
    parameter int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [Sources-1:0]       in_valid,
    output logic      [Sources-1:0]       in_ready,
    input  wire logic [Sources-1:0]       in_last,
    input  wire logic [Sources-1:0][31:0] in_tag,
    input  wire logic [Sources-1:0][15:0] in_len,
    input  wire logic [Sources-1:0][ 6:0] in_hash,
    input  wire logic [Sources-1:0][ 7:0] in_dst,
    input  wire logic [Ports-1:0][   8:0] in_told,

    output logic [Frames-1:0][Clusters-1:0] out_valid,
    output logic [Frames-1:0]               out_last,
    output logic [Frames-1:0][31:0]         out_tag,
    output logic [Ports-1:0]                out_folded,
    output logic [Ports-1:0][31:0]          out_tail,
    output logic [Frames-1:0][15:0]         out_len,
    output logic [Frames-1:0][ 4:0]         out_unit,
    output logic [Frames-1:0][ 5:0]         out_slot,
    input  wire logic [Frames-1:0][Clusters-1:0] start_room,
    input  wire logic [Frames-1:0][Clusters-1:0] beat_room,

    output logic       answer_valid,
    output logic       answer_granted,
    output logic       answer_again,
    output logic [4:0] answer_from,
    output logic [4:0] answer_unit,
    output logic [5:0] answer_slot,

    input wire logic [Units-1:0]       free_valid,
    input wire logic [Units-1:0][ 5:0] free_slot,
    input wire logic [Units-1:0]       setup_valid,
    input wire logic [Units-1:0][ 5:0] setup_count,
    input wire logic [Units-1:0][15:0] setup_size,

    input wire logic [      2:0] policy,
    input wire logic [Units-1:0] unit_enable,
    input wire logic [Units-1:0] unit_ingress,
    input wire logic [Units-1:0] unit_flush,
    input wire logic [     23:0] unit_timeout,
    input wire logic [Ports-1:0] crowded,
    input wire logic             reta_we,
    input wire logic [      6:0] reta_addr,
    input wire logic [      4:0] reta_wdata,

    input  wire logic [      4:0] show_unit,
    output logic      [      5:0] show_free,
    output logic      [      5:0] show_total,
    output logic      [     15:0] show_size,
    output logic      [Units-1:0] idle,

    output logic [Sources-1:0] event_oversize,
    output logic [Sources-1:0] event_policy,
    output logic [Sources-1:0] event_stall
);
  frame_if sources[Frames] ();
  tail_t tails[Ports];
  tail_t tails_out[Ports];
  told_t told[Ports];
  logic [Clusters-1:0] valid[Frames];
  beat_t beat[Frames];
  logic [Clusters-1:0] starts[Frames];
  logic [Clusters-1:0] beats[Frames];
  loop_request_t request;
  loop_answer_t answer;
  slot_msg_t slots[Units];
  logic [MaxUnits-1:0] units_idle;
  dispatch_event_t events[Sources];

  for (genvar s = 0; s < Frames; s++) begin : gen_source
    assign sources[s].valid = in_valid[s];
    assign in_ready[s] = sources[s].ready;
    assign sources[s].data = DataW'(in_tag[s]);
    assign sources[s].last = in_last[s];
    assign sources[s].meta = '{
            len: in_len[s],
            dst: in_dst[s],
            timestamp: in_tag[s],
            hash: {25'h1ABCDEF, in_hash[s]},
            default: '0
        };
    assign out_valid[s] = valid[s];
    assign out_last[s] = beat[s].last;
    assign out_tag[s] = beat[s].data[31:0];
    assign out_len[s] = beat[s].meta.len;
    assign out_unit[s] = beat[s].meta.unit_id;
    assign out_slot[s] = beat[s].meta.slot;
    assign starts[s] = start_room[s];
    assign beats[s] = beat_room[s];
    frame_check #(
        .Tails(s < Ports)
    ) i_check (
        .clk,
        .rst,
        .link(sources[s])
    );
  end
  for (genvar p = 0; p < Ports; p++) begin : gen_tail
    assign tails[p] = '{valid: is_folded(in_len[p]), data: TailW'(~in_tag[p])};
    assign told[p] = in_told[p];
    assign out_folded[p] = tails_out[p].valid;
    assign out_tail[p] = tails_out[p].data[31:0];
  end
  for (genvar s = 0; s < Sources; s++) begin : gen_events
    assign event_oversize[s] = events[s].oversize;
    assign event_policy[s] = events[s].policy;
    assign event_stall[s] = events[s].stall;
  end
  assign request = '{from: in_tag[Frames][4:0], dst: in_dst[Frames], len: in_len[Frames], hash: in_hash[Frames]};
  assign answer_valid = answer.valid;
  assign answer_granted = answer.granted;
  assign answer_again = answer.again;
  assign answer_from = answer.from;
  assign answer_unit = answer.unit_id;
  assign answer_slot = answer.slot;
  for (genvar u = 0; u < Units; u++) begin : gen_unit
    assign slots[u] = '{
            free_valid: free_valid[u],
            free_slot: free_slot[u],
            setup_valid: setup_valid[u],
            setup_count: setup_count[u],
            setup_size: setup_size[u]
        };
  end
  assign idle = units_idle[Units-1:0];

  dispatcher #(
      .Ports(Ports),
      .Units(Units)
  ) i_dispatcher (
      .clk,
      .rst,
      .sources(sources),
      .tails,
      .told,
      .crowded,
      .out_valid(valid),
      .out_beat(beat),
      .out_tail(tails_out),
      .start_room(starts),
      .beat_room(beats),
      .loop_valid(in_valid[Frames]),
      .loop_ready(in_ready[Frames]),
      .loop_request(request),
      .loop_answer(answer),
      .slots,
      .policy(policy_e'(policy)),
      .unit_enable(MaxUnits'(unit_enable)),
      .unit_ingress(MaxUnits'(unit_ingress)),
      .unit_flush(MaxUnits'(unit_flush)),
      .unit_timeout,
      .reta_we,
      .reta_addr,
      .reta_wdata,
      .reta_rdata(),
      .show_unit,
      .show_free,
      .show_total,
      .show_size,
      .units_idle,
      .events
  );
endmodule

`default_nettype wire
