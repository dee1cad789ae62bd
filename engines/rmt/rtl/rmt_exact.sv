// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Exact match: compares one entry in each of four ways. Only the host places entries.
//
//   buckets ─> ways' memories ─> COMPARE ─> SELECT ─> found     2 cycles, a frame a cycle in each lane
//   key, tenant ───────────────^
module rmt_exact
  import rmt_pkg::*;
(
    input wire logic clk,

    input wire logic  slot,
    input wire logic [3:0] stage,  // number, a constant
    input wire host_t host,
    output     word_t host_word,

    input wire logic    [Lanes-1:0]                       valid,   // there is a frame
    input wire logic    [Lanes-1:0][Ways-1:0][BucketW-1:0] bucket,
    input wire key_t    [Lanes-1:0]                       key,     // beside the buckets, as the tenant is
    input wire logic    [Lanes-1:0][5:0]                  tenant,
    output     found_t  [Lanes-1:0]                       found
);
  word_t [Ways-1:0] words;
  entry_t [Ways-1:0][Lanes-1:0] entry;

  for (genvar w = 0; w < Ways; w++) begin : gen_way
    logic [Lanes-1:0][BucketW-1:0] addr;
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      assign addr[l] = bucket[l][w];
    end
    rmt_ram #(
        .Width($bits(entry_t)),
        .Depth(1 << BucketW)
    ) i_entries (
        .clk,
        .slot,
        .selected(host.memory == MemWay + 8'(w) && host.stage == 8'(stage)),
        .host,
        .host_word(words[w]),
        .addr,
        .data(entry[w])
    );
  end

  always_comb begin
    host_word = '0;
    for (int unsigned w = 0; w < Ways; w++) host_word |= words[w];
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    key_t key_q;
    logic [5:0] tenant_q;
    logic valid_q;
    logic [Ways-1:0] match_q;
    action_t [Ways-1:0] action_q;
    params_t [Ways-1:0] params_q;

    always_ff @(posedge clk) begin
      valid_q <= valid[l];
      {key_q, tenant_q} <= {key[l], tenant[l]};
      // ---- COMPARE. In cycles without a frame it holds still (rmt_units.sv).
      if (valid_q)
        for (int unsigned w = 0; w < Ways; w++) begin
          match_q[w]  <= entry[w][l].valid && entry[w][l].tenant == tenant_q && entry[w][l].key == key_q;
          action_q[w] <= entry[w][l].action;
          params_q[w] <= entry[w][l].params;
        end
    end

    // ---- SELECT
    always_comb begin
      found[l] = '0;
      for (int w = Ways - 1; w >= 0; w--)
        if (match_q[w]) found[l] = '{hit: 1'b1, action: action_q[w], params: params_q[w]};
    end
  end
endmodule

`default_nettype wire
