// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The action of a stage: the rows of its actions, for each lane its units (rmt_units.sv), the registers and meters that
// the lanes share, and the counters. 5 cycles, a frame a cycle in each lane; nothing stops.
module rmt_action
  import rmt_pkg::*;
#(
    parameter bit HasMeters = 1'b1
) (
    input wire logic clk,
    input wire logic rst,
    input wire logic [63:0] now,

    input wire logic  slot,
    input wire logic [3:0] stage,  // number, a constant
    input wire host_t host,
    output     word_t host_word,

    input wire ctl_t    [Lanes-1:0] ctl,
    input wire vector_t [Lanes-1:0] vector,
    input wire found_t  [Lanes-1:0] found,
    input wire hash_t   [Lanes-1:0] crcs,
    output     vector_t [Lanes-1:0] early,  // a cycle ahead of `out`: the vector that the action has read
    output     vector_t [Lanes-1:0] out,
    output     insert_t [Lanes-1:0] insert,
    output     insert_t [Lanes-1:0] late  // three cycles behind `insert`
);
  logic [2:0] slot_q;
  word_t [4:0] words;
  logic [Lanes-1:0][9:0] addr;
  action_row_t [Lanes-1:0] row;
  logic [Lanes-1:0][6:0] segment_addr;
  segment_row_t [Lanes-1:0] segment;
  access_t [Lanes-1:0] access;
  count_t [Lanes-1:0] count;
  word_t result;
  color_t color;

  always_ff @(posedge clk) slot_q <= {slot_q[1:0], slot};
  assign host_word = words[0] | words[1] | words[2] | words[3] | words[4];

  rmt_ram #(
      .Width($bits(action_row_t)),
      .Depth(1024)
  ) i_rows (
      .clk,
      .slot,
      .selected(host.memory == MemAction && host.stage == 8'(stage)),
      .host,
      .host_word(words[0]),
      .addr,
      .data(row)
  );

  rmt_ram #(
      .Width($bits(segment_row_t)),
      .Depth(128)
  ) i_segments (
      .clk,
      .slot(slot_q[0]),
      .selected(host.memory == MemSegment && host.stage == 8'(stage)),
      .host,
      .host_word(words[1]),
      .addr(segment_addr),
      .data(segment)
  );

  rmt_register i_register (
      .clk,
      .rst,
      .slot(slot_q[2]),
      .stage,
      .host,
      .host_word(words[2]),
      .access,
      .result
  );

  if (HasMeters) begin : gen_meter
    rmt_meter i_meter (
        .clk,
        .rst,
        .now,
        .slot(slot_q[2]),
        .stage,
        .host,
        .host_word(words[4]),
        .access,
        .color
    );
  end else begin : gen_no_meter
    assign color = '0;
    assign words[4] = '0;
  end

  rmt_counter i_counter (
      .clk,
      .rst,
      .slot(slot_q[2]),
      .stage,
      .host,
      .host_word(words[3]),
      .count
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    assign addr[l] = {ctl[l].bt, found[l].action};

    rmt_units i_units (
        .clk,
        .rst,
        .stage,
        .ctl(ctl[l]),
        .vector(vector[l]),
        .found(found[l]),
        .crcs(crcs[l]),
        .row(row[l]),
        .segment_addr(segment_addr[l]),
        .segment(segment[l]),
        .access(access[l]),
        .count(count[l]),
        .result,
        .early(early[l]),
        .out(out[l]),
        .insert(insert[l]),
        .color,
        .late(late[l])
    );
  end
endmodule

`default_nettype wire
