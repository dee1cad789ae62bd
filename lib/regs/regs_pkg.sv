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
  localparam logic [31:0] INLINE_ELEMENTS = 32'h00000000;
  localparam logic [31:0] INLINE_CONTEXTS = 32'h00000004;
  localparam logic [31:0] INLINE_FRAMES = 32'h00000008;
  localparam logic [31:0] INLINE_BLOCKED = 32'h0000000C;
  localparam logic [31:0] INLINE_REFUSED = 32'h00000010;
  localparam logic [31:0] INLINE_TIME = 32'h00000014;
  localparam logic [31:0] INLINE_HOLD = 32'h00000018;

  // engines/rpu/regs/rpu.rdl
  localparam logic [31:0] RPU_CORE_SEND_DESC_LOW = 32'h00000008;
  localparam logic [31:0] RPU_CORE_SEND_DESC_HIGH = 32'h0000000C;
  localparam logic [31:0] RPU_CORE_DRAM_ADDR_LOW = 32'h00000010;
  localparam logic [31:0] RPU_CORE_DRAM_ADDR_HIGH = 32'h00000014;
  localparam logic [31:0] RPU_CORE_SLOT_ADDR = 32'h00000018;
  localparam logic [31:0] RPU_CORE_TIMER_INTERVAL = 32'h0000001C;
  localparam logic [31:0] RPU_CORE_DRAM_FLAG_WR = 32'h00000020;
  localparam logic [31:0] RPU_CORE_READY_TO_EVICT = 32'h00000024;
  localparam logic [31:0] RPU_CORE_SEND_DESC_TYPE = 32'h00000028;
  localparam logic [31:0] RPU_CORE_RECV_DESC_RELEASE = 32'h0000002C;
  localparam logic [31:0] RPU_CORE_DRAM_FLAG_RST = 32'h00000030;
  localparam logic [31:0] RPU_CORE_UPDATE_SLOT = 32'h00000034;
  localparam logic [31:0] RPU_CORE_MASK_WRITE = 32'h00000038;
  localparam logic [31:0] RPU_CORE_INTERRUPT_ACK = 32'h0000003C;
  localparam logic [31:0] RPU_CORE_DEBUG_OUT_L = 32'h00000040;
  localparam logic [31:0] RPU_CORE_DEBUG_OUT_H = 32'h00000044;
  localparam logic [31:0] RPU_CORE_BC_FILTER_MASK = 32'h00000048;
  localparam logic [31:0] RPU_CORE_BC_FILTER_VALUE = 32'h0000004C;
  localparam logic [31:0] RPU_CORE_BC_LISTEN = 32'h00000050;
  localparam logic [31:0] RPU_CORE_BC_RELEASE = 32'h00000054;
  localparam logic [31:0] RPU_CORE_RECV_DESC_LOW = 32'h00000080;
  localparam logic [31:0] RPU_CORE_RECV_DESC_HIGH = 32'h00000084;
  localparam logic [31:0] RPU_CORE_DRAM_FLAGS = 32'h00000088;
  localparam logic [31:0] RPU_CORE_READY = 32'h0000008C;
  localparam logic [31:0] RPU_CORE_CORE_ID = 32'h00000090;
  localparam logic [31:0] RPU_CORE_TIMER_L = 32'h00000094;
  localparam logic [31:0] RPU_CORE_TIMER_H = 32'h00000098;
  localparam logic [31:0] RPU_CORE_INTERRUPT_FLAGS = 32'h0000009C;
  localparam logic [31:0] RPU_CORE_MASK_READ = 32'h000000A0;
  localparam logic [31:0] RPU_CORE_IMEM_SIZE = 32'h000000A4;
  localparam logic [31:0] RPU_CORE_DMEM_SIZE = 32'h000000A8;
  localparam logic [31:0] RPU_CORE_PMEM_SIZE = 32'h000000AC;
  localparam logic [31:0] RPU_CORE_SEG_SIZE = 32'h000000B0;
  localparam logic [31:0] RPU_CORE_SEG_COUNT = 32'h000000B4;
  localparam logic [31:0] RPU_CORE_BC_SIZE = 32'h000000B8;
  localparam logic [31:0] RPU_CORE_MAX_SLOTS = 32'h000000BC;
  localparam logic [31:0] RPU_CORE_DEBUG_IN_L = 32'h000000C0;
  localparam logic [31:0] RPU_CORE_DEBUG_IN_H = 32'h000000C4;
  localparam logic [31:0] RPU_CORE_BC_FILTER_MASK_READ = 32'h000000C8;
  localparam logic [31:0] RPU_CORE_BC_FILTER_VALUE_READ = 32'h000000CC;
  localparam logic [31:0] RPU_CORE_BC_ADDR = 32'h000000D0;
  localparam logic [31:0] RPU_CORE_OCCUPANCY = 32'h000000D4;
  localparam logic [31:0] RPU_CORE_ACTIVE_SLOTS = 32'h000000D8;
  localparam logic [31:0] RPU_CORE_RECV = 32'h00000100;
  localparam logic [31:0] RPU_CORE_RECV_HDR = 32'h00000104;
  localparam logic [31:0] RPU_CORE_SEND = 32'h00000108;
  localparam logic [31:0] RPU_CORE_RECV_DATA = 32'h0000010C;
  localparam logic [31:0] RPU_CORE_RECV_HASH = 32'h00000110;
  localparam logic [31:0] RPU_CORE_RECV_TIME = 32'h00000114;
  localparam logic [31:0] RPU_CORE_ACCEL = 32'h00000118;
  localparam logic [31:0] RPU_CORE_DATA = 32'h0000011C;

  // engines/rpu/regs/rpu.rdl
  localparam logic [31:0] RPU_HOST_RESET = 32'h00000000;
  localparam logic [31:0] RPU_HOST_POKE = 32'h00000004;
  localparam logic [31:0] RPU_HOST_EVICT = 32'h00000008;
  localparam logic [31:0] RPU_HOST_DEBUG_IN_L = 32'h00000010;
  localparam logic [31:0] RPU_HOST_DEBUG_IN_H = 32'h00000014;
  localparam logic [31:0] RPU_HOST_ENGINE = 32'h00000020;
  localparam logic [31:0] RPU_HOST_UNIT_ID = 32'h00000024;
  localparam logic [31:0] RPU_HOST_STATUS = 32'h00000028;
  localparam logic [31:0] RPU_HOST_ERRORS = 32'h0000002C;
  localparam logic [31:0] RPU_HOST_ERROR_ADDR = 32'h00000030;
  localparam logic [31:0] RPU_HOST_PC = 32'h00000034;
  localparam logic [31:0] RPU_HOST_ACTIVE_SLOTS = 32'h00000038;
  localparam logic [31:0] RPU_HOST_HELD_CYCLES = 32'h0000003C;
  localparam logic [31:0] RPU_HOST_DEBUG_OUT_L = 32'h00000040;
  localparam logic [31:0] RPU_HOST_DEBUG_OUT_H = 32'h00000044;
  localparam logic [31:0] RPU_HOST_RX_FRAMES = 32'h00000050;
  localparam logic [31:0] RPU_HOST_RX_BYTES = 32'h00000054;
  localparam logic [31:0] RPU_HOST_RX_STALLS = 32'h00000058;
  localparam logic [31:0] RPU_HOST_TX_FRAMES = 32'h0000005C;
  localparam logic [31:0] RPU_HOST_TX_BYTES = 32'h00000060;
  localparam logic [31:0] RPU_HOST_TX_STALLS = 32'h00000064;
  localparam logic [31:0] RPU_HOST_BLOCKED = 32'h00000068;
  localparam logic [31:0] RPU_HOST_REFUSED = 32'h0000006C;
  localparam logic [31:0] RPU_HOST_ACCEL = 32'h00000070;
  localparam logic [31:0] RPU_HOST_GENERATED = 32'h00000074;
  localparam logic [31:0] RPU_HOST_HALT = 32'h00000080;
  localparam logic [31:0] RPU_HOST_STEP = 32'h00000084;
  localparam logic [31:0] RPU_HOST_HALTED = 32'h00000088;
  localparam logic [31:0] RPU_HOST_DATA = 32'h0000008C;
  localparam logic [31:0] RPU_HOST_WILD_PC = 32'h00000090;
  localparam logic [31:0] RPU_HOST_DESCRIPTOR_PC = 32'h00000094;
  localparam logic [31:0] RPU_HOST_DESTINATION_PC = 32'h00000098;
  localparam logic [31:0] RPU_HOST_SLOT_PC = 32'h0000009C;

  // engines/xdp/regs/xdp.rdl
  localparam logic [31:0] XDP_HOST_RESET = 32'h00000000;
  localparam logic [31:0] XDP_HOST_ENGINE = 32'h00000020;
  localparam logic [31:0] XDP_HOST_UNIT_ID = 32'h00000024;
  localparam logic [31:0] XDP_HOST_STATUS = 32'h00000028;
  localparam logic [31:0] XDP_HOST_ACTIVE_SLOTS = 32'h00000038;
  localparam logic [31:0] XDP_HOST_RX_FRAMES = 32'h00000050;
  localparam logic [31:0] XDP_HOST_RX_BYTES = 32'h00000054;
  localparam logic [31:0] XDP_HOST_RX_STALLS = 32'h00000058;
  localparam logic [31:0] XDP_HOST_TX_FRAMES = 32'h0000005C;
  localparam logic [31:0] XDP_HOST_TX_BYTES = 32'h00000060;
  localparam logic [31:0] XDP_HOST_TX_STALLS = 32'h00000064;
  localparam logic [31:0] XDP_HOST_BLOCKED = 32'h00000068;
  localparam logic [31:0] XDP_HOST_REFUSED = 32'h0000006C;
  localparam logic [31:0] XDP_HOST_BANK = 32'h00000090;
  localparam logic [31:0] XDP_HOST_BY_FLOW = 32'h00000094;
  localparam logic [31:0] XDP_HOST_WORKING = 32'h00000098;
  localparam logic [31:0] XDP_HOST_SHAPE = 32'h0000009C;
  localparam logic [31:0] XDP_HOST_ABORTED = 32'h000000A0;
  localparam logic [31:0] XDP_HOST_ROWS = 32'h000000A4;
  localparam logic [31:0] XDP_HOST_WILD = 32'h000000A8;
  localparam logic [31:0] XDP_HOST_STRAY = 32'h000000AC;

  // engines/xdp/regs/maps.rdl
  localparam logic [31:0] MAPS_HOST_SHAPE = 32'h00000000;
  localparam logic [31:0] MAPS_HOST_INFO = 32'h00000004;
  localparam logic [31:0] MAPS_HOST_COMMAND = 32'h00000008;
  localparam logic [31:0] MAPS_HOST_DEFINE = 32'h0000000C;
  localparam logic [31:0] MAPS_HOST_DESCRIPTOR = 32'h00000010;
  localparam logic [31:0] MAPS_HOST_DESCRIPTOR_COUNT = 32'h00000005;
  localparam logic [31:0] MAPS_HOST_SEED_LOW = 32'h00000024;
  localparam logic [31:0] MAPS_HOST_SEED_HIGH = 32'h00000028;
  localparam logic [31:0] MAPS_HOST_SEED_AT = 32'h0000002C;
  localparam logic [31:0] MAPS_HOST_DATA = 32'h00000200;
  localparam logic [31:0] MAPS_HOST_DATA_COUNT = 32'h00000080;

  // engines/flow/regs/flow.rdl
  localparam logic [31:0] FLOW_HOST_SHAPE = 32'h00000000;
  localparam logic [31:0] FLOW_HOST_STATUS = 32'h00000004;
  localparam logic [31:0] FLOW_HOST_BEGIN = 32'h00000008;
  localparam logic [31:0] FLOW_HOST_PROGRAM = 32'h0000000C;
  localparam logic [31:0] FLOW_HOST_CHANGE = 32'h00000010;
  localparam logic [31:0] FLOW_HOST_SECRET = 32'h00000014;
  localparam logic [31:0] FLOW_HOST_COMMAND = 32'h00000018;
  localparam logic [31:0] FLOW_HOST_PLACE = 32'h0000001C;
  localparam logic [31:0] FLOW_HOST_CONTEXTS = 32'h00000020;
  localparam logic [31:0] FLOW_HOST_STASH = 32'h00000024;
  localparam logic [31:0] FLOW_HOST_FRAMES = 32'h00000028;
  localparam logic [31:0] FLOW_HOST_KEYLESS = 32'h0000002C;
  localparam logic [31:0] FLOW_HOST_UNMATCHED = 32'h00000030;
  localparam logic [31:0] FLOW_HOST_UNKEPT = 32'h00000034;
  localparam logic [31:0] FLOW_HOST_EXPIRED = 32'h00000038;
  localparam logic [31:0] FLOW_HOST_EVICTED = 32'h0000003C;
  localparam logic [31:0] FLOW_HOST_MOVED = 32'h00000040;
  localparam logic [31:0] FLOW_HOST_EVENTS_LOST = 32'h00000044;
  localparam logic [31:0] FLOW_HOST_TABLE = 32'h00000048;
  localparam logic [31:0] FLOW_HOST_ROOM = 32'h0000004C;
  localparam logic [31:0] FLOW_HOST_TELL = 32'h00000050;
  localparam logic [31:0] FLOW_HOST_GLOBALS = 32'h00000060;
  localparam logic [31:0] FLOW_HOST_GLOBALS_COUNT = 32'h00000008;
  localparam logic [31:0] FLOW_HOST_KEY = 32'h00000080;
  localparam logic [31:0] FLOW_HOST_KEY_COUNT = 32'h0000000A;
  localparam logic [31:0] FLOW_HOST_STATE = 32'h000000A8;
  localparam logic [31:0] FLOW_HOST_REGISTERS = 32'h000000AC;
  localparam logic [31:0] FLOW_HOST_REGISTERS_COUNT = 32'h00000004;
  localparam logic [31:0] FLOW_HOST_TIMEOUT = 32'h000000BC;
  localparam logic [31:0] FLOW_HOST_TIMEOUT_COUNT = 32'h00000002;
  localparam logic [31:0] FLOW_HOST_DEADLINE = 32'h000000C4;
  localparam logic [31:0] FLOW_HOST_DEADLINE_COUNT = 32'h00000002;
  localparam logic [31:0] FLOW_HOST_ROWS = 32'h00000100;
  localparam logic [31:0] FLOW_HOST_ROWS_COUNT = 32'h00000040;
  localparam logic [31:0] FLOW_HOST_EVENT = 32'h00000200;
  localparam logic [31:0] FLOW_HOST_EVENT_TIME = 32'h00000204;
  localparam logic [31:0] FLOW_HOST_EVENT_FLOW = 32'h00000208;
  localparam logic [31:0] FLOW_HOST_EVENT_FLOW_COUNT = 32'h0000000F;
  localparam logic [31:0] FLOW_HOST_EVENT_GONE = 32'h00000244;
  localparam logic [31:0] FLOW_HOST_EVENT_GONE_COUNT = 32'h0000000F;

  // engines/rpu/accelerators/checksum/checksum.rdl
  localparam logic [31:0] CHECKSUM_ADDR = 32'h00000000;
  localparam logic [31:0] CHECKSUM_LENGTH = 32'h00000004;
  localparam logic [31:0] CHECKSUM_SUM = 32'h00000008;
  localparam logic [31:0] CHECKSUM_INITIAL = 32'h0000000C;

  // engines/rpu/accelerators/crc32/crc32.rdl
  localparam logic [31:0] CRC32_ADDR = 32'h00000000;
  localparam logic [31:0] CRC32_LENGTH = 32'h00000004;
  localparam logic [31:0] CRC32_CRC = 32'h00000008;
  localparam logic [31:0] CRC32_INITIAL = 32'h0000000C;

  // engines/rpu/accelerators/flow_hash/flow_hash.rdl
  localparam logic [31:0] FLOW_HASH_CLEAR = 32'h00000000;
  localparam logic [31:0] FLOW_HASH_PUSH1 = 32'h00000004;
  localparam logic [31:0] FLOW_HASH_PUSH2 = 32'h00000008;
  localparam logic [31:0] FLOW_HASH_PUSH4 = 32'h0000000C;
  localparam logic [31:0] FLOW_HASH_HASH = 32'h00000010;

  // engines/rpu/accelerators/ip_prefix/ip_prefix.rdl
  localparam logic [31:0] IP_PREFIX_ADDR = 32'h00000000;
  localparam logic [31:0] IP_PREFIX_CLASS = 32'h00000004;
  localparam logic [31:0] IP_PREFIX_PASS_MASK = 32'h00000008;

  // engines/rpu/accelerators/string_match/string_match.rdl
  localparam logic [31:0] STRING_MATCH_ADDR = 32'h00000000;
  localparam logic [31:0] STRING_MATCH_LENGTH = 32'h00000004;
  localparam logic [31:0] STRING_MATCH_FOUND = 32'h00000008;
  localparam logic [31:0] STRING_MATCH_END = 32'h0000000C;

endpackage
