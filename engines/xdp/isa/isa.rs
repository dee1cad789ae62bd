// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by engines/xdp/isa/generate_isa.py from engines/xdp/isa/isa.toml; change that.

// lane
/// Lowest bit of `op` in a lane's word.
pub const LANE_OP_AT: u32 = 0;
/// Number of bits of `op` in a lane's word.
pub const LANE_OP_BITS: u32 = 7;
/// Lowest bit of `dst` in a lane's word.
pub const LANE_DST_AT: u32 = 7;
/// Number of bits of `dst` in a lane's word.
pub const LANE_DST_BITS: u32 = 5;
/// Lowest bit of `a` in a lane's word.
pub const LANE_A_AT: u32 = 12;
/// Number of bits of `a` in a lane's word.
pub const LANE_A_BITS: u32 = 7;
/// Lowest bit of `b` in a lane's word.
pub const LANE_B_AT: u32 = 19;
/// Number of bits of `b` in a lane's word.
pub const LANE_B_BITS: u32 = 7;
/// Lowest bit of `guard_lane` in a lane's word.
pub const LANE_GUARD_LANE_AT: u32 = 26;
/// Number of bits of `guard_lane` in a lane's word.
pub const LANE_GUARD_LANE_BITS: u32 = 3;
/// Lowest bit of `guard_wanted` in a lane's word.
pub const LANE_GUARD_WANTED_AT: u32 = 29;
/// Number of bits of `guard_wanted` in a lane's word.
pub const LANE_GUARD_WANTED_BITS: u32 = 1;
/// Lowest bit of `guarded` in a lane's word.
pub const LANE_GUARDED_AT: u32 = 30;
/// Number of bits of `guarded` in a lane's word.
pub const LANE_GUARDED_BITS: u32 = 1;
/// Lowest bit of `immediate` in a lane's word.
pub const LANE_IMMEDIATE_AT: u32 = 31;
/// Number of bits of `immediate` in a lane's word.
pub const LANE_IMMEDIATE_BITS: u32 = 1;
/// Lowest bit of `imm` in a lane's word.
pub const LANE_IMM_AT: u32 = 32;
/// Number of bits of `imm` in a lane's word.
pub const LANE_IMM_BITS: u32 = 32;

// control
/// Lowest bit of `packet` in a row's control word.
pub const CONTROL_PACKET_AT: u32 = 0;
/// Number of bits of `packet` in a row's control word.
pub const CONTROL_PACKET_BITS: u32 = 1;
/// Lowest bit of `packet_base` in a row's control word.
pub const CONTROL_PACKET_BASE_AT: u32 = 1;
/// Number of bits of `packet_base` in a row's control word.
pub const CONTROL_PACKET_BASE_BITS: u32 = 7;
/// Lowest bit of `packet_offset` in a row's control word.
pub const CONTROL_PACKET_OFFSET_AT: u32 = 8;
/// Number of bits of `packet_offset` in a row's control word.
pub const CONTROL_PACKET_OFFSET_BITS: u32 = 9;
/// Lowest bit of `stack` in a row's control word.
pub const CONTROL_STACK_AT: u32 = 17;
/// Number of bits of `stack` in a row's control word.
pub const CONTROL_STACK_BITS: u32 = 1;
/// Lowest bit of `stack_word` in a row's control word.
pub const CONTROL_STACK_WORD_AT: u32 = 18;
/// Number of bits of `stack_word` in a row's control word.
pub const CONTROL_STACK_WORD_BITS: u32 = 6;

// bytes
/// Lowest bit of `first` in the place of the bytes of an access to a window.
pub const BYTES_FIRST_AT: u32 = 0;
/// Number of bits of `first` in the place of the bytes of an access to a window.
pub const BYTES_FIRST_BITS: u32 = 6;
/// Lowest bit of `count` in the place of the bytes of an access to a window.
pub const BYTES_COUNT_AT: u32 = 6;
/// Number of bits of `count` in the place of the bytes of an access to a window.
pub const BYTES_COUNT_BITS: u32 = 4;
/// Lowest bit of `signed` in the place of the bytes of an access to a window.
pub const BYTES_SIGNED_AT: u32 = 10;
/// Number of bits of `signed` in the place of the bytes of an access to a window.
pub const BYTES_SIGNED_BITS: u32 = 1;
/// Lowest bit of `swap` in the place of the bytes of an access to a window.
pub const BYTES_SWAP_AT: u32 = 11;
/// Number of bits of `swap` in the place of the bytes of an access to a window.
pub const BYTES_SWAP_BITS: u32 = 1;

