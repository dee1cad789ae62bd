// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The execution of an action in a lane: eight units, a register operation and a count, all on the vector in front of
// the stage.
//
//   vector, found ─> row's memory ─> SELECT ─> ROTATE ─> OPERATE ─> PLACE ───────────────> vector
//                                    sources   operands             bits of all units
//                                                 └────> rmt_register: BOUNDS, OPERATE ──> insert
//
//                                                 └────> rmt_meter: 5 cycles ───────────────────────────────> late
//
// 5 cycles, a frame a cycle; nothing stops. The row comes a cycle behind `found`, the segment a cycle behind its
// address, the register's result 2 cycles behind `access`, the meter's 5. An action has one operation, a register's or
// a meter's. `insert` is a register's result for the key of the next stage, `late` either one's for the next action:
// whoever takes the vector puts it in.
module rmt_units
  import rmt_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic [3:0] stage,  // number, a constant

    input wire ctl_t        ctl,
    input wire vector_t     vector,
    input wire found_t      found,
    input wire hash_t       crcs,
    input wire action_row_t row,

    output logic [6:0]          segment_addr,
    input  wire segment_row_t   segment,
    output access_t             access,
    output count_t              count,
    input  wire word_t          result,
    output vector_t             early,  // a cycle ahead of `out`: the vector that the action has read
    output vector_t             out,
    output insert_t             insert,
    input  wire color_t         color,
    output insert_t             late
);
  // Many instances: one model serves all.
  /* verilator no_inline_module */

  // What OPERATE does, decoded while the operands rotate
  typedef struct packed {
    logic inverts;  // B is inverted in front of the sum,
    logic carries;  // one is added to it,
    logic flips;    // and it is inverted itself
    logic sums;
    logic compares;
    logic by_carry;  // the comparison is the carry of A - B or of A - B - 1, else equality
    logic negates;   // the comparison is inverted
    logic [2:0] logic_op;
  } decoded_t;

  function automatic decoded_t decoded(logic [3:0] op);
    return '{
        inverts: op != OpAdd,
        carries: op == OpSub || op == OpLt || op == OpGe,
        flips: op == OpFrom,
        sums: op inside {OpAdd, OpSub, OpFrom},
        compares: op >= OpEq,
        by_carry: op >= OpLt,
        negates: op inside {OpNe, OpLt, OpLe},
        logic_op: op[2:0]
    };
  endfunction

  function automatic word_t operate(decoded_t op, word_t a, word_t b);
    logic [32:0] sum;
    word_t joined;
    // With B inverted, the carry says A >= B, or without the one A > B.
    sum = {1'b0, a} + {1'b0, b ^ {32{op.inverts}}} + 33'(op.carries);
    case (op.logic_op)
      OpA[2:0]:   joined = a;
      OpB[2:0]:   joined = b;
      OpAnd[2:0]: joined = a & b;
      OpOr[2:0]:  joined = a | b;
      default:    joined = a ^ b;
    endcase
    if (op.compares) return {31'd0, (op.by_carry ? sum[32] : a == b) ^ op.negates};
    return op.sums ? sum[31:0] ^ {32{op.flips}} : joined;
  endfunction

  // A word of the vector. Groups of four are a LUT for each bit; synthesis makes more of an index.
  function automatic word_t word_of(vector_t words, logic [4:0] index);
    word_of = '0;
    for (int unsigned g = 0; g < VectorWords; g += 4)
      word_of |= (index[1] ? (index[0] ? words[g+3] : words[g+2]) : (index[0] ? words[g+1] : words[g])) &
          {32{index[4:2] == 3'(g / 4)}};
  endfunction

  // Where a result goes
  typedef struct packed {
    logic       valid;
    logic [4:0] dst;
    logic [4:0] low;
    logic [4:0] last;
  } goal_t;

  function automatic logic [VectorWords-1:0][Units-1:0] all_writers();
    for (int unsigned w = 0; w < VectorWords; w++) all_writers[w] = writers_of(w);
  endfunction

  localparam logic [VectorWords-1:0][Units-1:0] Writers = all_writers();

  vector_t vector1_q, vector2_q, vector3_q, vector4_q;
  segment_row_t segment3_q;
  params_t params1_q;
  hash_t crcs1_q;
  logic [2:0] hit_q;  // ROTATE is [1]
  ctl_t [2:0] ctl_q;
  action_row_t row2_q, row3_q;
  word_t [Units-1:0] a2_q, b2_q, a3_q, b3_q, result_q;
  word_t index2_q, x2_q, index3_q, x3_q, cell2_q, cell3_q;
  goal_t [Units-1:0] goal3_q, goal4_q;
  decoded_t [Units-1:0] op3_q;
  logic [VectorWords-1:0][Units-1:0] writes4_q;  // words that a unit writes
  logic hit4_q, valid4_q;
  logic [63:0] bits;

  assign segment_addr = ctl_q[0].bt;

  // In cycles without a frame a step holds still: as plain shift registers, synthesis would make a LUT of each bit of the
  // vector, and a simulation would compute what nobody reads.
  always_ff @(posedge clk) begin
    if (ctl.valid) begin
      vector1_q <= vector;
      params1_q <= found.params;
      crcs1_q   <= crcs;
    end
    hit_q <= {hit_q[1:0], found.hit};
    ctl_q <= {ctl_q[1:0], ctl};
    valid4_q <= ctl_q[2].valid;
    if (rst) begin
      for (int unsigned n = 0; n < 3; n++) ctl_q[n].valid <= 1'b0;
      valid4_q <= 1'b0;
    end
  end

  // ---- SELECT
  seconds_t seconds;
  assign seconds = seconds_of(vector1_q, params1_q, crcs1_q);

  always_ff @(posedge clk)
    if (ctl_q[0].valid) begin
      for (int unsigned u = 0; u < Units; u++) begin
        a2_q[u] <= word_of(vector1_q, row.alus[u].a.source);
        b2_q[u] <= seconds[row.alus[u].b.source];
      end
      index2_q  <= seconds[row.access.index.source];
      x2_q      <= seconds[row.access.x.source];
      cell2_q   <= seconds[row.count.index.source];
      vector2_q <= vector1_q;
      row2_q    <= row;
    end

  // ---- ROTATE
  always_ff @(posedge clk)
    if (ctl_q[1].valid) begin
      for (int unsigned u = 0; u < Units; u++) begin
        a3_q[u]  <= first_of(a2_q[u], row2_q.alus[u].a);
        b3_q[u]  <= second_of(b2_q[u], row2_q.alus[u].b) ^ row2_q.alus[u].immediate;
        op3_q[u] <= decoded(row2_q.alus[u].op);
      end
      index3_q   <= second_of(index2_q, row2_q.access.index);
      x3_q       <= second_of(x2_q, row2_q.access.x) ^ word_t'(row2_q.access.one);
      cell3_q    <= second_of(cell2_q, row2_q.count.index);
      vector3_q  <= vector2_q;
      row3_q     <= row2_q;
      segment3_q <= segment;
    end

  // ---- predicates, beside ROTATE
  logic do_register3_q, do_count3_q;
  assign bits = {vector2_q[FlagsWord], vector2_q[HitWord]};

  always_ff @(posedge clk) begin
    if (ctl_q[1].valid)
      for (int unsigned u = 0; u < Units; u++)
        goal3_q[u] <= '{
            valid: row2_q.alus[u].op != OpNone && row2_q.alus[u].op != 4'd9 &&
                holds('{mode: row2_q.alus[u].if_mode, index: row2_q.alus[u].if_index}, bits),
            dst: row2_q.alus[u].dst,
            low: row2_q.alus[u].low,
            last: last_of(row2_q.alus[u].low, row2_q.alus[u].width)
        };
    do_register3_q <= ctl_q[1].valid && ctl_q[1].loaded && ctl_q[1].stateful && row2_q.access.op != RegNone &&
        row2_q.access.op <= RegMeter && holds('{mode: row2_q.access.if_mode, index: row2_q.access.if_index}, bits);
    do_count3_q <= ctl_q[1].valid && ctl_q[1].loaded && row2_q.count.counts &&
        holds('{mode: row2_q.count.if_mode, index: row2_q.count.if_index}, bits);
  end

  // ---- OPERATE
  assign access = '{
      valid: do_register3_q,
      op: row3_q.access.op,
      is_new: row3_q.access.is_new,
      index: index3_q,
      x: x3_q,
      offset: row3_q.access.offset,
      length: row3_q.access.length,
      segment: row3_q.access.op == RegMeter ? segment3_q.meters : segment3_q.registers
  };
  assign count = '{
      valid: do_count3_q,
      index: cell3_q,
      offset: row3_q.count.offset,
      length: row3_q.count.length,
      segment: segment3_q.counters,
      bytes: vector3_q[InfoWord][15:0]
  };

  always_ff @(posedge clk)
    if (ctl_q[2].valid) begin
      for (int unsigned u = 0; u < Units; u++) result_q[u] <= operate(op3_q[u], a3_q[u], b3_q[u]);
      for (int unsigned w = 0; w < VectorWords; w++)
        for (int unsigned u = 0; u < Units; u++) writes4_q[w][u] <= goal3_q[u].valid && goal3_q[u].dst == 5'(w);
      goal4_q   <= goal3_q;
      hit4_q    <= hit_q[2];
      vector4_q <= vector3_q;
    end
  assign early = vector4_q;

  // ---- PLACE: each word looks which of its units write it
  function automatic vector_t placed(vector_t into, word_t [Units-1:0] results, goal_t [Units-1:0] goals,
                                     logic [VectorWords-1:0][Units-1:0] writes);
    vector_t taken, bits_set;
    word_t [Units-1:0] mask, value;
    for (int unsigned u = 0; u < Units; u++) begin
      mask[u]  = bits_of(goals[u].low, goals[u].last);
      value[u] = (results[u] << goals[u].low) & mask[u];
    end
    taken = '0;
    bits_set = '0;
    for (int unsigned w = 0; w < VectorWords; w++)
      for (int unsigned u = 0; u < Units; u++)
        if (Writers[w][u]) begin
          taken[w] |= mask[u] & {32{writes[w][u]}};
          bits_set[w] |= value[u] & {32{writes[w][u]}};
        end
    return (into & ~taken) | bits_set;
  endfunction

  always_ff @(posedge clk)
    if (valid4_q) begin
      out <= placed(vector4_q, result_q, goal4_q, writes4_q);
      out[HitWord][5'(stage)] <= hit4_q;
    end

  // ---- the result of a register, or of a meter
  goal_t register4_q, register5_q;
  word_t mask5_q;
  logic metered4_q, metered5_q;
  insert_t result5, result8;

  always_ff @(posedge clk) begin
    register4_q <= '{
        valid: do_register3_q && row3_q.access.writes,
        dst: row3_q.access.dst,
        low: row3_q.access.low,
        last: last_of(row3_q.access.low, row3_q.access.width)
    };
    register5_q <= register4_q;
    mask5_q     <= bits_of(register4_q.low, register4_q.last);
    {metered5_q, metered4_q} <= {metered4_q, row3_q.access.op == RegMeter};
  end
  assign result5 = '{
      valid: register5_q.valid,
      dst: register5_q.dst,
      low: register5_q.low,
      mask: mask5_q,
      value: result
  };
  always_comb begin
    insert = result5;
    insert.valid = result5.valid && !metered5_q;
  end
  rmt_delay #(
      .Width($bits(insert_t)),
      .Cycles(3)
  ) i_late (
      .clk,
      .rst,
      .d(result5),
      .q(result8)
  );
  // A register's result is 0 beside a meter's, and a color beside a register's.
  always_comb begin
    late = result8;
    late.value = result8.value | word_t'(color);
  end
endmodule

`default_nettype wire
