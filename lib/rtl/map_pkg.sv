// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

`ifndef PENSTOCK_CONTEXTS
`define PENSTOCK_CONTEXTS 16
`endif

// The messages between units and the card's maps (map_if.sv). The contract of the maps themselves is that of the
// engine whose `card_maps` serves them (engines/engines.toml).
package map_pkg;
  localparam int unsigned Maps = 64;         // of the card
  localparam int unsigned FlitBytes = 16;
  // Parts of requests for which the maps keep places (the room contract in penstock_pkg.sv): the sender's register, up to
  // three stages of the link each way, and the part that the sender lets go now
  localparam int unsigned LinkSender = 1;
  localparam int unsigned LinkStages = 3;
  localparam int unsigned LinkRoom = LinkSender + 2 * LinkStages + 1;
  localparam int unsigned MaxKey = 64;       // bytes
  localparam int unsigned MaxValue = 256;    // of an update; elements of an array may be longer
  // Contexts of a unit, a power of two: each has at most one request in flight. `penstock synth` places fewer.
  localparam int unsigned Contexts = `PENSTOCK_CONTEXTS;

  typedef logic [5:0] map_t;
  typedef logic [$clog2(Contexts)-1:0] ctx_t;
  typedef logic [FlitBytes-1:0][7:0] data_t;

  typedef enum logic [2:0] {
    OpLoad   = 3'd0,
    OpStore  = 3'd1,
    OpAtomic = 3'd2,
    OpLookup = 3'd3,
    OpUpdate = 3'd4,
    OpDelete = 3'd5,
    OpRows   = 3'd6,  // rows of 16 bytes from an address on, in one piece: two answers each. Of the host only
    OpSay    = 3'd7   // answered with info[7:0], its sign extended
  } op_e;

  // What `info` is, in accesses and OpRows,
  typedef struct packed {
    logic [2:0]  atomic;
    logic [3:0]  count;    // bytes, 1..8; of OpRows, below the lowest bit of `atomic`, rows less one
    logic [24:0] address;  // from 0x8000_0000 on
  } access_info_t;

  // and in operations on a map. A probe is one of the lookups of which a lookup of a longest prefix is made. Unit and
  // context are the processor whose value is meant, where each has its own.
  typedef struct packed {
    logic [1:0] unused;
    logic [4:0] unit;
    logic       probe;
    logic [7:0] probes;  // how many there were, in the last one; else 0
    logic [7:0] length;  // of the prefix
    logic [1:0] flags;   // BPF_ANY, BPF_NOEXIST, BPF_EXIST
    map_t       map;
  } map_info_t;

  // A part of a request. An access is one part: the value in `data`, with the comparison value of compare-and-exchange
  // above it. A lookup or a deletion is the key in up to four parts, followed by zeros. An update is the key, then the
  // value in as many parts as its bytes need.
  typedef struct packed {
    logic        last;
    logic        key_end;  // the last of the key
    op_e         op;       // these four are the same in all parts
    logic        quiet;    // no answer
    ctx_t        ctx;
    logic [31:0] info;
    data_t       data;
  } flit_t;

  typedef struct packed {
    logic        shape;  // no answer: what `value` says of a map, to all units
    ctx_t        ctx;
    logic [63:0] value;
  } reply_t;

  // The value of such a message
  typedef struct packed {
    logic [38:0] unused;
    logic [8:0]  value_bytes;  // of an update; 0: there are none
    logic [2:0]  none;
    logic [6:0]  key_bytes;    // 0: there is no such map
    map_t        map;
  } shape_t;
endpackage