// field
/// Lowest bit of `shift` in the operand of the operation `field`.
pub const FIELD_SHIFT_AT: u32 = 0;
/// Number of bits of `shift` in the operand of the operation `field`.
pub const FIELD_SHIFT_BITS: u32 = 6;
/// Lowest bit of `bits` in the operand of the operation `field`.
pub const FIELD_BITS_AT: u32 = 8;
/// Number of bits of `bits` in the operand of the operation `field`.
pub const FIELD_BITS_BITS: u32 = 5;
/// Lowest bit of `left` in the operand of the operation `field`.
pub const FIELD_LEFT_AT: u32 = 16;
/// Number of bits of `left` in the operand of the operation `field`.
pub const FIELD_LEFT_BITS: u32 = 3;

// target
/// Lowest bit of `row` in the target of a branch.
pub const TARGET_ROW_AT: u32 = 0;
/// Number of bits of `row` in the target of a branch.
pub const TARGET_ROW_BITS: u32 = 11;
/// Lowest bit of `verdict` in the target of a branch.
pub const TARGET_VERDICT_AT: u32 = 0;
/// Number of bits of `verdict` in the target of a branch.
pub const TARGET_VERDICT_BITS: u32 = 3;
/// Lowest bit of `exit` in the target of a branch.
pub const TARGET_EXIT_AT: u32 = 11;
/// Number of bits of `exit` in the target of a branch.
pub const TARGET_EXIT_BITS: u32 = 1;

// request
/// Lowest bit of `kind` in the operand `imm` of a request.
pub const REQUEST_KIND_AT: u32 = 0;
/// Number of bits of `kind` in the operand `imm` of a request.
pub const REQUEST_KIND_BITS: u32 = 8;
/// Lowest bit of `number` in the operand `imm` of a request.
pub const REQUEST_NUMBER_AT: u32 = 8;
/// Number of bits of `number` in the operand `imm` of a request.
pub const REQUEST_NUMBER_BITS: u32 = 15;
/// Lowest bit of `pointer` in the operand `imm` of a request.
pub const REQUEST_POINTER_AT: u32 = 23;
/// Number of bits of `pointer` in the operand `imm` of a request.
pub const REQUEST_POINTER_BITS: u32 = 1;
/// Lowest bit of `count` in the operand `imm` of a request.
pub const REQUEST_COUNT_AT: u32 = 8;
/// Number of bits of `count` in the operand `imm` of a request.
pub const REQUEST_COUNT_BITS: u32 = 4;
/// Lowest bit of `signed` in the operand `imm` of a request.
pub const REQUEST_SIGNED_AT: u32 = 12;
/// Number of bits of `signed` in the operand `imm` of a request.
pub const REQUEST_SIGNED_BITS: u32 = 1;
/// Lowest bit of `swap` in the operand `imm` of a request.
pub const REQUEST_SWAP_AT: u32 = 13;
/// Number of bits of `swap` in the operand `imm` of a request.
pub const REQUEST_SWAP_BITS: u32 = 1;
/// Lowest bit of `atomic` in the operand `imm` of a request.
pub const REQUEST_ATOMIC_AT: u32 = 14;
/// Number of bits of `atomic` in the operand `imm` of a request.
pub const REQUEST_ATOMIC_BITS: u32 = 3;
/// Lowest bit of `div_signed` in the operand `imm` of a request.
pub const REQUEST_DIV_SIGNED_AT: u32 = 8;
/// Number of bits of `div_signed` in the operand `imm` of a request.
pub const REQUEST_DIV_SIGNED_BITS: u32 = 1;
/// Lowest bit of `div_remainder` in the operand `imm` of a request.
pub const REQUEST_DIV_REMAINDER_AT: u32 = 9;
/// Number of bits of `div_remainder` in the operand `imm` of a request.
pub const REQUEST_DIV_REMAINDER_BITS: u32 = 1;
/// Lowest bit of `div_narrow` in the operand `imm` of a request.
pub const REQUEST_DIV_NARROW_AT: u32 = 10;
/// Number of bits of `div_narrow` in the operand `imm` of a request.
pub const REQUEST_DIV_NARROW_BITS: u32 = 1;
/// Lowest bit of `key_stack` in the operand `imm` of a request.
pub const REQUEST_KEY_STACK_AT: u32 = 24;
/// Number of bits of `key_stack` in the operand `imm` of a request.
pub const REQUEST_KEY_STACK_BITS: u32 = 1;
/// Lowest bit of `key_packet` in the operand `imm` of a request.
pub const REQUEST_KEY_PACKET_AT: u32 = 25;
/// Number of bits of `key_packet` in the operand `imm` of a request.
pub const REQUEST_KEY_PACKET_BITS: u32 = 1;
/// Lowest bit of `key_first` in the operand `imm` of a request.
pub const REQUEST_KEY_FIRST_AT: u32 = 26;
/// Number of bits of `key_first` in the operand `imm` of a request.
pub const REQUEST_KEY_FIRST_BITS: u32 = 5;
/// Lowest bit of `silent` in the operand `imm` of a request.
pub const REQUEST_SILENT_AT: u32 = 31;
/// Number of bits of `silent` in the operand `imm` of a request.
pub const REQUEST_SILENT_BITS: u32 = 1;

