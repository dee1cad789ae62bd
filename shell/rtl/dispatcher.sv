// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Gives each frame its unit and its slot: one decision per source and cycle.
//
//   source ─┬─> queue of beats ───────────────────────┬─> C: does it fit the slot? ─> D: register ─> switch_in,
//           └─> queue of keys ─> N: unit ─> H: decide ─┘                             │               or nothing for a dropped frame
//               1                2          3             4                          └─> 5 cycles ─> answer to the loopback
//
// Beside the beats of a port their tails have a queue of their own, which is read one cycle later than the beats and
// meets them in D.
//
// Single-beat frames at one a cycle and source. A frame waits in H (and its source behind it) until its decision is
// there and its queue in the switch has room; then nothing stops it: `start_room` and `beat_room` leave space for beats
// in flight. The decision arrives late in the cycle, so it only moves a pointer and the head's key. N looks the unit of
// a hash up in RETA; H looks it up again in each cycle, so that a frame that waits follows a changed RETA. The verdict
// of an inline block on a port's frame (told_t) overrides POLICY: a key replaces the hash, and a named unit is the only
// choice. A frame whose unit is named, by hash, by an inline block or by its sender, is dropped if that unit is not
// enabled or has no slots, because it would wait for ever. Under the policy flow hash a frame waits for a full unit,
// and its source with it. Two limits keep it from stopping frames for other units:
//   - A unit that gives back no slot for `unit_timeout` cycles of waiting is stuck: frames for it are dropped at once
//     until it has a slot.
//   - While a port is `crowded`, its frames for a unit that is slow and full are dropped at once (stuck_units.sv). A port
//     is crowded if its ring is three quarters full, or if an inline block has no room for what it makes at this port.
//     A ring then empties at a beat a cycle, faster than a port fills it, so that no frame for another unit finds it
//     full. While a port is not crowded, frames wait.
// With `unit_timeout` = 0 frames wait for ever. The host's stream has no ring that overflows: its frames wait for slow
// units. A loopback frame for any unit waits in the same way while no unit can take it, so that units drain before a
// reload. The dispatcher chooses among the units of `unit_ingress` only, whatever RETA has for ports and host; an
// inline block and a sender over loopback may name any unit.
//
// The last source is the loopback: it brings requests instead of frames, for slots that the senders' frames will fill
// (loop_if.sv). One whose certain unit is full does not wait in H, where it would hold up those for other units: it is
// to ask again.
//
// Round robin and least loaded: source s works with cluster (t + s) mod R in cycle t, R = max(clusters, ports, 2), so
// that ports never collide; within the cluster the pool names the unit. Flow hash, and loopback to a certain unit: the
// source asks the cluster of that unit. In each cluster Ethernet ports come before host and loopback, except in one
// cycle of 17.
module dispatcher
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int unsigned Units = 16,
    // Derived
    parameter int unsigned Frames = Ports + 1,   // sources of frames
    parameter int unsigned Sources = Frames + 1,
    parameter int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster
) (
    input wire logic clk,
    input wire logic rst,

    frame_if.snk sources[Frames],  // the ports, the host
    input wire tail_t tails[Ports],  // of the ports' beats
    input wire told_t told[Ports],   // of the ports' frames
    input wire logic [Ports-1:0] crowded,  // see above

    output logic [Clusters-1:0] out_valid[Frames],  // cluster, one hot
    output beat_t               out_beat [Frames],  // labelled
    output tail_t               out_tail [Ports],
    input wire logic [Clusters-1:0] start_room[Frames],  // room for a frame's start in the switch's queue,
    input wire logic [Clusters-1:0] beat_room [Frames],  // for another beat

    input  wire logic          loop_valid,
    output logic               loop_ready,
    input  wire loop_request_t loop_request,
    output loop_answer_t       loop_answer,

    input wire slot_msg_t slots[Units],

    input wire policy_e policy,
    input wire logic [MaxUnits-1:0] unit_enable,
    input wire logic [MaxUnits-1:0] unit_ingress,  // those among which it chooses
    input wire logic [MaxUnits-1:0] unit_flush,   // for one cycle
    input wire cycles_t unit_timeout,

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

  // The inputs of a beat's routing
  typedef struct packed {
    logic last;
    logic exact;      // there is one unit for it, whatever POLICY is:
    logic to_unit;    // this one,
    unit_t unit_id;
    logic [6:0] hash; // or else that of RETA
  } key_t;

  // The state of all units; those beyond Units never have a slot.
  logic [AllUnits-1:0] ready, ready_told, ready_loop, declared, declared_loop, take, setup, give_back, scan, idle;
  logic [AllUnits-1:0] candidate, candidate_loop;
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
  logic [4:0] scan_q, setup_unit_q;
  always_ff @(posedge clk) begin
    setup_unit_q <= scan_q;
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
  always_ff @(posedge clk) if (setup != 0) size_mem[setup_unit_q] <= scan_size;

  logic nobody_q;  // there is no unit to choose
  always_ff @(posedge clk) nobody_q <= declared == 0;
  logic by_hash_q;
  always_ff @(posedge clk) by_hash_q <= policy == PolicyFlowHash || policy == PolicyFlowHashDrop;
  (* ram_style = "distributed" *) unit_t reta_mem[128];
  always_ff @(posedge clk) if (reta_we) reta_mem[reta_addr] <= reta_wdata;

  // Units that are worth waiting for
  logic [AllUnits-1:0] awaited_q, stuck, slow;
  logic [AllUnits-1:0] awaits[Frames];  // by source
  stuck_units #(
      .N(AllUnits)
  ) i_stuck (
      .clk,
      .rst,
      .timeout(unit_timeout),
      .awaited(awaited_q),
      .ready(ready_told),
      .stuck,
      .slow
  );
  always_ff @(posedge clk) begin
    awaited_q <= '0;
    for (int unsigned u = 0; u < AllUnits; u++)
      for (int unsigned s = 0; s < Frames; s++) if (awaits[s][u]) awaited_q[u] <= 1'b1;
  end

  // The requests and the grants of each source
  logic [Sources-1:0] need, grant;
  logic [AllUnits-1:0] choice[Sources];  // the units that a source would take now: at most one in each cluster
  logic [Sources-1:0] req[Clusters];
  logic [Sources-1:0] win[Clusters];
  logic [Sources-1:0] return_q;
  logic [AllUnits-1:0] return_unit_q[Sources];
  slot_t return_slot_q[Sources];

  for (genvar s = 0; s < Sources; s++) begin : gen_source
    // Queues. They have room for the beats that a source may still send after `ready` has fallen.
    localparam int unsigned Depth = 16;
    localparam int unsigned PointerW = $clog2(Depth) + 1;
    (* ram_style = "distributed" *) beat_t beat_mem[Depth];
    (* ram_style = "distributed" *) key_t key_mem[Depth];
    logic [PointerW-1:0] wr_q, key_q, rd_q;
    logic ready_q, push;
    beat_t in_beat, beat;
    key_t key, key_in;
    told_t s_told;
    logic [Clusters-1:0] s_start_room, s_beat_room;
    if (s == Loopback) begin : gen_requests
      assign push = loop_valid && ready_q;
      assign loop_ready = ready_q;
      assign in_beat = '{
              meta: '{
                  len: loop_request.len,
                  src: port_t'(loop_request.from),
                  dst: loop_request.dst,
                  hash: 32'(loop_request.hash),
                  default: '0
              },
              last: 1'b1,
              data: '0
          };
      assign s_start_room = '1;
      assign s_beat_room = '1;
      assign s_told = '{to_unit: loop_request.dst >= PortUnit, to_key: 1'b0, word: loop_request.dst[6:0]};
    end else begin : gen_frames
      assign push = sources[s].valid && ready_q;
      assign sources[s].ready = ready_q;
      assign in_beat = '{meta: sources[s].meta, last: sources[s].last, data: sources[s].data};
      assign s_start_room = start_room[s];
      assign s_beat_room = beat_room[s];
      if (s < Ports) begin : gen_told
        assign s_told = told[s];
      end else begin : gen_untold
        assign s_told = '0;
      end
    end
    assign key_in = '{
            last: in_beat.last,
            exact: s_told.to_unit || s_told.to_key,
            to_unit: s_told.to_unit,
            unit_id: s_told.word[4:0],
            hash: s_told.to_key ? s_told.word : in_beat.meta.hash[6:0]
        };
    assign beat = beat_mem[rd_q[PointerW-2:0]];
    always_comb begin
      key = key_mem[key_q[PointerW-2:0]];
      if (s == Frames - 1) {key.exact, key.to_unit} = '0;  // as they were written; synthesis does not look through a memory
    end
    always_ff @(posedge clk)
      if (push) begin
        beat_mem[wr_q[PointerW-2:0]] <= in_beat;
        key_mem[wr_q[PointerW-2:0]] <= key_in;
      end

    // N: the key of the beat behind the head, and the unit that it names
    logic n_valid_q, n_load;
    logic [AllUnits-1:0] s_ready, s_declared, s_candidate;
    logic [AllUnits-1:0] lasting_q, lasting_told_q;  // units that the source's frames may wait for
    assign s_ready = s == Loopback ? ready_loop : ready;
    assign s_declared = s == Loopback ? declared_loop : lasting_q;
    assign s_candidate = s == Loopback ? candidate_loop : candidate;
    key_t n_key_q;
    unit_t n_unit_q;
    // H: the head, which waits for its decision when it is the first beat of a frame
    logic h_valid_q, h_first_q, h_load, leaves, full, closed, drop, again, drops_q, exact, exact_q, named;
    key_t h_key_q;
    unit_t named_q;  // its unit, looked up again
    logic [AllUnits-1:0] unit_hot_q;  // the same, one hot, when no other will do
    logic [AllUnits-1:0] told_hot_q;  // the same, when an inline block has named it
    logic [Clusters-1:0] turn_hot_q;  // else: the cluster whose turn it is, one hot
    assign exact = by_hash_q || (h_load ? n_key_q.exact : h_key_q.exact);
    assign named = s < Ports && (h_load ? n_key_q.to_unit : h_key_q.to_unit);
    assign h_load = n_valid_q && (!h_valid_q || leaves);
    assign n_load = wr_q != key_q && (!n_valid_q || !h_valid_q || leaves);  // N is empty or moves into H
    always_ff @(posedge clk) begin
      ready_q <= wr_q - rd_q <= PointerW'(Depth - 4);
      if (push) wr_q <= wr_q + 1'b1;
      if (n_load) begin
        key_q <= key_q + 1'b1;
        n_key_q <= key;
        n_unit_q <= key.to_unit ? key.unit_id : reta_mem[key.hash];
      end
      n_valid_q <= n_load || (n_valid_q && !h_load);
      if (h_load) begin
        h_key_q   <= n_key_q;
        h_first_q <= h_valid_q ? h_key_q.last : h_first_q;
      end else if (leaves) begin
        h_first_q <= h_key_q.last;
      end
      exact_q <= exact;
      for (int unsigned u = 0; u < AllUnits; u++) begin
        unit_hot_q[u] <= exact && !named && (h_load ? n_unit_q : named_q) == 5'(u);
        told_hot_q[u] <= named && (h_load ? n_unit_q : named_q) == 5'(u);
      end
      for (int unsigned c = 0; c < Clusters; c++) turn_hot_q[c] <= !exact && turn_q[(c+8*Turns-s-1)%Turns];
      named_q <= h_load ? n_unit_q : h_key_q.to_unit ? h_key_q.unit_id : reta_mem[h_key_q.hash];
      h_valid_q <= h_load || (h_valid_q && !leaves);
      // A first beat is in H. A register of its own, because the decision starts here.
      need[s] <= h_load ? (h_valid_q ? h_key_q.last : h_first_q) : need[s] && !leaves;
      if (leaves) rd_q <= rd_q + 1'b1;
      drops_q <= policy == PolicyFlowHashDrop;
      if (rst) begin
        ready_q <= 1'b0;
        wr_q <= '0;
        key_q <= '0;
        rd_q <= '0;
        n_valid_q <= 1'b0;
        h_valid_q <= 1'b0;
        need[s] <= 1'b0;
        h_first_q <= 1'b1;
      end
    end
    for (genvar u = 0; u < AllUnits; u++) begin : gen_choice
      assign choice[s][u] = unit_hot_q[u] || told_hot_q[u] || (turn_hot_q[u/UnitsPerCluster] && s_candidate[u]);
    end
    logic s_crowded;
    if (s < Ports) begin : gen_crowded
      assign s_crowded = crowded[s] && unit_timeout != 0;
    end else begin : gen_patient
      assign s_crowded = 1'b0;
    end
    always_ff @(posedge clk) begin
      lasting_q <= declared & ~stuck & ~(s_crowded ? slow : '0);
      lasting_told_q <= declared_loop & ~stuck & ~(s_crowded ? slow : '0);
    end
    if (s < Frames) begin : gen_awaits
      assign awaits[s] = need[s] ? unit_hot_q | told_hot_q : '0;
    end
    assign full = exact_q && ((unit_hot_q & s_ready) | (told_hot_q & ready_told)) == 0;
    assign closed = s == Loopback && !exact_q && nobody_q;
    assign drop = closed || (full && (((unit_hot_q & s_declared) | (told_hot_q & lasting_told_q)) == 0 || (drops_q && !h_key_q.exact)));
    assign again = s == Loopback && full && !drop;
    logic c_lost_q;
    logic [Clusters-1:0] c_cluster_q;
    assign leaves = h_valid_q && (h_first_q ? grant[s] || drop || again : (c_cluster_q & s_beat_room) != 0 || c_lost_q);
    // Sources that request a unit that can take a frame
    for (genvar c = 0; c < Clusters; c++) begin : gen_req
      localparam int unsigned First = c * UnitsPerCluster;
      logic [UnitsPerCluster-1:0] can;
      assign can = (choice[s][First+:UnitsPerCluster] & s_ready[First+:UnitsPerCluster]) |
          (told_hot_q[First+:UnitsPerCluster] & ready_told[First+:UnitsPerCluster]);
      assign req[c][s] = need[s] && s_start_room[c] && can != 0;
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk)
      if (!rst) begin
        assert (need[s] == (h_valid_q && h_first_q)) else $error("%m: need and H disagree");
        assert (!grant[s] || !(drop || again)) else $error("%m: a frame that gets no slot has taken one");
      end
`endif

    // The label it would get now; whether it gets it is decided beside
    unit_t label_unit;
    slot_t label_slot;
    logic [Clusters-1:0] label_cluster;
    always_comb begin
      label_unit = '0;
      label_slot = '0;
      label_cluster = '0;
      for (int unsigned u = 0; u < AllUnits; u++)
        if (choice[s][u]) begin
          label_unit |= 5'(u);
          label_slot |= next_slot[u];
          label_cluster[u/UnitsPerCluster] = 1'b1;
        end
    end

    // C: does it fit?
    logic c_valid_q, c_first_q, c_policy_q, c_again_q, too_long, c_lost;
    beat_t c_beat_q;
    assign too_long = c_valid_q && c_first_q && !c_policy_q && !c_again_q && c_beat_q.meta.len > size_mem[c_beat_q.meta.unit_id];
    assign c_lost = c_first_q ? c_policy_q || too_long : c_lost_q;
    always_ff @(posedge clk) begin
      c_valid_q <= leaves && !rst;
      // The head passes into C in each cycle, and counts when it leaves
      c_beat_q.data <= beat.data;
      c_beat_q.last <= beat.last;
      c_first_q <= h_first_q;
      c_policy_q <= drop;
      c_again_q <= again;
      if (need[s]) begin
        c_beat_q.meta <= beat.meta;
        c_beat_q.meta.unit_id <= label_unit;
        c_beat_q.meta.slot <= label_slot;
        c_cluster_q <= label_cluster;
      end
      // The rest of a dropped frame leaves the head whatever the switch says
      if (c_valid_q) c_lost_q <= c_lost && !c_beat_q.last;
      if (rst) c_lost_q <= 1'b0;
    end

    // D: to the switch, or to the loopback; a slot that is too small goes back to the pool
    if (s == Loopback) begin : gen_answer
      always_ff @(posedge clk)
        loop_answer <= '{
            valid: c_valid_q && !rst,
            granted: !c_lost && !c_again_q,
            again: c_again_q,
            from: unit_t'(c_beat_q.meta.src),
            unit_id: c_beat_q.meta.unit_id,
            slot: c_beat_q.meta.slot
        };
    end else begin : gen_out
      always_ff @(posedge clk) begin
        out_valid[s] <= (c_valid_q && !c_lost && !rst) ? c_cluster_q : '0;
        out_beat[s].data <= c_beat_q.data;
        out_beat[s].last <= c_beat_q.last;
        if (c_first_q) out_beat[s].meta <= c_beat_q.meta;
      end
    end
    if (s < Ports) begin : gen_tail
      (* ram_style = "distributed" *) tail_t tail_mem[Depth];
      logic [PointerW-2:0] tail_rd_q;
      always_ff @(posedge clk) begin
        if (push) tail_mem[wr_q[PointerW-2:0]] <= tails[s];
        tail_rd_q <= rd_q[PointerW-2:0];
        out_tail[s] <= tail_mem[tail_rd_q];
      end
    end
    always_ff @(posedge clk) begin
      return_q[s] <= too_long && !rst;
      if (too_long) begin
        return_slot_q[s] <= c_beat_q.meta.slot;
        for (int unsigned u = 0; u < AllUnits; u++) return_unit_q[s][u] <= c_beat_q.meta.unit_id == 5'(u);
      end
      events[s].oversize <= too_long && !rst;
      events[s].policy <= c_valid_q && c_first_q && c_policy_q && !rst;
      events[s].stall <= need[s] && !grant[s] && !drop && !again && !rst;
    end
  end

  for (genvar c = 0; c < Clusters; c++) begin : gen_cluster
    localparam int unsigned First = c * UnitsPerCluster;
    localparam int unsigned Here = (Units - First < UnitsPerCluster) ? Units - First : UnitsPerCluster;

    // The source that gets a unit
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
        for (int unsigned s = 0; s < Sources; s++) take[First+u] |= win[c][s] && choice[s][First+u];
      end

    // At most one frame a cycle was labelled here, so at most one slot comes back.
    slot_t back_slot;
    logic [MaxSlots-1:0] back_slot_q;
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
    always_ff @(posedge clk) begin
      for (int unsigned i = 0; i < MaxSlots; i++) back_slot_q[i] <= back_slot == slot_t'(i + 1);
      give_back[First+:UnitsPerCluster] <= rst ? '0 : back_unit;
    end

    slot_pool #(
        .N(Here)
    ) i_pool (
        .clk,
        .rst,
        .policy,
        .enable(unit_enable[First+:Here]),
        .ingress(unit_ingress[First+:Here]),
        .flush(unit_flush[First+:Here]),
        .slots(slots[First:First+Here-1]),
        .scan(scan[First+:Here]),
        .setup(setup[First+:Here]),
        .setup_size(setup_size[c]),
        .ready(ready[First+:Here]),
        .ready_told(ready_told[First+:Here]),
        .ready_loop(ready_loop[First+:Here]),
        .next(next_slot[First:First+Here-1]),
        .declared(declared[First+:Here]),
        .declared_loop(declared_loop[First+:Here]),
        .take(take[First+:Here]),
        .give_back(give_back[First+:Here]),
        .give_back_slot(back_slot_q),
        .candidate(candidate[First+:Here]),
        .candidate_loop(candidate_loop[First+:Here]),
        .free(free_count[First:First+Here-1]),
        .total(total_count[First:First+Here-1]),
        .idle(idle[First+:Here])
    );
    for (genvar u = Here; u < UnitsPerCluster; u++) begin : gen_absent
      assign ready[First+u] = 1'b0;
      assign ready_told[First+u] = 1'b0;
      assign ready_loop[First+u] = 1'b0;
      assign declared[First+u] = 1'b0;
      assign declared_loop[First+u] = 1'b0;
      assign setup[First+u] = 1'b0;
      assign candidate[First+u] = 1'b0;
      assign candidate_loop[First+u] = 1'b0;
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

  // The host's view
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
        assert ((take[c*4+:4] & ~ready_loop[c*4+:4]) == 0) else $error("%m: a slot that was not ready");
      end
  end
`endif
endmodule

`default_nettype wire
