// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Key selection of a stage: four words of the vector under masks, if the gate is open, and the key's hashes: buckets of
// the exact search, and CRCs for the action.
//
//   ctl ─> row's memory ─> PREFIX ────────> walk
//              early ─────^ SELECT ─> MASK, HASH ─> key, buckets; a cycle later search, CRCs
//              vector ───────^
//
// 4 cycles from `ctl` on, a frame a cycle in each lane. `early` follows `ctl` by a cycle, and `vector` and `insert`
// follow `early` by another one. The search for a prefix takes a cycle more than the others do, so its key comes from
// the vector in front of the last stage's action. A register's result goes into the key while the key is masked, so
// SELECT need not wait for it.
module rmt_key
  import rmt_pkg::*;
#(
    parameter bit HasPrefixes = 1'b1  // the stage searches for prefixes
) (
    input wire logic clk,

    input wire logic  slot,
    input wire logic [3:0] stage,  // number, a constant
    input wire host_t host,
    output     word_t host_word,

    input wire ctl_t    [Lanes-1:0]                       ctl,
    input wire vector_t [Lanes-1:0]                       early,
    input wire vector_t [Lanes-1:0]                       vector,
    input wire insert_t [Lanes-1:0]                       insert,
    output     walk_t   [Lanes-1:0]                       walk,
    output     key_t    [Lanes-1:0]                       key,
    output     logic    [Lanes-1:0][Ways-1:0][BucketW-1:0] bucket,
    output     search_t [Lanes-1:0]                       search,
    output     hash_t   [Lanes-1:0]                       crcs
);
  logic [Lanes-1:0][6:0] addr;
  key_row_t [Lanes-1:0] row;

  rmt_ram #(
      .Width($bits(key_row_t)),
      .Depth(128)
  ) i_rows (
      .clk,
      .slot,
      .selected(host.memory == MemKey && host.stage == 8'(stage)),
      .host,
      .host_word,
      .addr,
      .data(row)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    key_row_t row1_q, row2_q;
    word_t prefix_q, gate_q, gate;
    key_t raw_q;
    logic [KeyWords-1:0][4:0] from;
    logic [KeyWords-1:0] take_q;  // words into which the insertion goes
    logic take_gate_q;
    insert_t insert_q;
    logic [63:0] hash;
    logic [BucketW-1:0] inside_mask;  // bits of a bucket's number within the partition
    logic [2:0] valid_q;  // HASH is [2]

    assign addr[l] = ctl[l].bt;
    assign from = {row1_q.key3, row1_q.key};

    always_ff @(posedge clk) begin
      valid_q <= {valid_q[1:0], ctl[l].valid};
      // ---- PREFIX
      row1_q   <= row[l];
      prefix_q <= early[l][row[l].key[0]];
      // ---- SELECT
      row2_q   <= row1_q;
      insert_q <= insert[l];
      for (int unsigned k = 0; k < KeyWords; k++) begin
        raw_q[k]  <= vector[l][from[k]];
        take_q[k] <= insert[l].valid && insert[l].dst == from[k];
      end
      gate_q      <= vector[l][row1_q.gate];
      take_gate_q <= insert[l].valid && insert[l].dst == row1_q.gate;
    end

    assign walk[l] = HasPrefixes ? '{key: prefix_q & row1_q.mask[0], base: row1_q.base, size: row1_q.size} : '0;

    // ---- MASK, HASH
    always_comb
      for (int unsigned k = 0; k < KeyWords; k++)
        key[l][k] = (take_q[k] ? inserted_word(insert_q, raw_q[k]) : raw_q[k]) & row2_q.mask[k];
    assign gate = take_gate_q ? inserted_word(insert_q, gate_q) : gate_q;
    assign hash = crc64(key[l]);
    assign inside_mask = BucketW'((17'd1 << row2_q.size) - 17'd1);

    always_comb
      for (int unsigned w = 0; w < Ways; w++)
        bucket[l][w] = (row2_q.base[BucketW-1:0] & ~inside_mask) | (hash[16*w+:BucketW] & inside_mask);

    // In cycles without a frame they hold still (rmt_units.sv).
    always_ff @(posedge clk)
      if (valid_q[2]) begin
        search[l] <= '{
            open: (gate & row2_q.gate_mask) == row2_q.gate_value,
            kind: row2_q.kind,
            miss: row2_q.miss,
            otherwise: row2_q.otherwise,
            params: row2_q.params
        };
        crcs[l] <= hash_of(key[l]);
      end
  end
endmodule

`default_nettype wire
