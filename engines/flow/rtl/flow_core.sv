// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An element of the flow engine without what reads and edits frames: keys and operands in, rows and registers out (engines/flow/element.md).
//
//   H ───────> T ───────> S ───────> X ────────> C ───────────> R ───────────> A ───────> out
//   hash of    ways are   keys are   has it      conditions,    first row,     contexts
//   the key    read       compared   expired?    functions      new context    are written
//                                       ^           ^                │           │
//                                       │           └── 2 behind ────┤           │
//                                       └────── 3, 4, 5 behind ──────┴───────────┘
//
// One operation a cycle, seven cycles; nothing stands still behind T. In T an operation waits
//   - for the one ahead, when both are frames of one flow, or the program writes globals: one cycle;
//   - while one that moves, looks at or changes places on the host's behalf and it share one, up to five cycles;
//   - while the stash has not a free slot for each frame that is on its way.
// A context that is newer than what was read comes from the operation ahead of the same key: it is at most five ahead. So each operation sees all
// that those before it did, and the table changes in A alone, in their order.
//
// A new context goes into a way of its four places, when one is empty, else into the stash. The mover takes entries of the stash, as operations of their
// own where no frame comes (or, when the stash fills, before frames), to an empty place of theirs, or in exchange for what lies there.
module flow_core
  import flow_pkg::*;
