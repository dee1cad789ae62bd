// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A bank of the card's maps: its memory, and all that is done there. Keys are shared out over banks by their hash,
// accesses by their address.
//
//                     ┌──────────────── again ────────────────┐
//                     v                                       │
//   in ─> entrance ─┬─> address ─> memory ─> output ─> decision ─┬─> replies ─> out
//                   │                                            └─> changed ─> write register ─> memory
//                   └─> map_changes
//
// A pass reads a row; it takes four cycles, and one begins each cycle. An access is one pass, as is a lookup in an
// array. A lookup of a key is one for its bucket, and for the first entry there one for each 16 bytes of key; one for
// the entry itself, if that is another key's, which says where the next one is, and so on. A bank therefore carries out
// one load a cycle, or one lookup every two cycles, with a key of 16 bytes that is first in its bucket. Cycles from a
// request's first part to its reply: 5 with one pass, 4 more for each other one, and one for each further part of its
// key.
//
// A pass that circulates goes before a request that enters. A request that waits at the entrance holds up later ones:
//   - an access whose bytes a store or an atomic is about to write, until they are written: six cycles behind that one;
//   - an update, a deletion, the making of a map, until no lookup, store or atomic is under way. They are then carried
//     out alone (map_changes), so each is one step for everybody. The mark that a lookup of an LRU map sets is not such
//     a change; - rows for the host, which enter as two halves back to back, so that one step reads them.
// Requests may overtake each other from their second pass on, accesses do not.
//
// With more rows than fit on the chip (map_cache), a pass whose row is absent circulates until the row arrives, and no
// request enters meanwhile; changes wait. Host reads of rows then have the bank to themselves.
module map_bank
  import map_pkg::*;
  import maps_pkg::*;
