// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// Sizes and words of the element for the proof of its table (flow_table.sv), in place of rtl/flow_pkg.sv: the same
// names, as small as possible with every kind of event still occurring. Keys are only compared, copied and hashed, and
// contexts are only copied, or compared to select the one to evict, so more bits would add no behaviour.
package flow_pkg;
  localparam int unsigned Operands = 1;
  localparam int unsigned Functions = 2;
  localparam int unsigned Registers = 1;
  localparam int unsigned Globals = 1;
  localparam int unsigned Rows = 2;
  localparam int unsigned Periods = 2;
  localparam int unsigned Ways = 2;
  localparam int unsigned StashEntries = 2;
  localparam int unsigned KeyBits = 3;
  localparam int unsigned PlaceBits = 1;

  // All keys' places (flow_places.sv).
  function automatic int unsigned secret_bits(int unsigned addr_w);
    return (1 << KeyBits) * Ways * addr_w;
  endfunction

  // Contexts for which a table of this many places has room.
  function automatic int unsigned room_of(int unsigned places);
    return places * 97 / 100;
  endfunction

  typedef logic [2:0] word_t;  // counts the contexts of the smallest table
  typedef logic state_t;
  typedef logic [$clog2(Rows)-1:0] row_t;
  typedef logic [$clog2(Ways)-1:0] way_t;
  typedef logic [$clog2(StashEntries)-1:0] slot_t;
  typedef logic [$clog2(Periods)-1:0] period_t;
  typedef logic [$clog2(Functions)-1:0] function_t;
  typedef logic parts_t;

  typedef struct packed {
    logic    on;
    period_t period;
    logic    at;
  } deadline_t;

  typedef struct packed {
    state_t                state;
    logic  [Registers-1:0] r;  // of a bit each
    deadline_t             hard;
    deadline_t             idle;
  } context_t;

  typedef struct packed {
    logic  stash;
    way_t  way;
    slot_t slot;
  } where_t;

  typedef struct packed {
    logic      set;
    function_t f;
  } pick_t;

  typedef struct packed {
    logic    on;
    period_t period;
  } timeout_t;

  typedef struct packed {
    pick_t [Registers-1:0] r;
    pick_t [Globals-1:0]   g;
    logic                  named;
    logic                  set_state;
    state_t                state;
    timeout_t              hard;
    timeout_t              idle;
    logic                  forget;
    logic                  notify;
  } choice_t;

  typedef struct packed {
    logic   then;
    state_t state;
    word_t  duration;
  } period_word_t;

  typedef struct packed {
    logic                         keyed;
    logic                         serial;
    logic                         evicts;
    logic                         highest;
    logic         [PlaceBits-1:0] places;
    logic                         key;
    logic                         operands;
    word_t                        capacity;
    word_t        [Registers-1:0] initial_r;
    period_word_t [Periods-1:0]   periods;
  } program_t;

  typedef enum logic [2:0] {
    OpFrame,
    OpPass,
    OpMove,
    OpWalk,
    OpRead,
    OpFind,
    OpPut,
    OpDelete
  } op_e;

  typedef struct packed {
    logic notified;
    logic full;
    logic is_new;
    logic evicted;
    logic expired;
  } kinds_t;

  typedef struct packed {
    logic [KeyBits-1:0]    key;
    state_t                state;
    logic  [Registers-1:0] r;
  } flow_t;

  typedef struct packed {
    kinds_t kinds;
    word_t  at;
    flow_t  flow;
    flow_t  gone;
  } event_t;

  function automatic logic has_passed(word_t now, word_t at);
    word_t late = now - at;
    return !late[2];
  endfunction

  function automatic logic is_before(word_t a, word_t b);
    word_t difference = a - b;
    return difference[2];
  endfunction
endpackage
