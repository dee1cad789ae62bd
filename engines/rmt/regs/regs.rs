// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by tools/regs.py from the .rdl files; change those.

#![allow(unreachable_pub, reason = "some crates export these registers, others do not")]

// engines/rmt/regs/rmt.rdl
/// Stages, [7:0]; depths of the parser, [15:8]; ways of an exact table, [23:16]; levels of a search tree, [31:24].
pub const RMT_BLOCK_SHAPE: u32 = 0x0;
/// As powers of two: buckets of a way, [7:0]; registers of a stage, [15:8]; leaves of a stage, [23:16]. Lanes, [31:24].
pub const RMT_BLOCK_SIZES: u32 = 0x4;
/// Row, [15:0], stage or depth, [23:16], and memory, [31:24], that COMMIT and DATA are for.
pub const RMT_BLOCK_SELECT: u32 = 0x8;
/// Written: the staged words are written to the selected row, all at once and between two frames.
pub const RMT_BLOCK_COMMIT: u32 = 0xC;
/// As powers of two: ternary rows of a stage, [7:0]; counters of a stage, [15:8]; meters of a stage, [23:16].
pub const RMT_BLOCK_MORE: u32 = 0x10;
/// Frames whose digests found no room on their way to the host, of all tenants, since the reset.
pub const RMT_BLOCK_LOST: u32 = 0x14;
/// Frames to controllers that found no room on their way to the host, of all tenants, since the reset.
pub const RMT_BLOCK_LOST_PACKETS: u32 = 0x18;
/// Frames whose clones found no room in their queue, of all tenants, since the reset.
pub const RMT_BLOCK_LOST_CLONES: u32 = 0x1C;
/// Stages with ternary tables, bit s for stage s, [11:0]; with trees of prefixes, [27:16].
pub const RMT_BLOCK_TABLES: u32 = 0x20;
/// Stages with meters, bit s for stage s, [11:0].
pub const RMT_BLOCK_METERS: u32 = 0x24;
/// High word of the counter whose low word was read last. LOST, LOST_PACKETS and LOST_CLONES have 64 bits; a read of
/// the low word, which has the counter's name, latches the high word here.
pub const RMT_BLOCK_COUNT_H: u32 = 0x28;
/// Words of a row. Written: the word is staged. Read: the word of the selected row, from the memory.
pub const RMT_BLOCK_DATA: u32 = 0x100;
/// How many there are, 4 bytes apart.
pub const RMT_BLOCK_DATA_COUNT: u32 = 0x20;