#(
    parameter int unsigned Banks = 16,   // a power of two
    parameter int unsigned Rows  = 16384,  // of 16 bytes, a power of two
    parameter int unsigned OnChip = Rows   // of them; the others are in the card's memory
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
    input  wire logic claim_granted,

    // Lines in the card's memory: map_cache.sv
    output logic                                 line_write,
    output logic                                 line_read,
    output logic [$clog2(Rows/LineRows)-1:0]     line,
    input  wire logic                            line_taken,
    output data_t                                line_row,
    input  wire logic                            line_pop,
    input  wire logic                            line_written,
    input  wire logic                            coming,
    input  wire data_t                           coming_row,
    output logic                                 coming_pop
);
  localparam int unsigned RowW = $clog2(Rows);
  localparam int unsigned AtW = $clog2(OnChip);
  // the offset of an element or a value, in rows or halves of them
  localparam int unsigned PlaceW = 1 + (RowW < 14 ? 14 : RowW);
  localparam int unsigned BankW = $clog2(Banks);
  localparam int unsigned Around = 4;                   // passes under way
  localparam int unsigned NearW = RowW < 8 ? RowW : 8;  // bits of a row's number, by which accesses are held apart
  typedef logic [RowW-1:0] at_t;

  typedef struct packed {
    group_t      group;
    port_t       port;
    op_e         op;
    logic        quiet;
    ctx_t        ctx;
    logic [31:0] info;
    logic [31:0] hash;
  } request_t;

  // State that a request's later passes need
  typedef struct packed {
    request_t   request;
    logic [1:0] last;   // part of its key
    logic       lru;
    logic       there;  // of a lookup in an array: the element exists
  } known_t;

  typedef enum logic [1:0] {
    Once,
    Bucket,
    Key,
    Entry   // for what is behind it in its chain
  } pass_e;

  // The four passes and the entrance have a slot each, which holds the state of their request and its key. A request
  // that enters keeps its slot; the entrance gets the slot of the place that the request has taken.
  typedef logic [2:0] slot_t;

  typedef struct packed {
    logic       valid;
    slot_t      slot;
    pass_e      pass;
    logic [1:0] part;      // of the key
    at_t [1:0]  row;       // of each half
    logic [1:0] stores;    // halves that it will write
    logic       lent;      // it reads for the cache
  } pass_t;

  pass_t pass_q[Around+1];  // at the address, in memory, at the output, at the decision; behind it, when it writes
  wire pass_t read_pass = pass_q[2];
  wire pass_t decided = pass_q[3];
  wire pass_t behind = pass_q[4];
  wire flit_t flit = in.flit;
  wire access_info_t flit_access = flit.info;
  wire flit_accesses = flit.op inside {OpLoad, OpStore, OpAtomic};

  // ---- the entrance: a request, which takes its key's parts
  (* ram_style = "distributed" *) descriptor_t descriptors[Maps];
  (* ram_style = "distributed" *) data_t keys[32];
  request_t now_q;
  descriptor_t as_q;
  logic held_q, keyed_q, ended_q;
  logic [2:0] parts_q;       // of the key
  logic [5:0] left_q;        // of the host's rows: halves behind this one
  at_t [1:0] rows_q;
  logic [1:0] touches_q;     // halves of an access
  slot_t slot_q;
  logic enters, leaves, waits, again, replies_room, closed;
  logic change_done, change_pop, changing;
  logic [7:0] change_code;
  wire map_info_t info = now_q.info;
  wire changes = now_q.op inside {OpUpdate, OpDelete};
  wire opens = !held_q || leaves;
  wire goes_on = held_q && !ended_q && !(changes && keyed_q);
  assign in_pop = in_valid && (opens || goes_on || change_pop);
  assign enters = held_q && ended_q && !changes && !again && !waits && !defining && replies_room && !closed;
  assign leaves = enters && left_q == '0;
  wire slot_t slot = enters ? decided.slot : slot_q;

  always_ff @(posedge clk) if (define) descriptors[define_map] <= define_as;
  always_ff @(posedge clk) if (in_pop && (opens || !keyed_q)) keys[{slot, opens ? 2'd0 : parts_q[1:0]}] <= flit.data;

  wire crosses = 4'(flit_access.address[2:0]) + flit_access.count > 4'd8;
  wire begins_high = flit_access.address[3];
  wire map_info_t flit_map = flit.info;
  always_ff @(posedge clk) begin
    if (enters) slot_q <= decided.slot;
    if (in_pop) ended_q <= flit.last;
    if (in_pop && opens) begin
      held_q <= 1'b1;
      keyed_q <= flit.key_end;
      parts_q <= 3'd1;
      now_q <= '{group: in.group, port: in.port, op: flit.op, quiet: flit.quiet, ctx: flit.ctx,
                  info: flit.info, hash: in.hash};
      as_q <= descriptors[flit_map.map];
      // The lower half of an access that begins in the upper one is in the next row.
      rows_q <= {2{at_t'(flit_access.address[24:4])}};
      if (begins_high && flit.op != OpRows) rows_q[0] <= at_t'(flit_access.address[24:4]) + 1'b1;
      touches_q <= flit_accesses ? {begins_high || crosses, !begins_high || crosses} : '0;
      left_q <= '0;
      // A store is an exchange.
      if (flit.op == OpStore) now_q.info[31:29] <= 3'd4;
      if (flit.op == OpRows) begin
        now_q.op <= OpLoad;
        now_q.info[28:25] <= 4'd8;
        now_q.info[3:0] <= '0;
        touches_q <= '1;
        left_q <= {flit_access.atomic[0], flit_access.count, 1'b1};
      end
    end else begin
      if (leaves) held_q <= 1'b0;
      if (in_pop && !keyed_q) begin
        keyed_q <= flit.key_end;
        parts_q <= parts_q + 1'b1;
      end
      if (enters) begin
        left_q <= left_q - 1'b1;
        now_q.info[3] <= !now_q.info[3];
        rows_q[now_q.info[3]] <= rows_q[now_q.info[3]] + 1'b1;
      end
      // A change answers over the same path as other requests.
      if (change_done) begin
        now_q.op <= OpSay;
        now_q.info <= 32'(change_code);
      end
    end
    if (rst) begin
      held_q <= 1'b0;
      slot_q <= slot_t'(Around);
    end
  end

  // The place of an array's element, or of this processor's value after the first processor's, in halves of rows
  wire indexed = as_q.kind == MapArray;
  logic [PlaceW-1:0] product_q;
  wire [PlaceW-2:0] steps = indexed ? (PlaceW - 1)'(now_q.hash >> BankW) : (PlaceW - 1)'({info.unit, now_q.ctx});
  wire [PlaceW-2:0] each = indexed ? (PlaceW - 1)'(as_q.stride) : (PlaceW - 1)'(as_q.step);
  always_ff @(posedge clk) product_q <= PlaceW'(steps * each);
  wire in_range = now_q.hash < as_q.max_entries;
  wire searches = now_q.op == OpLookup && !indexed && as_q.kind != MapNone;
  wire at_t bucket_row = at_t'(as_q.base_row) +
      (indexed ? '0 : at_t'(bucket_of(now_q.hash >> BankW, as_q.buckets) >> 3));

  // Accesses whose bytes are about to be written: by their row's lowest bits, so some that are not
  always_comb begin
    waits = 1'b0;
    for (int unsigned s = 0; s <= Around; s++)
      for (int unsigned h = 0; h < 2; h++)
        waits |= touches_q[h] && pass_q[s].stores[h] && pass_q[s].row[h][NearW-1:0] == rows_q[h][NearW-1:0];
  end

  // ---- changes
  at_t change_look, change_row;
  logic go, change_reads, change_blank;
  logic [15:0] change_strobes;
  data_t change_data, read;
  logic [1:0] change_key;
  data_t key_q;
  logic same_q;
  // Loads and says that have entered complete their reads before anything changes, if the data are on the chip.
  logic under_way, alone;
  always_comb begin
    under_way = 1'b0;
    alone = 1'b1;
    for (int unsigned s = 0; s < Around; s++) begin
      under_way |= pass_q[s].valid;
      if (pass_q[s].valid && (OnChip < Rows || pass_q[s].pass != Once || pass_q[s].stores != '0)) alone = 1'b0;
    end
  end
  map_changes #(
      .Banks(Banks),
      .Rows(Rows),
      .PlaceW(PlaceW)
  ) i_changes (
      .clk,
      .rst,
      .define,
      .define_map,
      .define_as,
      .defining,
      .alone,
      .go,
      .start(held_q && changes && keyed_q),
      .deletes(now_q.op == OpDelete),
      .info,
      .hash(now_q.hash),
      .as(as_q),
      .parts(parts_q),
      .in_range,
      .place(product_q),
      .busy(changing),
      .done(change_done),
      .code(change_code),
      .rest_valid(in_valid),
      .rest_last(flit.last),
      .rest(flit.data),
      .ended(ended_q),
      .rest_pop(change_pop),
      .key_at(change_key),
      .key(key_q),
      .same(same_q),
      .look(change_look),
      .reads(change_reads),
      .blank(change_blank),
      .read,
      .strobes(change_strobes),
      .row(change_row),
      .data(change_data),
      .claim,
      .claim_what,
      .claim_done,
      .claim_granted
  );

  // ---- memory: two halves of 8 bytes with addresses each, so that an access of up to 8 may begin anywhere
  logic [AtW-1:0] put_row_q[2];
  logic [15:0] strobes_q;
  data_t write_q, read_q;
  for (genvar h = 0; h < 2; h++) begin : gen_half
    (* ram_style = "ultra", no_rw_check *) logic [63:0] mem[OnChip];
    logic [63:0] mem_q;
    wire [AtW-1:0] row = pass_q[0].row[h][AtW-1:0];
    always @(posedge clk) begin
      for (int unsigned b = 0; b < 8; b++) if (strobes_q[8*h+b]) mem[put_row_q[h]][8*b+:8] <= write_q[8*h+b];
      mem_q <= mem[row];
    end
    always_ff @(posedge clk) read_q[8*h+:8] <= mem_q;
  end
  assign read = read_q;

  // ---- rows that are not on the chip
  logic missed_q, retries, turn, lends;
  logic [AtW-1:0] lent_at;
  at_t [1:0] owner_rows_q;   // of the pass for which a line comes
  at_t entry_row_q;          // of the pass at the decision
  logic writes_q;            // the pass behind it
  logic [2:0] absent;        // of the pass at the output: its rows, and that of its entry
  // Writes beside those of passes: by a change, or of rows from the card's memory
  logic puts;
  logic [AtW-1:0] put_at;
  logic [15:0] put_strobes;
  data_t put_data;

  if (OnChip == Rows) begin : gen_all_here
    assign go = 1'b1;
    assign closed = 1'b0;
    assign turn = 1'b0;
    assign lends = 1'b0;
    assign lent_at = '0;
    assign owner_rows_q = '0;
    assign absent = '0;
    assign puts = changing;
    assign put_at = change_row;
    assign put_strobes = change_strobes;
    assign put_data = change_data;
    assign line_write = 1'b0;
    assign line_read = 1'b0;
    assign line = '0;
    assign line_row = '0;
    assign coming_pop = 1'b0;
  end else begin : gen_cache
    // A change waits for rounds of four cycles until the rows that it reads and its last write are on the chip: after a
    // round its addresses are the same as before.
    logic [1:0] round_q;
    logic blank_q, put_absent;
    logic [15:0] change_strobes_q;
    at_t change_row_q;
    data_t change_data_q;
    wire change_waits = change_strobes_q != '0;
    wire change_puts = change_waits && !put_absent;
    wire stands = (change_waits && put_absent) || (changing && change_reads && absent[1]);
    assign go = round_q == '0 && !stands;
    always_ff @(posedge clk) begin
      round_q <= go ? '0 : round_q + 1'b1;
      if (go) begin
        change_strobes_q <= changing ? change_strobes : '0;
        change_row_q <= change_row;
        change_data_q <= change_data;
        blank_q <= change_blank;
      end else if (change_puts) begin
        change_strobes_q <= '0;
      end
      if (rst) begin
        round_q <= '0;
        change_strobes_q <= '0;
      end
    end

    // Lines come for one pass until that one has all that it needs.
    logic busy, owned_q, for_host_q, behind_host_q;
    slot_t owner_q;
    logic [2:0] absent_q;
    wire mine = owned_q && decided.valid && decided.slot == owner_q;
    wire change_wants = round_q == '0 && stands;
    wire pass_wants = missed_q && (mine || !owned_q);
    assign turn = changing ? change_wants : mine;
    // Rows for the host, whose answers are to come in their order, enter one by one.
    assign closed = owned_q || ((for_host_q || behind_host_q) && under_way);
    always_ff @(posedge clk) begin
      absent_q <= absent;
      if (pass_wants && !busy) begin
        owned_q <= 1'b1;
        owner_q <= decided.slot;
        owner_rows_q <= decided.row;
      end else if (mine && !retries) begin
        owned_q <= 1'b0;
      end
      if (in_pop && opens) for_host_q <= flit.op == OpRows;
      if (enters) behind_host_q <= for_host_q;
      if (rst) begin
        owned_q <= 1'b0;
        behind_host_q <= 1'b0;
      end
    end

    logic fill, filled_q;
    logic [AtW-1:0] fill_at;
    data_t fill_row;
    at_t want_row;
    always_comb begin
      if (changing) want_row = change_waits && put_absent ? change_row_q : read_pass.row[1];
      else if (absent_q[1]) want_row = decided.row[1];
      else want_row = absent_q[0] ? decided.row[0] : entry_row_q;
    end
    assign puts = change_puts || fill;
    assign put_at = fill ? fill_at : change_row_q[AtW-1:0];
    assign put_strobes = fill ? '1 : change_strobes_q;
    assign put_data = fill ? fill_row : change_data_q;
    always_ff @(posedge clk) filled_q <= fill;

    map_cache #(
        .Rows  (Rows),
        .OnChip(OnChip)
    ) i_cache (
        .clk,
        .rst,
        .look_row({pass_q[1].row[1] - at_t'(pass_q[1].part) - 1'b1, pass_q[1].row}),
        .look_absent(absent),
        .put_row(change_row_q),
        .put_absent,
        .written({strobes_q[15:8] != '0, strobes_q[7:0] != '0}),
        .written_at({put_row_q[1], put_row_q[0]}),
        .written_fill(filled_q),
        .want(change_wants || pass_wants),
        .want_row,
        .want_blank(changing && change_waits && put_absent && blank_q),
        .busy,
        .turn,
        .evicts(lends),
        .evicts_at(lent_at),
        .evicted(read_pass.lent),
        .evicted_row(read),
        .fill_free(!writes_q && !change_puts),
        .fill,
        .fill_at,
        .fill_row,
        .line_write,
        .line_read,
        .line,
        .line_taken,
        .line_row,
        .line_pop,
        .line_written,
        .coming,
        .coming_row,
        .coming_pop
    );
  end

  // ---- to the address: again, one that enters, or a change's row
  logic follows_q;           // the chain has another entry, or the key another row that may be as asked
  logic differs_q;           // a row of a key is not as asked
  at_t after_q;              // the key's next row, if the one that was read is as asked
  pass_t next_pass;
  always_comb begin
    next_pass = decided;
    next_pass.slot = enters ? slot_q : decided.slot;
    next_pass.valid = again || enters;
    next_pass.lent = lends;
    if (!retries) next_pass.stores = enters && now_q.op inside {OpStore, OpAtomic} ? touches_q : '0;
    if (lends) begin
      next_pass.row = {2{at_t'(lent_at)}};
    end else if (retries) begin
      if (turn) next_pass.row = owner_rows_q;
    end else if (again) begin
      next_pass.pass = differs_q ? Entry : Key;
      next_pass.part = decided.pass == Key ? decided.part + 1'b1 : '0;
      next_pass.row = {2{differs_q ? entry_row_q : after_q}};
    end else if (changing) begin
      if (go) next_pass.row = {2{change_look}};
    end else begin
      next_pass.pass = searches ? Bucket : Once;
      next_pass.part = '0;
      next_pass.row = now_q.op == OpLookup ? {2{bucket_row}} : rows_q;
    end
  end

  (* ram_style = "distributed" *) known_t known[8];
  (* ram_style = "distributed" *) logic [PlaceW-1:0] places[8];
  logic entered_q;
  always_ff @(posedge clk) begin
    entered_q <= enters;
    if (enters) begin
      known[slot_q] <= '{
          request: now_q,
          last: 2'(parts_q - 1'b1),
          lru: as_q.kind == MapLru,
          there: now_q.op == OpLookup && indexed && in_range
      };
    end
    if (entered_q) places[pass_q[0].slot] <= product_q;
  end

  // ---- the row read, beside the request
  known_t of_q;  // of the pass at the output
  wire access_info_t access = of_q.request.info;
  wire accesses = of_q.request.op inside {OpLoad, OpStore, OpAtomic};
  logic [7:0][7:0] found;
  always_comb begin
    for (int unsigned i = 0; i < 8; i++)
      found[i] = accesses && 4'(i) < access.count ? read_q[4'(i)+access.address[3:0]] : '0;
    if (of_q.request.op == OpSay) found |= {{56{access.address[7]}}, access.address[7:0]};
  end
  // A bucket is two bytes: the row of its first entry. In the first two stages, so does the data behind an entry.
  wire [2:0] chain = read_pass.pass == Bucket ? of_q.request.hash[BankW+:3] : '0;
  wire at_t next = at_t'({read_q[{chain, 1'b1}], read_q[{chain, 1'b0}]});

  // ---- decision
  known_t asked_q;
  logic [63:0] old_q;
  logic [1:0][63:0] operands_q;
  logic [PlaceW-1:0] place_q;
  logic searches_q;
  wire map_info_t asked = asked_q.request.info;
  wire access_info_t changed_as = asked_q.request.info;
  logic hit_q;
  wire key_pass = read_pass.pass == Key;
  wire same = read_q == key_q;
  // A pass whose row is not on the chip has done nothing.
  assign retries = missed_q || (decided.valid && decided.lent);
  assign again = retries || (searches_q && follows_q);
  wire marks = !retries && searches_q && hit_q && asked_q.lru;

  logic [63:0] changed, changed_q;
  logic [63:0] bits;
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) bits[8*i+:8] = {8{4'(i) < changed_as.count}};
    unique case (changed_as.atomic)
      3'd0: changed = old_q + operands_q[0];
      3'd1: changed = old_q | operands_q[0];
      3'd2: changed = old_q & operands_q[0];
      3'd3: changed = old_q ^ operands_q[0];
      3'd5: changed = old_q == (operands_q[1] & bits) ? operands_q[0] : old_q;
      default: changed = operands_q[0];
    endcase
  end

  logic [3:0] first_q, count_q;  // bytes that are written
  always_ff @(posedge clk) begin
    pass_q[0] <= next_pass;
    pass_q[1] <= pass_q[0];
    pass_q[2] <= pass_q[1];
    pass_q[3] <= pass_q[2];
    pass_q[4] <= pass_q[3];
    of_q <= known[pass_q[1].slot];
    if (go) key_q <= keys[changing ? {slot_q, change_key} : {pass_q[1].slot, pass_q[1].part}];
    if (go) same_q <= same;

    missed_q <= read_pass.valid && !read_pass.lent && ((absent[1:0] != '0 && (read_pass.pass != Once || accesses)) ||
        (absent[2] && key_pass && of_q.lru));
    asked_q <= of_q;
    old_q <= found;
    operands_q <= key_q;
    place_q <= places[read_pass.slot];
    searches_q <= read_pass.valid && read_pass.pass != Once;
    hit_q <= key_pass ? same && read_pass.part == of_q.last : of_q.there;
    differs_q <= key_pass && !same;
    follows_q <= key_pass ? !same || read_pass.part != of_q.last : next != '0;
    after_q <= (read_pass.pass inside {Bucket, Entry} ? next : read_pass.row[1]) + at_t'(read_pass.pass != Once);
    entry_row_q <= read_pass.row[1] - at_t'(read_pass.part) - 1'b1;

    writes_q <= !retries && decided.stores != '0 || marks;
    changed_q <= marks ? 64'd3 : changed;
    first_q <= marks ? 4'd2 : changed_as.address[3:0];
    count_q <= marks ? 4'd1 : changed_as.count;
    if (marks) pass_q[4].row <= {2{entry_row_q}};

    for (int unsigned h = 0; h < 2; h++) put_row_q[h] <= puts ? put_at : behind.row[h][AtW-1:0];
    for (int unsigned i = 0; i < 16; i++) begin
      write_q[i] <= puts ? put_data[i] : changed_q[8*3'(4'(i)-first_q)+:8];
      strobes_q[i] <= puts ? put_strobes[i] : writes_q && 4'(4'(i) - first_q) < count_q;
    end
    if (rst) begin
      for (int unsigned s = 0; s < Around; s++) begin
        pass_q[s].valid <= 1'b0;
        pass_q[s].stores <= '0;
        pass_q[s].slot <= slot_t'(s);
        pass_q[s].lent <= 1'b0;
      end
      missed_q <= 1'b0;
      writes_q <= 1'b0;
      strobes_q <= '0;
    end
  end

  // ---- replies
  wire at_t value_row = after_q + at_t'(asked_q.there ? place_q : place_q >> 1);
  wire [63:0] address = 64'({number, value_row, !asked_q.there && place_q[0], 3'd0}) | 64'(Origin);
  wire result_t result = '{
      group: asked_q.request.group,
      port: asked_q.request.port,
      ctx: asked_q.request.ctx,
      probe: asked.probe && asked_q.request.op == OpLookup,
      length: asked.length,
      probes: asked.probes,
      value: old_q | (hit_q ? address : '0)
  };
  fifo_dist #(
      .Width($bits(result_t)),
      .Depth(16),
      .Room (Around + 1)
  ) replies (
      .clk,
      .rst,
      .push (decided.valid && !again && !asked_q.request.quiet),
      .din  (result),
      .ready(replies_room),
      .valid(out_valid),
      .pop  (out_pop),
      .dout (out),
      .level()
  );

`ifndef SYNTHESIS
  logic [7:0] taken;
  always_comb begin
    taken = 8'd1 << slot_q;
    for (int unsigned s = 0; s < Around; s++) taken |= 8'd1 << pass_q[s].slot;
  end
  logic [1:0] touched_q;  // by the access at the address
  always_ff @(posedge clk) touched_q <= enters ? touches_q : '0;
  always_ff @(posedge clk) begin
    if (!rst) begin
      assert ($countones(taken) == Around + 1) else $error("%m: two requests share a slot");
      assert (!changing || alone) else $error("%m: a change is not alone");
      for (int unsigned h = 0; h < 2; h++) begin
        for (int unsigned s = 1; s <= Around; s++)
          assert (!touched_q[h] || !pass_q[s].stores[h] || pass_q[s].row[h] != pass_q[0].row[h])
          else $error("%m: an access comes before bytes are written");
        assert (!touched_q[h] || strobes_q[8*h+:8] == '0 || put_row_q[h] != pass_q[0].row[h][AtW-1:0] || OnChip < Rows)
        else $error("%m: an access comes while bytes are written");
      end
    end
  end
`endif
endmodule

`default_nettype wire
