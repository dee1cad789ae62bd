// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Longest prefix as a search among intervals: a tree of three levels, each node with sixteen branches, then the leaf.
//
//   walk ─> level 0 ─> level 1 ─> level 2 ─> leaf ─> found     3 cycles, a frame a cycle in each lane
//           a cycle each: the node says which one of the next level is read
//
// Level 0 is one node, in registers. A tenant's partition is a subtree or a part of a node's branches: above it the
// bits of the leaf's number are not compared but given by `base`, so no key leads out of it.
module rmt_lpm
  import rmt_pkg::*;
(
    input wire logic clk,

    input wire logic  slot,
    input wire logic [3:0] stage,  // number, a constant
    input wire host_t host,
    output     word_t host_word,

    input wire walk_t [Lanes-1:0]      walk,
    input wire logic  [Lanes-1:0][5:0] tenant,  // beside the leaf that was read
    output     found_t[Lanes-1:0]      found
);
  // Way through the tree: bits of the leaf's number that are known, from the highest on
  typedef struct packed {
    walk_t            walk;
    logic [LeafW-1:0] leaf;
  } way_t;

  logic [Levels-1:1] slot_q;
  word_t [Levels:0] words;
  way_t [Levels:0][Lanes-1:0] way;      // in front of each level
  way_t [Levels-1:0][Lanes-1:0] beside;  // beside the node that was read
  node_t [Levels-1:0][Lanes-1:0] node;

  // The branch of a node; `free` are its bits that are compared, the others are those of `base`. First keys do not
  // descend, so all of them up to the branch are reached and those behind it are not.
  function automatic logic [BranchW-1:0] branch_of(word_t sought, node_t at, logic [BranchW-1:0] base,
                                                   logic [BranchW-1:0] free);
    logic [Branches:0] reached;
    logic [BranchW-1:0] branch;
    reached = '0;
    reached[0] = 1'b1;
    for (int unsigned b = 1; b < Branches; b++)
      reached[b] = (sought >= at[b] || BranchW'(b) <= (base & ~free)) && BranchW'(b) <= (base | free);
    branch = '0;
    for (int unsigned b = 0; b < Branches; b++) if (reached[b] && !reached[b+1]) branch |= BranchW'(b);
    return branch;
  endfunction

  always_ff @(posedge clk) slot_q <= {slot_q[Levels-2:1], slot};

  // ---- level 0
  node_t root_q;
  word_t [Branches-1:0] root_words;
  word_t root_word_q;
  logic selected;

  assign selected = host.memory == MemLpm && host.stage == 8'(stage);
  assign root_words = {32'd0, root_q};
  assign words[0] = selected ? root_word_q : '0;

  always_ff @(posedge clk)
    if (slot && selected) begin
      if (host.we) root_q <= $bits(node_t)'(host.data);
      else root_word_q <= host.word[4] ? '0 : root_words[host.word[3:0]];
    end

  for (genvar l = 0; l < Lanes; l++) begin : gen_start
    assign way[0][l] = '{walk: walk[l], leaf: '0};
    assign beside[0][l] = way[0][l];
    assign node[0][l] = root_q;
  end

  for (genvar n = 0; n < Levels; n++) begin : gen_level
    localparam int unsigned Low = LeafW - BranchW * (n + 1);  // of this level's bits

    if (n > 0) begin : gen_memory
      localparam int unsigned AddrW = BranchW * n;
      logic [Lanes-1:0][AddrW-1:0] addr;

      for (genvar l = 0; l < Lanes; l++) begin : gen_lane
        assign addr[l] = AddrW'(way[n][l].leaf >> (LeafW - AddrW));
      end

      rmt_ram #(
          .Width($bits(node_t)),
          .Depth(1 << AddrW)
      ) i_nodes (
          .clk,
          .slot(n == 1 ? slot : slot_q[n==1?1:n-1]),
          .selected(host.memory == MemLpm + 8'(n) && host.stage == 8'(stage)),
          .host,
          .host_word(words[n]),
          .addr,
          .data(node[n])
      );

      always_ff @(posedge clk) beside[n] <= way[n];
    end

    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      logic [BranchW-1:0] free;
      always_comb begin
        for (int unsigned b = 0; b < BranchW; b++) free[b] = Low + b < 32'(beside[n][l].walk.size);
        way[n+1][l] = beside[n][l];
        way[n+1][l].leaf[Low+:BranchW] =
            branch_of(beside[n][l].walk.key, node[n][l], beside[n][l].walk.base[Low+:BranchW], free);
      end
    end
  end

  // ---- leaf
  logic [Lanes-1:0][LeafW-1:0] leaf_addr;
  leaf_t [Lanes-1:0] leaf;

  rmt_ram #(
      .Width($bits(leaf_t)),
      .Depth(1 << LeafW)
  ) i_leaves (
      .clk,
      .slot(slot_q[Levels-1]),
      .selected(host.memory == MemLeaf && host.stage == 8'(stage)),
      .host,
      .host_word(words[Levels]),
      .addr(leaf_addr),
      .data(leaf)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_leaf
    assign leaf_addr[l] = way[Levels][l].leaf;
    assign found[l] =
        '{hit: leaf[l].hit && leaf[l].tenant == tenant[l], action: leaf[l].action, params: leaf[l].params};
  end

  always_comb begin
    host_word = '0;
    for (int unsigned n = 0; n <= Levels; n++) host_word |= words[n];
  end
endmodule

`default_nettype wire
