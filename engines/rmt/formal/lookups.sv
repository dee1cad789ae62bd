// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The exact search finds the same entry for a frame whatever other tenants do: rtl/rmt_exact.sv as it is.
//
// The proof compares two runs. In both, one frame of tenant A comes through lane `Lane`: it is here in cycle 0, with
// the same contents. Everything else is open: the state in which the runs begin, the frames ahead of it, behind it and
// in the other lane, the host's accesses and the rows of all memories. `at_q` counts the cycles.
//
// Taken for granted: if a bucket has an entry of tenant A in one run, it has it in the other. Otherwise the bucket may
// have anything, also inside of A's partition.
module exact
  import rmt_pkg::*;
#(
    parameter int unsigned Lane = 0
) (
    input wire logic clk,

    input wire logic [3:0] number,
    input wire logic  [1:0] slot,
    input wire host_t [1:0] host,
    input wire logic [1:0][Lanes-1:0] valid,
    input wire logic [1:0][Lanes-1:0][Ways-1:0][BucketW-1:0] bucket,
    input wire key_t [1:0][Lanes-1:0] key,
    input wire logic [1:0][Lanes-1:0][5:0] tenant
);
  logic [1:0] at_q = '0;
  always_ff @(posedge clk) at_q <= at_q + 2'(at_q != '1);

  logic [5:0] tenant_q;
  always_ff @(posedge clk) if (at_q == '0) tenant_q <= tenant[0][Lane];
  always_comb if (at_q == '0) assume (slot == '0);

  for (genvar r = 0; r < 2; r++) begin : run
    logic [Lanes-1:0] in_valid;
    logic [Lanes-1:0][Ways-1:0][BucketW-1:0] in_bucket;
    key_t [Lanes-1:0] in_key;
    logic [Lanes-1:0][5:0] in_tenant;
    found_t [Lanes-1:0] found;
    always_comb begin
      {in_valid, in_bucket, in_key, in_tenant} = {valid[r], bucket[r], key[r], tenant[r]};
      if (at_q == '0) begin
        in_valid[Lane] = 1'b1;
        in_bucket[Lane] = bucket[0][Lane];
        in_key[Lane] = key[0][Lane];
        in_tenant[Lane] = tenant[0][Lane];
      end
    end
    rmt_exact i_exact (
        .clk,
        .slot(slot[r]),
        .stage(number),
        .host(host[r]),
        .host_word(),
        .valid(in_valid),
        .bucket(in_bucket),
        .key(in_key),
        .tenant(in_tenant),
        .found
    );
  end

  for (genvar w = 0; w < Ways; w++) begin : gen_way
    entry_t [1:0] entry, seen;
    assign entry = {run[1].i_exact.gen_way[w].i_entries.data[Lane], run[0].i_exact.gen_way[w].i_entries.data[Lane]};
    always_comb begin
      for (int unsigned r = 0; r < 2; r++) seen[r] = entry[r].valid && entry[r].tenant == tenant_q ? entry[r] : '0;
      if (at_q == 2'd0) begin
        assert (!run[0].i_exact.gen_way[w].i_entries.slot && !run[1].i_exact.gen_way[w].i_entries.slot);
        assert (run[0].i_exact.gen_way[w].i_entries.addr[Lane] == run[1].i_exact.gen_way[w].i_entries.addr[Lane]);
      end
      if (at_q == 2'd1) assume (seen[0] == seen[1]);
    end
  end

  always_comb
    if (at_q == 2'd2) begin
      assert (run[0].found[Lane].hit == run[1].found[Lane].hit);
      assert (!run[0].found[Lane].hit || run[0].found[Lane] == run[1].found[Lane]);
    end
endmodule

module prefix
  import rmt_pkg::*;
#(
    parameter int unsigned Lane = 0
) (
    input wire logic clk,

    input wire logic [3:0] number,
    input wire logic  [1:0] slot,
    input wire host_t [1:0] host,
    input wire walk_t [1:0][Lanes-1:0] walk,
    input wire logic [1:0][Lanes-1:0][5:0] tenant
);
  logic [2:0] at_q = '0;
  always_ff @(posedge clk) at_q <= at_q + 3'(at_q != '1);

  walk_t mine, mine_q;
  assign mine = at_q == '0 ? walk[0][Lane] : mine_q;
  always_ff @(posedge clk) mine_q <= mine;
  always_comb if (at_q == '0) assume (slot == '0);

  for (genvar r = 0; r < 2; r++) begin : run
    walk_t [Lanes-1:0] in_walk;
    logic [Lanes-1:0][5:0] in_tenant;
    found_t [Lanes-1:0] found;
    always_comb begin
      in_walk = walk[r];
      in_tenant = tenant[r];
      if (at_q == 3'd0) in_walk[Lane] = walk[0][Lane];
      if (at_q == 3'd3) in_tenant[Lane] = tenant[0][Lane];
    end
    rmt_lpm i_lpm (
        .clk,
        .slot(slot[r]),
        .stage(number),
        .host(host[r]),
        .host_word(),
        .walk(in_walk),
        .tenant(in_tenant),
        .found
    );
  end

  function automatic logic is_same_node(int unsigned level, walk_t of, node_t a, node_t b);
    logic [BranchW-1:0] base, free;
    is_same_node = 1'b1;
    base = BranchW'(of.base >> (LeafW - BranchW * (level + 1)));
    for (int unsigned n = 0; n < BranchW; n++) free[n] = LeafW - BranchW * (level + 1) + n < 32'(of.size);
    for (int unsigned n = 1; n < Branches; n++)
      if (BranchW'(n) > (base & ~free) && BranchW'(n) <= (base | free) && a[n] != b[n]) is_same_node = 1'b0;
  endfunction

  // The bits of a leaf's number that are known are those of the partition
  function automatic logic is_inside(logic [LeafW-1:0] leaf, int unsigned unknown, walk_t of);
    is_inside = 1'b1;
    for (int unsigned n = 0; n < LeafW; n++)
      if (n >= unknown && n >= 32'(of.size) && leaf[n] != of.base[n]) is_inside = 1'b0;
  endfunction

  always_comb if (at_q == 3'd0) assume (is_same_node(0, mine, run[0].i_lpm.root_q, run[1].i_lpm.root_q));
  for (genvar n = 1; n < Levels; n++) begin : gen_level
    localparam int unsigned Below = LeafW - BranchW * n;
    always_comb begin
      if (at_q == 3'(n - 1)) begin
        assert (!run[0].i_lpm.gen_level[n].gen_memory.i_nodes.slot);
        assert (!run[1].i_lpm.gen_level[n].gen_memory.i_nodes.slot);
        assert (run[0].i_lpm.gen_level[n].gen_memory.i_nodes.addr[Lane] ==
                run[1].i_lpm.gen_level[n].gen_memory.i_nodes.addr[Lane]);
        assert (is_inside(LeafW'(run[0].i_lpm.gen_level[n].gen_memory.i_nodes.addr[Lane]) << Below, Below, mine));
      end
      if (at_q == 3'(n))
        assume (is_same_node(n, mine, run[0].i_lpm.gen_level[n].gen_memory.i_nodes.data[Lane],
                             run[1].i_lpm.gen_level[n].gen_memory.i_nodes.data[Lane]));
    end
  end
  leaf_t [1:0] leaf, seen;
  assign leaf = {run[1].i_lpm.i_leaves.data[Lane], run[0].i_lpm.i_leaves.data[Lane]};
  always_comb begin
    for (int unsigned r = 0; r < 2; r++) seen[r] = leaf[r].hit && leaf[r].tenant == tenant[0][Lane] ? leaf[r] : '0;
    if (at_q == 3'd2) begin
      assert (!run[0].i_lpm.i_leaves.slot && !run[1].i_lpm.i_leaves.slot);
      assert (run[0].i_lpm.i_leaves.addr[Lane] == run[1].i_lpm.i_leaves.addr[Lane]);
      assert (is_inside(run[0].i_lpm.i_leaves.addr[Lane], 0, mine));
    end
    if (at_q == 3'd3) begin
      assume (seen[0] == seen[1]);
      assert (run[0].found[Lane].hit == run[1].found[Lane].hit);
      assert (!run[0].found[Lane].hit || run[0].found[Lane] == run[1].found[Lane]);
    end
  end
endmodule

`default_nettype wire
