// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// Sizes and words of the flow engine's element (engines/flow/element.md).
package flow_pkg;
  localparam int unsigned Operands = 8;
  localparam int unsigned Predicates = 32;
  localparam int unsigned Conditions = 8;
  localparam int unsigned Functions = 16;
  localparam int unsigned FullFunctions = 4;  // the first ones, which also shift, average and multiply
  localparam int unsigned Registers = 4;
  localparam int unsigned Globals = 8;
  localparam int unsigned Rows = 64;
  localparam int unsigned MaxElements = 15;  // of a block
  localparam int unsigned Periods = 8;
  localparam int unsigned Ways = 4;
  localparam int unsigned StashEntries = 16;
  // A key is ten words of 32 bits, chosen in halves.
  localparam int unsigned KeyHalves = 20;
  localparam int unsigned KeyBits = 16 * KeyHalves;
  localparam int unsigned KeyPairs = 9;  // of halves that can change places
  localparam int unsigned PlaceBits = 18;  // of an address in a way of the largest table
  localparam int unsigned SpreadBits = 5;  // of the hash, that are in no address (flow_places.sv)

  // Bits of the secret of a hash that gives addresses of this many bits.
  function automatic int unsigned secret_bits(int unsigned addr_w);
    return KeyBits + 2 * addr_w + SpreadBits;
  endfunction

  // Contexts for which a table of this many places has room.
  function automatic int unsigned room_of(int unsigned places);
    return places * 97 / 100;
  endfunction

  typedef logic [31:0] word_t;
  typedef logic [7:0] state_t;
  typedef logic [$clog2(Rows)-1:0] row_t;
  typedef logic [$clog2(Ways)-1:0] way_t;
  typedef logic [$clog2(StashEntries)-1:0] slot_t;
  typedef logic [$clog2(Periods)-1:0] period_t;
  typedef logic [$clog2(Functions)-1:0] function_t;
  typedef logic [fields_pkg::PARTS-1:0] parts_t;  // of a frame: what it has
  typedef logic [5:0] choose_t;  // one of what a place of the key, or an operand, reaches (choices_pkg.sv)

  // ---- a frame on its way through the elements
  typedef enum logic [1:0] {
    DecisionOnward = 2'd0,  // behind the last element the frame goes on its way
    DecisionPort   = 2'd1,
    DecisionHost   = 2'd2,
    DecisionDrop   = 2'd3
  } decision_e;

  typedef struct packed {
    decision_e           kind;
    penstock_pkg::port_t port;  // of DecisionPort
  } decision_t;

  typedef struct packed {
    fields_pkg::headers_t headers;  // as edited so far
    word_t                meta0;
    word_t                meta1;
    word_t                hash;     // with which the frame entered the card
    penstock_pkg::port_t  port;     // where it came from
    penstock_pkg::len_t   len;      // as edited so far
    decision_t            verdict;  // what the last element that took it has said
    logic [3:0]           next;     // the element that takes it next; those before it let it pass
  } vector_t;

  // ---- the context of a flow
  typedef struct packed {
    logic    on;
    period_t period;  // says to which state it leads
    word_t   at;      // us, modulo 2^32
  } deadline_t;

  typedef struct packed {
    state_t                      state;
    word_t [Registers-1:0]       r;
    deadline_t                   hard;
    deadline_t                   idle;
  } context_t;

  // The place of a context.
  typedef struct packed {
    logic  stash;
    way_t  way;   // at the key's place in this way
    slot_t slot;  // of the stash
  } where_t;

  // ---- a program. The host shifts it in, 32 bits at a time, lowest first, behind what rows do: the words of edits (edit_pkg.sv) and of the choice of
  // each row.
  typedef enum logic [1:0] {
    PairEth = 2'd0,
    PairIp  = 2'd1,
    PairIp6 = 2'd2,
    PairL4  = 2'd3
  } pair_e;

  // Halves are numbered from the lowest.
  typedef struct packed {
    parts_t                  parts;   // parts that a frame must have
    // For one key in both directions, these halves change places if the frame's source is the larger: n and n + 8 for
    // n < 8, and 16 and 17.
    logic    [KeyPairs-1:0]  swap;
    // the pairs that decide this: the first pair, from [0] on, whose sides differ
    pair_e   [2:0]           order;
    choose_t [KeyHalves-1:0] halves;
  } key_word_t;

  typedef enum logic [1:0] {
    FromFlow     = 2'd0,
    FromGlobal   = 2'd1,
    FromOperand  = 2'd2,
    FromConstant = 2'd3
  } from_e;

  typedef struct packed {
    from_e      from;
    logic [2:0] index;
  } source_t;

  typedef enum logic [1:0] {
    PredicateEqual   = 2'd0,
    PredicateLess    = 2'd1,
    PredicateAtMost  = 2'd2
  } predicate_e;

  typedef struct packed {
    predicate_e is;
    logic [2:0] x;
    word_t      mask;
    word_t      value;
  } predicate_t;

  typedef enum logic [1:0] {
    ConditionEqual      = 2'd0,
    ConditionLess       = 2'd1,
    ConditionLessSigned = 2'd2,
    ConditionBefore     = 2'd3   // a - b is negative
  } condition_e;

  typedef struct packed {
    condition_e is;
    source_t    a;
    source_t    b;
    word_t      value;
  } condition_t;

  typedef enum logic [3:0] {
    FunctionCopy       = 4'd0,
    FunctionAdd        = 4'd1,
    FunctionSub        = 4'd2,
    FunctionAnd        = 4'd3,
    FunctionOr         = 4'd4,
    FunctionXor        = 4'd5,
    FunctionNot        = 4'd6,
    // of the first functions only
    FunctionShiftLeft  = 4'd7,
    FunctionShiftRight = 4'd8,
    FunctionRotate     = 4'd9,
    FunctionAverage    = 4'd12,  // a + ((b - a) >>> shift)
    FunctionMultiply   = 4'd13,
    // of all
    FunctionMin        = 4'd10,
    FunctionMax        = 4'd11
  } function_e;

  // a * b modulo 2^32 = low + (ab + ba) * 2^16
  typedef struct packed {
    word_t       low;
    logic [15:0] ab;
    logic [15:0] ba;
  } product_t;

  typedef struct packed {
    function_e  is;
    source_t    a;
    source_t    b;
    logic [4:0] shift;  // of the average
    word_t      value;
  } function_word_t;

  // A function when half of it is done (flow_functions.sv).
  typedef struct packed {
    word_t      base;
    logic [4:0] shift;  // bits by which it is turned
    word_t      more;   // is added; 0 but of an average
    product_t   mul;    // is added; 0 but of a multiplication
  } half_t;

  // When a row fits.
  typedef struct packed {
    logic                    used;
    logic                    any_state;
    state_t                  state;
    logic [Predicates-1:0]   true_p;   // those that must be 1
    logic [Predicates-1:0]   false_p;  // those that must be 0
    parts_t                  has;      // what the frame must have
    parts_t                  lacks;    // what it must not
    logic [Conditions-1:0]   true_c;
    logic [Conditions-1:0]   false_c;
    logic                    is_new;
    logic                    not_new;
    logic                    is_full;
    logic                    not_full;
  } match_t;

  typedef struct packed {
    logic      set;
    function_t f;
  } pick_t;

  typedef struct packed {
    logic    on;
    period_t period;
  } timeout_t;

  // The effect of a row on registers and context.
  typedef struct packed {
    pick_t [Registers-1:0] r;
    pick_t [Globals-1:0]   g;
    logic                  named;      // it names a state, and so sets both timeouts
    logic                  set_state;  // another one than there is
    state_t                state;
    timeout_t              hard;       // one that is not on is none
    timeout_t              idle;
    logic                  forget;
    logic                  notify;
  } choice_t;

  typedef struct packed {
    logic   then;      // the context goes to `state`; else it is removed
    state_t state;
    word_t  duration;  // us
  } period_word_t;

  typedef struct packed {
    logic                              keyed;      // it has contexts
    logic                              serial;     // it writes global registers
    logic                              evicts;     // when no context can be added, another one gives way
    logic                              highest;    // that with the highest first register, not the lowest
    // bits of addresses that are used: small tables are small, so that few contexts meet
    logic           [PlaceBits-1:0]    places;
    key_word_t                         key;
    choose_t        [Operands-1:0]     operands;
    word_t                             capacity;   // contexts, if there is room for so many
    word_t          [Registers-1:0]    initial_r;
    word_t          [Globals-1:0]      initial_g;  // after a reset
    period_word_t   [Periods-1:0]      periods;
    predicate_t     [Predicates-1:0]   predicates;
    condition_t     [Conditions-1:0]   conditions;
    function_word_t [Functions-1:0]    functions;
    match_t         [Rows-1:0]         rows;
  } program_t;

  localparam int unsigned ProgramWords = ($bits(program_t) + 31) / 32;

  // ---- operations that go through the table, one after the other
  typedef enum logic [2:0] {
    OpFrame,
    OpPass,    // a frame that another element takes
    OpMove,    // an entry of the stash to one of its places
    OpWalk,    // looks at one place whether it has expired
    OpRead,    // the host: what lies at one place
    OpFind,    // the host: what a key has
    OpPut,     // the host: gives a key a context
    OpDelete   // the host: takes it away
  } op_e;

  // ---- the events of an operation
  typedef struct packed {
    logic notified;
    logic full;     // the new context took the last place
    logic is_new;
    logic evicted;
    logic expired;
  } kinds_t;

  typedef struct packed {
    logic [KeyBits-1:0]    key;
    state_t                state;
    word_t [Registers-1:0] r;
  } flow_t;

  // In the order of the kinds, from `expired` on.
  typedef struct packed {
    kinds_t kinds;
    word_t  at;     // us
    flow_t  flow;   // as the operation has left it
    flow_t  gone;   // what has expired, as it was, or was evicted: never both
  } event_t;

  // ---- counters of an element: those with the registers FRAMES to EVENTS_LOST
  localparam int unsigned Counters = 8;
  typedef logic [$clog2(Counters)-1:0] counter_t;
  typedef logic [$clog2($bits(kinds_t)+1)-1:0] kinds_count_t;

  // Timeouts are at most 4,000 s. Times up to 2^28 us (268 s) ago are in the past, and all others in the future.
  function automatic logic has_passed(word_t now, word_t at);
    word_t late = now - at;
    return late[31:28] == '0;
  endfunction

  function automatic logic is_before(word_t a, word_t b);
    word_t difference = a - b;
    return difference[31];
  endfunction
endpackage
