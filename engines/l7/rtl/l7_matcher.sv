// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Runs the rules of an application over the window of a message: two cycles a step.
//
//   load ─> skip ──────────────────> match ─────────────────> found
//   beat 0  branch of the step       32 bytes at the place,   the branch is `last`
//           before, and where it     four alternatives; where
//           leads; row is read       each of them would lead
//           meanwhile                │
//             ^                      │
//             └──────────────────────┘
//
// Cycle by cycle: load; N times skip, match; found. In the cycle of `found` the branch names a decision, and the
// matcher waits for `take`. With N steps it takes 2N + 2 cycles, if nothing waits.
//
// skip waits for a field that the walker has not reached, and for each further 64 bytes of the window in which
// `until` looks for its byte. The row is read when skip ends, and stays until the next skip ends: its branches are
// what the next skip selects from, by the bits that match has registered.
//
// Match prepares a skip of each branch that may follow: the place behind bytes, the place in a field, or the bytes among 64
// that `until` looks for, one bit each. Skip finds the first of these bits in each, and then selects among the branches.
// This takes five copies of the selection of 64 classes, in place of one behind the branch.
//
// docs/hardware.md has the LUTs that synthesis counts. Window and classes are 3,072 flip-flops.
module l7_matcher
  import penstock_pkg::*, l7_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    output logic       idle,
    input wire logic    load,      // a beat of the window; the first one only while `idle`
    input wire window_t window_i,
    input wire class_t [BeatBytes-1:0] classes_i,  // of the beat's bytes
    input wire app_t    app,
    input wire branch_t start,     // with the first beat

    output logic       row_free,  // the matcher cannot read a row in this cycle
    output logic       row_re,
    output row_no_t    row_addr,
    input  wire row_t  row,       // a cycle later, until the next read

    output logic      found_valid,
    output found_t    found,
    input  wire logic take
);
  /* verilator no_inline_module */  // the model compiles it once for all instances
  typedef enum logic [1:0] {
    Idle,
    Skip,
    Match
  } state_e;

  state_e state_q;
  logic [8*WindowBytes-1:0] bytes_q;
  class_t [WindowBytes-1:0] classes_q;
  place_in_window_t loaded_q, limit_q;
  app_t app_q;
  msg_t slot_q;
  port_no_t port_q;
  logic bank_q, first;

  logic open_q;  // further beats of the window come
  assign idle = state_q == Idle && !open_q;
  assign first = load && window_i.first;

  // ---- window
  always_ff @(posedge clk) begin
    if (load) begin
      for (int unsigned b = 0; b < WindowBeats; b++)
        if (32'(first ? '0 : loaded_q[7:6]) == b) begin
          bytes_q[DataW*b+:DataW] <= window_i.data;
          classes_q[BeatBytes*b+:BeatBytes] <= classes_i;
        end
      loaded_q <= (first ? '0 : loaded_q) + place_in_window_t'(BeatBytes);
      open_q   <= !window_i.last;
    end
    if (first) begin
      limit_q <= window_i.limit;
      slot_q  <= window_i.slot;
      port_q  <= window_i.port;
      bank_q  <= window_i.bank;
      app_q   <= app;
    end
    if (rst) open_q <= 1'b0;
  end

  // ---- the branch that follows
  logic begins_q;  // no step has been made
  branch_t start_q, branch;
  logic [Alternatives-1:0] hits_q;
  logic missed_q, stuck;  // the skip failed
  logic [8*MatchBytes-1:0] hashed_q;
  logic [15:0] hash;
  row_no_t bucket;
  logic to_bucket, any_hit;
  place_in_window_t pos_q, end_q, at_q, stop_q;  // pos and end in front of the step; behind its skip
  place_in_window_t [Alternatives-1:0] behind, behind_q;  // the place behind what each alternative matches
  place_in_window_t pos, stop;
  logic [7:0] steps_q;

  assign hash = begins_q || missed_q || (hits_q == '0 && !row.hash_on) ? '0 : hash_of(hashed_q);
  assign bucket = row.hash_base + (hash[11:0] & ((12'd1 << row.hash_bits) - 12'd1));
  assign to_bucket = !begins_q && row.hash_on && !missed_q;
  assign any_hit = !begins_q && !missed_q && !row.hash_on && hits_q != '0;
  assign stuck = steps_q == 8'(Steps);

  // ---- jumps: where each branch leads, ready when the branch is selected. The last one is that of a miss, or of the start.
  localparam int unsigned Jumps = Alternatives + 1;
  typedef struct packed {
    place_in_window_t at, stop;
    logic fails;
  } jump_t;

  branch_t [Jumps-1:0] branches;
  logic [Jumps-1:0][3:0] fields;
  logic [Jumps-1:0][7:0] offsets;
  place_in_window_t [Jumps-1:0] field_place, field_stop;
  logic [Jumps-1:0] field_fails, field_known;
  jump_t [Jumps-1:0] jumps;
  logic [Jumps-1:0] waiting;
  jump_t jump;
  logic waits;

  l7_walker #(
      .Lookups(Jumps)
  ) i_walker (
      .clk,
      .rst,
      .load(first),
      .beat(window_i.data),
      .limit(first ? window_i.limit : limit_q),
      .window(bytes_q),
      .loaded(loaded_q),
      .arrives(load),
      .field(fields),
      .offset(offsets),
      .place(field_place),
      .stop(field_stop),
      .fails(field_fails),
      .known(field_known)
  );

  for (genvar i = 0; i < int'(Jumps); i++) begin : gen_jump
    skip_e kind;  // of the branch, while a skip chooses
    place_in_window_t base, bound;
    logic [10:0] by_bytes;
    jump_t jump_q;
    logic [1:0] chunk, chunk_q;  // 64 bytes in which `until` looks
    class_t [BeatBytes-1:0] scanned;
    logic [BeatBytes-1:0] in_set, past_base, in_field, in_set_q;
    logic more_q;  // the field goes on behind them

    if (i < int'(Alternatives)) begin : gen_alternative
      assign branches[i] = row.alternatives[i].branch;
      assign kind = branches[i].kind;
      assign behind[i] = at_q + place_in_window_t'(row.alternatives[i].len);
      assign base = behind[i];
      assign bound = stop_q;
    end else begin : gen_miss
      assign branches[i] = first ? start : begins_q ? start_q : row.miss;
      assign kind = begins_q ? start_q.kind : row.miss.kind;
      assign base = first ? '0 : pos_q;
      assign bound = first ? '0 : end_q;
    end
    assign fields[i] = branches[i].operand[3:0];
    assign offsets[i] = branches[i].operand[15:8];
    assign by_bytes = 11'(base) + 11'(branches[i].operand[7:0]);

    assign chunk = state_q == Skip ? chunk_q + 2'd1 : base[7:6];
    always_comb begin
      scanned = classes_q[BeatBytes*chunk+:BeatBytes];
      // Bytes of these 64 that are at or after the base, and before the field's end
      past_base = base[8] ? '0 : state_q == Skip ? '1 : '1 << base[5:0];
      in_field = {1'b0, chunk} == bound[8:6] ? ~('1 << bound[5:0]) : {1'b0, chunk} < bound[8:6] ? '1 : '0;
      for (int unsigned b = 0; b < BeatBytes; b++) in_set[b] = branches[i].operand[scanned[b]];
    end

    always_ff @(posedge clk) begin
      in_set_q <= in_set & past_base & in_field;
      chunk_q <= chunk;
      more_q <= base < bound && 11'({chunk, 6'd0}) + 11'(BeatBytes) < 11'(bound);
      if (branches[i].kind == SkipField) jump_q <= '{at: field_place[i], stop: field_stop[i], fails: field_fails[i]};
      else
        jump_q <= '{
            at: by_bytes[8:0],
            stop: bound,
            fails: branches[i].kind == SkipNever || by_bytes > 11'(bound)
        };
    end

    always_comb begin
      jumps[i] = jump_q;
      waiting[i] = kind == SkipField && !field_known[i];
      if (kind == SkipUntil) begin
        jumps[i].at = {1'b0, chunk_q, 6'd0} + place_in_window_t'(behind_first(in_set_q));
        jumps[i].fails = in_set_q == '0;
        waiting[i] = in_set_q == '0 && more_q;
      end
    end
  end

  always_comb begin
    branch = row.miss;
    pos = pos_q;
    stop = end_q;
    jump = jumps[Alternatives];
    waits = waiting[Alternatives];
    if (begins_q) branch = start_q;
    else if (to_bucket) begin
      branch = '{operand: '0, kind: SkipBytes, last: 1'b0, next: decision_no_t'(bucket)};
      pos = at_q;
      stop = stop_q;
      jump = '{at: at_q, stop: stop_q, fails: 1'b0};
      waits = 1'b0;
    end else if (any_hit) begin
      for (int i = int'(Alternatives) - 1; i >= 0; i--)
        if (hits_q[i]) begin
          branch = row.alternatives[i].branch;
          pos = behind_q[i];
          jump = jumps[i];
          waits = waiting[i];
        end
      stop = stop_q;
    end
  end

  // ---- skip
  logic ends, steps;  // the program ends; the skip of a step ends
  assign ends = state_q == Skip && (branch.last || stuck);
  assign steps = state_q == Skip && !ends && !waits;
  assign row_free = state_q != Skip;
  assign row_re = steps;
  assign row_addr = row_no_t'(branch.next);

  always_ff @(posedge clk) begin
    if (steps) begin
      pos_q <= pos;
      end_q <= stop;
      at_q <= jump.at;
      stop_q <= jump.stop;
      missed_q <= jump.fails;
      begins_q <= 1'b0;
      steps_q <= steps_q + 1'b1;
    end
    if (first) begin
      begins_q <= 1'b1;
      start_q <= start;
      pos_q <= '0;
      end_q <= '0;
      steps_q <= '0;
    end

    unique case (state_q)
      Idle: if (first) state_q <= Skip;
      Skip: if (ends && take) state_q <= Idle;
      else if (steps) state_q <= Match;
      default: state_q <= Skip;
    endcase
    if (rst) state_q <= Idle;
  end

  // ---- match
  logic [8*MatchBytes-1:0] there;
  logic [Alternatives-1:0] hits;
  place_in_window_t rest;
  assign rest = stop_q - at_q;

  assign there = (8 * MatchBytes)'(bytes_q >> {at_q[7:0], 3'd0});

  function automatic logic [63:0] big_endian(logic [63:0] bytes);
    return {<<8{bytes}};
  endfunction

  for (genvar i = 0; i < Alternatives; i++) begin : gen_alternative
    alternative_t of;
    logic [8*MatchBytes-1:0] mask;
    logic fits, equal, in_range;
    logic [63:0] x;
    assign of = row.alternatives[i];
    assign mask = bits_of(of.mask);
    assign fits = 32'(of.len) <= MatchBytes && rest >= place_in_window_t'(of.len) && (!of.at_end || rest == place_in_window_t'(of.len));
    assign equal = ((there ^ of.value) & mask) == '0;
    assign x = big_endian(there[63:0] & mask[63:0]);
    assign in_range = big_endian(of.value[63:0]) <= x && x <= big_endian(of.value[127:64]);
    assign hits[i] = fits && (of.range ? in_range : equal);
  end

  logic [MatchBytes-1:0] counted, present;  // bytes that the hash word names, and that the field has
  assign counted = ~('1 << row.hash_len);
  assign present = rest >= place_in_window_t'(MatchBytes) ? '1 : ~('1 << rest[4:0]);

  always_ff @(posedge clk)
    if (state_q == Match) begin
      hits_q   <= hits;
      behind_q <= behind;
      hashed_q <= there & bits_of(counted & present);
    end

  // ---- found
  assign found_valid = ends;
  assign found = '{
          app: app_q,
          port: port_q,
          slot: slot_q,
          bank: bank_q,
          stuck: stuck && !branch.last,
          decision: branch.next,
          hash: hash
      };

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!first || idle) else $error("%m: a window begins while another one is matched");
      assert (!(load && !first) || loaded_q < place_in_window_t'(WindowBytes))
        else $error("%m: a window of more than four beats");
    end
`endif
endmodule

`default_nettype wire
