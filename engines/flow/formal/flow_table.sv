// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The proof that the flow table never holds a key twice and never loses one. It contains rtl/flow_core.sv and
// flow_stash.sv as they are, with the sizes of flow_pkg.sv here, surrounded by all possible inputs, and watches one
// key.
//
// `owed_q` is the content that the table must have for that key, according to its reports: made by a frame or the host,
// changed by frames, removed by a row or the host, expired or evicted with an event. It follows operations in their
// order, at A, where each operation takes effect. In each cycle
//   - each operation on the key has seen `owed_q`, and its answer or report follows from it;
//   - the places of the key and the stash hold the key once if it is owed, with its last content, and otherwise not at
//     all.
// Any key may be the watched one, so this holds for all keys.
//
// The proof leaves open, and therefore holds for any: frames, operations of the host, time, rows and their effects
// (open.sv), the hash (flow_places.sv), the turns of the mover and the walker and the times when frames wait for them
// (`room_q`, `press_q`, `walk_due_q`, `walk_late_q`), the entries that are exchanged (`move_way`), and the value that a
// read gives when the place is written in the same cycle (ram_sdp.sv).
module flow_table
  import flow_pkg::*;
(
    input wire logic clk,

    input wire logic [KeyBits-1:0]                        watched,
    input wire program_t                                  program_i,
    input wire word_t                                     now,
    input wire choice_t                                   choice,
    input wire logic [secret_bits(PlaceBits)-1:0] secret,

    input wire logic hold,
    input wire logic clear,
    input wire logic sweep,

    input wire logic                 valid,
    input wire logic                 takes,
    input wire logic                 keyed,
    input wire logic [KeyBits-1:0]   key,
    input wire logic                 host_valid,
    input wire op_e                  host_op,
    input wire logic [KeyBits-1:0]   host_key,
    input wire context_t             host_context,
    input wire where_t               host_where,
    input wire logic [PlaceBits-1:0] host_addr
);
  localparam int unsigned AddrW = PlaceBits;
  localparam int unsigned Depth = 1 << AddrW;
  localparam int unsigned Keys = 1 << KeyBits;

  typedef struct packed {
    logic               valid;
    logic [KeyBits-1:0] key;
    context_t           content;
  } entry_t;

  // ---- the element's core
  logic started_q = 1'b0;
  always_ff @(posedge clk) started_q <= 1'b1;
  wire rst = !started_q;

  logic idle, out_unkept, answer_valid, answer_found, told_valid;
  logic [KeyBits-1:0] answer_key;
  context_t answer_context;
  event_t told;
  flow_core #(
      .Entries(Ways * Depth),
      .SideW(1)
  ) core (
      .clk,
      .rst,
      .program_i,
      .now,
      .secret,
      .hold,
      .idle,
      .clear,
      .clearing(),
      .sweep,
      .sweeping(),
      .begin_g(1'b0),
      .set_g('0),
      .set_g_to('0),
      .valid,
      .ready(),
      .takes,
      .keyed,
      .key,
      .x('0),
      .parts('0),
      .side('0),
      .out_valid(),
      .out_takes(),
      .out_keyed(),
      .out_fits(),
      .out_row(),
      .out_unkept,
      .out_r(),
      .out_g(),
      .out_x(),
      .out_results(),
      .out_side(),
      .choice_row(),
      .choice,
      .host_valid,
      .host_taken(),
      .host_op,
      .host_key,
      .host_context,
      .host_where,
      .host_addr,
      .answer_valid,
      .answer_found,
      .answer_key,
      .answer_context,
      .told_valid,
      .told,
      .contexts(),
      .is_full(),
      .stash_used(),
      .moved()
  );

  // ---- what may come (flow_core.sv, flow_host.sv)
  logic [KeyBits-1:0] watched_q;
  program_t program_q;
  logic [secret_bits(AddrW)-1:0] secret_q;
  context_t host_context_q;
  logic changes_q;
  always_ff @(posedge clk) begin
    watched_q <= watched;
    program_q <= program_i;
    secret_q <= secret;
    host_context_q <= host_context;
    changes_q <= hold && idle;
  end
  always_comb begin
    if (started_q) begin
      assume (watched == watched_q && secret == secret_q && program_i.places == program_q.places);
      assume (changes_q || program_i == program_q);
      if (core.host_busy_q) assume (host_context == host_context_q);
    end
    assume (!(clear || sweep) || (hold && idle && !core.sweeping_q));
    assume (host_op == OpRead || host_op == OpFind || host_op == OpPut || host_op == OpDelete);
  end

  // ---- what lies where
  logic [Keys-1:0][Ways-1:0][AddrW-1:0] places;
  for (genvar k = 0; k < Keys; k++) begin : gen_key
    flow_places #(
        .AddrW(AddrW)
    ) hash (
        .key(KeyBits'(k)),
        .secret,
        .addr(places[k])
    );
  end

  // all that can hold an entry: the places of the ways, then the stash
  localparam int unsigned Lines = Ways * Depth + StashEntries;
  entry_t [Lines-1:0] lines;
  for (genvar w = 0; w < Ways; w++) begin : gen_way
    for (genvar a = 0; a < Depth; a++) begin : gen_place
      wire entry_t entry = core.gen_way[w].way.mem[a];
      assign lines[w*Depth+a] = '{
          // While the table is cleared, places from `clear_addr_q` on do not count.
          valid: entry.valid && !(core.clearing_q && AddrW'(a) >= core.clear_addr_q),
          key: entry.key,
          content: entry.content
      };
    end
  end
  for (genvar i = 0; i < StashEntries; i++) begin : gen_slot
    assign lines[Ways*Depth+i] =
        '{valid: core.stash.valid_q[i], key: core.stash.keys_q[i], content: core.stash.contexts[i]};
  end

  logic [Lines-1:0] held;  // who holds the watched key
  logic once;
  context_t held_content;
  always_comb begin
    once = 1'b1;
    held_content = '0;
    for (int unsigned i = 0; i < Lines; i++) begin
      held[i] = lines[i].valid && lines[i].key == watched;
      if (held[i]) held_content |= lines[i].content;
      for (int unsigned j = 0; j < i; j++)
        if (lines[i].valid && lines[j].valid && lines[i].key == lines[j].key) once = 1'b0;
    end
  end

  // ---- what is owed
  typedef struct packed {
    logic     present;
    context_t content;
  } owed_t;
  owed_t owed_q, owed_d, seen;
  choice_t a_choice_q;
  logic a_present_q;
  context_t a_content_q;
  always_ff @(posedge clk) begin
    a_choice_q <= core.r_choice;
    a_present_q <= core.r_found_q.present;
    a_content_q <= core.r_found_q.content;
  end

  wire op_e op = core.a_q.op;
  wire fits = core.a_fits_q;
  wire context_t made = core.a_result_q.content;
  wire of_watched = core.a_q.valid && core.a_q.key == watched;
  wire a_frame = of_watched && core.a_q.keyed && op == OpFrame;
  wire a_host = of_watched && core.a_q.keyed && (op == OpFind || op == OpPut || op == OpDelete);
  wire a_read = of_watched && op == OpRead && answer_found;
  wire a_expires = of_watched && told_valid && told.kinds.expired;
  wire a_evicted = told_valid && told.kinds.evicted && told.gone.key == watched;
  wire a_stores = a_choice_q.named || a_choice_q.r[0].set;

  always_comb begin
    seen = owed_q;
    // An expired context is removed or changes to the program's state.
    if (a_expires) seen = op == OpWalk ? '{present: core.a_result_q.present, content: made} : '{present: a_present_q, content: a_content_q};
    owed_d = seen;
    if (a_frame && fits) begin
      owed_d.present = !a_choice_q.forget && (seen.present || (a_stores && !out_unkept));
      owed_d.content = made;
    end
    if (a_host && op == OpPut) owed_d = '{present: answer_found, content: host_context};
    if (a_host && op == OpDelete) owed_d.present = 1'b0;
    if (a_evicted || clear) owed_d.present = 1'b0;
  end
  always_ff @(posedge clk) begin
    owed_q <= owed_d;
    if (rst) owed_q.present <= 1'b0;
  end

  always_comb begin
    if (started_q) begin
      // ---- the table
      assert (once);
      assert ((held != '0) == owed_q.present);
      if (owed_q.present) assert (held_content == owed_q.content);

      // ---- what operations have seen, and told
      if (a_frame) begin
        assert (a_present_q == seen.present);
        assert (a_content_q == (seen.present ? seen.content : core.fresh));
        assert (told.kinds.is_new == (fits && !seen.present && owed_d.present));
        if (!fits && seen.present) assert (made == seen.content);
      end
      if (a_host && op != OpPut) assert (answer_found == owed_q.present);
      if (a_host && op == OpPut && owed_q.present) assert (answer_found);
      if (a_read) assert (owed_q.present);
      if ((a_read || (a_host && op == OpFind)) && answer_found) assert (answer_context == owed_q.content);
      if (a_expires || a_evicted) begin
        assert (owed_q.present);
        assert (told.gone == flow_t'{key: watched, state: owed_q.content.state, r: owed_q.content.r});
        assert (!a_evicted || program_i.evicts);
      end
    end
  end

  // ---- Invariants. They hold in every reachable state and make the assertions above hold one cycle later. One step of
  // induction then proves everything.
  localparam int unsigned S = 0, X = 1, C = 2, R = 3, A = 4, W1 = 5, W2 = 6;  // stages, and two cycles behind A
  localparam int unsigned Stages = 7;
  localparam int unsigned Ahead = 5;

  typedef struct packed {
    logic                       valid;
    op_e                        op;
    logic                       keyed;
    logic [KeyBits-1:0]         key;
    word_t                      now;
    where_t                     where;
    logic [Ways-1:0][AddrW-1:0] addr;
  } head_t;

  typedef struct packed {
    logic     present;
    logic     placed;
    context_t content;
    where_t   where;
  } result_t;

  head_t w1_q, w2_q;
  always_ff @(posedge clk) begin
    w1_q <= core.a_q;
    w2_q <= w1_q;
    if (rst || clear) {w1_q.valid, w2_q.valid} <= '0;
  end
  head_t [Stages-1:0] heads;
  assign heads = {w2_q, w1_q, core.a_q, core.r_q, core.c_q, core.x_q, core.s_q};

  // An operation on a key, by others than the mover.
  function automatic logic is_on_key(head_t head);
    return head.valid && head.keyed && head.op != OpMove;
  endfunction

  function automatic logic is_by_place(head_t head);
    return head.op == OpWalk || head.op == OpRead;
  endfunction

  function automatic logic is_of_host(head_t head);
    return head.op == OpRead || head.op == OpFind || head.op == OpPut || head.op == OpDelete;
  endfunction

  function automatic logic is_kind(head_t head);
    return head.keyed
        ? !is_by_place(head) && head.op != OpPass
        : is_by_place(head) || head.op == OpPass || head.op == OpFrame;
  endfunction

  // A frame of a flow: of a program with a key.
  function automatic logic is_of_flow(head_t head);
    return head.op == OpFrame && head.keyed;
  endfunction

  function automatic logic has_places(head_t head);
    return head.valid && (head.keyed || is_by_place(head));
  endfunction

  // It looks at a slot of the stash. The number of a walker's slot is part of its address.
  function automatic logic has_slot(head_t head);
    return is_by_place(head) && head.where.stash;
  endfunction

  function automatic logic is_walk(head_t head);
    return head.op != OpWalk || !head.where.stash || head.addr == {Ways{AddrW'(head.where.slot)}};
  endfunction

  function automatic logic shares(head_t a, head_t b);
    shares = 1'b0;
    for (int unsigned w = 0; w < Ways; w++) if (a.addr[w] == b.addr[w]) shares = 1'b1;
    shares &= has_places(a) && has_places(b);
  endfunction

  function automatic logic same_key(head_t a, head_t b);
    return a.valid && b.valid && a.keyed && b.keyed && a.key == b.key;
  endfunction

  function automatic entry_t line_at(entry_t [Lines-1:0] lines, head_t head, where_t where);
    line_at = '0;
    for (int unsigned i = 0; i < StashEntries; i++)
      if (where.stash && where.slot == slot_t'(i)) line_at = lines[Ways*Depth+i];
    for (int unsigned w = 0; w < Ways; w++) begin
      for (int unsigned a = 0; a < Depth; a++) begin
        if (!where.stash && where.way == way_t'(w) && head.addr[w] == AddrW'(a)) line_at = lines[w*Depth+a];
      end
    end
  endfunction

  function automatic logic is_nowhere(entry_t [Lines-1:0] lines, logic [KeyBits-1:0] key);
    is_nowhere = 1'b1;
    for (int unsigned i = 0; i < Lines; i++) if (lines[i].valid && lines[i].key == key) is_nowhere = 1'b0;
  endfunction

  function automatic logic is_same_place(where_t a, where_t b);
    return a.stash == b.stash && (a.stash ? a.slot == b.slot : a.way == b.way);
  endfunction

  // Two entries are one, or both are none.
  function automatic logic is_entry(entry_t a, entry_t b);
    return a.valid == b.valid && (!a.valid || a == b);
  endfunction

  // ---- operations
  logic [A+2:0] of_host;  // what is on its way from the host: one
  always_comb begin
    for (int unsigned n = 0; n <= A; n++) of_host[n] = heads[n].valid && is_of_host(heads[n]);
    of_host[A+1] = core.t_q.valid && is_of_host(core.t_q);
    of_host[A+2] = core.h_q.valid && is_of_host(core.h_q);
    if (started_q) begin
      assert ((of_host & (of_host - 1'b1)) == '0 && (core.host_busy_q || of_host == '0));
      if (core.h_q.valid) assert (is_kind(core.h_q) && is_walk(core.h_q) && (program_i.keyed || !is_of_flow(core.h_q)));
      if (core.t_q.valid) assert (is_kind(core.t_q) && is_walk(core.t_q) && (program_i.keyed || !is_of_flow(core.t_q)));
      for (int unsigned n = 0; n < Stages; n++) begin
        if (heads[n].valid) assert (!core.clearing_q && is_kind(heads[n]) && is_walk(heads[n]));
        if (heads[n].valid && heads[n].keyed)
          assert (heads[n].addr == (places[heads[n].key] & {Ways{program_i.places}}));
      end
      if (core.t_q.valid && core.t_q.keyed) assert (core.t_q.addr == (places[core.t_q.key] & {Ways{program_i.places}}));
      if (core.clearing_q) assert (!core.h_q.valid && !core.t_q.valid);

      // A later operation has waited for the earlier ones that it conflicts with.
      for (int unsigned j = S; j < W2; j++) begin
        for (int unsigned i = j + 1; i < Stages && i <= j + Ahead; i++) begin
          if (heads[i].valid && heads[j].valid) begin
            if (heads[i].op == OpFrame && heads[j].op == OpFrame) begin
              if (same_key(heads[i], heads[j])) assert (i != j + 1 && heads[i].now == heads[j].now);
              else assert (!program_i.evicts || !shares(heads[i], heads[j]));
            end else begin
              assert (!shares(heads[i], heads[j]));
              if (has_places(heads[i]) && has_places(heads[j]) && !(heads[i].op == OpWalk && heads[j].op == OpWalk))
                assert (!has_slot(heads[i]) && !has_slot(heads[j]));
            end
          end
        end
      end
      // What S and X know of those ahead.
      for (int unsigned d = 1; d <= Ahead; d++) begin
        if (heads[S].valid) begin
          if (d > 1) assert (core.s_same_key_q[d] == same_key(heads[S], heads[S+d]));
          for (int unsigned w = 0; w < Ways; w++)
            assert (core.s_same_addr_q[d][w] == (has_places(heads[S+d]) && heads[S+d].addr[w] == heads[S].addr[w]));
        end
        if (heads[X].valid) begin
          if (d > 1) assert (core.x_same_key_q[d] == same_key(heads[X], heads[X+d]));
          for (int unsigned w = 0; w < Ways; w++)
            assert (core.x_same_addr_q[d][w] == (has_places(heads[X+d]) && heads[X+d].addr[w] == heads[X].addr[w]));
        end
      end
    end
  end

  // ---- entries
  for (genvar w = 0; w < Ways; w++) begin : gen_lies
    for (genvar a = 0; a < Depth; a++) begin : gen_place
      // It is at one of its places.
      always_comb begin
        if (started_q && lines[w*Depth+a].valid)
          assert ((places[lines[w*Depth+a].key][w] & program_i.places) == AddrW'(a));
      end
    end
  end
  for (genvar i = 0; i < StashEntries; i++) begin : gen_kept
    // The operation in A puts a new entry here.
    wire awaited =
        is_on_key(core.a_q) && core.a_result_q.present && !core.a_was_placed_q && core.a_result_q.where.stash &&
        core.a_result_q.where.slot == slot_t'(i);
    always_comb begin
      if (started_q) begin
        if (lines[Ways*Depth+i].valid) assert (core.stash.copies[i] == core.stash.keys_q[i]);
        assert (core.stash.reserved_q[i] == (lines[Ways*Depth+i].valid || awaited));
        assert (!(lines[Ways*Depth+i].valid && awaited));
      end
    end
  end

  // ---- S: the entry that was read is still there, unless a frame five ahead has written an empty place or its own
  for (genvar w = 0; w < Ways; w++) begin : gen_read
    wire entry_t line = line_at(lines, heads[S], '{stash: 1'b0, way: way_t'(w), slot: '0});
    always_comb begin
      if (started_q && has_places(heads[S])) begin
        if (core.s_same_addr_q[5][w] && !core.w1_result_q.where.stash && core.w1_result_q.where.way == way_t'(w))
          assert (!core.s_entries[w].valid || core.s_entries[w].key == w1_q.key || heads[S].key == w1_q.key);
        else assert (is_entry(core.s_entries[w], line));
      end
    end
  end

  // ---- X: where it is
  wire entry_t x_entry = core.x_entry_q;
  wire entry_t x_line = line_at(lines, heads[X], '{stash: 1'b0, way: core.x_way_q, slot: '0});
  wire entry_t x_slot = line_at(lines, heads[X], '{stash: 1'b1, way: '0, slot: core.x_slot_q});
  logic [Ways-1:0] x_empty;
  always_comb begin
    x_empty = core.x_empty_q;
    for (int unsigned w = 0; w < Ways; w++) begin
      if (core.x_same_addr_q[4][w] && !core.w1_result_q.where.stash && core.w1_result_q.where.way == way_t'(w))
        x_empty[w] = 1'b0;
      if (core.x_same_addr_q[5][w] && !core.w2_result_q.where.stash && core.w2_result_q.where.way == way_t'(w))
        x_empty[w] = 1'b0;
    end
    if (started_q && heads[X].valid && !has_places(heads[X])) assert (!core.x_stash_q && !core.x_way_hit_q);
    if (started_q && has_places(heads[X])) begin
      for (int unsigned w = 0; w < Ways; w++)
        assert (!x_empty[w] || !line_at(lines, heads[X], '{stash: 1'b0, way: way_t'(w), slot: '0}).valid);
      if (is_by_place(heads[X])) begin
        assert (is_same_place('{stash: core.x_stash_q, way: core.x_way_q, slot: core.x_slot_q}, heads[X].where));
        if (!core.x_stash_q) assert (is_entry(x_entry, x_line));
      end else if (!core.x_forwarded) begin
        assert (!(core.x_stash_q && core.x_way_hit_q));
        if (core.x_stash_q) assert (x_slot.valid && x_slot.key == heads[X].key);
        if (core.x_way_hit_q && heads[X].op != OpMove)
          assert (x_entry.valid && x_entry.key == heads[X].key && is_entry(x_entry, x_line));
        if (!core.x_stash_q) assert (core.x_way_hit_q == !is_nowhere(lines, heads[X].key));
        // The entry that is pushed into the stash, or evicted.
        if (heads[X].op == OpMove || (program_i.evicts && x_entry.valid)) assert (is_entry(x_entry, x_line));
      end
    end
  end

  // ---- C, R and A: the entry found, and its destination
  for (genvar n = C; n <= R; n++) begin : gen_found
    wire head_t head = heads[n];
    wire result_t result = n == C ? core.c_result_q : core.r_found_q;
    wire expired = n == C ? core.c_expired_q : core.r_expired_q;
    wire context_t what_expired = n == C ? core.c_before_q : core.r_before_q;
    wire entry_t other = n == C ? core.c_other_q : core.r_other_q;
    wire victim = n == C ? core.c_victim_q : core.r_victim_q;
    wire way_t victim_way = n == C ? core.c_victim_way_q : core.r_victim_way_q;
    wire entry_t line = line_at(lines, head, result.where);
    // A frame of the same key is in A: its result is not in the table yet.
    wire forwarded = n == C && same_key(head, heads[A]);
    always_comb begin
      if (started_q && head.valid) begin
        assert (result.placed || (!result.present && !expired));
        assert (!expired || head.op == OpFrame || head.op == OpWalk);
        assert (has_places(head) || !result.placed);
      end
      if (started_q && has_places(head)) begin
        if (!result.present) assert (result.content == core.fresh);
        if (is_by_place(head) && result.placed) assert (is_same_place(result.where, head.where));
        if (!forwarded) begin
          if (result.placed) begin
            if (!(head.op == OpMove && !result.where.stash)) begin
              assert (line.valid && line.key == head.key);
              assert (expired ? what_expired == line.content : result.present && result.content == line.content);
            end
          end else if (head.keyed) begin
            assert (is_nowhere(lines, head.key));
            if (head.op != OpMove && !result.where.stash) assert (!line.valid);
          end
          if (head.op == OpMove && result.placed) begin
            assert (result.where.stash || !is_nowhere(lines, head.key));
            assert (is_entry(other, line_at(lines, head, '{stash: 1'b0, way: result.where.way, slot: '0})));
          end
          if (victim) begin
            assert (head.op == OpFrame && program_i.evicts && other.valid);
            assert (is_entry(other, line_at(lines, head, '{stash: 1'b0, way: victim_way, slot: '0})));
          end
        end else begin
          assert (!expired && !victim);
          if (core.a_result_q.placed) assert (result == core.a_result_q);
          else begin
            assert (!result.placed);
            if (core.a_result_q.where.stash) assert (result.where.stash || !line.valid);
            else assert (!result.where.stash && result.where.way == core.a_result_q.where.way);
          end
        end
      end
    end
  end
  // A slot remains for a context that finds no place.
  always_comb begin
    if (started_q && core.r_q.valid && !core.r_nowhere_q && !core.r_found_q.placed && core.r_found_q.where.stash)
      assert (core.stash.reserved_q != '1);
  end

  // ---- A
  wire result_t a_result = core.a_result_q;
  wire entry_t a_line = line_at(lines, heads[A], a_result.where);
  wire entry_t a_other = core.a_other_q;
  always_comb begin
    if (started_q && heads[A].valid) begin
      assert (!core.a_fits_q || heads[A].op == OpFrame);
      assert (!core.a_evicted_q || (program_i.evicts && core.a_fits_q && a_result.present));
      assert (!core.a_expired_q || heads[A].op == OpFrame || heads[A].op == OpWalk);
      assert (has_places(heads[A]) || (!a_result.present && !core.a_was_placed_q && !core.a_expired_q));
    end
    if (started_q && has_places(heads[A])) begin
      if (heads[A].op == OpMove) begin
        if (a_result.placed && a_result.where.stash) begin
          assert (a_line.valid && a_line.key == heads[A].key && a_line.content == a_result.content);
          assert (is_entry(a_other, line_at(lines, heads[A], '{stash: 1'b0, way: a_result.where.way, slot: '0})));
        end
      end else if (core.a_was_placed_q) begin
        if (is_by_place(heads[A])) assert (is_same_place(a_result.where, heads[A].where));
        assert (a_line.valid && a_line.key == heads[A].key);
        assert (!core.a_evicted_q);
      end else begin
        if (heads[A].keyed) assert (is_nowhere(lines, heads[A].key));
        if (core.a_evicted_q)
          assert (a_result.present && !a_result.where.stash && a_line.valid && is_entry(a_other, a_line));
        else if (heads[A].keyed && !a_result.where.stash) assert (!a_line.valid);
      end
      // The context that R has found, and its new state.
      if (heads[A].op != OpMove) begin
        assert (a_result.placed == a_result.present);
        assert (core.a_was_placed_q || (!a_present_q && !core.a_expired_q));
        assert (a_present_q || a_content_q == core.fresh);
        if (core.a_expired_q) assert (core.a_before_q == a_line.content);
        else if (core.a_was_placed_q) assert (a_present_q && a_content_q == a_line.content);
        assert (core.a_new_q == (core.a_fits_q && !a_present_q && a_result.present));
        case (heads[A].op)
          OpPut: begin
            assert (a_result.present || !core.a_was_placed_q);
            assert (!a_result.present || a_result.content == host_context);
          end
          OpDelete: assert (!a_result.present);
          default: begin
            if (core.a_fits_q)
              assert (a_result.present == (!a_choice_q.forget && (a_present_q || (a_stores && !out_unkept))));
            else assert (a_result.present == a_present_q && a_result.content == a_content_q);
          end
        endcase
      end
    end
  end

  // ---- behind A: what X may still take
  for (genvar n = W1; n <= W2; n++) begin : gen_left
    wire result_t result = n == W1 ? core.w1_result_q : core.w2_result_q;
    wire entry_t line = line_at(lines, heads[n], result.where);
    always_comb begin
      if (started_q && is_on_key(heads[n])) begin
        assert (result.placed == result.present);
        if (result.placed) assert (line.valid && line.key == heads[n].key && line.content == result.content);
        else begin
          assert (is_nowhere(lines, heads[n].key));
          assert (result.where.stash || !line.valid);
        end
      end
    end
  end

  // ---- no two of different keys mean to have one place
  result_t [Stages-1:0] results;
  assign results =
      {core.w2_result_q, core.w1_result_q, core.a_result_q, core.r_found_q, core.c_result_q, {2{result_t'('0)}}};
  always_comb begin
    if (started_q) begin
      for (int unsigned i = C; i < Stages; i++) begin
        for (int unsigned j = C; j < i; j++) begin
          if (is_on_key(heads[i]) && is_on_key(heads[j]) && heads[i].key != heads[j].key)
            assert (results[i].where.stash || results[j].where.stash || results[i].where.way != results[j].where.way ||
                    heads[i].addr[results[i].where.way] != heads[j].addr[results[j].where.way]);
        end
      end
    end
  end

  // ---- what can happen: else the proof would say nothing about it. It is looked for where all keys share their places
  // and the host does nothing.
`ifdef COVER
  always_comb assume (secret == '0 && !host_valid && !core.walk_due_q && !core.walk_late_q);
`endif
  logic exchanged_q;
  always_ff @(posedge clk) begin
    if (!owed_q.present) exchanged_q <= 1'b0;
    if (owed_q.present && core.a_moves && core.a_other_q.valid && core.a_other_q.key == watched) exchanged_q <= 1'b1;
    if (rst) exchanged_q <= 1'b0;
  end
  always_comb begin
    if (started_q) begin
      // Pushed into the stash, and found there.
      cover (exchanged_q && a_frame && core.a_result_q.where.stash && !told.kinds.is_new);
      // Removed while its move is on its way.
      cover (core.a_q.valid && op == OpMove && core.a_q.key == watched && !core.a_result_q.placed);
      // Eviction; expiry and renewal by the same frame; expiry in the stash, found by a sweep.
      cover (a_evicted);
      cover (a_frame && a_expires && told.kinds.is_new);
      cover (a_expires && op == OpWalk && core.a_result_q.where.stash);
      // Neither a place nor a slot.
      cover (a_frame && out_unkept && core.stash.valid_q == '1);
      // Made by the frame two ahead.
      cover (core.x_q.valid && core.x_same_key_q[2] && core.r_result.present && !core.r_found_q.placed);
    end
  end
endmodule

`default_nettype wire
