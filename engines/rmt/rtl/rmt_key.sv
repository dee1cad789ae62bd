// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Key selection of a stage: four words of the vector under masks, if the gate is open, and the key's hash.
//
//   vector ─> row's memory ─> SELECT ─> MASK, HASH ─> search, buckets     3 cycles, a frame a cycle in each lane
module rmt_key
  import rmt_pkg::*;
(
    input wire logic clk,

    input wire logic  slot,
    input wire logic [3:0] stage,  // number, a constant
    input wire host_t host,
    output     word_t host_word,

    input wire ctl_t    [Lanes-1:0]                       ctl,
    input wire vector_t [Lanes-1:0]                       vector,
    output     search_t [Lanes-1:0]                       search,
    output     logic    [Lanes-1:0][Ways-1:0][BucketW-1:0] bucket
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
    vector_t vector_q;
    key_row_t row_q;
    key_t raw_q, key;
    word_t gate_q;
    logic [63:0] hash;
    logic [BucketW-1:0] inside_mask;  // bits of a bucket's number within the partition

    assign addr[l] = ctl[l].bt;

    always_ff @(posedge clk) begin
      vector_q <= vector[l];
      // ---- SELECT
      row_q  <= row[l];
      raw_q  <= {vector_q[row[l].key3], vector_q[row[l].key[2]], vector_q[row[l].key[1]], vector_q[row[l].key[0]]};
      gate_q <= vector_q[row[l].gate];
    end

    // ---- MASK, HASH
    assign key = raw_q & row_q.mask;
    assign hash = crc64(key);
    assign inside_mask = BucketW'((17'd1 << row_q.size) - 17'd1);

    always_ff @(posedge clk) begin
      search[l] <= '{
          open: (gate_q & row_q.gate_mask) == row_q.gate_value,
          kind: row_q.kind,
          key: key,
          base: row_q.base,
          size: row_q.size,
          miss: row_q.miss,
          otherwise: row_q.otherwise,
          params: row_q.params
      };
      for (int unsigned w = 0; w < Ways; w++)
        bucket[l][w] <= (row_q.base[BucketW-1:0] & ~inside_mask) | (hash[16*w+:BucketW] & inside_mask);
    end
  end
endmodule

`default_nettype wire
