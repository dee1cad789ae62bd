// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An inline block of the rmt engine (engines/inline_block.sv has the contract, engines/rmt/machine.md the machine).
//
//   frames of   ─┬─> delay queue ──────────────────────────────────────────────────────────────────> merge ─> out
//   each port    └─> window ─> queue ─┐                                                                ^
//                    2          2      v                                                               │
//                                 entry ─> parser ─> stage 0 ─ … ─ stage S-1 ─> deparser ─> queue ─────┘
//                                 2        21         8 each                    7           1          2
//
// Each port has a lane. All lanes read the same memories, so a block has at most two. The entry turns a wheel of eight
// slots, of which one is the host's while it has an access. A lane therefore takes 250 million frames a second at
// 250 MHz, and 218 million while the host writes; a port of 100 Gb/s brings 149 million. Frames of stateful tenants
// share one such rate for both ports.
//
// A frame whose program sends a digest leaves its vector behind at the exit, for a record to the host (rmt_digests).
//
// A frame that goes to a controller is a copy too, which leaves as records for the host (rmt_packets). A controller's
// frame comes in records, and enters lane 0 between two frames of port 0 (rmt_inject).
//
// A frame of which copies are made goes from the merge to a queue, and the copies leave in the gaps between frames
// (rmt_out, rmt_copies). A frame then waits for the rest of one copy at most, of 64 beats. A frame that is cloned leaves
// itself, and its clones come from a second memory of queues. Clones that find no room there are counted.
//
// After the entry nothing stops. A beat holds a place of its port's delay queue until it leaves, and all later queues
// are as deep. A port that is blocked at its output therefore blocks its own input and no other port.
//
// Latency of a frame that is alone and meets no copy, from its first beat at `frames` to its first at `out`: 37 + 8 * S cycles, one more
// if it has two beats, and one if it meets the host's slot. Another lane's stateful frame costs a stateful frame one
// more.
module rmt_block
  import penstock_pkg::*, rmt_pkg::*, rmt_parse_pkg::*;
