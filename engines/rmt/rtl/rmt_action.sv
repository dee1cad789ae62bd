// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The action of a stage: eight units and a register operation, all on the vector in front of the stage.
//
//   vector, found ─> row's memory ─> SELECT ─> ROTATE ─> OPERATE ─> PLACE ───────────────> INSERT ─> vector
//                                    sources   operands     │       bits of all units      the register's
//                                                           └─> rmt_register: BOUNDS, memory, OPERATE ─┘
//
// 7 cycles, a frame a cycle in each lane; nothing stops. The accumulator of a unit's word is the vector itself: a unit
// changes bits of a word and leaves the others.
module rmt_action
  import rmt_pkg::*;
#(
    parameter int unsigned Stage = 0
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    input wire host_t host,
    output     word_t host_word,

    input wire ctl_t    [Lanes-1:0] ctl,
    input wire vector_t [Lanes-1:0] vector,
    input wire found_t  [Lanes-1:0] found,
    output     vector_t [Lanes-1:0] out
);
  localparam int unsigned Wait = 3;  // cycles from OPERATE on until a register's result is there

  logic [2:0] slot_q;
  word_t [2:0] words;
  logic [Lanes-1:0][9:0] addr;
  action_row_t [Lanes-1:0] row;
  logic [Lanes-1:0][6:0] segment_addr;
  segment_t [Lanes-1:0] segment;
  access_t [Lanes-1:0] access;
  word_t old_value, new_value;

  always_ff @(posedge clk) slot_q <= {slot_q[1:0], slot};
  assign host_word = words[0] | words[1] | words[2];

  rmt_ram #(
      .Width($bits(action_row_t)),
      .Depth(1024)
  ) i_rows (
      .clk,
      .slot,
      .selected(host.memory == MemAction && 32'(host.stage) == Stage),
      .host,
      .host_word(words[0]),
      .addr,
      .data(row)
  );

  rmt_ram #(
      .Width($bits(segment_t)),
      .Depth(128)
  ) i_segments (
      .clk,
      .slot(slot_q[1]),
      .selected(host.memory == MemSegment && 32'(host.stage) == Stage),
      .host,
      .host_word(words[1]),
      .addr(segment_addr),
      .data(segment)
  );

  rmt_register #(
      .Stage(Stage)
  ) i_register (
      .clk,
      .rst,
      .slot(slot_q[2]),
      .host,
      .host_word(words[2]),
      .access,
      .old_value,
      .new_value
  );

  function automatic word_t source_of(logic [5:0] source, vector_t v, params_t p, word_t immediate);
    if (!source[5]) return v[source[4:0]];
    if (source[4:2] == '0) return p[source[1:0]];
    return source == SourceImmediate ? immediate : '0;
  endfunction

  function automatic word_t operate(logic [3:0] op, word_t a, word_t b);
    case (op)
      OpAdd:    return a + b;
      OpSub:    return a - b;
      OpAnd:    return a & b;
      OpOr:     return a | b;
      OpXor:    return a ^ b;
      OpEq:     return word_t'(a == b);
      OpNe:     return word_t'(a != b);
      OpLt:     return word_t'(a < b);
      OpGe:     return word_t'(a >= b);
      OpMin:    return a < b ? a : b;
      OpMax:    return a > b ? a : b;
      OpAndNot: return a & ~b;
      default:  return a;
    endcase
  endfunction

  // Where a result goes
  typedef struct packed {
    logic       valid;
    logic [4:0] dst;
    logic [4:0] low;
    logic [4:0] width;
  } goal_t;

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    vector_t vector1_q, vector4, vector5_d, vector5_q, vector6_q, inserted;
    params_t params1_q;
    logic [2:0] hit_q;  // ROTATE is [1]
    ctl_t [2:0] ctl_q;
    action_row_t row2_q, row3_q;
    word_t [Units-1:0] a2_q, b2_q, a3_q, b3_q, result_q;
    word_t index2_q, x2_q, index3_q, x3_q;
    goal_t [Units-1:0] goal3_q, goal4_q;
    logic hit4_q;
    logic [63:0] bits;

    assign addr[l] = {ctl[l].bt, found[l].action};
    assign segment_addr[l] = ctl_q[1].bt;

    always_ff @(posedge clk) begin
      vector1_q <= vector[l];
      params1_q <= found[l].params;
      hit_q     <= {hit_q[1:0], found[l].hit};
      ctl_q     <= {ctl_q[1:0], ctl[l]};
      if (rst) for (int unsigned n = 0; n < 3; n++) ctl_q[n].valid <= 1'b0;
    end

    // ---- SELECT, ROTATE
    always_ff @(posedge clk) begin
      for (int unsigned u = 0; u < Units; u++) begin
        a2_q[u] <= source_of(row[l].units[u].a.source, vector1_q, params1_q, row[l].units[u].immediate);
        b2_q[u] <= source_of(row[l].units[u].b.source, vector1_q, params1_q, row[l].units[u].immediate);
        a3_q[u] <= operand_of(a2_q[u], row2_q.units[u].a);
        b3_q[u] <= operand_of(b2_q[u], row2_q.units[u].b);
      end
      index2_q <= source_of(row[l].access.index.source, vector1_q, params1_q, 32'd1);
      x2_q     <= source_of(row[l].access.x.source, vector1_q, params1_q, 32'd1);
      index3_q <= operand_of(index2_q, row2_q.access.index);
      x3_q     <= operand_of(x2_q, row2_q.access.x);
      row2_q   <= row[l];
      row3_q   <= row2_q;
    end

    // ---- predicates, beside ROTATE
    vector_t vector2_q, vector3_q;
    logic do_register3_q;
    assign bits = {vector2_q[FlagsWord], vector2_q[HitWord]};

    always_ff @(posedge clk) begin
      vector2_q <= vector1_q;
      vector3_q <= vector2_q;
      for (int unsigned u = 0; u < Units; u++)
        goal3_q[u] <= '{
            valid: row2_q.units[u].op != OpNone && row2_q.units[u].op <= OpAndNot &&
                holds('{mode: row2_q.units[u].if_mode, index: row2_q.units[u].if_index}, bits),
            dst: row2_q.units[u].dst,
            low: row2_q.units[u].low,
            width: row2_q.units[u].width
        };
      do_register3_q <= ctl_q[1].valid && ctl_q[1].loaded && ctl_q[1].stateful && row2_q.access.op != RegNone &&
          row2_q.access.op <= RegMin && holds('{mode: row2_q.access.if_mode, index: row2_q.access.if_index}, bits);
    end

    // ---- OPERATE
    assign access[l] = '{
        valid: do_register3_q,
        op: row3_q.access.op,
        index: index3_q,
        x: x3_q,
        offset: row3_q.access.offset,
        length: row3_q.access.length,
        segment: segment[l]
    };

    always_ff @(posedge clk) begin
      for (int unsigned u = 0; u < Units; u++) result_q[u] <= operate(row3_q.units[u].op, a3_q[u], b3_q[u]);
      goal4_q <= goal3_q;
      hit4_q  <= hit_q[2];
    end

    rmt_delay #(
        .Width($bits(vector_t)),
        .Cycles(1)
    ) i_vector (
        .clk,
        .rst,
        .d(vector3_q),
        .q(vector4)
    );

    // ---- PLACE
    always_comb begin
      vector_t keep, bits_set;
      keep = '1;
      bits_set = '0;
      for (int unsigned u = 0; u < Units; u++) begin
        word_t mask, value;
        mask = ones(goal4_q[u].low, goal4_q[u].width);
        value = (result_q[u] << goal4_q[u].low) & mask;
        for (int unsigned w = 0; w < VectorWords; w++)
          if (goal4_q[u].valid && 32'(goal4_q[u].dst) == w) begin
            keep[w] &= ~mask;
            bits_set[w] |= value;
          end
      end
      vector5_d = (vector4 & keep) | bits_set;
      vector5_d[HitWord][Stage] = hit4_q;
    end
    always_ff @(posedge clk) begin
      vector5_q <= vector5_d;
      vector6_q <= vector5_q;
    end

    // ---- INSERT
    goal_t goal6;
    logic is_new6;
    rmt_delay #(
        .Width($bits(goal_t) + 1),
        .Cycles(Wait)
    ) i_goal (
        .clk,
        .rst,
        .d({do_register3_q && row3_q.access.writes, row3_q.access.dst, row3_q.access.low, row3_q.access.width,
            row3_q.access.is_new}),
        .q({goal6, is_new6})
    );

    always_comb begin
      word_t mask;
      mask = ones(goal6.low, goal6.width);
      inserted = vector6_q;
      if (goal6.valid)
        inserted[goal6.dst] = (vector6_q[goal6.dst] & ~mask) | (((is_new6 ? new_value : old_value) << goal6.low) & mask);
    end
    always_ff @(posedge clk) out[l] <= inserted;
  end
endmodule

`default_nettype wire