#(
    parameter int unsigned KeyW    = 128,
    parameter int unsigned Entries = 16384,  // places of all ways, a power of two
    parameter int unsigned SideW   = 8,      // bits that travel with a frame
    localparam int unsigned AddrW  = $clog2(Entries / Ways)
) (
    input wire logic clk,
    input wire logic rst,

    input wire program_t                   program_i,  // changes only while no frame is in the element
    input wire word_t                      now,        // us
    input wire logic [KeyW+Ways*AddrW-1:0] secret,     // of the hash; changes only while the table is empty

    // frames
    input  wire logic                  valid,
    output logic                       ready,
    input  wire logic                  keyed,   // it has all fields of the key
    input  wire logic [KeyW-1:0]       key,
    input  wire word_t [Operands-1:0]  x,
    input  wire logic  [Operands-1:0]  here,    // operands that it has
    input  wire logic [SideW-1:0]      side,

    output logic                   out_valid,
    output logic                   out_fits,    // a row was taken
    output row_t                   out_row,
    output logic                   out_unkept,  // its context had no place
    output word_t [Registers-1:0]  out_r,       // as they are now
    output word_t [Globals-1:0]    out_g,
    output word_t [Operands-1:0]   out_x,
    output logic [SideW-1:0]       out_side,

    // the host: one operation at a time
    input  wire logic               host_valid,
    output logic                    host_taken,
    input  wire op_e                host_op,
    input  wire logic [KeyW-1:0]    host_key,
    input  wire context_t           host_context,
    input  wire where_t             host_where,   // what OpRead looks at: a slot of the stash, or a place of a way
    input  wire logic [AddrW-1:0]   host_addr,
    output logic                    answer_valid,
    output logic                    answer_found,
    output logic [KeyW-1:0]         answer_key,
    output context_t                answer_context,

    // what the host is told
    output logic                             event_new,
    output logic                             event_expired,
    output logic                             event_notified,
    output logic [KeyW-1:0]                  event_key,
    output context_t                         event_context,
    output logic [$clog2(Entries):0]         contexts,  // that there are
    output logic                             is_full,
    output logic [$clog2(StashEntries):0]    stash_used,
    output logic                             moved     // one cycle: an entry went to another place
);
  localparam int unsigned Ahead = 5;  // how far an operation is ahead at most whose effect is not in the ways when they are read
  localparam int unsigned WalkEvery = 16;  // cycles between two looks of the walker under full load
  localparam int unsigned Pressing = StashEntries / 4;  // entries of the stash from which on the mover goes before frames

  typedef logic [KeyW-1:0] key_t;
  typedef logic [AddrW-1:0] addr_t;

  typedef struct packed {
    logic     valid;
    key_t     key;
    context_t content;
  } entry_t;

  // What an operation carries from one end to the other.
  typedef struct packed {
    logic                valid;
    op_e                 op;
    logic                keyed;
    key_t                key;
    where_t              where;  // until it is known: what the walker and the host look at, the slot that is to be moved
    addr_t [Ways-1:0]    addr;
  } head_t;

  typedef struct packed {
    word_t [Operands-1:0] x;
    logic [Operands-1:0]  here;
    logic [SideW-1:0]     side;
  } frame_t;

  // A context and where it is, as those behind see it.
  typedef struct packed {
    logic     present;
    context_t content;
    where_t   where;
  } result_t;

  head_t h_q, t_q, s_q, x_q, c_q, r_q, a_q, w1_q, w2_q;
  frame_t h_frame_q, t_frame_q, s_frame_q, x_frame_q, c_frame_q, r_frame_q, a_frame_q;
  logic t_go, h_go;
  word_t now_q;
  always_ff @(posedge clk) now_q <= now;

  // ---- what comes next
  logic waits, press, next_taken;
  slot_t next_slot;
  key_t next_key;
  head_t walk;
  logic walk_due_q;
  logic [$clog2(WalkEvery)-1:0] walk_wait_q;
  way_t walk_way_q;
  addr_t walk_addr_q;
  logic host_busy_q;
  wire h_free = !h_q.valid || h_go;
  wire take_host = host_valid && !host_busy_q && h_free;
  wire take_move = waits && (press || !valid) && h_free && !take_host;
  wire take_frame = valid && h_free && !take_host && !take_move && !walk_due_q;
  wire take_walk = h_free && !take_host && !take_move && !take_frame;

  assign ready = take_frame;
  assign host_taken = take_host;
  assign next_taken = take_move;
  assign press = stash_used > ($clog2(StashEntries) + 1)'(Pressing);

  always_ff @(posedge clk) begin
    if (h_free) begin
      h_q.valid <= take_host || take_move || take_frame || (take_walk && program_i.keyed);
      h_q.op <= take_host ? host_op : take_move ? OpMove : take_frame ? OpFrame : OpWalk;
      h_q.keyed <= take_frame ? keyed && program_i.keyed : !take_walk;
      h_q.key <= take_host ? host_key : take_move ? next_key : key;
      h_q.where <= take_host ? host_where : take_move ? '{stash: 1'b1, way: '0, slot: next_slot} : '{stash: 1'b0, way: walk_way_q, slot: '0};
      h_q.addr <= {Ways{take_host ? host_addr : walk_addr_q}};
      h_frame_q <= '{x: x, here: here, side: side};
    end
    if (take_walk) {walk_addr_q, walk_way_q} <= {walk_addr_q, walk_way_q} + (AddrW + $bits(way_t))'(1);
    walk_wait_q <= take_walk ? '0 : walk_wait_q + 1'b1;
    walk_due_q <= !take_walk && (walk_due_q || &walk_wait_q);
    host_busy_q <= (host_busy_q || take_host) && !answer_valid;
    if (rst) begin
      h_q.valid <= 1'b0;
      {walk_addr_q, walk_way_q} <= '0;
      walk_wait_q <= '0;
      walk_due_q <= 1'b0;
      host_busy_q <= 1'b0;
    end
  end

  // ---- H: the places of its key
  addr_t [Ways-1:0] h_addr;
  wire h_by_place = h_q.op == OpWalk || h_q.op == OpRead;
  flow_hash #(
      .KeyW(KeyW),
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
      if (!h_by_place) t_q.addr <= h_addr;
      t_frame_q <= h_frame_q;
    end
    if (rst) t_q.valid <= 1'b0;
  end

  // ---- T: what is ahead
  head_t [Ahead:1] ahead;
  assign ahead = {a_q, r_q, c_q, x_q, s_q};

  logic [Ahead:1] t_same_key, t_meets;
  logic [Ahead:1][Ways-1:0] t_same_addr;
  function automatic logic is_frame(head_t head);
    return head.op == OpFrame;
  endfunction
  always_comb begin
    for (int unsigned d = 1; d <= Ahead; d++) begin
      t_same_key[d] = ahead[d].valid && t_q.keyed && ahead[d].keyed && ahead[d].key == t_q.key;
      for (int unsigned w = 0; w < Ways; w++) t_same_addr[d][w] = ahead[d].valid && ahead[d].addr[w] == t_q.addr[w];
      t_meets[d] = t_same_addr[d] != 0 && !(is_frame(t_q) && is_frame(ahead[d]));
    end
  end

  logic t_room_q;
  wire t_behind = is_frame(t_q) && s_q.valid && is_frame(s_q) && (t_same_key[1] || program_i.serial);
  assign t_go = t_q.valid && !t_behind && t_meets == 0 && t_room_q;

  // Before each frame there are at most five that may still take a slot.
  always_ff @(posedge clk) t_room_q <= stash_used <= ($clog2(StashEntries) + 1)'(StashEntries - Ahead - 2);

  entry_t [Ways-1:0] s_entries;
  logic [Ways-1:0] we;
  entry_t wdata;
  addr_t [Ways-1:0] waddr;
  for (genvar w = 0; w < Ways; w++) begin : gen_way
    ram_sdp #(
        .Width($bits(entry_t)),
        .Depth(Entries / Ways)
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

  logic [Ahead:1] s_same_key_q, x_same_key_q;
  logic [Ahead:1][Ways-1:0] s_same_addr_q, x_same_addr_q;
  always_ff @(posedge clk) begin
    s_q <= t_q;
    s_q.valid <= t_go && !rst;
    s_frame_q <= t_frame_q;
    s_same_key_q <= t_same_key;
    s_same_addr_q <= t_same_addr;
  end

  // ---- S: where it is
  logic stash_hit;
  slot_t stash_slot;
  logic [Ways-1:0] s_hit, s_empty, s_chosen;
  way_t move_way_q;  // where entries change places, another way each time
  wire s_by_place = s_q.op == OpWalk || s_q.op == OpRead;

  always_comb begin
    for (int unsigned w = 0; w < Ways; w++) begin
      s_empty[w] = !s_entries[w].valid;
      s_hit[w] = s_entries[w].valid && s_q.keyed && s_entries[w].key == s_q.key;
    end
    s_chosen = s_hit;
    if (s_by_place) s_chosen = Ways'(1) << s_q.where.way;
    if (s_q.op == OpMove) s_chosen = s_empty != 0 ? s_empty & (~s_empty + Ways'(1)) : Ways'(1) << move_way_q;
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

  logic x_stash_q, x_way_hit_q;
  slot_t x_slot_q;
  logic [Ways-1:0] x_empty_q;
  always_ff @(posedge clk) begin
    x_q <= s_q;
    x_q.valid <= s_q.valid && !rst;
    x_q.where.way <= s_way;
    x_frame_q <= s_frame_q;
    x_same_key_q <= s_same_key_q;
    x_same_addr_q <= s_same_addr_q;
    x_entry_q <= s_entry;
    x_stash_q <= s_by_place ? s_q.where.stash : s_q.keyed && stash_hit;
    x_slot_q <= s_by_place ? s_q.where.slot : stash_slot;
    x_way_hit_q <= s_hit != 0;
    x_empty_q <= s_empty;
    if (s_q.valid && s_q.op == OpMove) move_way_q <= move_way_q + 1'b1;
    if (rst) move_way_q <= '0;
  end

  // ---- X: what it has now
  context_t x_stash_content;
  result_t x_result, x_read, r_result, a_result_q, w1_result_q, w2_result_q;
  logic x_expired, x_removed;
  result_t c_found_q;
  head_t x_head;
  logic c_expired_q;

  wire x_by_place = x_q.op == OpWalk || x_q.op == OpRead;
  function automatic period_word_t period_of(deadline_t deadline);
    return program_i.periods[deadline.period];
  endfunction

  always_comb begin
    automatic deadline_t passed;
    automatic period_word_t period;
    x_read.content = x_stash_q ? x_stash_content : x_entry_q.content;
    x_read.where = '{stash: x_stash_q, way: x_q.where.way, slot: x_slot_q};
    x_read.present = x_stash_q || (x_by_place ? x_entry_q.valid : x_way_hit_q);
    passed = x_read.content.hard.on && has_passed(now_q, x_read.content.hard.at) ? x_read.content.hard : x_read.content.idle;
    x_expired = x_read.present && passed.on && has_passed(now_q, passed.at) && x_q.op != OpMove && x_q.op != OpRead;
    period = period_of(passed);
    x_removed = x_expired && !period.then;
    x_result = x_read;
    if (x_expired) begin
      x_result.content.state = period.state;
      x_result.content.hard = '0;
      x_result.content.idle = '0;
      x_result.present = period.then;
    end
    // What those ahead have made of it is newer, and cannot have expired since.
    unique case (1'b1)
      x_same_key_q[2]: x_result = r_result;
      !x_same_key_q[2] && x_same_key_q[3]: x_result = a_result_q;
      !x_same_key_q[2] && !x_same_key_q[3] && x_same_key_q[4]: x_result = w1_result_q;
      !x_same_key_q[2] && !x_same_key_q[3] && !x_same_key_q[4] && x_same_key_q[5]: x_result = w2_result_q;
      default: ;
    endcase
    if (x_same_key_q[5:2] != 0) begin
      x_expired = 1'b0;
      x_removed = 1'b0;
    end
  end
endmodule

`default_nettype wire
