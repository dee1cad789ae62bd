// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Runs the rules of an application over the window of a message: two cycles a step.
//
//   load ─> skip ──────────────────> match ─────────────────> found
//   beat 0  branch of the step       32 bytes at the place,   the branch is `last`
//           before; place; row is    four alternatives
//           read meanwhile           │
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
// LUT levels as counted by hand: skip: 2 select the branch and its place, which match has added, 2 the 64 bytes, 3
// class and set, 1 place, 9 the first byte; match: 4 place the bytes, 4 compare, 1 all.
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
  place_in_window_t [Alternatives-1:0] behind_q;  // the place behind what each alternative matches
  place_in_window_t pos, stop;
  logic [7:0] steps_q;

  assign hash = begins_q || missed_q || (hits_q == '0 && !row.hash_on) ? '0 : hash_of(hashed_q);
  assign bucket = row.hash_base + (hash[11:0] & ((12'd1 << row.hash_bits) - 12'd1));
  assign to_bucket = !begins_q && row.hash_on && !missed_q;
  assign any_hit = !begins_q && !missed_q && !row.hash_on && hits_q != '0;
  assign stuck = steps_q == 8'(Steps);

  always_comb begin
    branch = row.miss;
    pos = pos_q;
    stop = end_q;
    if (begins_q) branch = start_q;
    else if (to_bucket) begin
      branch = '{operand: '0, kind: SkipBytes, last: 1'b0, next: decision_no_t'(bucket)};
      pos = at_q;
      stop = stop_q;
    end else if (any_hit) begin
      for (int i = int'(Alternatives) - 1; i >= 0; i--)
        if (hits_q[i]) begin
          branch = row.alternatives[i].branch;
          pos = behind_q[i];
        end
      stop = stop_q;
    end
  end

  // ---- skip
  logic waits, fails, field_known, field_present, some;
  place_in_window_t field_start, field_stop;
  logic [10:0] at;
  place_in_window_t to;
  logic scans_q;  // `until` goes on in a further 64 bytes
  logic [1:0] chunk_q, chunk;
  class_t [BeatBytes-1:0] scanned;
  logic [BeatBytes-1:0] in_set, past_pos, in_field;

  l7_walker i_walker (
      .clk,
      .rst,
      .load(first),
      .beat(window_i.data),
      .limit(first ? window_i.limit : limit_q),
      .window(bytes_q),
      .loaded(loaded_q),
      .arrives(load),
      .field(branch.operand[3:0]),
      .known(field_known),
      .present(field_present),
      .start(field_start),
      .stop(field_stop)
  );

  assign chunk = scans_q ? chunk_q : pos[7:6];
  always_comb begin
    scanned = classes_q[BeatBytes*chunk+:BeatBytes];
    // Bytes of these 64 that are at or after pos, and before the field's end
    past_pos = {1'b0, chunk} == pos[8:6] ? '1 << pos[5:0] : {1'b0, chunk} > pos[8:6] ? '1 : '0;
    in_field = {1'b0, chunk} == stop[8:6] ? ~('1 << stop[5:0]) : {1'b0, chunk} < stop[8:6] ? '1 : '0;
    for (int unsigned b = 0; b < BeatBytes; b++) in_set[b] = branch.operand[scanned[b]];
    in_set &= past_pos & in_field;
    some = in_set != '0;
  end

  always_comb begin
    waits = 1'b0;
    to = stop;
    at = 11'(pos) + 11'(branch.operand[7:0]);
    fails = 1'b0;
    unique case (branch.kind)
      SkipBytes: fails = at > 11'(stop);
      SkipUntil: begin
        at = 11'({chunk, 6'd0}) + 11'(behind_first(in_set));
        waits = !some && pos < stop && 11'({chunk, 6'd0}) + 11'(BeatBytes) < 11'(stop);
        fails = !some;
      end
      SkipField: begin
        waits = !field_known;
        at = 11'(field_start) + 11'(branch.operand[15:8]);
        to = field_stop;
        fails = !field_present || at > 11'(field_stop);
      end
      default: fails = 1'b1;
    endcase
  end

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
      at_q <= at[8:0];
      stop_q <= to;
      missed_q <= fails;
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
    scans_q <= state_q == Skip && !ends && waits && branch.kind == SkipUntil;
    chunk_q <= chunk + 1'b1;

    unique case (state_q)
      Idle: if (first) state_q <= Skip;
      Skip: if (ends && take) state_q <= Idle;
      else if (steps) state_q <= Match;
      default: state_q <= Skip;
    endcase
    if (rst) begin
      state_q <= Idle;
      scans_q <= 1'b0;
    end
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
      for (int unsigned i = 0; i < Alternatives; i++)
        behind_q[i] <= at_q + place_in_window_t'(row.alternatives[i].len);
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
