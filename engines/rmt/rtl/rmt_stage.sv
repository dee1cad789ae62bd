// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A stage of both lanes: key, table, action.
//
//   ctl ────────────> key ─┬─> exact ──────────┬─> action ─> ctl, early, vector, insert
//   early ────────────^    ├─> ternary ────────┤   5
//   vector, insert ───^    └─> longest prefix ─┘
//                     2        2 (prefix: 3)
//
// 8 cycles, a frame a cycle in each lane; nothing stops. The memories are the lanes' together, each lane has a port.
//
//   cycle       1         2           3          4        5         6         7          8
//   vector      SELECT    MASK, HASH  COMPARE    CHOOSE   SELECT    ROTATE    OPERATE    PLACE
//   a prefix    level 0   level 1     level 2    leaf     sources             register   OPERATE
//
// An address goes to its memory in the cycle that computes it, and is used in the next one. `ctl` and the host's slot
// are two cycles ahead of the vector, so the row of KEY is there when the vector comes. `early`, one cycle ahead, is
// the vector that the last stage's action has read: its units' results are not in it. `insert` is the result of the
// last stage's register, for this stage's key. `late`, three cycles behind, is that or the color of the last stage's
// meter: this stage puts it into the vector in front of its action.
//
// A stage may lack ternary tables, prefixes or meters. A search there finds nothing, and all frames are green.
module rmt_stage
  import rmt_pkg::*;
#(
    parameter bit HasTernary  = 1'b1,
    parameter bit HasPrefixes = 1'b1,
    parameter bit HasMeters   = 1'b1,
    parameter int unsigned TernaryW = 7  // log2 of the ternary rows
) (
    input wire logic clk,
    input wire logic rst,
    input wire logic [63:0] now,

    input wire logic  slot,
    output     logic  slot_out,
    input wire logic [3:0] stage,  // number, a constant
    input wire host_t host,
    output     word_t host_word,
    output     logic  busy,  // the access is not done yet

    input wire ctl_t    [Lanes-1:0] ctl,
    input wire vector_t [Lanes-1:0] early,
    input wire vector_t [Lanes-1:0] vector,
    input wire insert_t [Lanes-1:0] insert,
    input wire insert_t [Lanes-1:0] late,
    output     ctl_t    [Lanes-1:0] out_ctl,
    output     vector_t [Lanes-1:0] out_early,
    output     vector_t [Lanes-1:0] out,
    output     insert_t [Lanes-1:0] out_insert,
    output     insert_t [Lanes-1:0] out_late
);
  /* verilator no_inline_module */
  localparam int unsigned Cycles = 8;

  word_t [4:0] words;
  // In each cycle; 1: the vector's first one
  logic [Cycles-1:0] slot_q;
  ctl_t [Cycles-1:0][Lanes-1:0] ctl_q;
  search_t [Lanes-1:0] search, search4_q;
  hash_t [Lanes-1:0] crcs, crcs4_q;
  logic [Lanes-1:0][Ways-1:0][BucketW-1:0] bucket;
  walk_t [Lanes-1:0] walk;
  logic [Lanes-1:0][5:0] tenant2, tenant4;
  logic [Lanes-1:0][6:0] bt;
  logic [Lanes-1:0] valid;
  key_t [Lanes-1:0] key;
  found_t [Lanes-1:0] by_key, by_ternary, by_prefix, found;
  vector_t [Lanes-1:0] vector2_q, vector3_q, vector4_q, vector4;

  assign host_word = words[0] | words[1] | words[2] | words[3] | words[4];
  assign slot_out = slot_q[Cycles-1];
  assign out_ctl = ctl_q[Cycles-1];

  always_ff @(posedge clk) begin
    slot_q    <= {slot_q[Cycles-2:0], slot};
    ctl_q     <= {ctl_q[Cycles-2:0], ctl};
    search4_q <= search;
    crcs4_q   <= crcs;
    // The vector holds still in cycles without a frame (rmt_units.sv).
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (ctl_q[1][l].valid) vector2_q[l] <= vector[l];
      if (ctl_q[2][l].valid) vector3_q[l] <= vector2_q[l];
      if (ctl_q[3][l].valid) vector4_q[l] <= vector3_q[l];
    end
    if (rst) begin
      slot_q <= '0;
      for (int unsigned n = 0; n < Cycles; n++)
        for (int unsigned l = 0; l < Lanes; l++) ctl_q[n][l].valid <= 1'b0;
    end
  end

  rmt_key #(
      .HasPrefixes(HasPrefixes)
  ) i_key (
      .clk,
      .slot,
      .stage,
      .host,
      .host_word(words[0]),
      .ctl,
      .early,
      .vector,
      .insert,
      .walk,
      .key,
      .bucket,
      .search,
      .crcs
  );

  rmt_exact i_exact (
      .clk,
      .slot(slot_q[2]),
      .stage,
      .host,
      .host_word(words[1]),
      .valid,
      .bucket,
      .key,
      .tenant(tenant2),
      .found(by_key)
  );

  if (HasTernary) begin : gen_ternary
    rmt_ternary #(
        .TernaryW(TernaryW)
    ) i_ternary (
        .clk,
        .rst,
        .slot(slot_q[2]),
        .stage,
        .host,
        .host_word(words[4]),
        .busy,
        .valid,
        .bt,
        .key,
        .found(by_ternary)
    );
  end else begin : gen_no_ternary
    assign by_ternary = '0;
    assign words[4] = '0;
    assign busy = 1'b0;
  end

  if (HasPrefixes) begin : gen_lpm
    rmt_lpm i_lpm (
        .clk,
        .slot(slot_q[1]),
        .stage,
        .host,
        .host_word(words[2]),
        .walk,
        .tenant(tenant4),
        .found(by_prefix)
    );
  end else begin : gen_no_lpm
    assign by_prefix = '0;
    assign words[2] = '0;
  end

  rmt_action #(
      .HasMeters(HasMeters)
  ) i_action (
      .clk,
      .rst,
      .now,
      .slot(slot_q[4]),
      .stage,
      .host,
      .host_word(words[3]),
      .ctl(ctl_q[4]),
      .vector(vector4),
      .found,
      .crcs(crcs4_q),
      .early(out_early),
      .out,
      .insert(out_insert),
      .late(out_late)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    assign valid[l] = ctl_q[2][l].valid;
    assign bt[l] = ctl_q[2][l].bt;
    assign tenant2[l] = bt[l][5:0];
    assign tenant4[l] = ctl_q[4][l].bt[5:0];
    assign vector4[l] = inserted(late[l], vector4_q[l]);

    // ---- CHOOSE
    always_comb begin
      case (search4_q[l].kind)
        TableExact:   found[l] = by_key[l];
        TableTernary: found[l] = by_ternary[l];
        default:      found[l] = by_prefix[l];
      endcase
      if (!search4_q[l].open) found[l] = '{hit: 1'b0, action: search4_q[l].otherwise, params: '0};
      else if (search4_q[l].kind == TableNone || !found[l].hit)
        found[l] = '{hit: 1'b0, action: search4_q[l].miss, params: search4_q[l].params};
    end
  end
endmodule

`default_nettype wire
