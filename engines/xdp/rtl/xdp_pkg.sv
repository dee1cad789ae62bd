// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// Sizes and words of the xdp engine's core (engines/xdp/core.md).
package xdp_pkg;
  localparam int unsigned Contexts = map_pkg::Contexts;
  localparam int unsigned Loop = 6;              // cycles from a row of a context to its next
  localparam int unsigned Rows = 2048;           // of a bank of row memory
  localparam int unsigned Buffers = 32;
  localparam int unsigned BufferBytes = 4096;
  localparam int unsigned Headroom = 256;        // before a frame that arrives
  localparam int unsigned Tailroom = 320;        // never used, as in Linux
  localparam int unsigned StackBytes = 512;
  localparam int unsigned Window = 64;           // bytes
  localparam int unsigned MaxRows = 65536;       // that a context carries out for a frame
  localparam int unsigned MaxTailCalls = 33;     // programs that take over from one another on a frame
  localparam int unsigned Groups = Window / 8;

  typedef logic [63:0] word_t;
  typedef map_pkg::ctx_t ctx_t;
  typedef logic [10:0] row_t;
  typedef logic [4:0] buffer_t;
  typedef logic [11:0] offset_t;                  // a byte of a buffer
  // the groups of 8 bytes of a window, each in its own place: not rotated
  typedef logic [Groups-1:0][63:0] window_t;

  // Registers of a lane's bank.
  function automatic int unsigned bank_size(int unsigned lanes);
    return lanes >= 4 ? 8 : lanes == 1 ? 32 : 16;
  endfunction

  // Sources from 64 on.
  typedef enum logic [3:0] {
    SpecialZero     = 4'd0,
    SpecialData     = 4'd1,
    SpecialDataEnd  = 4'd2,
    SpecialDataMeta = 4'd3,
    SpecialLen      = 4'd4,
    SpecialStack    = 4'd5,
    SpecialIfindex  = 4'd6,
    SpecialQueue    = 4'd7,
    SpecialEgress   = 4'd8,
    SpecialTime     = 4'd9,
    SpecialCpu      = 4'd10,
    SpecialRandom   = 4'd11
  } special_e;

  typedef struct packed {
    logic       on;
    logic       want;
    logic [2:0] lane;
  } guard_t;

  typedef struct packed {
    logic [31:0] imm;
    logic        i;
    guard_t      guard;
    logic [6:0]  b;
    logic [6:0]  a;
    logic [4:0]  dst;
    logic [6:0]  op;
  } lane_word_t;

  typedef struct packed {
    logic [7:0] unused;
    logic [5:0] word;   // stack window: its first 8 bytes
    logic       s;
    logic [8:0] off;    // packet window: in units of 8 bytes, with a sign
    logic [6:0] base;
    logic       p;
  } control_word_t;

  // A decoded operation.
  typedef enum logic [1:0] {
    KindAdd,    // add, sub
    KindLogic,  // and, or, xor, mov, movhi, sign extensions, byte order, set
    KindShift,  // lsh, rsh, arsh, field
    KindMul
  } kind_e;

  typedef enum logic [3:0] {
    LogicAnd,
    LogicOr,
    LogicXor,
    LogicMov,
    LogicMovHigh,
    LogicSext8,
    LogicSext16,
    LogicSext32,
    LogicSwap16,
    LogicSwap32,
    LogicSwap64
  } logic_op_e;

  // A comparison: true if one of its selected relations holds or, inverted, if none does.
  typedef struct packed {
    logic equal;
    logic less;
    logic common;  // some bit is set in both
    logic is_signed;
    logic invert;
  } compare_t;

  typedef enum logic [1:0] {
    EndNone,
    EndBranch,  // of a comparison
    EndJump,
    EndExit     // with a verdict in a register
  } end_e;

  typedef enum logic [1:0] {
    AdjustHead,
    AdjustMeta,
    AdjustTail
  } adjust_e;

  typedef struct packed {
    kind_e     kind;
    logic      w64;
    logic      subtract;
    logic_op_e logic_op;
    logic      left;        // a shift: to the left,
    logic      arithmetic;  // or with the sign,
    logic      field;       // or of a field
    logic      sets;        // how its comparison comes out is the result
    compare_t  compare;
    logic      compares;    // it has an outcome
    logic      writes;      // it has a result for its bank, load or not
    logic      loads;
    logic      stores;
    logic      on_stack;    // loads and stores: of the stack, else of the packet
    end_e      ending;
    logic      adjusts;
    adjust_e   adjust;
    logic      redirects;
    logic      requests;    // ext
    logic      argues;      // arg
  } op_t;

  // Verdicts, as Linux numbers them.
  typedef enum logic [2:0] {
    XdpAborted  = 3'd0,
    XdpDrop     = 3'd1,
    XdpPass     = 3'd2,
    XdpTx       = 3'd3,
    XdpRedirect = 3'd4
  } verdict_e;

  // Interfaces as programs number them: Ethernet n is n + 1, the host and loopback follow. 0 is none.
  localparam logic [7:0] IfindexHost     = 8'd16;
  localparam logic [7:0] IfindexLoopback = 8'd17;

  function automatic logic [7:0] ifindex_of(penstock_pkg::port_t port);
    if (port == penstock_pkg::PortHost) return IfindexHost;
    if (port == penstock_pkg::PortLoopback) return IfindexLoopback;
    return 8'(port & ~penstock_pkg::PortEthHigh) + 8'd1;
  endfunction

  // The place of a packet in its buffer. `finish` is the byte after its last.
  typedef struct packed {
    logic    grown;  // packet or metadata has reached into the headroom, where stores may have left bytes
    offset_t meta;
    offset_t start;
    offset_t finish;
  } extent_t;

  // The packet state of a context.
  typedef struct packed {
    buffer_t    at;
    extent_t    extent;
    logic [7:0] ifindex;
    logic [7:0] egress;
    logic [7:0] target;  // interface that XDP_REDIRECT means; 0 is none
  } packet_t;

  // Accesses to maps.
  typedef enum logic [1:0] {
    AccessLoad,
    AccessStore,
    AccessAtomic
  } access_e;

  // A request to a destination outside of the core.
  typedef struct packed {
    ctx_t        ctx;
    logic        silent;   // there is no answer
    // the context has ended; otherwise it waits for the answer, or, without an answer, until the request is taken
    logic        ends;
    logic [31:0] what;     // the lane's imm: kind, number
    logic [4:0]  dst;      // register of lane 0 for the answer
    word_t       arg0;
    word_t       arg1;
    word_t       arg2;
    word_t       arg3;
    word_t       arg4;
    logic [5:0]  at;       // byte of `around` where the key begins
    window_t     around;   // the row's stack window, or the packet window, when the key lies there
    packet_t     packet;
  } request_t;

  // The target of an address in a context's own memories
  typedef struct packed {
    logic    on_stack;  // else in the packet's buffer
    offset_t at;
  } place_t;

  // Whether it leads there
  function automatic logic in_own(word_t address);
    return address[63:16] == 48'(xdp_isa_pkg::ADDRESS_PACKET >> 16) ||
        address[63:16] == 48'(xdp_isa_pkg::ADDRESS_STACK >> 16);
  endfunction

  function automatic place_t place_of(word_t address);
    return '{on_stack: address[$clog2(xdp_isa_pkg::ADDRESS_STACK)], at: address[11:0]};
  endfunction

  // An answer; or an operation that needs a turn of the core as an answer does, at a place of the waiting context's
  // memories: a load into `dst`, a store of `value`, or a look at the windows there, after which the context keeps
  // waiting.
  typedef struct packed {
    ctx_t       ctx;
    logic [4:0] dst;
    logic       jumps;   // to the row of that number; nothing is written
    logic       silent;  // `value` is not written
    logic       looks;
    logic       loads;
    logic       stores;
    place_t     place;
    logic [3:0] count;   // of a load, a store
    logic       is_signed;
    logic       swap;
    word_t      value;
  } answer_t;

  // A target of a branch: a row, or an exit with a verdict in the lowest bits.
  typedef struct packed {
    logic exits;
    row_t row;
  } target_t;
endpackage
