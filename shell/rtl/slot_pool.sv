// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The free slots of one cluster's units, and the unit that round robin or least loaded would choose next.
//
//   slot messages ─> register ─> free bits of each unit ─> next slot (register) ─> label of a frame
//                                            └─> count ─> candidate (register)
//
// A unit's next slot stands ready in a register and is replaced in the cycle after `take`, so each unit can lose one a cycle.
// A set-up takes effect when `scan` passes the unit; until then the unit has the slots it had before.
// Freeing a slot that is free, or that was never declared, changes nothing.
module slot_pool
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned N = UnitsPerCluster  // units of this cluster
) (
    input wire logic      clk,
    input wire logic      rst,
    input wire policy_e   policy,
    input wire logic [N-1:0] enable,
    input wire logic [N-1:0] flush,
    input wire slot_msg_t slots[N],

    input wire logic [N-1:0] scan,        // whose set-up may take effect now: one hot or zero
    output logic     [N-1:0] setup,       // it does,
    output len_t             setup_size,  // with slots of so many bytes

    output logic [N-1:0] ready,      // enabled, and a slot is free: `next`
    output slot_t        next  [N],
    output logic [N-1:0] declared,   // enabled, and has slots
    input  wire logic [N-1:0] take,  // `next` has been given to a frame

    input wire logic [N-1:0] give_back,      // of a frame that did not need it: one hot or zero
    input wire slot_t        give_back_slot,

    output logic [N-1:0] candidate,  // one hot: the unit for the next frame that may go anywhere
    output slot_t        free [N],   // counts
    output slot_t        total[N],
    output logic [N-1:0] idle
);
  localparam int unsigned BestW = N > 1 ? $clog2(N) : 1;

  function automatic logic [MaxSlots-1:0] slot_bit(slot_t slot);
    return MaxSlots'(1) << 5'(slot - 6'd1);
  endfunction

  logic [N-1:0] pending_q;
  len_t size_q[N];

  for (genvar u = 0; u < N; u++) begin : gen_unit
    logic free_valid_q;
    slot_t free_slot_q, count_q, next_q, free_q, total_q, lowest_index;
    logic [MaxSlots-1:0] bits_q, bits_d, lowest;
    logic valid_q, refill, known, freed;

    always_ff @(posedge clk) begin
      if (slots[u].free_valid) free_slot_q <= slots[u].free_slot;
      free_valid_q <= slots[u].free_valid && !rst;
      if (slots[u].setup_valid) begin
        count_q   <= slots[u].setup_count > slot_t'(MaxSlots) ? slot_t'(MaxSlots) : slots[u].setup_count;
        size_q[u] <= slots[u].setup_size;
      end
      pending_q[u] <= (slots[u].setup_valid || (pending_q[u] && !scan[u])) && !rst;
    end

    // Lowest free slot: x & -x isolates its bit
    assign lowest = bits_q & (~bits_q + 1'b1);
    always_comb begin
      lowest_index = '0;
      for (int unsigned i = 0; i < MaxSlots; i++) if (lowest[i]) lowest_index |= slot_t'(i + 1);
    end
    assign refill = bits_q != 0 && (!valid_q || take[u]);
    assign known = free_slot_q != 0 && free_slot_q <= total_q;
    assign freed = free_valid_q && known && (bits_q & slot_bit(free_slot_q)) == 0 &&
        !(valid_q && next_q == free_slot_q);

    always_comb begin
      bits_d = bits_q;
      if (refill) bits_d &= ~lowest;
      if (freed) bits_d |= slot_bit(free_slot_q);
      if (give_back[u]) bits_d |= slot_bit(give_back_slot);
    end

    always_ff @(posedge clk) begin
      bits_q <= bits_d;
      if (refill) next_q <= lowest_index;
      valid_q <= refill || (valid_q && !take[u]);
      free_q  <= free_q + slot_t'(freed) + slot_t'(give_back[u]) - slot_t'(take[u]);
      if (setup[u]) begin
        bits_q  <= MaxSlots'((33'(1) << count_q) - 33'd1);
        valid_q <= 1'b0;
        free_q  <= count_q;
        total_q <= count_q;
      end
      if (flush[u] || rst) begin
        bits_q  <= '0;
        valid_q <= 1'b0;
        free_q  <= '0;
        total_q <= '0;
      end
      idle[u] <= free_q == total_q;
      declared[u] <= total_q != 0 && enable[u];
    end

    assign ready[u] = valid_q && enable[u];
    assign next[u]  = next_q;
    assign free[u]  = free_q;
    assign total[u] = total_q;
  end

  assign setup = pending_q & scan;
  always_comb begin
    setup_size = '0;
    for (int unsigned u = 0; u < N; u++) if (scan[u]) setup_size |= size_q[u];
  end

  // Candidate. Eligible: will have a slot in the next cycle even if the candidate loses one in this.
  logic [N-1:0] candidate_q, eligible, after, preferred, next_round, most_q, most;
  always_comb begin
    for (int unsigned u = 0; u < N; u++) eligible[u] = enable[u] && free[u] > slot_t'(candidate_q[u]);
    after = ~(candidate_q | (candidate_q - 1'b1));
    preferred = eligible & after;
    next_round = preferred != 0 ? preferred & (~preferred + 1'b1) : eligible & (~eligible + 1'b1);
  end
  always_comb begin
    automatic logic [BestW-1:0] best;
    best = '0;
    for (int unsigned u = 1; u < N; u++)
      if (eligible[u] && (!eligible[best] || free[u] > free[best])) best = BestW'(u);
    most = eligible & (N'(1) << best);
  end
  always_ff @(posedge clk) begin
    most_q <= most;
    if (policy == PolicyLeastLoaded) candidate_q <= most_q;
    else if ((take & candidate_q) != 0 || (ready & candidate_q) == 0) candidate_q <= next_round;
    if (rst) candidate_q <= '0;
  end
  assign candidate = candidate_q;
endmodule

`default_nettype wire
