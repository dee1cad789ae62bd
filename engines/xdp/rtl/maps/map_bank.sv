// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A bank of the card's maps: its memory, and all that is done there, one request after the other. So what a bank answers is as if all requests
// to it came one by one; keys are shared out over banks by their hash, accesses by their address.
//
//   Idle ─┬─> access: rows ─> changed ─> stored ───────────────────────────────────────────────────┬─> Reply
//         └─> key ─> Start ─┬─> bucket ─> Walk: entry, key, next entry ... ─┬─> found: update, unlink ─┤
//                           └─> Element (an array)                          └─> missed: claim, insert ─┘
//
// A read takes three cycles: address register, memory, output register. Cycles from a request's first part to Reply, when it is idle: a load 4, another access 6, a
// lookup of a key of 16 bytes that is first in its bucket 9, of one that is not there 6 and 3 for each entry on its way, of an array's element 3.
// A bucket has at most MaxChain entries, a forgetting map's hand passes at most as many marks: so every request ends. Where each processor has a value
// of its own, a new entry takes a cycle for each row of values.
module map_bank
  import map_pkg::*;
  import maps_pkg::*;
#(
    parameter int unsigned Banks = 16,   // a power of two
    parameter int unsigned Rows  = 16384 // of 16 bytes, a power of two
) (
    input wire logic clk,
    input wire logic rst,
    input wire logic [$clog2(Banks)-1:0] number,

    // A map is made: its rows become zeros
    input  wire logic        define,      // for one cycle
    input  wire map_t        define_map,
    input  wire descriptor_t define_as,
    output logic             defining,

    input  wire logic    in_valid,
    input  wire errand_t in,
    output logic         in_pop,

    output logic    out_valid,
    output result_t out,
    input wire logic out_pop,

    // Entries of all banks together: asked until the answer
    output logic   claim,
    output claim_t claim_what,
    input  wire logic claim_done,
    input  wire logic claim_granted
);
  localparam int unsigned RowW = $clog2(Rows);
  localparam int unsigned BankW = $clog2(Banks);
  typedef logic [RowW-1:0] at_t;

  typedef enum logic [4:0] {
    Idle,
    Clear,
    Access,
    ReadRows,
    Key,
    Start,
    Element,
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
    Drain,
    Reply
  } state_e;

  state_e state_q;
  logic [3:0] t_q;  // cycles in this state, or since its last address

  // ---- descriptors; free entries, fresh ones, the hand
  typedef struct packed {
    at_t free;
    at_t fresh;
    at_t hand;
  } lists_t;

  (* ram_style = "distributed" *) descriptor_t descriptors[Maps];
  (* ram_style = "distributed" *) lists_t lists[Maps];
  descriptor_t as_q;
  lists_t lists_q;
  map_t define_map_q;
  descriptor_t define_as_q;
  at_t clear_row_q;
  logic lists_changed_q;

  // ---- the request
  typedef struct packed {
    group_t      group;
    port_t       port;
    op_e         op;
    logic        quiet;
    ctx_t        ctx;
    logic [31:0] info;
    logic [31:0] hash;
  } request_t;

  request_t now_q;
  wire map_info_t info = now_q.info;
  wire access_info_t access = now_q.info;
  wire flit_t flit = in.flit;
  wire access_info_t access_in = flit.info;
  wire map_info_t info_in = flit.info;
  wire keyed_in = flit.op inside {OpLookup, OpUpdate, OpDelete};
  (* ram_style = "distributed" *) data_t key[MaxKey/FlitBytes];
  logic [2:0] keys_q;  // parts of the key
  logic ended_q;       // its last part was taken
  logic [1:0][63:0] operands_q;
  logic [63:0] value_q;
  at_t index_q;  // of an array's element: rows before it

  // ---- memory: two halves of 8 bytes with an address each, so that an access of up to 8 may begin anywhere
  at_t row_q[2];
  logic [15:0] strobes_q;
  data_t write_q, read_q, read;

  for (genvar h = 0; h < 2; h++) begin : gen_half
    (* ram_style = "ultra", no_rw_check *) logic [63:0] mem[Rows];
    logic [63:0] mem_q;
    always @(posedge clk) begin
      for (int unsigned b = 0; b < 8; b++) if (strobes_q[8*h+b]) mem[row_q[h]][8*b+:8] <= write_q[8*h+b];
      if (strobes_q[8*h+:8] == '0) mem_q <= mem[row_q[h]];
    end
    always_ff @(posedge clk) read_q[8*h+:8] <= mem_q;
  end
  assign read = read_q;

  // ---- places
  wire cleared = clear_row_q == at_t'(define_as_q.end_row);
  at_t here_q, before_q, head_q, target_q;  // entry; the one before it in its chain; first of the chain; row that is written next
  logic first_q;                            // `here` is the first of its chain
  logic [4:0] steps_q;
  logic evicts_q, inserts_q;
  entry_t entry_q;
  wire entry_t entry = read;
  wire entry_t new_entry = '{nothing: '0, hash: now_q.hash, none: '0, mark: 1'b0, used: 1'b1, next: row_t'(head_q)};
  localparam data_t Marked = 128'h3_0000;
  localparam data_t Unmarked = 128'h1_0000;

  // A bucket is two bytes: the row of its first entry.
  wire [31:0] bucket = (now_q.hash >> BankW) & ~(32'hFFFFFFFF << as_q.buckets);
  wire [31:0] victim_bucket = (entry.hash >> BankW) & ~(32'hFFFFFFFF << as_q.buckets);
  logic [31:0] bucket_q;
  wire at_t bucket_row = at_t'(as_q.base_row) + at_t'(bucket_q >> 3);
  wire at_t bucket_head = at_t'({read[{bucket_q[2:0], 1'b1}], read[{bucket_q[2:0], 1'b0}]});
  wire data_t key_here = key[2'(t_q-4'd3)];
  wire at_t hand_next = lists_q.hand + at_t'(as_q.stride);

  function automatic logic [63:0] extended(logic [7:0] x);
    return {{56{x[7]}}, x};
  endfunction

  function automatic logic [63:0] address_of(at_t row, logic half, logic [BankW-1:0] bank);
    return 64'({bank, row, half, 3'd0}) | 64'(Origin);
  endfunction

  // ---- values, the one behind the other where each processor has its own
  logic [13:0] behind_q;  // halves of rows from the first one to this processor's
  at_t distance_q;        // from the entry to it
  at_t last_q;            // row of a new entry
  wire halved = as_q.step == 6'd1;
  wire at_t value_row = here_q + distance_q;
  always_ff @(posedge clk) begin
    behind_q <= 14'({info.unit, now_q.ctx}) * 14'(as_q.step);
    distance_q <= at_t'(keys_q) + at_t'(behind_q[13:1]) + 1'b1;
    last_q <= here_q + at_t'(as_q.stride) - 1'b1;
  end

  // ---- accesses
  wire [7:0] mask = 8'hFF >> (4'd8 - access.count);
  logic [63:0] old_q, changed_q;
  logic [7:0][7:0] found;
  logic [63:0] bits;
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      found[i]   = read[4'(i)+access.address[3:0]] & {8{mask[i]}};
      bits[8*i+:8] = {8{mask[i]}};
    end
  end

  logic [63:0] changed;
  always_comb begin
    unique case (access.atomic)
      3'd0: changed = old_q + operands_q[0];
      3'd1: changed = old_q | operands_q[0];
      3'd2: changed = old_q & operands_q[0];
      3'd3: changed = old_q ^ operands_q[0];
      3'd5: changed = old_q == (operands_q[1] & bits) ? operands_q[0] : old_q;
      default: changed = operands_q[0];
    endcase
    if (now_q.op == OpStore) changed = operands_q[0];
  end

  // ---- what comes
  wire takes_rest = (state_q == WriteValue || state_q == Drain) && !ended_q;
  assign in_pop = in_valid && ((state_q == Idle && !defining) || state_q == Key || takes_rest);

  logic reply_room;
  wire result_t result = '{
      group: now_q.group,
      port: now_q.port,
      ctx: now_q.ctx,
      probe: info.probe && now_q.op == OpLookup,
      length: info.length,
      probes: info.probes,
      value: value_q
  };
  wire says = (state_q == Reply && !now_q.quiet && ended_q) || (state_q == ReadRows && (t_q == 4'd3 || t_q == 4'd4));
  fifo_dist #(
      .Width($bits(result_t)),
      .Depth(16),
      .Room (2)
  ) replies (
      .clk,
      .rst,
      .push (says && (state_q == ReadRows || reply_room)),
      .din  (result),
      .ready(reply_room),
      .valid(out_valid),
      .pop  (out_pop),
      .dout (out),
      .level()
  );

  assign claim = state_q == Claim || state_q == GiveBack;
  assign claim_what = '{back: state_q == GiveBack, map: info.map, prefix: as_q.kind == MapLpm, length: info.length};

  always_ff @(posedge clk) begin
    if (define) descriptors[define_map] <= define_as;
    if (state_q == Clear && cleared) lists[define_map_q] <= lists_q;
    else if (state_q == Reply && lists_changed_q) lists[info.map] <= lists_q;
  end

  // The key is kept, for all entries that it is compared with.
  always_ff @(posedge clk) if (in_pop && (state_q == Idle || state_q == Key)) key[state_q == Idle ? 2'd0 : keys_q[1:0]] <= flit.data;

  // Where it goes on: a reply, when all parts of the request are here, else they are taken first.
  task automatic finish(logic [63:0] value);
    value_q <= value;
    state_q <= ended_q ? Reply : Drain;
  endtask

  task automatic look(at_t row);
    row_q[0] <= row;
    row_q[1] <= row;
    t_q <= '0;
  endtask

  task automatic put(at_t row, logic [15:0] strobes, data_t data);
    row_q[0] <= row;
    row_q[1] <= row;
    strobes_q <= strobes;
    write_q <= data;
  endtask

  task automatic enter(at_t row);
    here_q <= row;
    look(row);
    state_q <= Walk;
  endtask

  always_ff @(posedge clk) begin
    t_q <= t_q + 1'b1;
    strobes_q <= '0;
    if (in_pop) ended_q <= flit.last;
    if (define) begin
      define_map_q <= define_map;
      define_as_q <= define_as;
      defining <= 1'b1;
    end

    unique case (state_q)
      Idle: begin
        keys_q <= 3'd1;
        steps_q <= '0;
        evicts_q <= 1'b0;
        inserts_q <= 1'b0;
        lists_changed_q <= 1'b0;
        if (defining) begin
          clear_row_q <= at_t'(define_as_q.base_row);
          lists_q <= '{free: '0, fresh: at_t'(define_as_q.entries_row), hand: at_t'(define_as_q.entries_row)};
          state_q <= Clear;
        end else if (in_valid) begin
          now_q <= '{
              group: in.group,
              port: in.port,
              op: flit.op,
              quiet: flit.quiet,
              ctx: flit.ctx,
              info: flit.info,
              hash: in.hash
          };
          as_q <= descriptors[info_in.map];
          lists_q <= lists[info_in.map];
          operands_q <= flit.data;
          // The lower half of an access that begins in the upper one is in the next row.
          look(at_t'(access_in.address[24:4]));
          if (access_in.address[3] && !(flit.op == OpRows)) row_q[0] <= at_t'(access_in.address[24:4]) + 1'b1;
          value_q <= extended(flit.info[7:0]);
          if (keyed_in) state_q <= flit.key_end ? Start : Key;
          else if (flit.op == OpSay) state_q <= flit.last ? Reply : Drain;
          else if (flit.op == OpRows) state_q <= ReadRows;
          else state_q <= Access;
        end
      end

      Clear: begin
        put(clear_row_q, '1, '0);
        clear_row_q <= clear_row_q + 1'b1;
        if (cleared) begin
          strobes_q <= '0;
          defining <= 1'b0;
          state_q <= Idle;
        end
      end

      Access: begin
        if (t_q == 4'd2) begin
          old_q <= found;
          value_q <= found;
          if (now_q.op == OpLoad) state_q <= Reply;
        end
        changed_q <= changed;
        if (t_q == 4'd4) begin
          for (int unsigned i = 0; i < 16; i++) begin
            write_q[i] <= changed_q[8*3'(4'(i)-access.address[3:0])+:8];
            strobes_q[i] <= 4'(4'(i) - access.address[3:0]) < access.count;
          end
          state_q <= Reply;
        end
      end

      // Two answers a row, the lower half first
      ReadRows: begin
        if (t_q == 4'd2) value_q <= read[7:0];
        if (t_q == 4'd3) value_q <= read[15:8];
        if (t_q == 4'd4) begin
          look(row_q[0] + 1'b1);
          {now_q.info[29], now_q.info[28:25]} <= {access.atomic[0], access.count} - 1'b1;
          if ({access.atomic[0], access.count} == '0) state_q <= Idle;
        end
        if (t_q == 4'd1 && !reply_room) t_q <= 4'd1;
      end

      Key: begin
        if (in_valid) begin
          keys_q <= keys_q + 1'b1;
          if (flit.key_end) state_q <= Start;
        end
      end

      Start: begin
        bucket_q <= bucket;
        index_q <= at_t'(now_q.hash >> BankW) * at_t'(as_q.stride);
        look(at_t'(as_q.base_row) + at_t'(bucket >> 3));
        first_q <= 1'b1;
        unique case (as_q.kind)
          MapNone:  finish(now_q.op == OpLookup ? '0 : extended(Invalid));
          MapArray: state_q <= Element;
          default:  state_q <= Bucket;
        endcase
      end

      Element: begin
        here_q <= at_t'(as_q.base_row) + index_q;
        target_q <= at_t'(as_q.base_row) + index_q;
        if (now_q.op == OpDelete) finish(extended(Invalid));
        else if (now_q.hash >= as_q.max_entries) finish(now_q.op == OpLookup ? '0 : extended(TooBig));
        else if (now_q.op == OpLookup) finish(address_of(at_t'(as_q.base_row) + index_q, 1'b0, number));
        else if (info.flags == 2'd1) finish(extended(Exists));
        else begin
          value_q <= '0;
          state_q <= WriteValue;
        end
      end

      Bucket:
      if (t_q == 4'd2) begin
        head_q <= bucket_head;
        if (bucket_head == '0) state_q <= Missed;
        else enter(bucket_head);
      end

      // An entry that is evicted is known by its place, others by their key.
      Walk: begin
        row_q[0] <= row_q[0] + 1'b1;
        row_q[1] <= row_q[1] + 1'b1;
        if (t_q == 4'd2) begin
          entry_q <= entry;
          if (evicts_q ? here_q != target_q : entry.hash != now_q.hash) begin
            before_q <= here_q;
            first_q <= 1'b0;
            steps_q <= steps_q + 1'b1;
            if (at_t'(entry.next) == '0) state_q <= Missed;
            else enter(at_t'(entry.next));
          end else if (evicts_q) begin
            state_q <= Unlink;
          end
        end else if (t_q > 4'd2) begin
          if (read != key_here) begin
            before_q <= here_q;
            first_q <= 1'b0;
            steps_q <= steps_q + 1'b1;
            if (at_t'(entry_q.next) == '0) state_q <= Missed;
            else enter(at_t'(entry_q.next));
          end else if (t_q == 4'd2 + 4'(keys_q)) begin
            target_q <= value_row;
            if (as_q.kind == MapLru && now_q.op != OpDelete && !entry_q.mark)
              put(here_q, 16'h0004, Marked);
            if (now_q.op == OpLookup) finish(address_of(value_row, behind_q[0], number));
            else if (now_q.op == OpDelete) state_q <= Unlink;
            else if (info.flags == 2'd1) finish(extended(Exists));
            else begin
              value_q <= '0;
              state_q <= WriteValue;
            end
          end
        end
      end

      Missed: begin
        if (now_q.op == OpLookup) finish('0);
        else if (now_q.op == OpDelete || info.flags == 2'd2) finish(extended(NoEntry));
        else if (steps_q >= 5'(MaxChain)) finish(extended(TooBig));
        else state_q <= as_q.kind == MapLru ? Place : Claim;
      end

      Claim:
      if (claim_done) begin
        if (claim_granted) state_q <= Place;
        else finish(extended(as_q.kind == MapLpm ? NoSpace : TooBig));
      end

      // Where the new entry lies
      Place: begin
        look(lists_q.free != '0 ? lists_q.free : lists_q.hand);
        here_q <= lists_q.free != '0 ? lists_q.free : lists_q.fresh;
        if (lists_q.free != '0) begin
          state_q <= TakeFree;
        end else if (lists_q.fresh != at_t'(as_q.end_row)) begin
          lists_q.fresh <= lists_q.fresh + at_t'(as_q.stride);
          state_q <= WriteEntry;
        end else if (as_q.kind == MapLru) begin
          steps_q <= '0;
          state_q <= Evict;
        end else begin
          value_q <= extended(as_q.kind == MapLpm ? NoSpace : TooBig);
          state_q <= GiveBack;
        end
        lists_changed_q <= 1'b1;
      end

      TakeFree:
      if (t_q == 4'd2) begin
        lists_q.free <= at_t'(entry.next);
        state_q <= WriteEntry;
      end

      // The hand goes on to an entry that was not used since it came by.
      Evict:
      if (t_q == 4'd2) begin
        lists_q.hand <= hand_next == at_t'(as_q.end_row) ? at_t'(as_q.entries_row) : hand_next;
        target_q <= lists_q.hand;
        if (entry.mark && steps_q < 5'(MaxChain)) begin
          steps_q <= steps_q + 1'b1;
          put(lists_q.hand, 16'h0004, Unmarked);
          t_q <= 4'd14;
        end else begin
          evicts_q <= 1'b1;
          first_q <= 1'b1;
          bucket_q <= victim_bucket;
          look(at_t'(as_q.base_row) + at_t'(victim_bucket >> 3));
          state_q <= Bucket;
        end
      end else if (t_q == 4'd15) begin
        look(lists_q.hand);
      end

      WriteEntry: begin
        put(here_q, '1, new_entry);
        t_q <= 4'd3;  // where the key's parts are counted from
        target_q <= here_q + 1'b1;
        state_q <= WriteKey;
      end

      WriteKey: begin
        put(target_q, '1, key_here);
        target_q <= target_q + 1'b1;
        if (t_q == 4'd2 + 4'(keys_q)) state_q <= WriteBucket;
      end

      WriteBucket: begin
        put(bucket_row, 16'd3 << {bucket_q[2:0], 1'b0}, {8{16'(here_q)}});
        value_q <= '0;
        state_q <= as_q.step == '0 ? WriteValue : ClearValues;
      end

      // What others find: zeros
      ClearValues: begin
        put(target_q, '1, '0);
        target_q <= target_q + 1'b1;
        if (target_q == last_q) begin
          target_q <= value_row;
          state_q <= WriteValue;
        end
      end

      WriteValue:
      if (ended_q) begin
        state_q <= Reply;
      end else if (in_valid) begin
        put(target_q, halved ? {{8{behind_q[0]}}, {8{!behind_q[0]}}} : '1, halved ? {2{flit.data[7:0]}} : flit.data);
        target_q <= target_q + 1'b1;
        if (flit.last) state_q <= Reply;
      end

      // Out of its chain, and to the free ones
      Unlink: begin
        if (first_q) put(bucket_row, 16'd3 << {bucket_q[2:0], 1'b0}, {8{16'(entry_q.next)}});
        else put(before_q, 16'd3, {8{16'(entry_q.next)}});
        state_q <= Release;
      end

      Release: begin
        put(here_q, 16'd7, data_t'(row_t'(lists_q.free)));
        lists_q.free <= here_q;
        lists_changed_q <= 1'b1;
        value_q <= '0;
        if (evicts_q) begin
          evicts_q <= 1'b0;
          steps_q <= '0;
          state_q <= Start;
        end else begin
          state_q <= as_q.kind == MapLru ? Reply : GiveBack;
        end
      end

      GiveBack: if (claim_done) state_q <= ended_q ? Reply : Drain;

      Drain: if (in_valid && flit.last) state_q <= Reply;

      default: if (now_q.quiet || reply_room) state_q <= Idle;
    endcase

    if (rst) begin
      state_q <= Idle;
      strobes_q <= '0;
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
