// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The free slots of one cluster's units, and the unit that round robin or least loaded would choose next.
//
//   slot messages ─> register ─> one hot ─> free bits of each unit ─> spare slot ─> next slot ─> label of a frame
//                    1           2          3        └─> count ─> compare ─> candidate
//
// Each unit's next slot has a spare behind it, so each unit can give one slot a cycle, and the choice of the spare does
// not wait for `take`. The counts are two cycles late: they guide the choice, but only `ready` guarantees a slot. The
// pool keeps the last free slot of a unit for frames over loopback, unless the unit has only one slot: `ready` is false
// then, and `ready_loop` true. Frames that wait in a unit for a place in another one therefore always find one
// eventually, however many arrive from the ports. Units without `ingress` serve senders over loopback that name them:
// they have no `ready`, and are never a candidate.
// A set-up takes effect when `scan` passes the unit and all slots that the unit had before are back. Until then the
// unit has its old slots, and gets no frames: a slot that holds a frame is never declared free. Freeing a slot that is
// free, or that was never declared, changes nothing.
module slot_pool
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned N = UnitsPerCluster  // units of this cluster
) (
    input wire logic      clk,
    input wire logic      rst,
    input wire policy_e   policy,
    input wire logic [N-1:0] enable,
    input wire logic [N-1:0] ingress,
    input wire logic [N-1:0] flush,
    input wire slot_msg_t slots[N],

    input wire logic [N-1:0] scan,        // whose set-up may take effect now: one hot or zero
    output logic     [N-1:0] setup,       // one cycle later: it does,
    output len_t             setup_size,  // with slots of so many bytes

    // for ports and host: slots are free, `next` and one more; falls in the cycle after `enable`
    output logic [N-1:0] ready,
    // the same for frames that an inline block sends to this unit, which `ingress` does not keep out
    output logic [N-1:0] ready_told,
    output logic [N-1:0] ready_loop,  // a slot is free: `next`
    output slot_t        next  [N],
    output logic [N-1:0] declared,   // enabled, has slots, and is for ports and host
    output logic [N-1:0] declared_loop,  // enabled, and has slots
    input  wire logic [N-1:0] take,  // `next` has been given to a frame

    input wire logic [N-1:0]        give_back,       // of a frame that did not need it: one hot or zero
    input wire logic [MaxSlots-1:0] give_back_slot,  // one hot

    output logic [N-1:0] candidate,       // one hot: the unit for the next frame that may go to any with `ingress`,
    output logic [N-1:0] candidate_loop,  // for the next over loopback
    output slot_t        free [N],   // counts
    output slot_t        total[N],
    output logic [N-1:0] idle
);
  function automatic logic [MaxSlots-1:0] slot_bit(slot_t slot);
    return MaxSlots'(1) << 5'(slot - 6'd1);
  endfunction
  // Two of the three places have a free slot, or one has the unit's only one
  function automatic logic enough(logic a, logic b, logic c, logic only);
    return (a && b) || (a && c) || (b && c) || (only && (a || b || c));
  endfunction

  localparam int unsigned ReturnCycles = 3;  // from `take` to `give_back`

  logic [N-1:0] pending_q, settled, more, open;
  assign open = enable & ingress;

  // No slot is taken from a unit that is to be set up, and slots taken before are counted
  localparam int unsigned SettleCycles = 4;  // from the last `take` to `idle`
  len_t size_q[N];
  slot_t count_q[N];
  slot_t setup_count;  // of the unit that sets up

  for (genvar u = 0; u < N; u++) begin : gen_unit
    logic free_valid_q, forget;
    slot_t free_slot_q;
    assign forget = setup[u] || flush[u] || rst;

    // 1: the message
    always_ff @(posedge clk) begin
      if (slots[u].free_valid) free_slot_q <= slots[u].free_slot;
      free_valid_q <= slots[u].free_valid && !rst;
      if (slots[u].setup_valid) begin
        count_q[u] <= slots[u].setup_count > slot_t'(MaxSlots) ? slot_t'(MaxSlots) : slots[u].setup_count;
        size_q[u] <= slots[u].setup_size;
      end
      pending_q[u] <= (slots[u].setup_valid || (pending_q[u] && !(scan[u] && settled[u]))) && !rst;
    end
    logic [SettleCycles-1:0] settle_q;
    always_ff @(posedge clk) settle_q <= pending_q[u] ? {settle_q[SettleCycles-2:0], 1'b1} : '0;
    assign settled[u] = settle_q[SettleCycles-1] && idle[u];

    // 2: a declared slot, one hot
    logic [MaxSlots-1:0] freed_hot_q;
    slot_t freed_slot_q, total_q;
    logic known;
    assign known = free_slot_q != 0 && free_slot_q <= total_q;
    always_ff @(posedge clk) begin
      freed_slot_q <= free_slot_q;
      freed_hot_q  <= (free_valid_q && known && !forget) ? slot_bit(free_slot_q) : '0;
    end

    // 3: the free ones are `next_q`, `spare_q` and the bits of `bits_q`
    logic [MaxSlots-1:0] bits_q, lowest;
    slot_t lowest_index, next_q, spare_q, free_q;
    logic valid_q, valid_d, spare_valid_q, some, plenty, two, refill, load, held, freed_q, take_q, only_q;
    logic returned;

    // Lowest free slot: x & -x isolates its bit
    assign lowest = bits_q & (~bits_q + 1'b1);
    always_comb begin
      lowest_index = '0;
      for (int unsigned i = 0; i < MaxSlots; i++) if (lowest[i]) lowest_index |= slot_t'(i + 1);
    end
    assign some = bits_q != 0;
    // whatever was taken in the two cycles that it does not know of, two are left
    assign plenty = free_q >= slot_t'(4);
    assign refill = some && !spare_valid_q;
    assign load = take[u] || !valid_q;
    assign two = (valid_d && plenty) || enough(valid_q && !take[u], spare_valid_q, some, only_q);
    assign valid_d = (valid_q && !take[u]) || spare_valid_q || some;
    assign held = (valid_q && next_q == freed_slot_q) || (spare_valid_q && spare_q == freed_slot_q);

    always_ff @(posedge clk) begin
      if (refill) spare_q <= lowest_index;
      if (load) next_q <= spare_valid_q ? spare_q : lowest_index;
      spare_valid_q <= !load && (spare_valid_q || refill) && !forget;
      valid_q <= valid_d && !forget;
      ready[u] <= two && !forget && open[u] && !pending_q[u];
      ready_told[u] <= two && !forget && enable[u] && !pending_q[u];
      ready_loop[u] <= valid_d && !forget && enable[u] && !pending_q[u];

      bits_q <= (bits_q & ~(refill ? lowest : '0)) | (held ? '0 : freed_hot_q & ~bits_q) | (returned ? give_back_slot : '0);
      freed_q <= (freed_hot_q & ~bits_q) != 0 && !held && !forget;
      take_q <= take[u] && !forget;
      free_q <= free_q + slot_t'(freed_q) + slot_t'(returned) - slot_t'(take_q);
      if (setup[u]) begin
        for (int unsigned i = 0; i < MaxSlots; i++) bits_q[i] <= slot_t'(i) < setup_count;
        free_q  <= setup_count;
        total_q <= setup_count;
      end
      if (flush[u] || rst) begin
        bits_q  <= '0;
        free_q  <= '0;
        total_q <= '0;
      end
      idle[u] <= free_q == total_q;
      only_q <= total_q == slot_t'(1);
      declared[u] <= total_q != 0 && open[u];
      declared_loop[u] <= total_q != 0 && enable[u];
    end

    // A frame that was labelled before the slots were forgotten returns no slot.
    logic [ReturnCycles-1:0] forgot_q;
    always_ff @(posedge clk) forgot_q <= {forgot_q[ReturnCycles-2:0], forget};
    assign returned = give_back[u] && forgot_q == 0 && !forget;

    // Will have slots in the next cycle even if the candidate loses one in this
    assign more[u]  = open[u] && !pending_q[u] && ((some && plenty) || enough(valid_q && !candidate[u], spare_valid_q, some, only_q));
    assign next[u]  = next_q;
    assign free[u]  = free_q;
    assign total[u] = total_q;

`ifndef SYNTHESIS
    // Each declared slot is in one place: free, here or there, or given to a frame (proven in shell/formal).
    logic [MaxSlots-1:0] given_q, all, next_hot, spare_hot, freed;
    assign next_hot = valid_q ? slot_bit(next_q) : '0;
    assign spare_hot = spare_valid_q ? slot_bit(spare_q) : '0;
    assign freed = held ? '0 : freed_hot_q & ~bits_q;
    always_comb for (int unsigned i = 0; i < MaxSlots; i++) all[i] = slot_t'(i) < total_q;
    always_ff @(posedge clk) begin
      given_q <= forget ? '0 : (given_q | (take[u] ? next_hot : '0)) & ~(freed | (returned ? give_back_slot : '0));
      if (!rst) begin
        assert (!take[u] || valid_q) else $error("%m: there is no slot to take");
        assert (!returned || (give_back_slot & given_q) != 0) else $error("%m: a slot comes back that no frame has");
        assert (!setup[u] || flush[u] || given_q == 0) else $error("%m: slots are declared anew while frames have some");
        assert ((bits_q | next_hot | spare_hot | given_q) == all) else $error("%m: a slot is lost, or was never declared");
        assert (32'($countones(bits_q)) + 32'(valid_q) + 32'(spare_valid_q) + 32'($countones(given_q)) == 32'(total_q))
        else $error("%m: a slot is in two places");
        assert (32'($countones(bits_q)) + 32'(valid_q) + 32'(spare_valid_q) == 32'(free_q) + 32'(freed_q) - 32'(take_q))
        else $error("%m: the count of free slots is wrong");
      end
    end
`endif
  end

  always_ff @(posedge clk) begin
    setup <= rst ? '0 : pending_q & scan & settled;
    setup_size <= '0;
    for (int unsigned u = 0; u < N; u++)
      if (scan[u]) begin
        setup_size  <= size_q[u];
        setup_count <= count_q[u];
      end
  end

  // Round robin: the next of `others` after the candidate
  function automatic logic [N-1:0] behind(logic [N-1:0] now, logic [N-1:0] others);
    logic [N-1:0] preferred;
    preferred = others & ~(now | (now - 1'b1));
    return preferred != 0 ? preferred & (~preferred + 1'b1) : others & (~others + 1'b1);
  endfunction
  logic [N-1:0] candidate_q, loop_q, ready_any;
  assign ready_any = ready_loop & ingress;

  // Least loaded: of the units that can take a frame the one with more free slots than those before it, and no fewer
  // than those behind it
  logic [N-1:0] above_q[N];  // row u: the units that have fewer
  always_ff @(posedge clk) for (int unsigned u = 0; u < N; u++) for (int unsigned v = 0; v < N; v++) above_q[u][v] <= free[u] > free[v];
  function automatic logic [N-1:0] most(logic [N-1:0] others);
    most = others;
    for (int unsigned u = 0; u < N; u++)
      for (int unsigned v = 0; v < N; v++)
        if (others[v] && ((v < u && !above_q[u][v]) || (v > u && above_q[v][u]))) most[u] = 1'b0;
  endfunction

  always_ff @(posedge clk) begin
    if (policy == PolicyLeastLoaded) candidate_q <= most(ready);
    else if ((take & candidate_q) != 0 || (ready & candidate_q) == 0) candidate_q <= behind(candidate_q, more);
    if (policy == PolicyLeastLoaded) loop_q <= most(ready_any);
    else if ((take & loop_q) != 0 || (ready_any & loop_q) == 0) loop_q <= behind(loop_q, ready_any);
    if (rst) begin
      candidate_q <= '0;
      loop_q <= '0;
    end
  end
  assign candidate = candidate_q;
  assign candidate_loop = loop_q;
endmodule

`default_nettype wire
