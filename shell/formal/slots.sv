// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The proof that no slot is given to two frames and none is lost: rtl/slot_pool.sv as it is, with its own assertions,
// at the sizes of small_pkg.sv, around it all that dispatcher, units and host may do. Policies, enables, flushes,
// declarations and their moments are open.
//
// Taken for granted:
//   - the dispatcher takes a slot only where `ready_loop` is up, and gives one back once, that it has taken, before the
//     unit knows of it;
//   - a unit frees a slot once, that a frame has (core_regs.sv, frames.sv), or a number that is no slot;
//   - a flush is for units that have no frames any more.
module slots
  import penstock_pkg::*, shell_pkg::*;
(
    input wire logic clk,

    input wire policy_e policy,
    input wire logic [UnitsPerCluster-1:0] enable,
    input wire logic [UnitsPerCluster-1:0] ingress,
    input wire logic [UnitsPerCluster-1:0] flush,
    input wire logic [UnitsPerCluster-1:0] scan,
    input wire slot_msg_t [UnitsPerCluster-1:0] messages,
    input wire logic [UnitsPerCluster-1:0] take,
    input wire logic [UnitsPerCluster-1:0] give_back,
    input wire logic [MaxSlots-1:0] give_back_slot
);
  logic started_q = 1'b0;
  always_ff @(posedge clk) started_q <= 1'b1;
  wire rst = !started_q;

  slot_msg_t message[UnitsPerCluster];
  slot_t next[UnitsPerCluster], free[UnitsPerCluster], total[UnitsPerCluster];
  logic [UnitsPerCluster-1:0] ready_loop;

  slot_pool pool (
      .clk,
      .rst,
      .policy,
      .enable,
      .ingress,
      .flush,
      .slots(message),
      .scan,
      .setup(),
      .setup_size(),
      .ready(),
      .ready_loop,
      .next,
      .declared(),
      .declared_loop(),
      .take,
      .give_back,
      .give_back_slot,
      .candidate(),
      .candidate_loop(),
      .free,
      .total,
      .idle()
  );

  always_comb begin
    assume ($onehot0(scan));
    assume ($onehot0(give_back));
    assume ($onehot(give_back_slot));
  end

  for (genvar u = 0; u < UnitsPerCluster; u++) begin : gen_unit
    assign message[u] = messages[u];

    // Slots whose message is on its way to the free ones
    logic [MaxSlots-1:0] said, coming, has;
    always_comb begin
      for (int unsigned i = 0; i < MaxSlots; i++) begin
        said[i] = message[u].free_valid && message[u].free_slot == slot_t'(i + 1);
        coming[i] = pool.gen_unit[u].free_valid_q && pool.gen_unit[u].free_slot_q == slot_t'(i + 1);
      end
      has = pool.gen_unit[u].given_q & ~coming & ~pool.gen_unit[u].freed_hot_q;
      assume ((said & ~has) == 0);
      assume (!take[u] || ready_loop[u]);
      assume (!give_back[u] || pool.gen_unit[u].forgot_q != 0 || (give_back_slot & has & ~said) != 0);
    end

    // In addition to the assertions of the pool: a message in flight belongs to a frame, and its number is right.
    always_ff @(posedge clk)
      if (!rst) begin
        assert ((pool.gen_unit[u].freed_hot_q & ~pool.gen_unit[u].given_q) == 0);
        assert ((coming & pool.gen_unit[u].all & ~pool.gen_unit[u].given_q) == 0);
        assert ((coming & pool.gen_unit[u].freed_hot_q) == 0);
        assert (free[u] <= total[u] && total[u] <= slot_t'(MaxSlots));
        assert (!pool.pending_q[u] || pool.count_q[u] <= slot_t'(MaxSlots));
        assert (!pool.setup[u] || pool.setup_count <= slot_t'(MaxSlots));
      end

`ifdef COVER
    always_ff @(posedge clk) begin
      cover (!rst && total[u] == 3 && free[u] == 0);
      cover (!rst && total[u] == 2 && pool.gen_unit[u].given_q == 3 && message[u].setup_valid);
      cover (!rst && pool.setup[u] && total[u] == 2);
    end
`endif
  end
endmodule

`default_nettype wire
