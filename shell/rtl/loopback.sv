// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// From unit to unit: places for frames whose destination is the loopback, or a certain unit over loopback; then the
// frames.
//
//   requests of ─> arbiter of the cluster ─> arbiter of the clusters ─> dispatcher ─> answer register ─> units
//   the units      1                         2                          5             8 cycles
//
//   clusters ─> frame_gather ─> register ─> switch_in
//
// A frame waits in its sender until it has a place (loop_if.sv), so frames that arrive here find their unit ready. A
// frame never stops here for long, and frames to other destinations wait behind it neither here nor in a unit. In
// addition, ports leave a slot free in each unit (slot_pool.sv), and senders let other frames pass the waiting ones.
// Units that send to each other therefore do not wait for each other: each frame moves on unless units send in a
// circle, or have only one slot. A unit has one request in flight at a time: at most one frame of a unit in 9 cycles.
// `src` becomes PortLoopback; the time of arrival and the flow hash stay.
module loopback
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Units = 16,
    parameter int unsigned Stages = 0,       // of the links from the clusters
    parameter int unsigned PlaceStages = 0,  // between units and the places, each way
    parameter int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster
) (
    input wire logic clk,
    input wire logic rst,

    loop_if.shell loops[Units],

    output logic          request_valid,  // to the dispatcher
    input  wire logic     request_ready,
    output loop_request_t request,
    input  wire loop_answer_t answer,

    input wire logic [Clusters-1:0] in_valid,
    input wire beat_t in_beat[Clusters],
    output logic [Clusters-1:0] room,

    output logic [Clusters-1:0] out_valid,  // to switch_in: cluster, one hot
    output beat_t               out_beat,
    input wire logic [Clusters-1:0] out_room,

    output rx_event_t rx_events,
    output tx_event_t tx_events
);
  // ---- places
  loop_request_t asked_q[Clusters];
  logic [Clusters-1:0] asked_valid_q, next;
  logic [Units-1:0] waits;
  logic step;
  assign step = !request_valid || request_ready;

  for (genvar c = 0; c < Clusters; c++) begin : gen_cluster
    localparam int unsigned First = c * UnitsPerCluster;
    localparam int unsigned Here = (Units - First < UnitsPerCluster) ? Units - First : UnitsPerCluster;
    // inside: the request is between here and its answer, or the unit has not seen the answer yet
    logic [Here-1:0] open, pick, inside_q, answered;
    loop_request_t asks[Here];
    logic take;
    assign take = !asked_valid_q[c] || (step && next[c]);
    rr_arbiter #(
        .N(Here)
    ) i_arbiter (
        .clk,
        .rst,
        .req(open),
        .accept(take && open != 0),
        .grant(pick)
    );
    for (genvar u = 0; u < Here; u++) begin : gen_unit
      logic asks_valid, mine;
      assign open[u] = asks_valid && !inside_q[u];
      assign waits[First+u] = asks_valid;
      assign asks[u].from = 5'(First + u);
      link_stages #(
          .Stages(PlaceStages)
      ) i_valid (
          .clk,
          .rst,
          .d(loops[First+u].valid),
          .q(asks_valid)
      );
      link_stages #(
          .Width ($bits(loop_request_t) - $bits(unit_t)),
          .Stages(PlaceStages)
      ) i_request (
          .clk,
          .rst(1'b0),
          .d({loops[First+u].dst, loops[First+u].len, loops[First+u].hash}),
          .q({asks[u].dst, asks[u].len, asks[u].hash})
      );
      assign mine = answer.valid && answer.from == 5'(First + u);
      logic said_q, granted_q;
      unit_t unit_q;
      slot_t slot_q;
      always_ff @(posedge clk) begin
        said_q <= mine && !answer.again && !rst;
        granted_q <= answer.granted;
        unit_q <= answer.unit_id;
        slot_q <= answer.slot;
        inside_q[u] <= ((take && pick[u]) || (inside_q[u] && !answered[u])) && !rst;
      end
      link_stages #(
          .Width (2 + $bits(unit_t) + $bits(slot_t)),
          .Stages(PlaceStages)
      ) i_answer (
          .clk,
          .rst,
          .d({said_q, granted_q, unit_q, slot_q}),
          .q({loops[First+u].answer, loops[First+u].granted, loops[First+u].unit_id, loops[First+u].slot})
      );
      // The answer takes its register and the stages to the unit, whose next request takes the stages back.
      link_stages #(
          .Stages(1 + 2 * PlaceStages)
      ) i_answered (
          .clk,
          .rst,
          .d(mine),
          .q(answered[u])
      );
    end
    loop_request_t picked;
    always_comb begin
      picked = '0;
      for (int unsigned u = 0; u < Here; u++) if (pick[u]) picked |= asks[u];
    end
    always_ff @(posedge clk) begin
      if (take) asked_q[c] <= picked;
      if (take) asked_valid_q[c] <= open != 0;
      if (rst) asked_valid_q[c] <= 1'b0;
    end
  end

  rr_arbiter #(
      .N(Clusters)
  ) i_arbiter (
      .clk,
      .rst,
      .req(asked_valid_q),
      .accept(step && asked_valid_q != 0),
      .grant(next)
  );
  loop_request_t chosen;
  always_comb begin
    chosen = '0;
    for (int unsigned c = 0; c < Clusters; c++) if (next[c]) chosen |= asked_q[c];
  end
  always_ff @(posedge clk) begin
    if (step) request <= chosen;
    if (step) request_valid <= asked_valid_q != 0;
    if (rst) request_valid <= 1'b0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst && request_valid)
      assert (request.dst == PortLoopback || (request.dst >= PortUnit && request.dst < PortUnit + port_t'(MaxUnits)))
      else $error("%m: no unit %0h", request.dst);
`endif

  // ---- frames
  frame_if gathered ();
  frame_gather #(
      .Links(Clusters),
      .Stages(Stages)
  ) i_gather (
      .clk,
      .rst,
      .in_valid,
      .in_beat,
      .room,
      .stuck(1'b0),
      .dropped(),
      .frames(gathered),
      .tail()
  );
  logic first_q, take_beat;
  unit_t unit_q;
  unit_t to;
  logic [Clusters-1:0] cluster;
  assign to = first_q ? gathered.meta.unit_id : unit_q;
  always_comb for (int unsigned c = 0; c < Clusters; c++) cluster[c] = 32'(to[4:2]) == c;
  assign gathered.ready = (cluster & out_room) != 0;
  assign take_beat = gathered.valid && gathered.ready;
  always_ff @(posedge clk) begin
    out_valid <= take_beat && !rst ? cluster : '0;
    out_beat.data <= gathered.data;
    out_beat.last <= gathered.last;
    if (take_beat) begin
      first_q <= gathered.last;
      unit_q  <= to;
      if (first_q) begin
        out_beat.meta <= gathered.meta;
        out_beat.meta.src <= PortLoopback;
      end
    end
    if (rst) first_q <= 1'b1;
  end

  // Frames leave the units here and enter the card again.
  always_ff @(posedge clk) begin
    tx_events.frame <= take_beat && gathered.last && !rst;
    tx_events.bytes <= first_q ? gathered.meta.len : out_beat.meta.len;
    tx_events.unsent <= '0;
    tx_events.stall <= gathered.valid && !gathered.ready && !rst;
    rx_events <= '0;
    rx_events.frame <= take_beat && gathered.last && !rst;
    rx_events.bytes <= first_q ? gathered.meta.len : out_beat.meta.len;
    rx_events.level <= 16'($countones(waits));
  end
endmodule

`default_nettype wire
