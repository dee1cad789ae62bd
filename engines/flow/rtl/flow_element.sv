// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An element of the flow engine: vectors of headers in, as its program leaves them out (engines/flow/element.md).
//
//   in ──> extract ──> H ──> T ──> S ──> X ──> C ──> R ──> A ── act ──> out
//          key,        │     the core: table,           │
//          operands    └──── the vector ────────────────┘
//
// Eight cycles, one vector a cycle, in order. Vectors for another element pass through. `ready` falls for vectors that
// must wait (flow_core.sv). The element never stalls its output, so the next stage must have room for it.
//
// `host_`: registers of engines/flow/regs/flow.rdl by byte address (flow_host.sv). To run a program: secret, words of
// the program, commit; frames wait for the change until nothing is on its way, some eight cycles, and longer when the
// table is to be emptied, a cycle for each address of a way. Contexts stay when only rows change.
module flow_element
  import flow_pkg::*;
#(
    parameter int unsigned Entries = 16384,  // places of the table, a power of two; contexts have 97 % of them
    parameter int unsigned Number  = 0       // of the element in the chain
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire word_t now,  // us

    input  wire logic    valid,
    output logic         ready,
    input  wire vector_t in,
    output logic         out_valid,
    output vector_t      out,

    input  wire logic       host_we,
    input  wire logic       host_re,
    input  wire logic [9:0] host_addr,
    input  wire word_t      host_wdata,
    output word_t           host_rdata
);
  import edit_pkg::*;

  localparam int unsigned AddrW = $clog2(Entries / Ways);

  // ---- the program
  logic first, shift, complete, commit, hold, idle, clear, clearing, sweep, sweeping, begin_g;
  word_t word;
  program_t loaded;
  row_t row, choice_row;
  choice_t choice;
  edit_t edit;
  flow_program program_ (
      .clk,
      .rst,
      .first,
      .shift,
      .word,
      .complete,
      .commit,
      .program_o(loaded),
      .choice_row,
      .choice,
      .edit_row(row),
      .edit
  );

  // ---- key and operands of a frame
  logic keyed;
  logic [KeyBits-1:0] key;
  word_t [Operands-1:0] x;
  flow_extract extract (
      .key_i(loaded.key),
      .operands_i(loaded.operands),
      .vector(in),
      .now,
      .keyed,
      .key,
      .x
  );

  // ---- contexts, rows, registers
  logic core_valid, takes, core_keyed, fits, unkept;
  word_t [Registers-1:0] r;
  word_t [Globals-1:0] g;
  word_t [Operands-1:0] core_x;
  word_t [Functions-1:0] results;
  vector_t waited;

  logic [Globals-1:0] set_g;
  word_t set_g_to;
  logic [secret_bits(AddrW)-1:0] secret;
  logic op_valid, op_taken, answer_valid, answer_found;
  op_e op;
  logic [KeyBits-1:0] op_key, answer_key;
  context_t op_context, answer_context;
  where_t op_where;
  logic [AddrW-1:0] op_addr;

  logic told_valid, is_full, moved;
  event_t told;
  logic [$clog2(Entries):0] contexts;
  logic [$clog2(StashEntries):0] stash_used;

  flow_core #(
      .Entries(Entries),
      .SideW($bits(vector_t))
  ) core (
      .clk,
      .rst,
      .program_i(loaded),
      .now,
      .secret,
      .hold,
      .idle,
      .clear,
      .clearing,
      .sweep,
      .sweeping,
      .begin_g,
      .set_g,
      .set_g_to,
      .valid,
      .ready,
      .takes(32'(in.next) == Number),
      .keyed,
      .key,
      .x,
      .parts(in.headers.parts),
      .side(in),
      .out_valid(core_valid),
      .out_takes(takes),
      .out_keyed(core_keyed),
      .out_fits(fits),
      .out_row(row),
      .out_unkept(unkept),
      .out_r(r),
      .out_g(g),
      .out_x(core_x),
      .out_results(results),
      .out_side(waited),
      .choice_row,
      .choice,
      .host_valid(op_valid),
      .host_taken(op_taken),
      .host_op(op),
      .host_key(op_key),
      .host_context(op_context),
      .host_where(op_where),
      .host_addr(op_addr),
      .answer_valid,
      .answer_found,
      .answer_key,
      .answer_context,
      .told_valid,
      .told,
      .contexts,
      .is_full,
      .stash_used,
      .moved
  );

  // ---- edits of a frame
  flow_act act (
      .clk,
      .rst,
      .in_valid(core_valid),
      .takes,
      .fits,
      .in(waited),
      .row(edit),
      .results,
      .x(core_x),
      .r,
      .g,
      .out_valid,
      .out
  );

  // ---- the host's window
  logic event_valid, event_take;
  kinds_t tell;
  event_t event_;
  kinds_count_t events_lost;
  logic read_count;
  counter_t of_counter;
  row_t of_row;
  logic [63:0] count, row_count;

  flow_events events (
      .clk,
      .rst,
      .tell,
      .in_valid(told_valid),
      .in(told),
      .valid(event_valid),
      .take(event_take),
      .out(event_),
      .lost(events_lost)
  );

  flow_counters counters (
      .clk,
      .rst,
      .frame(core_valid && takes),
      .keyless(loaded.keyed && !core_keyed),
      .fits,
      .row,
      .unkept,
      .expired(told_valid && told.kinds.expired),
      .evicted(told_valid && told.kinds.evicted),
      .moved,
      .begin_rows(commit),
      .lost(events_lost),
      .read(read_count),
      .of_counter,
      .count,
      .of_row,
      .row_count
  );

  flow_host #(
      .Entries(Entries),
      .Number(Number)
  ) host (
      .clk,
      .rst,
      .host_we,
      .host_re,
      .host_addr,
      .host_wdata,
      .host_rdata,
      .first,
      .shift,
      .word,
      .complete,
      .hold,
      .idle,
      .clearing,
      .sweeping,
      .commit,
      .clear,
      .sweep,
      .begin_g,
      .set_g,
      .set_g_to,
      .g,
      .secret,
      .valid(op_valid),
      .taken(op_taken),
      .op,
      .key(op_key),
      .content(op_context),
      .where(op_where),
      .addr(op_addr),
      .answer_valid,
      .answer_found,
      .answer_key,
      .answer_context,
      .read_count,
      .of_counter,
      .count,
      .of_row,
      .row_count,
      .contexts,
      .is_full,
      .stash_used,
      .told_valid(event_valid),
      .told(event_),
      .told_take(event_take),
      .tell
  );
endmodule

`default_nettype wire
