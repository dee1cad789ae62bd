// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by engines/xdp/isa/generate_isa.py from engines/xdp/isa/isa.toml; change that.

// lane
pub const LANE_OP_AT: u32 = 0;
pub const LANE_OP_BITS: u32 = 7;
pub const LANE_DST_AT: u32 = 7;
pub const LANE_DST_BITS: u32 = 5;
pub const LANE_A_AT: u32 = 12;
pub const LANE_A_BITS: u32 = 7;
pub const LANE_B_AT: u32 = 19;
pub const LANE_B_BITS: u32 = 7;
pub const LANE_GUARD_LANE_AT: u32 = 26;
pub const LANE_GUARD_LANE_BITS: u32 = 3;
pub const LANE_GUARD_WANTED_AT: u32 = 29;
pub const LANE_GUARD_WANTED_BITS: u32 = 1;
pub const LANE_GUARDED_AT: u32 = 30;
pub const LANE_GUARDED_BITS: u32 = 1;
pub const LANE_IMMEDIATE_AT: u32 = 31;
pub const LANE_IMMEDIATE_BITS: u32 = 1;
pub const LANE_IMM_AT: u32 = 32;
pub const LANE_IMM_BITS: u32 = 32;

// control
pub const CONTROL_PACKET_AT: u32 = 0;
pub const CONTROL_PACKET_BITS: u32 = 1;
pub const CONTROL_PACKET_BASE_AT: u32 = 1;
pub const CONTROL_PACKET_BASE_BITS: u32 = 7;
pub const CONTROL_PACKET_OFFSET_AT: u32 = 8;
pub const CONTROL_PACKET_OFFSET_BITS: u32 = 9;
pub const CONTROL_STACK_AT: u32 = 17;
pub const CONTROL_STACK_BITS: u32 = 1;
pub const CONTROL_STACK_WORD_AT: u32 = 18;
pub const CONTROL_STACK_WORD_BITS: u32 = 6;

// bytes
pub const BYTES_FIRST_AT: u32 = 0;
pub const BYTES_FIRST_BITS: u32 = 6;
pub const BYTES_COUNT_AT: u32 = 6;
pub const BYTES_COUNT_BITS: u32 = 4;
pub const BYTES_SIGNED_AT: u32 = 10;
pub const BYTES_SIGNED_BITS: u32 = 1;
pub const BYTES_SWAP_AT: u32 = 11;
pub const BYTES_SWAP_BITS: u32 = 1;

// field
pub const FIELD_SHIFT_AT: u32 = 0;
pub const FIELD_SHIFT_BITS: u32 = 6;
pub const FIELD_BITS_AT: u32 = 8;
pub const FIELD_BITS_BITS: u32 = 5;
pub const FIELD_LEFT_AT: u32 = 16;
pub const FIELD_LEFT_BITS: u32 = 3;

// target
pub const TARGET_ROW_AT: u32 = 0;
pub const TARGET_ROW_BITS: u32 = 11;
pub const TARGET_VERDICT_AT: u32 = 0;
pub const TARGET_VERDICT_BITS: u32 = 3;
pub const TARGET_EXIT_AT: u32 = 11;
pub const TARGET_EXIT_BITS: u32 = 1;

// request
pub const REQUEST_KIND_AT: u32 = 0;
pub const REQUEST_KIND_BITS: u32 = 8;
pub const REQUEST_NUMBER_AT: u32 = 8;
pub const REQUEST_NUMBER_BITS: u32 = 15;
pub const REQUEST_POINTER_AT: u32 = 23;
pub const REQUEST_POINTER_BITS: u32 = 1;
pub const REQUEST_COUNT_AT: u32 = 8;
pub const REQUEST_COUNT_BITS: u32 = 4;
pub const REQUEST_SIGNED_AT: u32 = 12;
pub const REQUEST_SIGNED_BITS: u32 = 1;
pub const REQUEST_SWAP_AT: u32 = 13;
pub const REQUEST_SWAP_BITS: u32 = 1;
pub const REQUEST_ATOMIC_AT: u32 = 14;
pub const REQUEST_ATOMIC_BITS: u32 = 3;
pub const REQUEST_DIV_SIGNED_AT: u32 = 8;
pub const REQUEST_DIV_SIGNED_BITS: u32 = 1;
pub const REQUEST_DIV_REMAINDER_AT: u32 = 9;
pub const REQUEST_DIV_REMAINDER_BITS: u32 = 1;
pub const REQUEST_DIV_NARROW_AT: u32 = 10;
pub const REQUEST_DIV_NARROW_BITS: u32 = 1;
pub const REQUEST_KEY_STACK_AT: u32 = 24;
pub const REQUEST_KEY_STACK_BITS: u32 = 1;
pub const REQUEST_KEY_PACKET_AT: u32 = 25;
pub const REQUEST_KEY_PACKET_BITS: u32 = 1;
pub const REQUEST_KEY_FIRST_AT: u32 = 26;
pub const REQUEST_KEY_FIRST_BITS: u32 = 5;
pub const REQUEST_SILENT_AT: u32 = 31;
pub const REQUEST_SILENT_BITS: u32 = 1;

