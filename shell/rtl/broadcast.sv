// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Carries words from any unit to all units. (Rosebud, section 4.2.)
//
//   unit ─┐ round robin                      round robin
//   unit ─┼─> of a cluster ─> stages ─> queue ─┐ of clusters
//   unit ─┤   1 cycle         Stages    2      ├─> register ─> register ─> stages ─> every unit
//   unit ─┘                                    ┘   1            1          Stages
//
// One word a cycle, in one order for all. Latency 5 cycles and twice the stages when nobody else sends. A sender waits
// while others have their turn; receivers never hold anything up. Every 64th cycle brings no word (broadcast_if).
module broadcast
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Units  = 16,
    parameter int unsigned Stages = 0  // from the clusters to the queues, from `room` back, and to the units
) (
    input wire logic clk,
    input wire logic rst,

    broadcast_if.shell links[Units]
);
  localparam int unsigned Room = room_of(BroadcastSender, Stages);
  localparam int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster;

  typedef struct packed {
    unit_t from;
    broadcast_t word;
  } sent_t;

  logic [Clusters*UnitsPerCluster-1:0] valid, ready;
  broadcast_t words[Clusters*UnitsPerCluster];

  // ---- clusters
  logic [Clusters-1:0] has, take;
  sent_t heads[Clusters];

  for (genvar c = 0; c < Clusters; c++) begin : gen_cluster
    localparam int unsigned First = c * UnitsPerCluster;
    logic room, far_room, push_q, push;
    logic [UnitsPerCluster-1:0] grant;
    sent_t chosen_q, far_word;

    rr_arbiter #(
        .N(UnitsPerCluster)
    ) i_turn (
        .clk,
        .rst,
        .req(valid[First+:UnitsPerCluster] & {UnitsPerCluster{room}}),
        .accept(room && valid[First+:UnitsPerCluster] != 0),
        .grant
    );
    assign ready[First+:UnitsPerCluster] = grant;

    always_ff @(posedge clk) begin
      push_q <= grant != 0 && !rst;
      for (int unsigned u = 0; u < UnitsPerCluster; u++)
        if (grant[u]) chosen_q <= '{from: unit_t'(First + u), word: words[First+u]};
    end

    link_stages #(
        .Stages(Stages)
    ) i_push (
        .clk,
        .rst,
        .d(push_q),
        .q(push)
    );
    link_stages #(
        .Width ($bits(sent_t)),
        .Stages(Stages)
    ) i_word (
        .clk,
        .rst(1'b0),
        .d(chosen_q),
        .q(far_word)
    );
    link_stages #(
        .Stages(Stages)
    ) i_room (
        .clk,
        .rst,
        .d(far_room),
        .q(room)
    );
    fifo_dist #(
        .Width($bits(sent_t)),
        .Depth(1 << $clog2(2 * Room)),
        .Room (Room)
    ) i_queue (
        .clk,
        .rst,
        .push,
        .din  (far_word),
        .ready(far_room),
        .valid(has[c]),
        .pop  (take[c]),
        .dout (heads[c]),
        .level()
    );
  end

  // ---- the card
  logic [5:0] pause_q;
  logic go_q, valid_q, out_valid_q;
  logic [Clusters-1:0] grant;
  sent_t next, chosen_q, out_q;

  rr_arbiter #(
      .N(Clusters)
  ) i_turn (
      .clk,
      .rst,
      .req(has & {Clusters{go_q}}),
      .accept(go_q && has != 0),
      .grant
  );
  assign take = grant;

  always_comb begin
    next = '0;
    for (int unsigned c = 0; c < Clusters; c++) if (grant[c]) next |= heads[c];
  end

  always_ff @(posedge clk) begin
    pause_q <= pause_q + 6'd1;
    go_q <= pause_q != 0;
    valid_q <= grant != 0;
    out_valid_q <= valid_q;
    if (rst) begin
      pause_q <= '0;
      go_q <= 1'b0;
      valid_q <= 1'b0;
      out_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    chosen_q <= next;
    out_q <= chosen_q;
  end

  // Each unit gets a word in the same cycle.
  logic to_valid;
  sent_t to_units;
  link_stages #(
      .Stages(Stages)
  ) i_to_valid (
      .clk,
      .rst,
      .d(out_valid_q),
      .q(to_valid)
  );
  link_stages #(
      .Width ($bits(sent_t)),
      .Stages(Stages)
  ) i_to_units (
      .clk,
      .rst(1'b0),
      .d(out_q),
      .q(to_units)
  );

  for (genvar u = 0; u < Clusters * UnitsPerCluster; u++) begin : gen_unit
    if (u < Units) begin : gen_real
      assign valid[u] = links[u].out_valid;
      assign words[u] = links[u].out;
      assign links[u].out_ready = ready[u];
      assign links[u].in_valid = to_valid;
      assign links[u].from = to_units.from;
      assign links[u].in = to_units.word;
    end else begin : gen_none
      assign valid[u] = 1'b0;
      assign words[u] = '0;
    end
  end
endmodule

`default_nettype wire
