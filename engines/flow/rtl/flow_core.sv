// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An element of the flow engine without the parts that read and edit frames: keys and operands in, rows and registers
// out (engines/flow/element.md).
//
//   H ───────> T ───────> S ───────> X ────────> C ───────────> R ───────────> A ───────> out
//   hash of    ways are   keys are   has it      conditions,    first row,     contexts
//   the key    read       compared   expired?    functions      new context    are written
//                                       ^           ^                │           │
//                                       │           └── 2 behind ────┤           │
//                                       └────── 3, 4, 5 behind ──────┴───────────┘
//
// One operation a cycle, seven cycles, in order. No operation stalls after T; an operation that waits in T holds all
// later ones. It waits there
//   - for the operation ahead, if both are frames of one flow, or if the program writes globals: one cycle;
//   - while it shares a place with an operation ahead that moves, reads or changes places for the host: up to five
//     cycles;
//   - while an operation ahead looks at a slot of the stash: up to five cycles;
//   - while a frame of its flow from another microsecond is ahead, because the context that this frame leaves may have
//     expired by now: up to five of a microsecond's 250 cycles;
//   - in programs that evict, while a frame ahead shares a place with it, unless both are of one flow whose context is
//     there: up to five cycles.
// If an operation ahead has the same key, its context is newer than the one read from the table; it is at most five
// ahead. Each operation therefore sees the effects of all earlier ones, at its own time, and only A changes the table,
// in their order.
//
// If one of its four places is empty, a new context goes there, else into the stash. The mover takes an entry of the
// stash to one of its empty places, or exchanges it for the entry in one of its places. A move is an operation of its
// own, in cycles without a frame (or, when the stash fills, before frames). Frames wait while the stash may not have a
// slot for each frame in flight.
//
// For some key sets the stash never gets a free slot, for example for twelve keys that hash to the same places. Frames
// therefore wait for the mover only while the element has patience, a count of cycles. Each cycle in which the mover
// holds a frame back takes one away. An entry of the stash that finds an empty place adds 256, and time adds one every
// 32 cycles. Without patience frames go on, and a context that finds no slot is not kept, or, in programs that evict,
// takes another's place. Therefore
//   cycles in which the mover holds frames back  <=  4,352 + 256 * contexts that came into the stash + a tenth of all cycles.
//
// If no context can be added, a program that evicts replaces another one: among the contexts in the four places, the
// one with the lowest or highest first register gives way. If the four places are empty, the new context is added all
// the same, as long as the table has room.
module flow_core
  import flow_pkg::*;
