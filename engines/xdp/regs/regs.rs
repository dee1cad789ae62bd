// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by tools/regs.py from the .rdl files; change those.

#![allow(unreachable_pub, reason = "some crates export these registers, others do not")]

// engines/xdp/regs/xdp.rdl
/// [0] Bank of row memory with the program for frames that begin now. Frames that have begun stay with their bank.
pub const XDP_HOST_BANK: u32 = 0x90;
/// [0] 1: frames of a flow go to one context, by their flow hash. 0: a frame goes to any idle context.
pub const XDP_HOST_BY_FLOW: u32 = 0x94;
/// Contexts that work on a frame begun in bank 0, [15:0], and in bank 1, [31:16].
pub const XDP_HOST_WORKING: u32 = 0x98;
/// Lanes of the core, [7:0]; contexts, [15:8]; bytes of the unit's maps, in KiB, [31:16].
pub const XDP_HOST_SHAPE: u32 = 0x9C;
/// Frames that ended with XDP_ABORTED, with a verdict that does not exist, or because their program took too many rows.
pub const XDP_HOST_ABORTED: u32 = 0xA0;
/// Rows executed.
pub const XDP_HOST_ROWS: u32 = 0xA4;
/// Requests to a destination that does not exist, or of a kind that the unit lacks.
pub const XDP_HOST_WILD: u32 = 0xA8;
/// Stores outside of metadata and packet, which the unit ignored: counted by row.
pub const XDP_HOST_STRAY: u32 = 0xAC;

// engines/xdp/regs/maps.rdl
/// Banks, as a power of two, [7:0]; rows of 16 bytes of each, as a power of two, [15:8]; maps, [23:16].
pub const MAPS_HOST_SHAPE: u32 = 0x0;
/// The request's fields beside its parts: see `info` in maps.md.
pub const MAPS_HOST_INFO: u32 = 0x4;
/// Written: sends a request of the operation [2:0], whose key has [6:4] parts, with [12:8] parts in all, as a processor
/// with the context [19:16]. Read: [0] the answer has not arrived, [1] a map is being made.
pub const MAPS_HOST_COMMAND: u32 = 0x8;
/// Written: makes the map of that number according to DESCRIPTOR. Its old entries are lost.
pub const MAPS_HOST_DEFINE: u32 = 0xC;
/// Five words that describe a map.
pub const MAPS_HOST_DESCRIPTOR: u32 = 0x10;
/// How many there are, 4 bytes apart.
pub const MAPS_HOST_DESCRIPTOR_COUNT: u32 = 0x5;
/// Word of the hash's seed, lower half.
pub const MAPS_HOST_SEED_LOW: u32 = 0x24;
/// Its upper half.
pub const MAPS_HOST_SEED_HIGH: u32 = 0x28;
/// Written: stores SEED_HIGH and SEED_LOW as the word of that number, 0 to 16. No map of keys may be in use.
pub const MAPS_HOST_SEED_AT: u32 = 0x2C;
/// Beats that card memory read or wrote with an error, since reset; stops at its largest value.
pub const MAPS_HOST_MEMORY_ERRORS: u32 = 0x30;
/// Parts of a request, four words each: of its key, then of its value. An answer is in the first two words; rows begin
/// at the first word.
pub const MAPS_HOST_DATA: u32 = 0x200;
/// How many there are, 4 bytes apart.
pub const MAPS_HOST_DATA_COUNT: u32 = 0x80;