// op
/// The operation `nop`.
pub const OP_NOP: u32 = 0;
/// The operation `add`.
pub const OP_ADD: u32 = 1;
/// The operation `sub`.
pub const OP_SUB: u32 = 2;
/// The operation `and`.
pub const OP_AND: u32 = 3;
/// The operation `or`.
pub const OP_OR: u32 = 4;
/// The operation `xor`.
pub const OP_XOR: u32 = 5;
/// The operation `lsh`.
pub const OP_LSH: u32 = 6;
/// The operation `rsh`.
pub const OP_RSH: u32 = 7;
/// The operation `arsh`.
pub const OP_ARSH: u32 = 8;
/// The operation `mul`.
pub const OP_MUL: u32 = 9;
/// The operation `mov`.
pub const OP_MOV: u32 = 10;
/// The operation `sext8`.
pub const OP_SEXT8: u32 = 11;
/// The operation `sext16`.
pub const OP_SEXT16: u32 = 12;
/// The operation `swap16`.
pub const OP_SWAP16: u32 = 13;
/// The operation `swap32`.
pub const OP_SWAP32: u32 = 14;
/// The operation `field`.
pub const OP_FIELD: u32 = 15;
/// The operation `movhi`.
pub const OP_MOVHI: u32 = 16;
/// The operation `wide`.
pub const OP_WIDE: u32 = 16;
/// The operation `sext32`.
pub const OP_SEXT32: u32 = 29;
/// The operation `swap64`.
pub const OP_SWAP64: u32 = 30;
/// The operation `set`.
pub const OP_SET: u32 = 32;
/// The operation `ldp`.
pub const OP_LDP: u32 = 43;
/// The operation `lds`.
pub const OP_LDS: u32 = 44;
/// The operation `stp`.
pub const OP_STP: u32 = 45;
/// The operation `sts`.
pub const OP_STS: u32 = 46;
/// The operation `adjh`.
pub const OP_ADJH: u32 = 59;
/// The operation `adjm`.
pub const OP_ADJM: u32 = 60;
/// The operation `adjt`.
pub const OP_ADJT: u32 = 61;
/// The operation `redir`.
pub const OP_REDIR: u32 = 62;
/// The operation `cmp`.
pub const OP_CMP: u32 = 64;
/// The operation `ext`.
pub const OP_EXT: u32 = 75;
/// The operation `arg`.
pub const OP_ARG: u32 = 76;
/// The operation `br`.
pub const OP_BR: u32 = 96;
/// The operation `jmp`.
pub const OP_JMP: u32 = 107;
/// The operation `exit`.
pub const OP_EXIT: u32 = 108;

