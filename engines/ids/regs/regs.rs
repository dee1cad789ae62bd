// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by tools/regs.py from the .rdl files; change those.

#![allow(unreachable_pub, reason = "some crates export these registers, others do not")]

// engines/ids/regs/ids.rdl
/// Ports, [3:0]; powers of two: entries of a way of the exact table, [12:8]; sets of flow lines, [20:16]; rows of a
/// log, [28:24].
pub const IDS_BLOCK_SHAPE: u32 = 0x0;
/// [0] IPS mode; [1] late frames are dropped; [2] directions of which a frame was told for a string are followed; [3]
/// bank of the exact table in use; [4] frames are searched, else they pass.
pub const IDS_BLOCK_CONTROL: u32 = 0x4;
/// [0] A clear is under way; [1] a frame is searched in the other bank.
pub const IDS_BLOCK_STATUS: u32 = 0x8;
/// Frames that are told whatever the filter finds: [0] TCP with payload, [1] TCP without, [2] UDP, [3] ICMP, [4] other
/// IP, [5] not IP, [6] TCP with SYN, FIN or RST.
pub const IDS_BLOCK_TELL: u32 = 0xC;
/// How long a frame is held, in ns.
pub const IDS_BLOCK_TIMEOUT: u32 = 0x10;
/// Age of an idle flow at which a SYN begins a new one, in units of 2^28 ns.
pub const IDS_BLOCK_AGE: u32 = 0x14;
/// Written: [0] the bitmaps are cleared, [1] the bank of the exact table that is not in use, [2] all flow lines. [0]
/// and [2] only while frames are not searched.
pub const IDS_BLOCK_CLEAR: u32 = 0x18;
/// Written: an entry of a bitmap: index, [15:0]; bitmap, [17:16]; value, [21:20].
pub const IDS_BLOCK_BITMAP: u32 = 0x1C;
/// Window word A of the entry to write: its first four bytes.
pub const IDS_BLOCK_KEY_L: u32 = 0x20;
/// Window word B: its last four bytes.
pub const IDS_BLOCK_KEY_H: u32 = 0x24;
/// Written: the entry goes to PLACE in the bank that is not in use: id, [15:0]; length of the key, [19:16].
pub const IDS_BLOCK_ENTRY: u32 = 0x28;
/// Place in the exact table: index, [15:0]; way, [17:16].
pub const IDS_BLOCK_PLACE: u32 = 0x2C;
/// The oldest told frame: [31] there is one; port, [30:29]; position of its record, [28:0]. Written: it is removed.
pub const IDS_BLOCK_RECORD: u32 = 0x30;
/// Written: a verdict: ticket, [15:0]; port, [17:16]; drop, [31].
pub const IDS_BLOCK_VERDICT: u32 = 0x34;
/// Written: a direction is followed no longer, if its last record is that in SEEN: line, [31:27] and [15:0]; direction,
/// [16]; generation, [24:20]; port of that record, [26:25].
pub const IDS_BLOCK_RELEASE: u32 = 0x38;
/// Written: a direction is followed from now on, until RELEASE: as there.
pub const IDS_BLOCK_FOLLOW: u32 = 0x3C;
/// Position of the row that the log of a port gets next.
pub const IDS_BLOCK_LOG_HEAD: u32 = 0x40;
/// How many there are, 4 bytes apart.
pub const IDS_BLOCK_LOG_HEAD_COUNT: u32 = 0x4;
/// Told frames for which the queue of records had no room.
pub const IDS_BLOCK_LOST_RECORDS: u32 = 0x50;
/// Flow lines that were taken from another flow.
pub const IDS_BLOCK_EVICTED: u32 = 0x54;
/// Flow lines that were given to a flow.
pub const IDS_BLOCK_FLOWS: u32 = 0x58;
/// Held frames on which the policy decided.
pub const IDS_BLOCK_LATE: u32 = 0x5C;
/// Frames of a port that were decided.
pub const IDS_BLOCK_FRAMES: u32 = 0x60;
/// How many there are, 4 bytes apart.
pub const IDS_BLOCK_FRAMES_COUNT: u32 = 0x4;
/// Frames of FRAMES that were reported to the host.
pub const IDS_BLOCK_TOLD: u32 = 0x70;
/// How many there are, 4 bytes apart.
pub const IDS_BLOCK_TOLD_COUNT: u32 = 0x4;
/// Reported frames in which the filter found a string.
pub const IDS_BLOCK_STRINGS: u32 = 0x80;
/// How many there are, 4 bytes apart.
pub const IDS_BLOCK_STRINGS_COUNT: u32 = 0x4;
/// Reported frames with more hits than the card could look up.
pub const IDS_BLOCK_UNCHECKED: u32 = 0x90;
/// How many there are, 4 bytes apart.
pub const IDS_BLOCK_UNCHECKED_COUNT: u32 = 0x4;
/// Beats of a port that were searched.
pub const IDS_BLOCK_SEARCHED: u32 = 0xA0;
/// How many there are, 4 bytes apart.
pub const IDS_BLOCK_SEARCHED_COUNT: u32 = 0x4;
/// Datagrams that are told whatever the filter finds, for they may carry a packet: port, [15:0]; it is the destination,
/// [16]; it is the source, [17].
pub const IDS_BLOCK_TUNNEL: u32 = 0xC0;
/// How many there are, 4 bytes apart.
pub const IDS_BLOCK_TUNNEL_COUNT: u32 = 0x8;
/// Flow lines that were read from card memory.
pub const IDS_BLOCK_FETCHED: u32 = 0xE0;
/// Reads and writes of flow lines that card memory answered with an error.
pub const IDS_BLOCK_MEMORY_ERRORS: u32 = 0xE4;
/// Position of the record that RELEASE is about.
pub const IDS_BLOCK_SEEN: u32 = 0xE8;
/// High word of the counter whose low word was read last. Counters have 64 bits; a read of the low word, which has the
/// counter's name, latches the high word here.
pub const IDS_BLOCK_COUNT_H: u32 = 0xEC;
