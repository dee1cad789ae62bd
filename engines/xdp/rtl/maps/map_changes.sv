// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Carries out the changes of a bank's maps: updates, deletions, the creation of a map. One after the other, each while
// the bank has no lookup, store or atomic under way, and takes none up.
//
//   Idle ─┬─> Clear: rows
//         └─> Start ─┬─> Bucket ─> Walk: entry, key, next entry ... ─┬─> found: WriteValue, Unlink ─────────┬─> Done
//                    │                                               └─> Missed: Claim, Place, Write... ────┤
//                    └─> an array's element: WriteValue ────────────────────────────────────────────────────┘
//
// A row arrives four cycles after a state has named it; writes go through a register. If a row is not on the chip, the
// state machine stalls (`go`) until it is; a state that writes then reads the rows named last again. A bucket has at
// most MaxChain entries and the clock hand of an LRU map passes at most as many marks, so every request ends. Where
// each processor has a value of its own, a new entry takes a cycle for each row of values.
module map_changes
  import map_pkg::*;
  import maps_pkg::*;
#(
    parameter int unsigned Banks = 16,
    parameter int unsigned Rows  = 16384,
    parameter int unsigned PlaceW = 15
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic        define,
    input  wire map_t        define_map,
    input  wire descriptor_t define_as,
    output logic             defining,

    input wire logic alone,  // no lookup, store or atomic is under way
    input wire logic go,     // what stands at `reads`, and what was written last, is on the chip

    // A request, which stands until `done`
    input  wire logic        start,     // it is there, with its whole key
    input  wire logic        deletes,   // else updates
    input  wire map_info_t   info,
    input  wire logic [31:0] hash,
    input  wire descriptor_t as,
    input  wire logic [2:0]  parts,     // of its key
    input  wire logic        in_range,  // of an array: there is such an element
    // of an array, rows before the element; else halves of rows before this processor's value
    input  wire logic [PlaceW-1:0] place,
    output logic             busy,
    output logic             done,
    output logic [7:0]       code,      // what it gives, with a sign

    // Its value
    input  wire logic  rest_valid,
    input  wire logic  rest_last,
    input  wire data_t rest,
    input  wire logic  ended,     // the last part was taken
    output logic       rest_pop,

    // Parts of its key, a cycle after `key_at`; and, one cycle later, whether the read part was equal
    output logic [1:0] key_at,
    input  wire data_t key,
    input  wire logic  same,

    // Memory
    output logic [$clog2(Rows)-1:0] look,
    output logic                    reads,  // what is read in this cycle matters
    output logic                    blank,  // what is written next is all of its line
    input  wire data_t              read,
    output logic [15:0]             strobes,
    output logic [$clog2(Rows)-1:0] row,
    output data_t                   data,

    output logic   claim,
    output claim_t claim_what,
    input  wire logic claim_done,
    input  wire logic claim_granted
);
  localparam int unsigned RowW = $clog2(Rows);
  localparam int unsigned BankW = $clog2(Banks);
  localparam logic [3:0] Ready = 4'd3;  // cycles from a row's address to its bytes
  localparam data_t Marked = 128'h3_0000;
  localparam data_t Unmarked = 128'h1_0000;
  typedef logic [RowW-1:0] at_t;

  typedef enum logic [4:0] {
    Idle,
    Clear,
    Start,
    Bucket,
    Walk,
    Missed,
    Claim,
    Place,
    TakeFree,
    Evict,
    WriteEntry,
    WriteKey,
    WriteBucket,
    ClearValues,
    WriteValue,
    Unlink,
    Release,
    GiveBack,
    Done
  } state_e;

  state_e state_q;
  logic [3:0] t_q;  // cycles since the last row's address
  assign done = go && state_q == Done;

  // ---- free entries, fresh ones, the hand
  typedef struct packed {
    at_t free;
    at_t fresh;
    at_t hand;
  } lists_t;

  (* ram_style = "distributed" *) lists_t lists[Maps];
  lists_t lists_q;
  logic lists_changed_q;
  map_t define_map_q;
  descriptor_t define_as_q;
  at_t clear_row_q;
  wire cleared = clear_row_q == at_t'(define_as_q.end_row);
  wire at_t hand_next = lists_q.hand + at_t'(as.stride);
  wire at_t hand_behind = hand_next == at_t'(as.end_row) ? at_t'(as.entries_row) : hand_next;
  always_ff @(posedge clk) begin
    if (state_q == Clear && cleared) lists[define_map_q] <= lists_q;
    else if (done && lists_changed_q) lists[info.map] <= lists_q;
  end

  // ---- places
  // entry; the one before it in its chain; first of the chain; row that is written next
  at_t here_q, before_q, head_q, target_q;
  logic first_q;                            // `here` is the first of its chain
  logic [4:0] steps_q;
  logic evicts_q;
  entry_t entry_q;
  wire entry_t entry = read;
  wire entry_t new_entry = '{nothing: '0, hash: hash, none: '0, mark: 1'b0, used: 1'b1, next: row_t'(head_q)};
  logic [31:0] bucket_q;
  wire [31:0] bucket = bucket_of(hash >> BankW, as.buckets);
  wire [31:0] victim_bucket = bucket_of(entry.hash >> BankW, as.buckets);
  wire at_t bucket_row = at_t'(as.base_row) + at_t'(bucket_q >> 3);
  wire at_t bucket_head = at_t'({read[{bucket_q[2:0], 1'b1}], read[{bucket_q[2:0], 1'b0}]});
  assign key_at = 2'(t_q - Ready);

  // ---- values, the one behind the other where each processor has its own
  at_t distance_q;  // from the entry to this one's
  at_t last_q;      // row of a new entry
  wire halved = as.step == 6'd1;
  wire at_t value_row = here_q + distance_q;
  always_ff @(posedge clk) begin
    distance_q <= at_t'(parts) + at_t'(place[PlaceW-1:1]) + 1'b1;
    last_q <= here_q + at_t'(as.stride) - 1'b1;
  end

  // ---- the result of the search
  wire other = t_q == Ready && (evicts_q ? here_q != target_q : entry.hash != hash);
  wire differs = t_q > Ready + 4'd1 && !same;
  wire spares = entry.mark && steps_q < 5'(MaxChain);  // the hand
  wire at_t next = t_q == Ready ? at_t'(entry.next) : at_t'(entry_q.next);
  wire found = state_q == Walk && !differs && t_q == Ready + 4'd1 + 4'(parts);

  assign reads = t_q >= Ready && state_q inside {Bucket, Walk, TakeFree, Evict};
  assign rest_pop = go && state_q == WriteValue && rest_valid && !ended;
  assign claim = go && (state_q == Claim || state_q == GiveBack);
  assign claim_what = '{back: state_q == GiveBack, map: info.map, prefix: as.kind == MapLpm, length: info.length};

  // ---- what is written
  always_comb begin
    strobes = '0;
    row = target_q;
    data = key;
    unique case (state_q)
      Clear: begin
        strobes = cleared ? '0 : '1;
        row = clear_row_q;
        data = '0;
      end
      Walk: begin
        if (found && as.kind == MapLru && !deletes && !entry_q.mark) strobes = 16'h0004;
        row = here_q;
        data = Marked;
      end
      Evict: begin
        if (t_q == Ready && spares) strobes = 16'h0004;
        row = lists_q.hand;
        data = Unmarked;
      end
      WriteEntry: begin
        strobes = '1;
        row = here_q;
        data = new_entry;
      end
      WriteKey: strobes = t_q > Ready ? '1 : '0;
      WriteBucket: begin
        strobes = 16'd3 << {bucket_q[2:0], 1'b0};
        row = bucket_row;
        data = {8{16'(here_q)}};
      end
      ClearValues: begin
        strobes = '1;
        data = '0;
      end
      WriteValue: begin
        if (rest_pop) strobes = halved ? {{8{place[0]}}, {8{!place[0]}}} : '1;
        data = halved ? {2{rest[7:0]}} : rest;
      end
      Unlink: begin
        strobes = first_q ? 16'd3 << {bucket_q[2:0], 1'b0} : 16'd3;
        row = first_q ? bucket_row : before_q;
        data = {8{16'(entry_q.next)}};
      end
      Release: begin
        strobes = 16'd7;
        row = here_q;
        data = data_t'(row_t'(lists_q.free));
      end
      default: ;
    endcase
    if (!go) strobes = '0;
  end
  wire at_t clear_left = at_t'(define_as_q.end_row) - clear_row_q;
  assign blank = state_q == Clear && clear_row_q[$clog2(LineRows)-1:0] == '0 && clear_left >= at_t'(LineRows);

  task automatic finish(logic [7:0] gives);
    code <= gives;
    state_q <= Done;
  endtask

  task automatic look_at(at_t at);
    look <= at;
    t_q <= '0;
  endtask

  task automatic enter(at_t at);
    here_q <= at;
    look_at(at);
    state_q <= Walk;
  endtask

  task automatic step;
    t_q <= t_q + 1'b1;
    unique case (state_q)
      Idle: begin
        steps_q <= '0;
        evicts_q <= 1'b0;
        lists_changed_q <= 1'b0;
        clear_row_q <= at_t'(define_as_q.base_row);
        if (defining) lists_q <= '{free: '0, fresh: at_t'(define_as_q.entries_row),
                                hand: at_t'(define_as_q.entries_row)};
        else lists_q <= lists[info.map];
        if (alone) begin
          busy <= defining || start;
          if (defining) state_q <= Clear;
          else if (start) state_q <= Start;
        end
      end

      Clear: begin
        clear_row_q <= clear_row_q + 1'b1;
        if (cleared) begin
          defining <= 1'b0;
          busy <= 1'b0;
          state_q <= Idle;
        end
      end

      Start: begin
        bucket_q <= bucket;
        look_at(at_t'(as.base_row) + at_t'(bucket >> 3));
        first_q <= 1'b1;
        target_q <= at_t'(as.base_row) + at_t'(place);
        if (as.kind == MapNone) finish(Invalid);
        else if (as.kind != MapArray) state_q <= Bucket;
        else if (deletes) finish(Invalid);
        else if (!in_range) finish(TooBig);
        else if (info.flags == 2'd1) finish(Exists);
        else state_q <= WriteValue;
      end

      Bucket:
      if (t_q == Ready) begin
        head_q <= bucket_head;
        if (bucket_head == '0) state_q <= Missed;
        else enter(bucket_head);
      end

      // An entry that is evicted is known by its place, others by their key.
      Walk: begin
        look <= look + 1'b1;
        if (t_q == Ready) entry_q <= entry;
        if (other || differs) begin
          before_q <= here_q;
          first_q <= 1'b0;
          steps_q <= steps_q + 1'b1;
          if (next == '0) state_q <= Missed;
          else enter(next);
        end else if (t_q == Ready && evicts_q) begin
          state_q <= Unlink;
        end else if (found) begin
          target_q <= value_row;
          if (deletes) state_q <= Unlink;
          else if (info.flags == 2'd1) finish(Exists);
          else state_q <= WriteValue;
        end
      end

      Missed: begin
        if (deletes || info.flags == 2'd2) finish(NoEntry);
        else if (steps_q >= 5'(MaxChain)) finish(TooBig);
        else state_q <= as.kind == MapLru ? Place : Claim;
      end

      Claim:
      if (claim_done) begin
        if (claim_granted) state_q <= Place;
        else finish(as.kind == MapLpm ? NoSpace : TooBig);
      end

      // The place of the new entry
      Place: begin
        look_at(lists_q.free != '0 ? lists_q.free : lists_q.hand);
        here_q <= lists_q.free != '0 ? lists_q.free : lists_q.fresh;
        if (lists_q.free != '0) begin
          state_q <= TakeFree;
        end else if (lists_q.fresh != at_t'(as.end_row)) begin
          lists_q.fresh <= lists_q.fresh + at_t'(as.stride);
          state_q <= WriteEntry;
        end else if (as.kind == MapLru) begin
          steps_q <= '0;
          state_q <= Evict;
        end else begin
          code <= as.kind == MapLpm ? NoSpace : TooBig;
          state_q <= GiveBack;
        end
        lists_changed_q <= 1'b1;
      end

      TakeFree:
      if (t_q == Ready) begin
        lists_q.free <= at_t'(entry.next);
        state_q <= WriteEntry;
      end

      // The hand advances to an entry that was not used since its last visit.
      Evict:
      if (t_q == Ready) begin
        lists_q.hand <= hand_behind;
        target_q <= lists_q.hand;
        if (spares) begin
          steps_q <= steps_q + 1'b1;
          look_at(hand_behind);
        end else begin
          evicts_q <= 1'b1;
          first_q <= 1'b1;
          bucket_q <= victim_bucket;
          look_at(at_t'(as.base_row) + at_t'(victim_bucket >> 3));
          state_q <= Bucket;
        end
      end

      WriteEntry: begin
        t_q <= Ready;  // where the key's parts are counted from
        target_q <= here_q + 1'b1;
        state_q <= WriteKey;
      end

      WriteKey: begin
        if (t_q > Ready) target_q <= target_q + 1'b1;
        if (t_q == Ready + 4'(parts)) state_q <= WriteBucket;
      end

      WriteBucket: begin
        state_q <= as.step == '0 ? WriteValue : ClearValues;
      end

      // The value that readers see: zeros
      ClearValues: begin
        target_q <= target_q + 1'b1;
        if (target_q == last_q) begin
          target_q <= value_row;
          state_q <= WriteValue;
        end
      end

      WriteValue: begin
        if (rest_pop) target_q <= target_q + 1'b1;
        if (ended || (rest_pop && rest_last)) finish(Okay);
      end

      // Out of its chain, and to the free ones
      Unlink: state_q <= Release;

      Release: begin
        lists_q.free <= here_q;
        lists_changed_q <= 1'b1;
        code <= Okay;
        if (evicts_q) begin
          evicts_q <= 1'b0;
          steps_q <= '0;
          state_q <= Start;
        end else begin
          state_q <= as.kind == MapLru ? Done : GiveBack;
        end
      end

      GiveBack: if (claim_done) state_q <= Done;

      default: begin
        busy <= 1'b0;
        state_q <= Idle;
      end
    endcase
  endtask

  always_ff @(posedge clk) begin
    if (define) begin
      define_map_q <= define_map;
      define_as_q <= define_as;
      defining <= 1'b1;
    end
    if (go) step();
    if (rst) begin
      state_q <= Idle;
      busy <= 1'b0;
      defining <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      assert (!define || !defining) else $error("%m: a map is made while another one is");
      assert (!(state_q == Missed && evicts_q)) else $error("%m: an entry is in no chain");
    end
  end
`endif
endmodule

`default_nettype wire
