// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Written by engines/xdp/isa/generate_isa.py from engines/xdp/isa/isa.toml; change that.
package xdp_isa_pkg;

  // lane
  localparam int unsigned LANE_OP_AT = 32'd0;
  localparam int unsigned LANE_OP_BITS = 32'd7;
  localparam int unsigned LANE_DST_AT = 32'd7;
  localparam int unsigned LANE_DST_BITS = 32'd5;
  localparam int unsigned LANE_A_AT = 32'd12;
  localparam int unsigned LANE_A_BITS = 32'd7;
  localparam int unsigned LANE_B_AT = 32'd19;
  localparam int unsigned LANE_B_BITS = 32'd7;
  localparam int unsigned LANE_GUARD_LANE_AT = 32'd26;
  localparam int unsigned LANE_GUARD_LANE_BITS = 32'd3;
  localparam int unsigned LANE_GUARD_WANTED_AT = 32'd29;
  localparam int unsigned LANE_GUARD_WANTED_BITS = 32'd1;
  localparam int unsigned LANE_GUARDED_AT = 32'd30;
  localparam int unsigned LANE_GUARDED_BITS = 32'd1;
  localparam int unsigned LANE_IMMEDIATE_AT = 32'd31;
  localparam int unsigned LANE_IMMEDIATE_BITS = 32'd1;
  localparam int unsigned LANE_IMM_AT = 32'd32;
  localparam int unsigned LANE_IMM_BITS = 32'd32;

  // control
  localparam int unsigned CONTROL_PACKET_AT = 32'd0;
  localparam int unsigned CONTROL_PACKET_BITS = 32'd1;
  localparam int unsigned CONTROL_PACKET_BASE_AT = 32'd1;
  localparam int unsigned CONTROL_PACKET_BASE_BITS = 32'd7;
  localparam int unsigned CONTROL_PACKET_OFFSET_AT = 32'd8;
  localparam int unsigned CONTROL_PACKET_OFFSET_BITS = 32'd9;
  localparam int unsigned CONTROL_STACK_AT = 32'd17;
  localparam int unsigned CONTROL_STACK_BITS = 32'd1;
  localparam int unsigned CONTROL_STACK_WORD_AT = 32'd18;
  localparam int unsigned CONTROL_STACK_WORD_BITS = 32'd6;

  // bytes
  localparam int unsigned BYTES_FIRST_AT = 32'd0;
  localparam int unsigned BYTES_FIRST_BITS = 32'd6;
  localparam int unsigned BYTES_COUNT_AT = 32'd6;
  localparam int unsigned BYTES_COUNT_BITS = 32'd4;
  localparam int unsigned BYTES_SIGNED_AT = 32'd10;
  localparam int unsigned BYTES_SIGNED_BITS = 32'd1;
  localparam int unsigned BYTES_SWAP_AT = 32'd11;
  localparam int unsigned BYTES_SWAP_BITS = 32'd1;

  // field
  localparam int unsigned FIELD_SHIFT_AT = 32'd0;
  localparam int unsigned FIELD_SHIFT_BITS = 32'd6;
  localparam int unsigned FIELD_BITS_AT = 32'd8;
  localparam int unsigned FIELD_BITS_BITS = 32'd5;
  localparam int unsigned FIELD_LEFT_AT = 32'd16;
  localparam int unsigned FIELD_LEFT_BITS = 32'd3;

  // target
  localparam int unsigned TARGET_ROW_AT = 32'd0;
  localparam int unsigned TARGET_ROW_BITS = 32'd11;
  localparam int unsigned TARGET_VERDICT_AT = 32'd0;
  localparam int unsigned TARGET_VERDICT_BITS = 32'd3;
  localparam int unsigned TARGET_EXIT_AT = 32'd11;
  localparam int unsigned TARGET_EXIT_BITS = 32'd1;

  // request
  localparam int unsigned REQUEST_KIND_AT = 32'd0;
  localparam int unsigned REQUEST_KIND_BITS = 32'd8;
  localparam int unsigned REQUEST_NUMBER_AT = 32'd8;
  localparam int unsigned REQUEST_NUMBER_BITS = 32'd15;
  localparam int unsigned REQUEST_POINTER_AT = 32'd23;
  localparam int unsigned REQUEST_POINTER_BITS = 32'd1;
  localparam int unsigned REQUEST_COUNT_AT = 32'd8;
  localparam int unsigned REQUEST_COUNT_BITS = 32'd4;
  localparam int unsigned REQUEST_SIGNED_AT = 32'd12;
  localparam int unsigned REQUEST_SIGNED_BITS = 32'd1;
  localparam int unsigned REQUEST_SWAP_AT = 32'd13;
  localparam int unsigned REQUEST_SWAP_BITS = 32'd1;
  localparam int unsigned REQUEST_ATOMIC_AT = 32'd14;
  localparam int unsigned REQUEST_ATOMIC_BITS = 32'd3;
  localparam int unsigned REQUEST_DIV_SIGNED_AT = 32'd8;
  localparam int unsigned REQUEST_DIV_SIGNED_BITS = 32'd1;
  localparam int unsigned REQUEST_DIV_REMAINDER_AT = 32'd9;
  localparam int unsigned REQUEST_DIV_REMAINDER_BITS = 32'd1;
  localparam int unsigned REQUEST_DIV_NARROW_AT = 32'd10;
  localparam int unsigned REQUEST_DIV_NARROW_BITS = 32'd1;
  localparam int unsigned REQUEST_KEY_STACK_AT = 32'd24;
  localparam int unsigned REQUEST_KEY_STACK_BITS = 32'd1;
  localparam int unsigned REQUEST_KEY_PACKET_AT = 32'd25;
  localparam int unsigned REQUEST_KEY_PACKET_BITS = 32'd1;
  localparam int unsigned REQUEST_KEY_FIRST_AT = 32'd26;
  localparam int unsigned REQUEST_KEY_FIRST_BITS = 32'd5;
  localparam int unsigned REQUEST_SILENT_AT = 32'd31;
  localparam int unsigned REQUEST_SILENT_BITS = 32'd1;

  // op
  localparam int unsigned OP_NOP = 32'd0;
  localparam int unsigned OP_ADD = 32'd1;
  localparam int unsigned OP_SUB = 32'd2;
  localparam int unsigned OP_AND = 32'd3;
  localparam int unsigned OP_OR = 32'd4;
  localparam int unsigned OP_XOR = 32'd5;
  localparam int unsigned OP_LSH = 32'd6;
  localparam int unsigned OP_RSH = 32'd7;
  localparam int unsigned OP_ARSH = 32'd8;
  localparam int unsigned OP_MUL = 32'd9;
  localparam int unsigned OP_MOV = 32'd10;
  localparam int unsigned OP_SEXT8 = 32'd11;
  localparam int unsigned OP_SEXT16 = 32'd12;
  localparam int unsigned OP_SWAP16 = 32'd13;
  localparam int unsigned OP_SWAP32 = 32'd14;
  localparam int unsigned OP_FIELD = 32'd15;
  localparam int unsigned OP_MOVHI = 32'd16;
  localparam int unsigned OP_WIDE = 32'd16;
  localparam int unsigned OP_SEXT32 = 32'd29;
  localparam int unsigned OP_SWAP64 = 32'd30;
  localparam int unsigned OP_SET = 32'd32;
  localparam int unsigned OP_LDP = 32'd43;
  localparam int unsigned OP_LDS = 32'd44;
  localparam int unsigned OP_STP = 32'd45;
  localparam int unsigned OP_STS = 32'd46;
  localparam int unsigned OP_ADJH = 32'd59;
  localparam int unsigned OP_ADJM = 32'd60;
  localparam int unsigned OP_ADJT = 32'd61;
  localparam int unsigned OP_REDIR = 32'd62;
  localparam int unsigned OP_CMP = 32'd64;
  localparam int unsigned OP_EXT = 32'd75;
  localparam int unsigned OP_ARG = 32'd76;
  localparam int unsigned OP_BR = 32'd96;
  localparam int unsigned OP_JMP = 32'd107;
  localparam int unsigned OP_EXIT = 32'd108;

  // condition
  localparam int unsigned CONDITION_EQ = 32'd0;
  localparam int unsigned CONDITION_NE = 32'd1;
  localparam int unsigned CONDITION_SET = 32'd2;
  localparam int unsigned CONDITION_GT = 32'd3;
  localparam int unsigned CONDITION_GE = 32'd4;
  localparam int unsigned CONDITION_LT = 32'd5;
  localparam int unsigned CONDITION_LE = 32'd6;
  localparam int unsigned CONDITION_SGT = 32'd7;
  localparam int unsigned CONDITION_SGE = 32'd8;
  localparam int unsigned CONDITION_SLT = 32'd9;
  localparam int unsigned CONDITION_SLE = 32'd10;

  // source
  localparam int unsigned SOURCE_ZERO = 32'd64;
  localparam int unsigned SOURCE_DATA = 32'd65;
  localparam int unsigned SOURCE_DATA_END = 32'd66;
  localparam int unsigned SOURCE_DATA_META = 32'd67;
  localparam int unsigned SOURCE_LEN = 32'd68;
  localparam int unsigned SOURCE_STACK = 32'd69;
  localparam int unsigned SOURCE_IFINDEX = 32'd70;
  localparam int unsigned SOURCE_QUEUE = 32'd71;
  localparam int unsigned SOURCE_EGRESS = 32'd72;
  localparam int unsigned SOURCE_TIME = 32'd73;
  localparam int unsigned SOURCE_CPU = 32'd74;
  localparam int unsigned SOURCE_RANDOM = 32'd75;

  // kind
  localparam int unsigned KIND_LOAD = 32'd0;
  localparam int unsigned KIND_STORE = 32'd1;
  localparam int unsigned KIND_ATOMIC = 32'd2;
  localparam int unsigned KIND_DIV = 32'd3;
  localparam int unsigned KIND_HELPER = 32'd4;
  localparam int unsigned KIND_LOOKUP = 32'd5;
  localparam int unsigned KIND_UPDATE = 32'd6;
  localparam int unsigned KIND_DELETE = 32'd7;
  localparam int unsigned KIND_TAIL_CALL = 32'd8;

  // atomic
  localparam int unsigned ATOMIC_ADD = 32'd0;
  localparam int unsigned ATOMIC_OR = 32'd1;
  localparam int unsigned ATOMIC_AND = 32'd2;
  localparam int unsigned ATOMIC_XOR = 32'd3;
  localparam int unsigned ATOMIC_XCHG = 32'd4;
  localparam int unsigned ATOMIC_CMPXCHG = 32'd5;

  // address
  localparam int unsigned ADDRESS_PACKET = 32'd65536;
  localparam int unsigned ADDRESS_STACK = 32'd131072;
  localparam int unsigned ADDRESS_UNIT_MAPS = 32'd1073741824;
  localparam int unsigned ADDRESS_CARD_MAPS = 32'd2147483648;

  // size
  localparam int unsigned SIZE_ROWS = 32'd2048;
  localparam int unsigned SIZE_PACKET = 32'd4096;
  localparam int unsigned SIZE_PACKET_END = 32'd3776;
  localparam int unsigned SIZE_HEADROOM = 32'd256;
  localparam int unsigned SIZE_STACK = 32'd512;
  localparam int unsigned SIZE_PACKET_WINDOW = 32'd56;
  localparam int unsigned SIZE_STACK_WINDOW = 32'd64;
  localparam int unsigned SIZE_WINDOW_WORD = 32'd8;

endpackage
