// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Written by tools/regs.py from the .rdl files; change those.
package rpu_regs_pkg;

  // engines/rpu/regs/rpu.rdl
  localparam logic [31:0] RPU_CORE_SEND_DESC_LOW = 32'h00000608;
  localparam logic [31:0] RPU_CORE_SEND_DESC_HIGH = 32'h0000060C;
  localparam logic [31:0] RPU_CORE_DRAM_ADDR_LOW = 32'h00000610;
  localparam logic [31:0] RPU_CORE_DRAM_ADDR_HIGH = 32'h00000614;
  localparam logic [31:0] RPU_CORE_SLOT_ADDR = 32'h00000618;
  localparam logic [31:0] RPU_CORE_TIMER_INTERVAL = 32'h0000061C;
  localparam logic [31:0] RPU_CORE_DRAM_FLAG_WR = 32'h00000620;
  localparam logic [31:0] RPU_CORE_READY_TO_EVICT = 32'h00000624;
  localparam logic [31:0] RPU_CORE_SEND_DESC_TYPE = 32'h00000628;
  localparam logic [31:0] RPU_CORE_RECV_DESC_RELEASE = 32'h0000062C;
  localparam logic [31:0] RPU_CORE_DRAM_FLAG_RST = 32'h00000630;
  localparam logic [31:0] RPU_CORE_UPDATE_SLOT = 32'h00000634;
  localparam logic [31:0] RPU_CORE_MASK_WRITE = 32'h00000638;
  localparam logic [31:0] RPU_CORE_INTERRUPT_ACK = 32'h0000063C;
  localparam logic [31:0] RPU_CORE_DEBUG_OUT_L = 32'h00000640;
  localparam logic [31:0] RPU_CORE_DEBUG_OUT_H = 32'h00000644;
  localparam logic [31:0] RPU_CORE_BC_FILTER_MASK = 32'h00000648;
  localparam logic [31:0] RPU_CORE_BC_FILTER_VALUE = 32'h0000064C;
  localparam logic [31:0] RPU_CORE_BC_LISTEN = 32'h00000650;
  localparam logic [31:0] RPU_CORE_BC_RELEASE = 32'h00000654;
  localparam logic [31:0] RPU_CORE_RECV_DESC_LOW = 32'h00000680;
  localparam logic [31:0] RPU_CORE_RECV_DESC_HIGH = 32'h00000684;
  localparam logic [31:0] RPU_CORE_DRAM_FLAGS = 32'h00000688;
  localparam logic [31:0] RPU_CORE_READY = 32'h0000068C;
  localparam logic [31:0] RPU_CORE_CORE_ID = 32'h00000690;
  localparam logic [31:0] RPU_CORE_TIMER_L = 32'h00000694;
  localparam logic [31:0] RPU_CORE_TIMER_H = 32'h00000698;
  localparam logic [31:0] RPU_CORE_INTERRUPT_FLAGS = 32'h0000069C;
  localparam logic [31:0] RPU_CORE_MASK_READ = 32'h000006A0;
  localparam logic [31:0] RPU_CORE_IMEM_SIZE = 32'h000006A4;
  localparam logic [31:0] RPU_CORE_DMEM_SIZE = 32'h000006A8;
  localparam logic [31:0] RPU_CORE_PMEM_SIZE = 32'h000006AC;
  localparam logic [31:0] RPU_CORE_SEG_SIZE = 32'h000006B0;
  localparam logic [31:0] RPU_CORE_SEG_COUNT = 32'h000006B4;
  localparam logic [31:0] RPU_CORE_BC_SIZE = 32'h000006B8;
  localparam logic [31:0] RPU_CORE_MAX_SLOTS = 32'h000006BC;
  localparam logic [31:0] RPU_CORE_DEBUG_IN_L = 32'h000006C0;
  localparam logic [31:0] RPU_CORE_DEBUG_IN_H = 32'h000006C4;
  localparam logic [31:0] RPU_CORE_BC_FILTER_MASK_READ = 32'h000006C8;
  localparam logic [31:0] RPU_CORE_BC_FILTER_VALUE_READ = 32'h000006CC;
  localparam logic [31:0] RPU_CORE_BC_ADDR = 32'h000006D0;
  localparam logic [31:0] RPU_CORE_OCCUPANCY = 32'h000006D4;
  localparam logic [31:0] RPU_CORE_ACTIVE_SLOTS = 32'h000006D8;
  localparam logic [31:0] RPU_CORE_RECV = 32'h00000700;
  localparam logic [31:0] RPU_CORE_RECV_HDR = 32'h00000704;
  localparam logic [31:0] RPU_CORE_SEND = 32'h00000708;
  localparam logic [31:0] RPU_CORE_RECV_DATA = 32'h0000070C;
  localparam logic [31:0] RPU_CORE_RECV_HASH = 32'h00000710;
  localparam logic [31:0] RPU_CORE_RECV_TIME = 32'h00000714;
  localparam logic [31:0] RPU_CORE_ACCEL = 32'h00000718;
  localparam logic [31:0] RPU_CORE_DATA = 32'h0000071C;
  localparam logic [31:0] RPU_CORE_SEND_FROM = 32'h00000720;
  localparam logic [31:0] RPU_CORE_TIME_L = 32'h00000724;
  localparam logic [31:0] RPU_CORE_TIME_H = 32'h00000728;

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
