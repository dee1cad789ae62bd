// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// The effect of a row on a frame: its edits, in the normal form that the compiler gives them
// (engines/flow/compiler/src/edits.rs), and the frame's destination.
package edit_pkg;
  import flow_pkg::*;

  localparam int unsigned Writes = 8;

  // The sources of a value, in one numbering.
  typedef logic [5:0] from_t;
  localparam from_t FromResults = 6'h00;   // + number of a function
  localparam from_t FromOperands = 6'h10;  // + number of an operand X
  localparam from_t FromGlobals = 6'h18;   // + number of a register, as the row leaves it
  localparam from_t FromRegisters = 6'h20; // the same of the flow's
  localparam from_t FromNumber = 6'h30;    // the constant beside it

  // A port that no card has.
  localparam penstock_pkg::port_t NoPort = 8'hFF;

  // The target of a write: the number of a sink (fields_pkg.sv).
  typedef logic [5:0] sink_t;
  localparam sink_t NoSink = 6'd63;

  // A word of a field becomes the low bits of a value.
  typedef struct packed {
    sink_t sink;
    from_t from;
    word_t constant;
  } write_t;

  // Tags come first, then swaps, then writes.
  typedef struct packed {
    logic [3:0]          next;       // element; 15 when the frame is decided on
    decision_e           kind;
    logic                opposite;   // of DecisionPort: the port beside the one that the frame came from
    from_t               port_from;  // of DecisionPort otherwise
    penstock_pkg::port_t port;
    logic                swap_l4;
    logic                swap_ip6;
    logic                swap_ip;
    logic                swap_eth;
    logic                label_in;
    logic                label_out;
    logic [1:0]          pushed;     // VLAN tags that are put in front of those that stay
    logic [1:0]          popped;     // VLAN tags of the frame that are taken out
    write_t [Writes-1:0] writes;     // none to a sink twice
  } edit_t;

  localparam int unsigned EditWords = ($bits(edit_t) + 31) / 32;
  localparam int unsigned ChoiceWords = ($bits(choice_t) + 31) / 32;
  localparam int unsigned RowWords = EditWords + ChoiceWords;  // in memories, one after the other
  // All that a program is.
  localparam int unsigned LoadWords = Rows * RowWords + ProgramWords;
endpackage
