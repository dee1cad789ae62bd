// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Gives each frame its unit and its slot: one decision per source and cycle.
//
//   source ─> queue ─┬─> B: decide ─> C: does it fit the slot? ─> D: register ─> switch_in, or nothing for a dropped frame
//                    └─> unit of its hash (RETA)
//
// Latency 3 cycles; single-beat frames at one a cycle and source. A frame waits in B (and its source behind it) until its decision is there
// and its queue in the switch has room; from then on nothing holds it: `start_room` and `beat_room` leave space for what is on its way.
//
// Round robin and least loaded: source s works with cluster (t + s) mod R in cycle t, R = max(clusters, ports, 2), so that ports never
// collide; within the cluster the pool names the unit. Flow hash, and loopback to a certain unit: the source asks the cluster of that unit.
// In each cluster Ethernet ports come before host and loopback, except in one cycle of 17.
module dispatcher
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int unsigned Units = 16,
    // Derived
    parameter int unsigned Sources = Ports + 2,
    parameter int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster
) (
    input wire logic clk,
    input wire logic rst,

    frame_if.snk sources[Sources],  // the ports, the host, the loopback

    output logic [Clusters-1:0] out_valid[Sources],  // cluster, one hot
    output beat_t               out_beat [Sources],  // labelled
    input wire logic [Clusters-1:0] start_room[Sources],  // room for a frame's start in the switch's queue,
    input wire logic [Clusters-1:0] beat_room [Sources],  // for another beat

    input wire slot_msg_t slots[Units],

    input wire policy_e policy,
    input wire logic [MaxUnits-1:0] unit_enable,
    input wire logic [MaxUnits-1:0] unit_flush,   // for one cycle

    input  wire logic        reta_we,
    input  wire logic  [6:0] reta_addr,
    input  wire unit_t       reta_wdata,
    output unit_t            reta_rdata,

    input  wire unit_t    show_unit,  // whose state is shown
    output slot_t         show_free,
    output slot_t         show_total,
    output len_t          show_size,
    output logic [MaxUnits-1:0] units_idle,

    output dispatch_event_t events[Sources]
);
  localparam int unsigned AllUnits = Clusters * UnitsPerCluster;
  localparam int unsigned Loopback = Sources - 1;
  localparam int unsigned Turns = (Clusters > Ports && Clusters > 2) ? Clusters : (Ports > 2 ? Ports : 2);

  // The state of all units; those beyond Units never have a slot.
  logic [AllUnits-1:0] ready, declared, take, setup, give_back, candidate, scan, idle;
  slot_t next_slot[MaxUnits];
  slot_t free_count[MaxUnits];
  slot_t total_count[MaxUnits];
  len_t setup_size[Clusters];

  // Turns, and the cycle in which host and loopback come first
  logic [Turns-1:0] turn_q;
  logic [Ports-1:0] port_turn_q;
  logic [4:0] polite_q;
  logic polite_now_q, other_turn_q;
  always_ff @(posedge clk) begin
    turn_q <= {turn_q[Turns-2:0], turn_q[Turns-1]};
    port_turn_q <= Ports'({port_turn_q, port_turn_q[Ports-1]});
    polite_q <= polite_now_q ? 5'd0 : polite_q + 5'd1;
    polite_now_q <= polite_q == 5'd15;
    other_turn_q <= other_turn_q ^ polite_now_q;
    if (rst) begin
      turn_q <= Turns'(1);
      port_turn_q <= Ports'(1);
      polite_q <= '0;
      polite_now_q <= 1'b0;
      other_turn_q <= 1'b0;
    end
  end

  // Set-ups take effect one unit a cycle, so that the sizes fit into one memory.
  logic [4:0] scan_q;
  always_ff @(posedge clk) begin
    scan_q <= scan_q == 5'(AllUnits - 1) ? '0 : scan_q + 5'd1;
    if (rst) scan_q <= '0;
  end
  always_comb for (int unsigned u = 0; u < AllUnits; u++) scan[u] = scan_q == 5'(u);
  (* ram_style = "distributed" *) len_t size_mem[MaxUnits];
  len_t scan_size;
  always_comb begin
    scan_size = '0;
    for (int unsigned c = 0; c < Clusters; c++) scan_size |= setup_size[c];
  end
  always_ff @(posedge clk) if (setup != 0) size_mem[scan_q] <= scan_size;

  (* ram_style = "distributed" *) unit_t reta_mem[128];
  always_ff @(posedge clk) if (reta_we) reta_mem[reta_addr] <= reta_wdata;

  // What each source asks for, and gets
  logic [Sources-1:0] need_q, exact_q, grant;
  logic [AllUnits-1:0] unit_hot_q[Sources];
  logic [Clusters-1:0] turn_hot[Sources];
  logic [Sources-1:0] req[Clusters];
  logic [Sources-1:0] win[Clusters];
  logic [Clusters-1:0] cluster_ready;
  logic [Sources-1:0] return_q;
  logic [AllUnits-1:0] return_unit_q[Sources];
  slot_t return_slot_q[Sources];

  for (genvar s = 0; s < Sources; s++) begin : gen_source
    for (genvar c = 0; c < Clusters; c++) begin : gen_turn
      assign turn_hot[s][c] = turn_q[(c+8*Turns-s)%Turns];
    end

    // B: the beat that waits for its decision, with the unit that its hash or its destination names
    logic b_valid_q, b_first_q, b_last_q, b_to_unit_q, b_leaves, b_load, b_drop;
    logic [DataW-1:0] b_data_q;
    frame_meta_t b_meta_q;
    logic [Clusters-1:0] c_cluster_q;
    logic c_lost_q;

    // A frame that leaves a unit for a certain other one
    logic a_to_unit, wants_unit;
    unit_t a_unit, b_unit, unit_d, b_unit_q;
    assign a_to_unit = s == Loopback && sources[s].meta.dst >= PortUnit;
    assign a_unit = a_to_unit ? sources[s].meta.dst[4:0] : reta_mem[sources[s].meta.hash[6:0]];
    assign b_unit = b_to_unit_q ? b_meta_q.dst[4:0] : reta_mem[b_meta_q.hash[6:0]];
    assign unit_d = b_load ? a_unit : b_unit;
    assign wants_unit = (policy == PolicyFlowHash || policy == PolicyFlowHashDrop) || (b_load ? a_to_unit : b_to_unit_q);

    assign b_load = sources[s].valid && (!b_valid_q || b_leaves);
    assign sources[s].ready = !b_valid_q || b_leaves;
    always_ff @(posedge clk) begin
      if (b_load) begin
        b_data_q  <= sources[s].data;
        b_last_q  <= sources[s].last;
        b_first_q <= b_valid_q ? b_last_q : b_first_q;
        if (b_valid_q ? b_last_q : b_first_q) begin
          b_meta_q <= sources[s].meta;
          b_to_unit_q <= a_to_unit;
        end
      end else if (b_leaves) begin
        b_first_q <= b_last_q;
      end
      b_valid_q <= b_load || (b_valid_q && !b_leaves);
      if (b_load || b_valid_q) begin
        b_unit_q <= unit_d;
        for (int unsigned u = 0; u < AllUnits; u++) unit_hot_q[s][u] <= unit_d == 5'(u);
        exact_q[s] <= wants_unit;
      end
      if (rst) begin
        b_valid_q <= 1'b0;
        b_first_q <= 1'b1;
      end
    end
    assign need_q[s] = b_valid_q && b_first_q;
    assign b_drop = need_q[s] && exact_q[s] && (unit_hot_q[s] & ready) == 0 &&
        (b_to_unit_q ? (unit_hot_q[s] & declared) == 0 : policy == PolicyFlowHashDrop);
    assign b_leaves = b_valid_q && (b_first_q ? grant[s] || b_drop : (c_cluster_q & beat_room[s]) != 0 || c_lost_q);

    // The label it would get now; whether it gets it is decided beside
    unit_t label_unit;
    logic [Clusters-1:0] label_cluster;
    always_comb begin
      label_unit = b_unit_q;
      for (int unsigned c = 0; c < Clusters; c++) label_cluster[c] = unit_hot_q[s][c*UnitsPerCluster+:UnitsPerCluster] != 0;
      if (!exact_q[s]) begin
        label_cluster = turn_hot[s];
        label_unit = '0;
        for (int unsigned c = 0; c < Clusters; c++)
          for (int unsigned u = 0; u < UnitsPerCluster; u++)
            if (turn_hot[s][c] && candidate[c*UnitsPerCluster+u]) label_unit |= 5'(c * UnitsPerCluster + u);
      end
    end

    // C: does it fit?
    logic c_valid_q, c_first_q, c_policy_q, too_long, c_lost;
    beat_t c_beat_q;
    assign too_long = c_valid_q && c_first_q && !c_policy_q && c_beat_q.meta.len > size_mem[c_beat_q.meta.unit_id];
    assign c_lost = c_first_q ? c_policy_q || too_long : c_lost_q;
    always_ff @(posedge clk) begin
      c_valid_q <= b_leaves && !rst;
      if (b_leaves) begin
        c_beat_q.data <= b_data_q;
        c_beat_q.last <= b_last_q;
        c_first_q <= b_first_q;
        c_policy_q <= b_drop;
        if (b_first_q) begin
          c_beat_q.meta <= b_meta_q;
          c_beat_q.meta.unit_id <= label_unit;
          c_beat_q.meta.slot <= next_slot[label_unit];
          c_cluster_q <= label_cluster;
        end
      end
      // The rest of a dropped frame leaves B whatever the switch says
      if (c_valid_q) c_lost_q <= c_lost && !c_beat_q.last;
      if (rst) c_lost_q <= 1'b0;
    end

    // D: to the switch; a slot that is too small goes back to the pool
    always_ff @(posedge clk) begin
      out_valid[s] <= (c_valid_q && !c_lost && !rst) ? c_cluster_q : '0;
      if (c_valid_q && !c_lost) begin
        out_beat[s].data <= c_beat_q.data;
        out_beat[s].last <= c_beat_q.last;
        if (c_first_q) out_beat[s].meta <= c_beat_q.meta;
      end
      return_q[s] <= too_long && !rst;
      if (too_long) begin
        return_slot_q[s] <= c_beat_q.meta.slot;
        for (int unsigned u = 0; u < AllUnits; u++) return_unit_q[s][u] <= c_beat_q.meta.unit_id == 5'(u);
      end
      events[s].oversize <= too_long && !rst;
      events[s].policy <= c_valid_q && c_first_q && c_policy_q && !rst;
      events[s].stall <= need_q[s] && !grant[s] && !b_drop && !rst;
    end
  end

  for (genvar c = 0; c < Clusters; c++) begin : gen_cluster
    localparam int unsigned First = c * UnitsPerCluster;
    localparam int unsigned Here = (Units - First < UnitsPerCluster) ? Units - First : UnitsPerCluster;

    // Who asks for a unit that can take a frame
    assign cluster_ready[c] = (candidate[First+:UnitsPerCluster] & ready[First+:UnitsPerCluster]) != 0;
    always_comb
      for (int unsigned s = 0; s < Sources; s++)
        req[c][s] = need_q[s] && start_room[s][c] && (
          exact_q[s] ? (unit_hot_q[s][First+:UnitsPerCluster] & ready[First+:UnitsPerCluster]) != 0 :
                       turn_hot[s][c] && cluster_ready[c]);

    // Who gets it
    logic [1:0] others;
    logic ports_first;
    assign others = req[c][Sources-1:Ports];
    assign ports_first = req[c][Ports-1:0] != 0 && !(polite_now_q && others != 0);
    always_comb begin
      automatic logic [2*Ports-1:0] twice;
      win[c] = '0;
      if (ports_first) begin
        // The first at or above the port whose turn it is
        twice = {req[c][Ports-1:0], req[c][Ports-1:0]};
        twice &= ~((2 * Ports)'(port_turn_q) - 1'b1);
        twice &= ~twice + 1'b1;
        win[c][Ports-1:0] = twice[2*Ports-1:Ports] | twice[Ports-1:0];
      end else begin
        win[c][Ports] = others[0] && !(others[1] && other_turn_q);
        win[c][Ports+1] = others[1] && !(others[0] && !other_turn_q);
      end
    end

    always_comb
      for (int unsigned u = 0; u < UnitsPerCluster; u++) begin
        take[First+u] = 1'b0;
        for (int unsigned s = 0; s < Sources; s++)
          if (win[c][s] && (exact_q[s] ? unit_hot_q[s][First+u] : candidate[First+u])) take[First+u] = 1'b1;
      end

    // At most one frame a cycle was labelled here, so at most one slot comes back.
    slot_t back_slot;
    logic [UnitsPerCluster-1:0] back_unit;
    always_comb begin
      back_slot = '0;
      back_unit = '0;
      for (int unsigned s = 0; s < Sources; s++)
        if (return_q[s] && return_unit_q[s][First+:UnitsPerCluster] != 0) begin
          back_slot |= return_slot_q[s];
          back_unit |= return_unit_q[s][First+:UnitsPerCluster];
        end
    end
    assign give_back[First+:UnitsPerCluster] = back_unit;

    slot_pool #(
        .N(Here)
    ) i_pool (
        .clk,
        .rst,
        .policy,
        .enable(unit_enable[First+:Here]),
        .flush(unit_flush[First+:Here]),
        .slots(slots[First:First+Here-1]),
        .scan(scan[First+:Here]),
        .setup(setup[First+:Here]),
        .setup_size(setup_size[c]),
        .ready(ready[First+:Here]),
        .next(next_slot[First:First+Here-1]),
        .declared(declared[First+:Here]),
        .take(take[First+:Here]),
        .give_back(give_back[First+:Here]),
        .give_back_slot(back_slot),
        .candidate(candidate[First+:Here]),
        .free(free_count[First:First+Here-1]),
        .total(total_count[First:First+Here-1]),
        .idle(idle[First+:Here])
    );
    for (genvar u = Here; u < UnitsPerCluster; u++) begin : gen_absent
      assign ready[First+u] = 1'b0;
      assign declared[First+u] = 1'b0;
      assign setup[First+u] = 1'b0;
      assign candidate[First+u] = 1'b0;
      assign idle[First+u] = 1'b0;
    end
  end
  for (genvar u = Units; u < MaxUnits; u++) begin : gen_absent
    assign next_slot[u] = '0;
    assign free_count[u] = '0;
    assign total_count[u] = '0;
  end

  always_comb begin
    grant = '0;
    for (int unsigned c = 0; c < Clusters; c++) grant |= win[c];
  end

  // What the host sees
  always_ff @(posedge clk) begin
    show_free <= free_count[show_unit];
    show_total <= total_count[show_unit];
    show_size <= total_count[show_unit] != 0 ? size_mem[show_unit] : '0;
    reta_rdata <= reta_mem[reta_addr];
    units_idle <= MaxUnits'(idle);
  end

`ifndef SYNTHESIS
  for (genvar c = 0; c < Clusters; c++) begin : gen_assert
    always_ff @(posedge clk)
      if (!rst) begin
        assert ($onehot0(win[c])) else $error("%m: two frames got one slot");
        assert ((take[c*4+:4] & ~ready[c*4+:4]) == 0) else $error("%m: a slot that was not ready");
      end
  end
`endif
endmodule

`default_nettype wire