// condition
/// The condition `eq`.
pub const CONDITION_EQ: u32 = 0;
/// The condition `ne`.
pub const CONDITION_NE: u32 = 1;
/// The condition `set`.
pub const CONDITION_SET: u32 = 2;
/// The condition `gt`.
pub const CONDITION_GT: u32 = 3;
/// The condition `ge`.
pub const CONDITION_GE: u32 = 4;
/// The condition `lt`.
pub const CONDITION_LT: u32 = 5;
/// The condition `le`.
pub const CONDITION_LE: u32 = 6;
/// The condition `sgt`.
pub const CONDITION_SGT: u32 = 7;
/// The condition `sge`.
pub const CONDITION_SGE: u32 = 8;
/// The condition `slt`.
pub const CONDITION_SLT: u32 = 9;
/// The condition `sle`.
pub const CONDITION_SLE: u32 = 10;

// source
/// The source `zero`.
pub const SOURCE_ZERO: u32 = 64;
/// The source `data`.
pub const SOURCE_DATA: u32 = 65;
/// The source `data_end`.
pub const SOURCE_DATA_END: u32 = 66;
/// The source `data_meta`.
pub const SOURCE_DATA_META: u32 = 67;
/// The source `len`.
pub const SOURCE_LEN: u32 = 68;
/// The source `stack`.
pub const SOURCE_STACK: u32 = 69;
/// The source `ifindex`.
pub const SOURCE_IFINDEX: u32 = 70;
/// The source `queue`.
pub const SOURCE_QUEUE: u32 = 71;
/// The source `egress`.
pub const SOURCE_EGRESS: u32 = 72;
/// The source `time`.
pub const SOURCE_TIME: u32 = 73;
/// The source `cpu`.
pub const SOURCE_CPU: u32 = 74;
/// The source `random`.
pub const SOURCE_RANDOM: u32 = 75;

// kind
/// A request of the kind `load`.
pub const KIND_LOAD: u32 = 0;
/// A request of the kind `store`.
pub const KIND_STORE: u32 = 1;
/// A request of the kind `atomic`.
pub const KIND_ATOMIC: u32 = 2;
/// A request of the kind `div`.
pub const KIND_DIV: u32 = 3;
/// A request of the kind `helper`.
pub const KIND_HELPER: u32 = 4;
/// A request of the kind `lookup`.
pub const KIND_LOOKUP: u32 = 5;
/// A request of the kind `update`.
pub const KIND_UPDATE: u32 = 6;
/// A request of the kind `delete`.
pub const KIND_DELETE: u32 = 7;
/// A request of the kind `tail_call`.
pub const KIND_TAIL_CALL: u32 = 8;

// atomic
/// The atomic operation `add`.
pub const ATOMIC_ADD: u32 = 0;
/// The atomic operation `or`.
pub const ATOMIC_OR: u32 = 1;
/// The atomic operation `and`.
pub const ATOMIC_AND: u32 = 2;
/// The atomic operation `xor`.
pub const ATOMIC_XOR: u32 = 3;
/// The atomic operation `xchg`.
pub const ATOMIC_XCHG: u32 = 4;
/// The atomic operation `cmpxchg`.
pub const ATOMIC_CMPXCHG: u32 = 5;

// address
/// The lowest address of the memory `packet`.
pub const ADDRESS_PACKET: u32 = 0x10000;
/// The lowest address of the memory `stack`.
pub const ADDRESS_STACK: u32 = 0x20000;
/// The lowest address of the memory `unit_maps`.
pub const ADDRESS_UNIT_MAPS: u32 = 0x40000000;
/// The lowest address of the memory `card_maps`.
pub const ADDRESS_CARD_MAPS: u32 = 0x80000000;

// size
/// Rows that a program can have.
pub const SIZE_ROWS: u32 = 2048;
/// Bytes of a packet's buffer.
pub const SIZE_PACKET: u32 = 4096;
/// The end of the longest packet in the buffer, in bytes.
pub const SIZE_PACKET_END: u32 = 3776;
/// Bytes before a packet that arrives.
pub const SIZE_HEADROOM: u32 = 256;
/// Bytes of the stack.
pub const SIZE_STACK: u32 = 512;
/// Bytes of the packet that a row reaches.
pub const SIZE_PACKET_WINDOW: u32 = 56;
/// Bytes of the stack that a row reaches.
pub const SIZE_STACK_WINDOW: u32 = 64;
/// Bytes in a unit of a window's offset.
pub const SIZE_WINDOW_WORD: u32 = 8;
