// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A stage of both lanes: key, table, action.
//
//   vector ─> key ─┬─> exact ──────────┬─> action ─> vector
//             3    ├─> ternary ────────┤   7
//                  └─> longest prefix ─┘
//                      9
//
// 19 cycles, a frame a cycle in each lane; nothing stops. The memories are the lanes' together, each lane has a port.
module rmt_stage
  import rmt_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    output     logic  slot_out,
    input wire logic [3:0] stage,  // number, a constant
    input wire host_t host,
    output     word_t host_word,
    output     logic  busy,  // the access is not done yet

    input wire ctl_t    [Lanes-1:0] ctl,
    input wire vector_t [Lanes-1:0] vector,
    output     ctl_t    [Lanes-1:0] out_ctl,
    output     vector_t [Lanes-1:0] out
);
  /* verilator no_inline_module */
  localparam int unsigned KeyCycles = 3;
  localparam int unsigned ExactCycles = 3;
  localparam int unsigned TernaryCycles = 5;
  localparam int unsigned LpmCycles = 9;
  localparam int unsigned ActionCycles = 7;

  word_t [4:0] words;
  logic slot_table, slot_action;
  search_t [Lanes-1:0] search;
  logic [Lanes-1:0][Ways-1:0][BucketW-1:0] bucket;
  ctl_t [Lanes-1:0] ctl_table, ctl_action;
  logic [Lanes-1:0][5:0] tenant;
  logic [Lanes-1:0][6:0] bt;
  key_t [Lanes-1:0] key;
  word_t [Lanes-1:0] first_key;
  logic [Lanes-1:0][15:0] base;
  logic [Lanes-1:0][4:0] size;
  found_t [Lanes-1:0] by_key, by_ternary, by_prefix, found;
  logic [Lanes-1:0] valid;
  vector_t [Lanes-1:0] vector_action;

  assign host_word = words[0] | words[1] | words[2] | words[3] | words[4];

  rmt_delay #(.Width(1), .Cycles(KeyCycles), .Reset(1'b1)) i_slot_table (.clk, .rst, .d(slot), .q(slot_table));
  rmt_delay #(.Width(1), .Cycles(LpmCycles), .Reset(1'b1)) i_slot_action (.clk, .rst, .d(slot_table), .q(slot_action));
  rmt_delay #(.Width(1), .Cycles(ActionCycles), .Reset(1'b1)) i_slot_out (.clk, .rst, .d(slot_action), .q(slot_out));

  rmt_key i_key (
      .clk,
      .slot,
      .stage,
      .host,
      .host_word(words[0]),
      .ctl,
      .vector,
      .search,
      .bucket
  );

  rmt_exact i_exact (
      .clk,
      .slot(slot_table),
      .stage,
      .host,
      .host_word(words[1]),
      .tenant,
      .key,
      .bucket,
      .found(by_key)
  );

  rmt_ternary i_ternary (
      .clk,
      .rst,
      .slot(slot_table),
      .stage,
      .host,
      .host_word(words[4]),
      .busy,
      .valid,
      .bt,
      .key,
      .found(by_ternary)
  );

  rmt_lpm i_lpm (
      .clk,
      .slot(slot_table),
      .stage,
      .host,
      .host_word(words[2]),
      .tenant,
      .key(first_key),
      .base,
      .size,
      .found(by_prefix)
  );

  rmt_action i_action (
      .clk,
      .rst,
      .slot(slot_action),
      .stage,
      .host,
      .host_word(words[3]),
      .ctl(ctl_action),
      .vector(vector_action),
      .found,
      .out
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    found_t by_key_late, by_ternary_late;
    search_t at_end;

    assign bt[l] = ctl_table[l].bt;
    assign tenant[l] = bt[l][5:0];
    assign valid[l] = ctl_table[l].valid;
    assign key[l] = search[l].key;
    assign first_key[l] = search[l].key[0];
    assign base[l] = search[l].base;
    assign size[l] = search[l].size;

    rmt_delay #(.Width($bits(ctl_t)), .Cycles(KeyCycles), .Reset(1'b1)) i_ctl_table (.clk, .rst, .d(ctl[l]), .q(ctl_table[l]));
    rmt_delay #(
        .Width($bits(ctl_t)),
        .Cycles(LpmCycles),
        .Reset(1'b1)
    ) i_ctl_action (
        .clk,
        .rst,
        .d(ctl_table[l]),
        .q(ctl_action[l])
    );
    rmt_delay #(
        .Width($bits(ctl_t)),
        .Cycles(ActionCycles),
        .Reset(1'b1)
    ) i_ctl_out (
        .clk,
        .rst,
        .d(ctl_action[l]),
        .q(out_ctl[l])
    );
    rmt_delay #(
        .Width($bits(vector_t)),
        .Cycles(KeyCycles + LpmCycles)
    ) i_vector (
        .clk,
        .rst,
        .d(vector[l]),
        .q(vector_action[l])
    );
    rmt_delay #(.Width($bits(search_t)), .Cycles(LpmCycles)) i_search (.clk, .rst, .d(search[l]), .q(at_end));
    rmt_delay #(
        .Width($bits(found_t)),
        .Cycles(LpmCycles - ExactCycles)
    ) i_found (
        .clk,
        .rst,
        .d(by_key[l]),
        .q(by_key_late)
    );
    rmt_delay #(
        .Width($bits(found_t)),
        .Cycles(LpmCycles - TernaryCycles)
    ) i_found_ternary (
        .clk,
        .rst,
        .d(by_ternary[l]),
        .q(by_ternary_late)
    );

    always_comb begin
      case (at_end.kind)
        TableExact:   found[l] = by_key_late;
        TableTernary: found[l] = by_ternary_late;
        default:      found[l] = by_prefix[l];
      endcase
      if (!at_end.open) found[l] = '{hit: 1'b0, action: at_end.otherwise, params: '0};
      else if (at_end.kind == TableNone || !found[l].hit)
        found[l] = '{hit: 1'b0, action: at_end.miss, params: at_end.params};
    end
  end
endmodule

`default_nettype wire
