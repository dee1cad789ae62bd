// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// Types and bounds of the packet unit.
package rpu_pkg;
  import penstock_pkg::*;

  localparam int unsigned ImemBytes = 64 * 1024;
  localparam int unsigned DmemBytes = 32 * 1024;
  localparam int unsigned HeaderBytes = 128;  // what a header slot receives of a frame

  // Bits of the interrupt flags (engines/rpu/regs/rpu.rdl, INTERRUPT_FLAGS).
  localparam int unsigned IntTimer = 0;
  localparam int unsigned IntPacket = 1;
  localparam int unsigned IntHostMemory = 2;
  localparam int unsigned IntBroadcast = 3;
  localparam int unsigned IntPoke = 4;
  localparam int unsigned IntEvict = 5;
  localparam int unsigned IntWild = 8;
  localparam int unsigned IntDescriptor = 9;
  localparam int unsigned IntDestination = 10;
  localparam int unsigned IntSlot = 11;
  localparam int unsigned IntAccelerator = 12;
  localparam int unsigned IntHostError = 13;
  localparam logic [15:0] IntErrors = 16'h3F00;  // the mask cannot hide these

  // Addresses of the instructions of the last errors of each kind.
  typedef struct packed {
    logic [15:2] wild;
    logic [15:2] descriptor;
    logic [15:2] destination;
    logic [15:2] slot;
  } error_pcs_t;

  typedef logic [4:0] slot_index_t;   // slot number less one
  typedef logic [2:0] offset_t;       // packet offset in half words: address mod 64, halved
  typedef logic [18:0] half_t;        // half word of packet memory
  typedef logic [9:0] header_row_t;   // 32-byte row of data memory

  // The unit's record of the frame in a slot.
  typedef struct packed {
    len_t len;
    port_t src;
    time_t timestamp;
    logic [31:0] hash;
  } slot_info_t;

  // A send request of the firmware: a frame, or a slot that only returns.
  typedef struct packed {
    logic  generated;  // the program made the frame: it has no slot
    slot_index_t slot;
    logic  discard;  // do not send
    logic  blocked;  // the program dropped it: count it
    len_t  len;
    port_t dst;
    half_t start;    // first byte of the frame, in half words
  } send_t;

  // Whether a word of an accelerator's page, or of the host's registers, is this one.
  function automatic logic at(logic [7:2] word, logic [31:0] register);
    return word == register[7:2];
  endfunction

  // Accesses of the core to its registers that may have to wait there, or that take a frame. Many signals depend on
  // them, so they are decoded early.
  typedef struct packed {
    logic recv;       // takes the next descriptor: reads it and takes it,
    logic take;       // or takes it only
    logic pointer;    // sends from the address that it writes
    logic typed;      // sends what the descriptor and its own data say
    logic host_addr;  // says where in host memory
  } early_t;

  function automatic early_t early_of(logic we, logic [8:2] word);
    return '{
        recv: !we && word == rpu_regs_pkg::RPU_CORE_RECV[8:2],
        take: we && word == rpu_regs_pkg::RPU_CORE_RECV_DESC_RELEASE[8:2],
        pointer: we && word == rpu_regs_pkg::RPU_CORE_SEND_FROM[8:2],
        typed: we && word == rpu_regs_pkg::RPU_CORE_SEND_DESC_TYPE[8:2],
        host_addr: we && (word == rpu_regs_pkg::RPU_CORE_DRAM_ADDR_LOW[8:2] || word == rpu_regs_pkg::RPU_CORE_DRAM_ADDR_HIGH[8:2])
    };
  endfunction

  function automatic slot_index_t slot_index(slot_t slot);
    return slot_index_t'(slot - 6'd1);
  endfunction
endpackage
