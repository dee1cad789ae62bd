// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Longest prefix as a search among intervals: a tree of six levels, each node with four branches, then the leaf and
// what it leads to.
//
//   key ─> level 0 ─> level 1 ─> … ─> level 5 ─> leaf ─> result ─> found     9 cycles, a frame a cycle in each lane
//          a cycle each: the node that was read says which one of the next level is read
//
// A tenant's partition is a subtree: above it the branch is not compared but given by `base`, so no key leads out of
// it.
module rmt_lpm
  import rmt_pkg::*;
(
    input wire logic clk,

    input wire logic  slot,
    input wire logic [3:0] stage,  // number, a constant
    input wire host_t host,
    output     word_t host_word,

    input wire logic  [Lanes-1:0][5:0]  tenant,
    input wire word_t [Lanes-1:0]       key,
    input wire logic  [Lanes-1:0][15:0] base,
    input wire logic  [Lanes-1:0][4:0]  size,
    output     found_t[Lanes-1:0]       found
);
  typedef struct packed {
    logic [5:0]       tenant;
    word_t            key;
    logic [LeafW-1:0] base;
    logic [4:0]       size;
    logic [LeafW-1:0] leaf;  // digits that are known, from the highest on
  } walk_t;

  logic [Levels+2:1] slot_q;
  word_t [Levels+1:0] words;
  walk_t [Levels:0][Lanes-1:0] walk;    // in front of each level
  walk_t [Levels:1][Lanes-1:0] before_q;  // beside the node that was read
  node_t [Levels-1:0][Lanes-1:0] node;

  always_ff @(posedge clk) slot_q <= {slot_q[Levels+1:1], slot};

  for (genvar l = 0; l < Lanes; l++) begin : gen_start
    assign walk[0][l] = '{tenant: tenant[l], key: key[l], base: base[l][LeafW-1:0], size: size[l], leaf: '0};
  end

  for (genvar n = 0; n < Levels; n++) begin : gen_level
    localparam int unsigned Rows = 1 << 2 * n;
    localparam int unsigned AddrW = n == 0 ? 1 : 2 * n;
    localparam int unsigned Low = LeafW - 2 - 2 * n;  // of this level's digit
    wire here = n == 0 ? slot : slot_q[n==0?1:n];
    logic [Lanes-1:0][AddrW-1:0] addr;

    rmt_ram #(
        .Width($bits(node_t)),
        .Depth(n == 0 ? 2 : Rows)
    ) i_nodes (
        .clk,
        .slot(here),
        .selected(host.memory == MemLpm + 8'(n) && host.stage == 8'(stage)),
        .host,
        .host_word(words[n]),
        .addr,
        .data(node[n])
    );

    always_ff @(posedge clk) before_q[n+1] <= walk[n];

    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      logic [1:0] digit;
      assign addr[l] = n == 0 ? '0 : AddrW'(walk[n][l].leaf >> (LeafW - 2 * n));
      always_comb begin
        digit = '0;
        for (int unsigned c = 0; c < 3; c++) digit = digit + 2'(before_q[n+1][l].key >= node[n][l][c]);
        if (32'(before_q[n+1][l].size) + n < Levels) digit = before_q[n+1][l].base[Low+:2];
        walk[n+1][l] = before_q[n+1][l];
        walk[n+1][l].leaf[Low+:2] = digit;
      end
    end
  end

  // ---- leaf and result
  logic [Lanes-1:0][LeafW-1:0] leaf_addr;
  leaf_t [Lanes-1:0] leaf;
  logic [Lanes-1:0][ResultW-1:0] result_addr;
  result_t [Lanes-1:0] result;

  rmt_ram #(
      .Width($bits(leaf_t)),
      .Depth(1 << LeafW)
  ) i_leaves (
      .clk,
      .slot(slot_q[Levels]),
      .selected(host.memory == MemLeaf && host.stage == 8'(stage)),
      .host,
      .host_word(words[Levels]),
      .addr(leaf_addr),
      .data(leaf)
  );

  rmt_ram #(
      .Width($bits(result_t)),
      .Depth(1 << ResultW)
  ) i_results (
      .clk,
      .slot(slot_q[Levels+1]),
      .selected(host.memory == MemResult && host.stage == 8'(stage)),
      .host,
      .host_word(words[Levels+1]),
      .addr(result_addr),
      .data(result)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [5:0] tenant7_q, tenant8_q;
    logic hit_q;

    assign leaf_addr[l] = walk[Levels][l].leaf;
    assign result_addr[l] = leaf[l].result;

    always_ff @(posedge clk) begin
      tenant7_q <= walk[Levels][l].tenant;
      tenant8_q <= tenant7_q;
      hit_q     <= leaf[l].hit;
      found[l]  <= '{hit: hit_q && result[l].tenant == tenant8_q, action: result[l].action, params: result[l].params};
    end
  end

  always_comb begin
    host_word = '0;
    for (int unsigned n = 0; n < Levels + 2; n++) host_word |= words[n];
  end
endmodule

`default_nettype wire
