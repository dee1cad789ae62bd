// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Written by tools/regs.py from the .rdl files; change those.
package rpu_regs_pkg;

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
  localparam logic [31:0] RPU_HOST_ACCEL = 32'h00000070;
  localparam logic [31:0] RPU_HOST_WILD_PC = 32'h00000090;
  localparam logic [31:0] RPU_HOST_DESCRIPTOR_PC = 32'h00000094;
  localparam logic [31:0] RPU_HOST_DESTINATION_PC = 32'h00000098;
  localparam logic [31:0] RPU_HOST_SLOT_PC = 32'h0000009C;

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
