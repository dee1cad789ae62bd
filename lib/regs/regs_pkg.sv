// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Written by tools/regs.py from the .rdl files; change those.
package regs_pkg;

  // shell/regs/card.rdl
  localparam logic [31:0] CARD_MAGIC = 32'h00000000;
  localparam logic [31:0] CARD_VERSION = 32'h00000004;
  localparam logic [31:0] CARD_PORTS = 32'h00000008;
  localparam logic [31:0] CARD_UNITS = 32'h0000000C;
  localparam logic [31:0] CARD_MAX_FRAME = 32'h00000010;
  localparam logic [31:0] CARD_INGRESS_BYTES = 32'h00000014;
  localparam logic [31:0] CARD_CYCLES_L = 32'h00000018;
  localparam logic [31:0] CARD_CYCLES_H = 32'h0000001C;
  localparam logic [31:0] CARD_UNIT_WRITE_MASK = 32'h00000020;
  localparam logic [31:0] CARD_UNIT_READ = 32'h00000024;
  localparam logic [31:0] CARD_PORT_ENABLE = 32'h00000028;
  localparam logic [31:0] CARD_POLICY = 32'h00000030;
  localparam logic [31:0] CARD_UNIT_ENABLE = 32'h00000034;
  localparam logic [31:0] CARD_UNIT_FLUSH = 32'h00000038;
  localparam logic [31:0] CARD_SLOTS_UNIT = 32'h0000003C;
  localparam logic [31:0] CARD_SLOTS_FREE = 32'h00000040;
  localparam logic [31:0] CARD_SLOTS_TOTAL = 32'h00000044;
  localparam logic [31:0] CARD_SLOTS_SIZE = 32'h00000048;
  localparam logic [31:0] CARD_UNITS_IDLE = 32'h0000004C;
  localparam logic [31:0] CARD_UNIT_INGRESS = 32'h00000050;
  localparam logic [31:0] CARD_EXIT_TIMEOUT = 32'h00000054;
  localparam logic [31:0] CARD_UNIT_TIMEOUT = 32'h00000058;
  localparam logic [31:0] CARD_HOST_READS = 32'h00000060;
  localparam logic [31:0] CARD_HOST_READ_BYTES = 32'h00000064;
  localparam logic [31:0] CARD_HOST_WRITES = 32'h00000068;
  localparam logic [31:0] CARD_HOST_WRITE_BYTES = 32'h0000006C;
  localparam logic [31:0] CARD_HOST_ERRORS = 32'h00000070;
  localparam logic [31:0] CARD_RETA = 32'h00000200;
  localparam logic [31:0] CARD_RETA_COUNT = 32'h00000080;
  localparam logic [31:0] CARD_STREAM_BASE = 32'h00000400;
  localparam logic [31:0] CARD_STREAM_STRIDE = 32'h00000040;
  localparam logic [31:0] CARD_STREAM_COUNT = 32'h00000006;
  localparam logic [31:0] CARD_STREAM_RX_FRAMES = 32'h00000000;
  localparam logic [31:0] CARD_STREAM_RX_BYTES = 32'h00000004;
  localparam logic [31:0] CARD_STREAM_DROP_OVERFLOW = 32'h00000008;
  localparam logic [31:0] CARD_STREAM_DROP_OVERSIZE = 32'h0000000C;
  localparam logic [31:0] CARD_STREAM_DROP_RUNT = 32'h00000010;
  localparam logic [31:0] CARD_STREAM_DROP_DAMAGED = 32'h00000014;
  localparam logic [31:0] CARD_STREAM_DROP_DISABLED = 32'h00000018;
  localparam logic [31:0] CARD_STREAM_DROP_POLICY = 32'h0000001C;
  localparam logic [31:0] CARD_STREAM_RX_STALLS = 32'h00000020;
  localparam logic [31:0] CARD_STREAM_TX_FRAMES = 32'h00000024;
  localparam logic [31:0] CARD_STREAM_TX_BYTES = 32'h00000028;
  localparam logic [31:0] CARD_STREAM_TX_STALLS = 32'h0000002C;
  localparam logic [31:0] CARD_STREAM_RX_LEVEL = 32'h00000030;
  localparam logic [31:0] CARD_STREAM_DROP_UNSENT = 32'h00000034;

  // shell/regs/inline.rdl
  localparam logic [31:0] INLINE_BLOCKS = 32'h00000000;
  localparam logic [31:0] INLINE_BUSY = 32'h00000004;
  localparam logic [31:0] INLINE_TIME_L = 32'h00000008;
  localparam logic [31:0] INLINE_TIME_H = 32'h0000000C;
  localparam logic [31:0] INLINE_HOLD = 32'h00000010;
  localparam logic [31:0] INLINE_REFUSED = 32'h00000014;
  localparam logic [31:0] INLINE_TENANT_VLAN = 32'h00000018;
  localparam logic [31:0] INLINE_TENANT = 32'h0000001C;
  localparam logic [31:0] INLINE_BLOCK_BASE = 32'h00000100;
  localparam logic [31:0] INLINE_BLOCK_STRIDE = 32'h00000020;
  localparam logic [31:0] INLINE_BLOCK_COUNT = 32'h00000008;
  localparam logic [31:0] INLINE_BLOCK_ENGINE = 32'h00000000;
  localparam logic [31:0] INLINE_BLOCK_FRAMES = 32'h00000004;
  localparam logic [31:0] INLINE_BLOCK_MADE = 32'h00000008;
  localparam logic [31:0] INLINE_BLOCK_ABSORBED = 32'h0000000C;
  localparam logic [31:0] INLINE_BLOCK_BLOCKED = 32'h00000010;
  localparam logic [31:0] INLINE_BLOCK_OVERSIZE = 32'h00000014;
  localparam logic [31:0] INLINE_BLOCK_REFUSED = 32'h00000018;

  // shell/regs/unit.rdl
  localparam logic [31:0] UNIT_RESET = 32'h00000000;
  localparam logic [31:0] UNIT_POKE = 32'h00000004;
  localparam logic [31:0] UNIT_EVICT = 32'h00000008;
  localparam logic [31:0] UNIT_DEBUG_IN_L = 32'h00000010;
  localparam logic [31:0] UNIT_DEBUG_IN_H = 32'h00000014;
  localparam logic [31:0] UNIT_ENGINE = 32'h00000020;
  localparam logic [31:0] UNIT_ID = 32'h00000024;
  localparam logic [31:0] UNIT_STATUS = 32'h00000028;
  localparam logic [31:0] UNIT_ERRORS = 32'h0000002C;
  localparam logic [31:0] UNIT_ERROR_ADDR = 32'h00000030;
  localparam logic [31:0] UNIT_PC = 32'h00000034;
  localparam logic [31:0] UNIT_ACTIVE_SLOTS = 32'h00000038;
  localparam logic [31:0] UNIT_HELD_CYCLES = 32'h0000003C;
  localparam logic [31:0] UNIT_DEBUG_OUT_L = 32'h00000040;
  localparam logic [31:0] UNIT_DEBUG_OUT_H = 32'h00000044;
  localparam logic [31:0] UNIT_RX_FRAMES = 32'h00000050;
  localparam logic [31:0] UNIT_RX_BYTES = 32'h00000054;
  localparam logic [31:0] UNIT_RX_STALLS = 32'h00000058;
  localparam logic [31:0] UNIT_TX_FRAMES = 32'h0000005C;
  localparam logic [31:0] UNIT_TX_BYTES = 32'h00000060;
  localparam logic [31:0] UNIT_TX_STALLS = 32'h00000064;
  localparam logic [31:0] UNIT_BLOCKED = 32'h00000068;
  localparam logic [31:0] UNIT_REFUSED = 32'h0000006C;
  localparam logic [31:0] UNIT_GENERATED = 32'h00000074;
  localparam logic [31:0] UNIT_HALT = 32'h00000080;
  localparam logic [31:0] UNIT_STEP = 32'h00000084;
  localparam logic [31:0] UNIT_HALTED = 32'h00000088;
  localparam logic [31:0] UNIT_DATA = 32'h0000008C;

endpackage
