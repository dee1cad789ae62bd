// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The stash of a flow table: contexts that have no place in the ways yet, found by their keys all at once.
//
// A slot is reserved a cycle before it is written, so that two operations in a row never get the same. Keys are
// registers, compared in the cycle of the lookup; contexts are distributed memory, read in the cycle after it.
module flow_stash
  import flow_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    // lookup
    input  wire logic [KeyBits-1:0] key,
    output logic                 hit,
    output slot_t                hit_slot,
    input  wire slot_t           read_slot,  // without a register, any slot
    output context_t             read_context,
    output logic [KeyBits-1:0]   read_key,
    output logic                 read_valid,

    // a slot for a new entry
    output slot_t free_slot,
    input  wire logic reserve,        // takes `free_slot`
    output logic [$clog2(StashEntries):0] used,

    // the end of an operation: `slot` gets an entry, or becomes free
    input wire logic            we,
    input wire logic            keep,
    input wire slot_t           slot,
    input wire logic [KeyBits-1:0] wkey,
    input wire way_t            wleft,   // the way that it has left, any for a new one
    input wire context_t        wcontext,

    // the entry whose turn it is to move
    output logic            waits,
    output slot_t           next_slot,
    output logic [KeyBits-1:0] next_key,
    output way_t            next_left,
    input  wire logic       next_taken,
    input  wire logic       moved,      // the operation that took `moved_slot` has ended
    input  wire slot_t      moved_slot
);
  logic [StashEntries-1:0] reserved_q, valid_q, moving_q, same;
  logic [StashEntries-1:0][KeyBits-1:0] keys_q;
  (* ram_style = "distributed" *) context_t contexts[StashEntries];
  // the key of an entry that moves or is read
  (* ram_style = "distributed" *) logic [KeyBits-1:0] copies[StashEntries];
  (* ram_style = "distributed" *) way_t left[StashEntries];

  always_ff @(posedge clk) begin
    if (we && keep) begin
      keys_q[slot] <= wkey;
      contexts[slot] <= wcontext;
      copies[slot] <= wkey;
      left[slot] <= wleft;
    end
  end
  assign read_context = contexts[read_slot];
  assign read_key = copies[read_slot];
  assign read_valid = valid_q[read_slot];

  always_comb begin
    hit_slot = '0;
    for (int unsigned i = 0; i < StashEntries; i++) begin
      same[i] = valid_q[i] && keys_q[i] == key;
      if (same[i]) hit_slot |= slot_t'(i);
    end
  end
  assign hit = same != 0;

  always_comb begin
    free_slot = '0;
    for (int unsigned i = StashEntries; i > 0; i--) if (!reserved_q[i-1]) free_slot = slot_t'(i - 1);
  end

  // Entries move in turn: after an entry has moved back and forth, the others try.
  logic [StashEntries-1:0] ready;
  logic waits_q;
  slot_t next_q;
  assign ready = valid_q & ~moving_q;
  always_comb begin
    waits = waits_q && ready[next_q];
    next_slot = next_q;
    next_key = copies[next_q];
    next_left = left[next_q];
  end

  slot_t found;
  always_comb begin
    found = next_q;
    for (int unsigned i = StashEntries; i > 0; i--) if (ready[next_q+slot_t'(i)]) found = next_q + slot_t'(i);
  end

  always_ff @(posedge clk) begin
    if (!waits || next_taken) begin
      waits_q <= ready[found] && !(next_taken && found == next_q);
      next_q <= found;
    end
    if (next_taken) moving_q[next_q] <= 1'b1;
    if (reserve) reserved_q[free_slot] <= 1'b1;
    if (we) begin
      valid_q[slot] <= keep;
      if (!keep) reserved_q[slot] <= 1'b0;
    end
    if (moved) moving_q[moved_slot] <= 1'b0;
    if (rst) begin
      reserved_q <= '0;
      valid_q <= '0;
      moving_q <= '0;
      waits_q <= 1'b0;
      next_q <= '0;
    end
  end

  always_comb begin
    used = '0;
    for (int unsigned i = 0; i < StashEntries; i++) used += ($clog2(StashEntries) + 1)'(reserved_q[i]);
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      assert ($onehot0(same)) else $error("%m: a key twice");
      assert (!reserve || !(&reserved_q)) else $error("%m: no slot is free");
      assert ((valid_q & ~reserved_q) == 0) else $error("%m: an entry without its slot");
    end
  end
`endif
endmodule

`default_nettype wire