#(
    parameter int unsigned Ports  = 2,
    parameter int unsigned Number = 0,      // of the block, from the ports on: the source of copies
    parameter logic [63:0] Param  = 64'h7007_0070_0703  // pipeline_t: 1 to 12 stages, 128, 256 or 512 ternary rows
) (
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [63:0] now,  // ns

    frame_if.snk         frames  [Ports],
    input wire tail_t    tails   [Ports],
    input wire verdict_t verdicts[Ports],

    frame_if.src     out         [Ports],
    output tail_t    out_tails   [Ports],
    output verdict_t out_verdicts[Ports],

    output block_event_t events[Ports],
    output logic [Ports-1:0] crowded,
    output logic         busy,

    cfg_if.snk cfg,  // 24 address bits

    record_if.src to_host,
    record_if.snk from_host
);
  localparam pipeline_t Pipeline = pipeline_t'(Param);
  localparam int unsigned Stages = 32'(Pipeline.stages);
  localparam int unsigned Depth = 512;  // beats of a port on their way
  localparam int unsigned InsideW = $clog2(Depth) + 2;
  localparam int unsigned BodyW = $bits(frame_meta_t) + $bits(verdict_t) + 1 + $bits(tail_t) + DataW;

  if (Ports > Lanes) begin : gen_too_many_ports
    $error("rmt_block: %0d ports; a block of this engine has a lane for at most %0d", Ports, Lanes);
  end
  if (Stages < 1 || Stages > MaxStages) begin : gen_no_such_stages
    $error("rmt_block: %0d stages; there are 1 to %0d", Stages, MaxStages);
  end
  if (Pipeline.ternary_w < 7 || Pipeline.ternary_w > 9) begin : gen_no_such_rows
    $error("rmt_block: 2^%0d ternary rows; a stage has 128, 256 or 512", Pipeline.ternary_w);
  end

  // ---- the host
  logic under_way, request, started, passed;
  logic [Stages-1:0] stage_busy;
  logic [Lanes-1:0] lost_digests, lost_packets, lost_clones;
  host_t host;
  word_t host_word;
  word_t [Stages+2:0] words;

  rmt_regs #(
      .Pipeline(Pipeline),
      .Ports(Ports)
  ) i_regs (
      .clk,
      .rst,
      .cfg(cfg),
      .under_way,
      .request,
      .started,
      .access(host),
      .passed(passed),
      .busy(stage_busy != '0),
      .word(host_word),
      .lost_digests,
      .lost_packets,
      .lost_clones
  );

  always_comb begin
    host_word = '0;
    for (int unsigned n = 0; n < Stages + 3; n++) host_word |= words[n];
  end

  // ---- lanes
  logic [Lanes-1:0] window_valid, window_pop, came_valid, edit_valid, busy_of;
  window_t [Lanes-1:0] window, entered_window, came_window;
  info_t [Lanes-1:0] info;
  parse_t [Lanes-1:0] entered;
  origin_t [Lanes-1:0][Extracted-1:0] came_place;
  logic [Lanes-1:0][15:0] came_len;
  edit_t [Lanes-1:0] edit;
  digest_t [Lanes-1:0] digests;
  packet_t [Lanes-1:0] packets;
  block_event_t [Lanes-1:0] reports;
  record_if records[2] ();
  bt_t [Lanes-1:0] entry_bt;
  logic [Lanes-1:0] controller;
  logic [Stages:0] slots;  // in front of each stage
  ctl_t [Stages:0][Lanes-1:0] ctl;
  vector_t [Stages:0][Lanes-1:0] early, vector;
  insert_t [Stages:0][Lanes-1:0] insert, late;

  rmt_entry i_entry (
      .clk,
      .rst,
      .valid(window_valid),
      .pop(window_pop),
      .window,
      .info,
      .under_way,
      .request,
      .started,
      .host,
      .host_word(words[0]),
      .bt(entry_bt),
      .controller,
      .out(entered),
      .out_window(entered_window)
  );

  rmt_parser i_parser (
      .clk,
      .rst,
      .slot(started),
      .slot_out(slots[0]),
      .host,
      .host_word(words[1]),
      .bt(entry_bt),
      .controller,
      .in(entered),
      .in_window(entered_window),
      .came_valid,
      .came_window,
      .came_place,
      .came_len,
      .out_ctl(ctl[0]),
      .out_early(early[0]),
      .out(vector[0])
  );
  assign insert[0] = '0;
  assign late[0] = '0;

  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    rmt_stage #(
        .HasTernary(Pipeline.ternary[s]),
        .HasPrefixes(Pipeline.prefixes[s]),
        .HasMeters(Pipeline.meters[s]),
        .TernaryW(32'(Pipeline.ternary_w))
    ) i_stage (
        .clk,
        .rst,
        .now,
        .slot(slots[s]),
        .slot_out(slots[s+1]),
        .stage(4'(s)),
        .host,
        .host_word(words[s+3]),
        .busy(stage_busy[s]),
        .ctl(ctl[s]),
        .early(early[s]),
        .vector(vector[s]),
        .insert(insert[s]),
        .late(late[s]),
        .out_ctl(ctl[s+1]),
        .out_early(early[s+1]),
        .out(vector[s+1]),
        .out_insert(insert[s+1]),
        .out_late(late[s+1])
    );
  end

  rmt_deparser i_deparser (
      .clk,
      .rst,
      .slot(slots[Stages]),
      .slot_out(passed),
      .host,
      .host_word(words[2]),
      .ctl(ctl[Stages]),
      .vector(vector[Stages]),
      .insert(insert[Stages]),
      .came_valid,
      .came_window,
      .came_place,
      .came_len,
      .digests,
      .out_valid(edit_valid),
      .out(edit)
  );

  rmt_digests #(
      .Ports(Ports)
  ) i_digests (
      .clk,
      .rst,
      .now,
      .digests,
      .to_host(records[0]),
      .lost(lost_digests)
  );
  rmt_packets #(
      .Ports(Ports)
  ) i_packets (
      .clk,
      .rst,
      .now,
      .packets,
      .to_host(records[1]),
      .lost(lost_packets)
  );
  rmt_records i_records (
      .clk,
      .rst,
      .from(records),
      .to(to_host)
  );

  // ---- frames of controllers
  frame_if lanes[Ports] ();
  tail_t lane_tails[Ports];
  verdict_t lane_verdicts[Ports];
  logic injected, waits, owed_q;

  rmt_inject #(
      .Number(Number)
  ) i_inject (
      .clk,
      .rst,
      .from_host(from_host),
      .frames(frames[0]),
      .tail(tails[0]),
      .verdict(verdicts[0]),
      .lane(lanes[0]),
      .lane_tail(lane_tails[0]),
      .lane_verdict(lane_verdicts[0]),
      .waits,
      .begins(injected),
      .hold(owed_q)
  );
  // It is reported as made when no copy is.
  always_ff @(posedge clk) owed_q <= !rst && (injected || (owed_q && reports[0].made));
  for (genvar p = 1; p < Ports; p++) begin : gen_plain
    assign lanes[p].valid = frames[p].valid;
    assign lanes[p].data = frames[p].data;
    assign lanes[p].last = frames[p].last;
    assign lanes[p].meta = frames[p].meta;
    assign frames[p].ready = lanes[p].ready;
    assign lane_tails[p] = tails[p];
    assign lane_verdicts[p] = verdicts[p];
  end

  // ---- ports
  for (genvar p = 0; p < Lanes; p++) begin : gen_port
    if (p < Ports) begin : gen_lane
      logic body_valid, body_pop, begins, clones_wait;
      logic [BodyW-1:0] body;
      logic [InsideW-1:0] inside_q;

      rmt_window #(
          .Number(Number),
          .Depth(Depth)
      ) i_window (
          .clk,
          .rst,
          .frames(lanes[p]),
          .tail(lane_tails[p]),
          .verdict(lane_verdicts[p]),
          .valid(window_valid[p]),
          .pop(window_pop[p]),
          .window(window[p]),
          .info(info[p]),
          .body_valid,
          .body_pop,
          .body,
          .begins
      );

      rmt_out #(
          .Depth(Depth),
          .Number(Number)
      ) i_out (
          .clk,
          .rst,
          .edit_valid(edit_valid[p]),
          .edit_in(edit[p]),
          .body_valid,
          .body_pop,
          .body,
          .out(out[p]),
          .out_tail(out_tails[p]),
          .out_verdict(out_verdicts[p]),
          .packet(packets[p]),
          .report(reports[p]),
          .waits(clones_wait),
          .lost_clones(lost_clones[p])
      );

      assign events[p] = '{
          made: reports[p].made || (p == 0 && owed_q),
          absorbed: reports[p].absorbed,
          dropped: reports[p].dropped,
          reason: reports[p].reason
      };
      assign busy_of[p] = inside_q != '0 || clones_wait;
      always_ff @(posedge clk) begin
        inside_q <= inside_q + InsideW'(begins) + InsideW'(reports[p].made) - InsideW'(reports[p].absorbed) -
            InsideW'(reports[p].dropped) - InsideW'(out[p].valid && out[p].ready && out[p].last);
        if (rst) inside_q <= '0;
      end
    end else begin : gen_no_lane
      assign window_valid[p] = 1'b0;
      assign window[p] = '0;
      assign info[p] = '0;
      assign packets[p] = '0;
      assign reports[p] = '0;
      assign busy_of[p] = 1'b0;
      assign lost_clones[p] = 1'b0;
    end
  end
  assign busy = busy_of != '0 || waits || owed_q;
  assign crowded = '0;
endmodule

`default_nettype wire