// op
pub const OP_NOP: u32 = 0;
pub const OP_ADD: u32 = 1;
pub const OP_SUB: u32 = 2;
pub const OP_AND: u32 = 3;
pub const OP_OR: u32 = 4;
pub const OP_XOR: u32 = 5;
pub const OP_LSH: u32 = 6;
pub const OP_RSH: u32 = 7;
pub const OP_ARSH: u32 = 8;
pub const OP_MUL: u32 = 9;
pub const OP_MOV: u32 = 10;
pub const OP_SEXT8: u32 = 11;
pub const OP_SEXT16: u32 = 12;
pub const OP_SWAP16: u32 = 13;
pub const OP_SWAP32: u32 = 14;
pub const OP_FIELD: u32 = 15;
pub const OP_MOVHI: u32 = 16;
pub const OP_WIDE: u32 = 16;
pub const OP_SEXT32: u32 = 29;
pub const OP_SWAP64: u32 = 30;
pub const OP_SET: u32 = 32;
pub const OP_LDP: u32 = 43;
pub const OP_LDS: u32 = 44;
pub const OP_STP: u32 = 45;
pub const OP_STS: u32 = 46;
pub const OP_ADJH: u32 = 59;
pub const OP_ADJM: u32 = 60;
pub const OP_ADJT: u32 = 61;
pub const OP_REDIR: u32 = 62;
pub const OP_CMP: u32 = 64;
pub const OP_EXT: u32 = 75;
pub const OP_ARG: u32 = 76;
pub const OP_BR: u32 = 96;
pub const OP_JMP: u32 = 107;
pub const OP_EXIT: u32 = 108;

// condition
pub const CONDITION_EQ: u32 = 0;
pub const CONDITION_NE: u32 = 1;
pub const CONDITION_SET: u32 = 2;
pub const CONDITION_GT: u32 = 3;
pub const CONDITION_GE: u32 = 4;
pub const CONDITION_LT: u32 = 5;
pub const CONDITION_LE: u32 = 6;
pub const CONDITION_SGT: u32 = 7;
pub const CONDITION_SGE: u32 = 8;
pub const CONDITION_SLT: u32 = 9;
pub const CONDITION_SLE: u32 = 10;

// source
pub const SOURCE_ZERO: u32 = 64;
pub const SOURCE_DATA: u32 = 65;
pub const SOURCE_DATA_END: u32 = 66;
pub const SOURCE_DATA_META: u32 = 67;
pub const SOURCE_LEN: u32 = 68;
pub const SOURCE_STACK: u32 = 69;
pub const SOURCE_IFINDEX: u32 = 70;
pub const SOURCE_QUEUE: u32 = 71;
pub const SOURCE_EGRESS: u32 = 72;
pub const SOURCE_TIME: u32 = 73;
pub const SOURCE_CPU: u32 = 74;
pub const SOURCE_RANDOM: u32 = 75;

// kind
pub const KIND_LOAD: u32 = 0;
pub const KIND_STORE: u32 = 1;
pub const KIND_ATOMIC: u32 = 2;
pub const KIND_DIV: u32 = 3;
pub const KIND_HELPER: u32 = 4;
pub const KIND_LOOKUP: u32 = 5;
pub const KIND_UPDATE: u32 = 6;
pub const KIND_DELETE: u32 = 7;
pub const KIND_TAIL_CALL: u32 = 8;

// atomic
pub const ATOMIC_ADD: u32 = 0;
pub const ATOMIC_OR: u32 = 1;
pub const ATOMIC_AND: u32 = 2;
pub const ATOMIC_XOR: u32 = 3;
pub const ATOMIC_XCHG: u32 = 4;
pub const ATOMIC_CMPXCHG: u32 = 5;

// address
pub const ADDRESS_PACKET: u32 = 0x10000;
pub const ADDRESS_STACK: u32 = 0x20000;
pub const ADDRESS_UNIT_MAPS: u32 = 0x40000000;
pub const ADDRESS_CARD_MAPS: u32 = 0x80000000;

// size
pub const SIZE_ROWS: u32 = 2048;
pub const SIZE_PACKET: u32 = 4096;
pub const SIZE_PACKET_END: u32 = 3776;
pub const SIZE_HEADROOM: u32 = 256;
pub const SIZE_STACK: u32 = 512;
pub const SIZE_PACKET_WINDOW: u32 = 56;
pub const SIZE_STACK_WINDOW: u32 = 64;
pub const SIZE_WINDOW_WORD: u32 = 8;