#(
    parameter int unsigned Entries = 16384,  // places of all ways, a power of two
    parameter int unsigned SideW   = 8,      // bits that travel with a frame
    localparam int unsigned AddrW  = $clog2(Entries / Ways)
) (
    input wire logic clk,
    input wire logic rst,

    input wire program_t                      program_i,  // changes only while the element is idle
    input wire word_t                         now,        // us
    input wire logic [secret_bits(AddrW)-1:0] secret,  // of the hash; changes only while the table is empty

    // between two frames
    input  wire logic hold,       // nothing new is taken
    output logic      idle,       // nothing is on its way
    input  wire logic clear,      // while it is idle: removes all contexts
    output logic      clearing,   // that takes some time
    input  wire logic sweep,      // while it is idle: contexts whose time is over end, wherever they are
    output logic      sweeping,   // that takes some time, in which nothing else is taken
    input  wire logic begin_g,    // gives globals their first values
    input  wire logic [Globals-1:0] set_g,  // the host sets them
    input  wire word_t              set_g_to,

    // frames
    input  wire logic                  valid,
    output logic                       ready,
    input  wire logic                  takes,   // it is this element's turn
    input  wire logic                  keyed,   // it has all fields of the key
    input  wire logic [KeyBits-1:0]    key,
    input  wire word_t [Operands-1:0]  x,
    input  wire parts_t                parts,   // what it has
    input  wire logic [SideW-1:0]      side,

    output logic                   out_valid,
    output logic                   out_takes,
    output logic                   out_keyed,
    output logic                   out_fits,    // a row was taken
    output row_t                   out_row,
    output logic                   out_unkept,  // its context had no place
    output word_t [Registers-1:0]  out_r,       // as they are now
    output word_t [Globals-1:0]    out_g,
    output word_t [Operands-1:0]   out_x,
    output word_t [Functions-1:0]  out_results,
    output logic [SideW-1:0]       out_side,

    // the actions of the row that a frame matches: read by its number, in the same cycle
    output row_t         choice_row,
    input  wire choice_t choice,

    // the host: one operation at a time
    input  wire logic               host_valid,
    output logic                    host_taken,
    input  wire op_e                host_op,
    input  wire logic [KeyBits-1:0] host_key,
    input  wire context_t           host_context,
    input  wire where_t             host_where,   // what OpRead looks at: a slot of the stash, or a place of a way
    input  wire logic [AddrW-1:0]   host_addr,
    output logic                    answer_valid,
    output logic                    answer_found,
    output logic [KeyBits-1:0]      answer_key,
    output context_t                answer_context,

    // events and state for the host
    output logic                             told_valid,
    output event_t                           told,
    output logic [$clog2(Entries):0]         contexts,  // that there are
    output logic                             is_full,
    output logic [$clog2(StashEntries):0]    stash_used,
    output logic                             moved     // one cycle: an entry went to another place
);
  // how far an operation is ahead at most whose effect is not in the ways when they are read
  localparam int unsigned Ahead = 5;
  localparam int unsigned Room = room_of(Entries);  // contexts for which places are found
  // cycles between two visits of the walker: in half of them it waits for a cycle without a frame
  localparam int unsigned WalkEvery = 128;
  localparam int unsigned Pressing = 6;  // entries of the stash from which on the mover goes before frames
  localparam int unsigned UltraDepth = 4096;  // places of a way that fill UltraRAM
  localparam int unsigned Patience = 4096;  // at most, but for what the last entry brings
  localparam int unsigned PatienceOfEntry = 256;
  localparam int unsigned PatienceEvery = 32;  // cycles

  // The walker reaches the stash's slots by the addresses of a way.
  if (Entries / Ways < StashEntries) begin : gen_entries
    $error("flow_core: Entries must be %0d at least", Ways * StashEntries);
  end

  typedef logic [KeyBits-1:0] key_t;
  typedef logic [AddrW-1:0] addr_t;

  typedef struct packed {
    logic     valid;
    key_t     key;
    context_t content;
  } entry_t;

  // The data that an operation carries through the pipeline.
  typedef struct packed {
    logic                valid;
    op_e                 op;
    logic                keyed;
    key_t                key;
    word_t               now;    // when it was taken: the time that it sees
    // the place that walker, host or mover address, until the place of the key is known
    where_t              where;
    addr_t [Ways-1:0]    addr;
  } head_t;

  typedef struct packed {
    word_t [Operands-1:0] x;
    parts_t               parts;
    logic [SideW-1:0]     side;
  } frame_t;

  // A context and its place, as later operations see them.
  typedef struct packed {
    logic     present;  // the flow has a context; if not, `content` is what one begins with
    logic     placed;   // `where` holds an entry of this key, if only one that has expired
    context_t content;
    where_t   where;    // where it lies, or where it would
  } result_t;

  head_t h_q, t_q, s_q, x_q, c_q, r_q, a_q;
  logic x_stash_q, x_way_hit_q;  // where the key was found
  result_t c_result_q, r_found_q, a_result_q, w1_result_q, w2_result_q;
  frame_t h_frame_q, t_frame_q, s_frame_q, x_frame_q, c_frame_q, r_frame_q, a_frame_q;
  logic t_go, h_go;

  // ---- a table is empty once its places have been written, all ways at once
  logic clearing_q;
  addr_t clear_addr_q;
  always_ff @(posedge clk) begin
    clear_addr_q <= clear_addr_q + 1'b1;
    if (&clear_addr_q) clearing_q <= 1'b0;
    if (rst || clear) begin
      clearing_q <= 1'b1;
      clear_addr_q <= '0;
    end
  end

  // ---- what comes next
  logic waits, next_taken;
  slot_t next_slot;
  key_t next_key;
  way_t next_left;
  logic walk_due_q, walk_late_q;  // where no frame comes; at once
  logic [$clog2(WalkEvery)-1:0] walk_wait_q;
  logic walk_stash_q;  // the walker is in the stash, where it comes only when it sweeps: nothing moves then
  way_t walk_way_q;
  addr_t walk_addr_q;
  logic sweeping_q, host_busy_q;
  // operations in H, T, S, X, C and R may each take a slot, this count is one cycle late, and R sees it another one
  // later
  logic room_q;
  logic press_q;  // moves go before frames
  assign clearing = clearing_q;
  assign sweeping = sweeping_q;
  wire h_next = !h_q.valid || h_go;
  wire h_free = h_next && !clearing_q && !sweeping_q && !hold;
  wire take_host = host_valid && !host_busy_q && h_free && room_q;
  wire walk_turn = walk_due_q && (walk_late_q || !valid);
  wire take_move = waits && (press_q || !valid || !room_q) && h_free && !take_host && !walk_turn;
  wire take_frame = valid && h_free && !take_host && !take_move && !walk_late_q && room_q;
  wire take_walk = (walk_turn && h_free && !take_host) || (sweeping_q && !clearing_q && h_next);

  assign ready = take_frame;
  assign host_taken = take_host;
  assign next_taken = take_move;

  localparam int unsigned PatienceW = $clog2(Patience) + 1;
  logic [PatienceW-1:0] patience_q;
  logic [$clog2(PatienceEvery)-1:0] patience_wait_q;
  logic held_q, a_finds_place;
  wire patience_low = !patience_q[PatienceW-1];
  always_ff @(posedge clk) begin
    room_q <= stash_used <= ($clog2(StashEntries) + 1)'(StashEntries - 9) || patience_q == '0;
    press_q <= stash_used > ($clog2(StashEntries) + 1)'(Pressing) && patience_q != '0;
    held_q <= (press_q || !room_q) && ((valid && !take_frame) || (host_valid && !host_busy_q && !take_host));
    patience_wait_q <= patience_wait_q + 1'b1;
    patience_q <= patience_q + (a_finds_place && patience_low ? PatienceW'(PatienceOfEntry) : '0)
        + PatienceW'(patience_wait_q == '0 && patience_low) - PatienceW'(held_q && patience_q != '0);
    if (rst || clear) begin
      patience_q <= PatienceW'(Patience);
      patience_wait_q <= '0;
    end
  end

  always_ff @(posedge clk) begin
    if (h_next) begin
      h_q.valid <= take_host || take_move || take_frame || (take_walk && program_i.keyed);
      h_q.op <= take_host ? host_op : take_move ? OpMove : take_frame ? (takes ? OpFrame : OpPass) : OpWalk;
      h_q.keyed <= take_frame ? takes && keyed && program_i.keyed : take_move || (take_host && host_op != OpRead);
      h_q.now <= now;
      h_q.key <= take_host ? host_key : take_move ? next_key : key;
      h_q.where <= '{stash: take_move, way: take_move ? next_left : walk_way_q, slot: next_slot};
      if (sweeping_q) h_q.where <= '{stash: walk_stash_q, way: walk_way_q, slot: slot_t'(walk_addr_q)};
      if (take_host) h_q.where <= host_where;
      h_q.addr <= {Ways{take_host ? host_addr : walk_addr_q}};
      h_frame_q <= '{x: x, parts: parts, side: side};
    end
    if (take_walk) begin
      // Addresses first: operations that share one must wait for each other.
      {walk_way_q, walk_addr_q} <= {walk_way_q, walk_addr_q} + (AddrW + $bits(way_t))'(1);
      // The stash follows the last place.
      if (sweeping_q && &{walk_way_q, walk_addr_q}) walk_stash_q <= 1'b1;
      if (walk_stash_q && slot_t'(walk_addr_q) == '1) begin
        {walk_stash_q, walk_way_q, walk_addr_q} <= '0;
        sweeping_q <= 1'b0;
      end
    end
    if (sweep) begin
      {walk_stash_q, walk_way_q, walk_addr_q} <= '0;
      sweeping_q <= 1'b1;
    end
    walk_wait_q <= walk_wait_q + 1'b1;
    if (walk_wait_q == ($bits(walk_wait_q))'(WalkEvery / 2 - 1)) walk_due_q <= 1'b1;
    if (walk_due_q && &walk_wait_q) walk_late_q <= 1'b1;
    if (take_walk) {walk_late_q, walk_due_q} <= '0;
    host_busy_q <= (host_busy_q || take_host) && !answer_valid;
    if (rst) begin
      h_q.valid <= 1'b0;
      {walk_stash_q, walk_way_q, walk_addr_q} <= '0;
      sweeping_q <= 1'b0;
      walk_wait_q <= '0;
      {walk_late_q, walk_due_q} <= '0;
      host_busy_q <= 1'b0;
    end
  end

  // ---- H: the places of its key
  addr_t [Ways-1:0] h_addr;
  wire h_by_place = h_q.op == OpWalk || h_q.op == OpRead;
  flow_places #(
      .AddrW(AddrW)
  ) hash (
      .key(h_q.key),
      .secret,
      .addr(h_addr)
  );

  assign h_go = !t_q.valid || t_go;
  always_ff @(posedge clk) begin
    if (h_go) begin
      t_q <= h_q;
      if (!h_by_place) t_q.addr <= h_addr & {Ways{program_i.places[AddrW-1:0]}};
      t_frame_q <= h_frame_q;
    end
    if (rst) t_q.valid <= 1'b0;
  end

  // ---- T: operations ahead
  head_t [Ahead:1] ahead;
  assign ahead = {a_q, r_q, c_q, x_q, s_q};

  // An operation has places only if it has a key or looks at a place itself.
  function automatic logic has_places(head_t head);
    return head.valid && (head.keyed || head.op == OpWalk || head.op == OpRead);
  endfunction

  // An operation that looks at a slot of the stash does not know whose slot it is, so it waits for all operations
  // ahead, and all later operations wait for it. Walkers of a sweep do not wait, because they visit each slot once.
  function automatic logic has_slot(head_t head);
    return head.where.stash && (head.op == OpWalk || head.op == OpRead);
  endfunction

  logic [Ahead:1] t_same_key, t_meets, t_known;
  logic [Ahead:1][Ways-1:0] t_same_addr;
  // Frames whose own context is at its place, so that they take no other place.
  assign t_known = {a_result_q.placed, r_found_q.placed, c_result_q.placed, x_stash_q || x_way_hit_q, 1'b0};
  always_comb begin
    for (int unsigned d = 1; d <= Ahead; d++) begin
      t_same_key[d] = ahead[d].valid && t_q.keyed && ahead[d].keyed && ahead[d].key == t_q.key;
      for (int unsigned w = 0; w < Ways; w++)
        t_same_addr[d][w] = has_places(ahead[d]) && ahead[d].addr[w] == t_q.addr[w];
      t_meets[d] = has_places(t_q) && t_same_addr[d] != 0;
      if ((has_slot(t_q) || has_slot(ahead[d])) && !(t_q.op == OpWalk && ahead[d].op == OpWalk))
        t_meets[d] = has_places(t_q) && has_places(ahead[d]);
      if (t_q.op == OpFrame && ahead[d].op == OpFrame) begin
        if (!program_i.evicts || (t_same_key[d] && t_known[d])) t_meets[d] = 1'b0;
        if (t_same_key[d] && ahead[d].now != t_q.now) t_meets[d] = 1'b1;
      end
    end
  end

  wire t_behind = t_q.op == OpFrame && s_q.valid && s_q.op == OpFrame && (t_same_key[1] || program_i.serial);
  assign t_go = t_q.valid && !t_behind && t_meets == 0;
  assign idle = !h_q.valid && !t_q.valid && {a_q.valid, r_q.valid, c_q.valid, x_q.valid, s_q.valid} == '0;

  entry_t [Ways-1:0] s_entries;
  logic [Ways-1:0] we;
  entry_t wdata;
  addr_t [Ways-1:0] waddr;
  for (genvar w = 0; w < Ways; w++) begin : gen_way
    ram_sdp #(
        .Width($bits(entry_t)),
        .Depth(Entries / Ways),
        .Ultra(Entries / Ways >= UltraDepth)
    ) way (
        .clk,
        .we(we[w]),
        .waddr(waddr[w]),
        .wdata,
        .re(1'b1),
        .raddr(t_q.addr[w]),
        .rdata(s_entries[w])
    );
  end

  // The frame directly ahead is not known in time: a frame of the same key waits in T.
  logic [Ahead:2] s_same_key_q, x_same_key_q;
  logic [Ahead:1][Ways-1:0] s_same_addr_q, x_same_addr_q;
  always_ff @(posedge clk) begin
    s_q <= t_q;
    s_q.valid <= t_go && !rst;
    s_frame_q <= t_frame_q;
    s_same_key_q <= t_same_key[Ahead:2];
    s_same_addr_q <= t_same_addr;
  end

  // ---- S: where it is
  logic stash_hit;
  slot_t stash_slot;
  logic [Ways-1:0] s_hit, s_empty, s_chosen;
  logic [15:0] dice_q;  // where entries change places: any order in which they come must not be one of ways, too
  // A move back to the way that an entry comes from would only undo the last move.
  wire way_t move_way = s_q.where.way ^ (way_t'(dice_q) != '0 ? way_t'(dice_q) : dice_q[2] ? way_t'(1) : way_t'(2));
  wire s_by_place = s_q.op == OpWalk || s_q.op == OpRead;

  // The context with the lowest register that may give way, the first of equal ones.
  word_t [Ways-1:0] s_value;
  logic [Ways-1:0] s_victim;
  always_comb begin
    for (int unsigned w = 0; w < Ways; w++) s_value[w] = s_entries[w].content.r[0] ^ {32{program_i.highest}};
    for (int unsigned w = 0; w < Ways; w++) begin
      s_victim[w] = s_entries[w].valid && program_i.evicts;
      for (int unsigned other = 0; other < w; other++)
        if (s_entries[other].valid && s_value[other] <= s_value[w]) s_victim[w] = 1'b0;
      for (int unsigned other = w + 1; other < Ways; other++)
        if (s_entries[other].valid && s_value[other] < s_value[w]) s_victim[w] = 1'b0;
    end
  end

  always_comb begin
    for (int unsigned w = 0; w < Ways; w++) begin
      s_empty[w] = !s_entries[w].valid;
      s_hit[w] = s_entries[w].valid && s_q.keyed && s_entries[w].key == s_q.key;
    end
    s_chosen = s_hit != 0 ? s_hit : s_victim;
    if (s_by_place) s_chosen = Ways'(1) << s_q.where.way;
    if (s_q.op == OpMove) s_chosen = s_empty != 0 ? s_empty & (~s_empty + Ways'(1)) : Ways'(1) << move_way;
  end

  entry_t x_entry_q, s_entry;
  way_t s_way;
  always_comb begin
    s_entry = '0;
    s_way = '0;
    for (int unsigned w = 0; w < Ways; w++) begin
      s_entry |= s_entries[w] & {$bits(entry_t) {s_chosen[w]}};
      if (s_chosen[w]) s_way |= way_t'(w);
    end
  end

  slot_t x_slot_q;
  way_t x_way_q;
  logic [Ways-1:0] x_empty_q;
  always_ff @(posedge clk) begin
    x_q <= s_q;
    x_q.valid <= s_q.valid && !rst;
    x_way_q <= s_way;
    x_frame_q <= s_frame_q;
    x_same_key_q <= s_same_key_q;
    x_same_addr_q <= s_same_addr_q;
    x_entry_q <= s_entry;
    x_stash_q <= s_by_place ? s_q.where.stash : s_q.keyed && stash_hit;
    x_slot_q <= s_by_place ? s_q.where.slot : stash_slot;
    x_way_hit_q <= s_hit != 0;
    x_empty_q <= s_empty;
    // x^16 + x^15 + x^13 + x^4 + 1, two steps a cycle, so that the bits used next are new
    dice_q <= {dice_q[13:0], dice_q[15] ^ dice_q[14] ^ dice_q[12] ^ dice_q[3], dice_q[14] ^ dice_q[13] ^ dice_q[11] ^ dice_q[2]};
    if (rst) dice_q <= '1;
  end

  // ---- X: the present context
  context_t stash_content, fresh;
  key_t stash_key;
  logic stash_valid;
  result_t x_read, x_known, x_result, r_made, r_result;
  where_t x_new;  // where a context that has no place would go
  period_word_t x_period;
  logic x_hard_passed, x_idle_passed, x_idle_counts, x_expired, x_by_place, x_forwarded;
  logic [Ways-1:0] x_free;

  assign x_by_place = x_q.op == OpWalk || x_q.op == OpRead;
  assign fresh = '{state: '0, r: program_i.initial_r, hard: '0, idle: '0};

  always_comb begin
    x_read.content = x_stash_q ? stash_content : x_entry_q.content;
    x_read.where = '{stash: x_stash_q, way: x_way_q, slot: x_slot_q};
    x_read.placed = x_by_place ? (x_stash_q ? stash_valid : x_entry_q.valid) : x_stash_q || x_way_hit_q;
    x_read.present = x_read.placed;
    x_hard_passed = x_read.content.hard.on && has_passed(x_q.now, x_read.content.hard.at);
    x_idle_passed = x_read.content.idle.on && has_passed(x_q.now, x_read.content.idle.at);
    // If both have passed, the earlier one counts.
    x_idle_counts = x_idle_passed && (!x_hard_passed || is_before(x_read.content.idle.at, x_read.content.hard.at));
    x_period =
        x_idle_counts ? program_i.periods[x_read.content.idle.period] : program_i.periods[x_read.content.hard.period];
    x_expired = x_read.placed && (x_hard_passed || x_idle_passed) && (x_q.op == OpFrame || x_q.op == OpWalk);
  end

  // Empty places that no operation ahead is about to fill.
  where_t [Ahead:1] x_ahead;
  assign x_ahead = {w2_result_q.where, w1_result_q.where, a_result_q.where, r_found_q.where, c_result_q.where};
  always_comb begin
    x_free = x_empty_q;
    for (int unsigned d = 1; d <= Ahead; d++)
      if (!x_ahead[d].stash) x_free &= ~(x_same_addr_q[d] & Ways'(1) << x_ahead[d].way);
  end

  // The result of an operation of the same key ahead is newer. It cannot have expired since, because both have the same
  // time.
  assign x_forwarded = x_same_key_q[5:2] != 0;

  // A context that does not exist begins in a free place. A way that an operation ahead has left, or would have taken,
  // is still free.
  function automatic result_t settled(result_t result, logic forwarded);
    settled = result;
    if (!result.present) settled.content = fresh;
    if (!result.placed && !(forwarded && !result.where.stash)) settled.where = x_new;
  endfunction

  always_comb begin
    x_new = '{stash: x_free == 0, way: '0, slot: '0};
    for (int unsigned w = Ways; w > 0; w--) if (x_free[w-1]) x_new.way = way_t'(w - 1);
    x_known = x_read;
    if (x_expired && x_period.then) x_known.content = '{state: x_period.state, r: x_read.content.r, hard: '0, idle: '0};
    x_known.present = x_read.present && !(x_expired && !x_period.then);
    if (x_same_key_q[5]) x_known = w2_result_q;
    if (x_same_key_q[4]) x_known = w1_result_q;
    if (x_same_key_q[3]) x_known = a_result_q;
    x_result = settled(x_known, x_same_key_q[5:3] != 0);
    // R's result arrives last, so its way to C is short.
    if (x_same_key_q[2]) x_result = settled(r_result, 1'b1);
    // An entry of the stash goes where it was seen in S that it can.
    if (x_q.op == OpMove) x_result.where.way = x_way_q;
  end

  logic c_victim_q, r_victim_q;  // `other` may give way
  way_t c_victim_way_q, r_victim_way_q;
  logic c_expired_q, r_expired_q, a_expired_q;
  context_t c_before_q, r_before_q, a_before_q;  // what has expired
  entry_t c_other_q, r_other_q, a_other_q;       // what lies where an entry of the stash goes, or what gives way
  always_ff @(posedge clk) begin
    c_q <= x_q;
    c_q.valid <= x_q.valid && !rst;
    if (x_by_place) c_q.key <= x_stash_q ? stash_key : x_entry_q.key;
    c_frame_q <= x_frame_q;
    c_result_q <= x_result;
    c_expired_q <= x_expired && !x_forwarded;
    c_before_q <= x_read.content;
    c_other_q <= x_entry_q;
    c_victim_q <= x_q.op == OpFrame && program_i.evicts && !x_way_hit_q && x_entry_q.valid && !x_forwarded;
    c_victim_way_q <= x_way_q;
  end

  // ---- C: conditions and functions (flow_update.sv)
  // the operation has no empty place and no slot of the stash, except one that the operation ahead may take
  logic r_nowhere_q;
  always_ff @(posedge clk) begin
    r_q <= c_q;
    r_q.valid <= c_q.valid && !rst;
    r_frame_q <= c_frame_q;
    r_found_q <= c_result_q;
    r_expired_q <= c_expired_q;
    r_before_q <= c_before_q;
    r_other_q <= c_other_q;
    r_victim_q <= c_victim_q;
    r_nowhere_q <=
        !c_result_q.placed && c_result_q.where.stash && stash_used >= ($clog2(StashEntries) + 1)'(StashEntries - 1);
    r_victim_way_q <= c_victim_way_q;
  end

  // ---- R: the row, and the new context
  logic r_fits, r_stores, r_can, r_leaves, r_full_q, r_packed_q, r_evicts, reserve;
  slot_t free_slot;
  row_t r_row;
  wire choice_t r_choice = choice;
  assign choice_row = r_row;
  word_t [Registers-1:0] r_values;
  word_t [Functions-1:0] r_results;
  word_t [Periods-1:0] r_ends;
  word_t [Globals-1:0] g;

  flow_update update (
      .clk,
      .program_i,
      .t_x(t_frame_q.x),
      .x_parts(x_frame_q.parts),
      .c_x(c_frame_q.x),
      .c_now(c_q.now),
      .c_is_new(!c_result_q.present),
      .c_state(c_result_q.content.state),
      .c_r(c_result_q.content.r),
      .r_takes(r_q.valid && r_q.op == OpFrame && r_q.keyed == program_i.keyed),
      .r_is_full((r_full_q || r_nowhere_q) && !r_leaves && !program_i.evicts),
      .r_r(r_found_q.content.r),
      .r_fits,
      .r_row,
      .r_choice,
      .r_values,
      .r_results,
      .r_ends,
      .begin_g,
      .set_g,
      .set_g_to,
      .g
  );

  assign r_evicts = program_i.evicts && (r_full_q || r_nowhere_q) && r_victim_q && !r_found_q.placed;
  assign r_can = r_found_q.placed || r_evicts || (!r_nowhere_q && (!r_full_q || (program_i.evicts && !r_packed_q)));
  // A context that has expired has left its place to the next.
  assign r_leaves = r_found_q.placed && !r_found_q.present;

  always_comb begin
    r_stores = r_choice.named;
    for (int unsigned i = 0; i < Registers; i++) r_stores |= r_choice.r[i].set;
    r_made = r_found_q;
    if (r_fits) begin
      r_made.content.r = r_values;
      if (r_choice.set_state) r_made.content.state = r_choice.state;
      r_made.content.idle.at = r_ends[r_found_q.content.idle.period];
      if (r_choice.named) begin
        r_made.content.hard = '{on: r_choice.hard.on, period: r_choice.hard.period, at: r_ends[r_choice.hard.period]};
        r_made.content.idle = '{on: r_choice.idle.on, period: r_choice.idle.period, at: r_ends[r_choice.idle.period]};
      end
      r_made.present = !r_choice.forget && program_i.keyed && (r_found_q.present || (r_stores && r_can));
    end
    if (r_q.op == OpPut) begin
      r_made.content = host_context;
      r_made.present = r_found_q.placed || (!r_full_q && !r_nowhere_q);
    end
    if (r_q.op == OpDelete) r_made.present = 1'b0;
    if (r_q.op != OpMove) r_made.placed = r_made.present;
    if (r_evicts && r_made.present) r_made.where = '{stash: 1'b0, way: r_victim_way_q, slot: '0};
  end
  // A slot of the stash is taken by a context that had no place and has one now.
  assign reserve = r_q.valid && r_q.op != OpMove && !r_found_q.placed && r_made.present && r_made.where.stash;
  always_comb begin
    r_result = r_made;
    if (reserve) r_result.where.slot = free_slot;
  end

  // Whether the table is full is known last, so the comparison is made for each possible new number.
  typedef logic [$clog2(Entries):0] count_t;
  count_t contexts_q;
  function automatic logic packed_with(count_t count);
    return count >= count_t'(Room);
  endfunction
  function automatic logic full_with(count_t count);
    return word_t'(count) >= program_i.capacity || packed_with(count);
  endfunction

  wire r_grows = r_q.valid && r_q.op != OpMove && r_result.present && !r_found_q.placed && !r_evicts;
  wire r_shrinks = r_q.valid && r_q.op != OpMove && !r_result.present && r_found_q.placed;
  wire count_t one_more = contexts_q + 1'b1;
  wire count_t one_less = contexts_q - 1'b1;
  always_ff @(posedge clk) begin
    if (r_grows) contexts_q <= one_more;
    if (r_shrinks) contexts_q <= one_less;
    r_full_q <= r_grows ? full_with(one_more) : r_shrinks ? full_with(one_less) : full_with(contexts_q);
    r_packed_q <= r_grows ? packed_with(one_more) : r_shrinks ? packed_with(one_less) : packed_with(contexts_q);
    if (rst || clear) contexts_q <= '0;
  end
  assign contexts = contexts_q;
  assign is_full = r_full_q;

  logic a_fits_q, a_unkept_q, a_new_q, a_evicted_q, a_notify_q, a_was_placed_q;
  row_t a_row_q;
  state_t a_state_q;  // as the row leaves it, stored or not
  word_t [Registers-1:0] a_values_q;
  word_t [Functions-1:0] a_results_q;
  always_ff @(posedge clk) begin
    a_q <= r_q;
    a_q.valid <= r_q.valid && !rst;
    a_frame_q <= r_frame_q;
    a_result_q <= r_result;
    a_was_placed_q <= r_found_q.placed;
    a_fits_q <= r_fits;
    a_row_q <= r_row;
    a_state_q <= r_fits && r_choice.set_state ? r_choice.state : r_found_q.content.state;
    a_values_q <= r_values;
    a_results_q <= r_results;
    a_unkept_q <= r_fits && !r_found_q.present && r_stores && !r_choice.forget && !r_can && program_i.keyed;
    a_new_q <= r_fits && !r_found_q.present && r_result.present;
    a_evicted_q <= r_fits && r_result.present && r_evicts;
    a_notify_q <= r_fits && r_choice.notify;
    a_expired_q <= r_expired_q;
    a_before_q <= r_before_q;
    a_other_q <= r_other_q;
    {w2_result_q, w1_result_q} <= {w1_result_q, a_result_q};
  end

  // ---- A: the table changes
  wire a_moves = a_q.valid && a_q.op == OpMove && a_result_q.placed && a_result_q.where.stash;
  assign a_finds_place = a_moves && !a_other_q.valid;
  wire a_writes =
      a_q.valid && a_q.op != OpMove && a_q.op != OpRead && a_q.op != OpFind && (a_result_q.present || a_was_placed_q);
  always_comb begin
    wdata = '{valid: (a_result_q.present || a_moves) && !clearing_q, key: a_q.key, content: a_result_q.content};
    for (int unsigned w = 0; w < Ways; w++) begin
      waddr[w] = clearing_q ? clear_addr_q : a_q.addr[w];
      we[w] = clearing_q || ((a_moves || (a_writes && !a_result_q.where.stash)) && a_result_q.where.way == way_t'(w));
    end
  end

  flow_stash stash (
      .clk,
      .rst(rst || clear),
      .key(s_q.key),
      .hit(stash_hit),
      .hit_slot(stash_slot),
      .read_slot(x_slot_q),
      .read_context(stash_content),
      .read_key(stash_key),
      .read_valid(stash_valid),
      .free_slot,
      .reserve,
      .used(stash_used),
      .we(a_moves || (a_writes && a_result_q.where.stash)),
      .keep(a_moves ? a_other_q.valid : a_result_q.present),
      .slot(a_result_q.where.slot),
      .wkey(a_moves ? a_other_q.key : a_q.key),
      .wleft(a_result_q.where.way),
      .wcontext(a_moves ? a_other_q.content : a_result_q.content),
      .waits,
      .next_slot,
      .next_key,
      .next_left,
      .next_taken,
      .moved(a_q.valid && a_q.op == OpMove),
      .moved_slot(a_q.where.slot)
  );

  // ---- what leaves
  assign out_valid = a_q.valid && (a_q.op == OpFrame || a_q.op == OpPass);
  assign out_takes = a_q.op == OpFrame;
  assign out_keyed = a_q.keyed;
  assign out_fits = a_fits_q;
  assign out_row = a_row_q;
  assign out_unkept = a_unkept_q;
  assign out_r = a_values_q;
  assign out_g = g;
  assign out_x = a_frame_q.x;
  assign out_results = a_results_q;
  assign out_side = a_frame_q.side;

  assign answer_valid = a_q.valid && (a_q.op == OpRead || a_q.op == OpFind || a_q.op == OpPut || a_q.op == OpDelete);
  assign answer_found = a_q.op == OpPut || a_q.op == OpRead || a_q.op == OpFind ? a_result_q.present : a_was_placed_q;
  assign answer_key = a_q.key;
  assign answer_context = a_result_q.content;

  always_comb begin
    told.kinds = '{
        notified: a_notify_q,
        full: a_new_q && r_full_q && !program_i.evicts,  // as of behind this operation
        is_new: a_new_q,
        evicted: a_evicted_q,
        expired: a_expired_q
    };
    told.at = a_q.now;
    told.flow = '{key: a_q.keyed ? a_q.key : '0, state: a_state_q, r: a_values_q};
    told.gone = '{key: a_q.key, state: a_before_q.state, r: a_before_q.r};
    if (a_evicted_q) told.gone = '{key: a_other_q.key, state: a_other_q.content.state, r: a_other_q.content.r};
  end
  assign told_valid = a_q.valid && told.kinds != '0;
  assign moved = a_moves;

  wire unused =
      &{1'b0, program_i.key, program_i.operands, program_i.places, x_period.duration, x_ahead, a_frame_q.parts};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst && x_q.valid) begin
      assert (!(x_stash_q && x_way_hit_q)) else $error("%m: a key in the stash and in a way");
    end
    if (!rst && s_q.valid) assert ($onehot0(s_hit)) else $error("%m: a key in two ways");
  end
`endif
endmodule

`default_nettype wire
