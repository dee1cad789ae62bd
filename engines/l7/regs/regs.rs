// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by tools/regs.py from the .rdl files; change those.

#![allow(unreachable_pub, reason = "some crates export these registers, others do not")]

// engines/l7/regs/l7.rdl
/// Applications, [7:0]; matchers, [15:8]; rows, [31:16].
pub const L7_BLOCK_SHAPE: u32 = 0x0;
/// Messages in flight, [15:0]; pages of the message memory, [31:16].
pub const L7_BLOCK_LIMITS: u32 = 0x4;
/// A message that is not whole expires when no packet of it was accepted for this time, in units of 1,024 ns; 0: never.
pub const L7_BLOCK_TIMEOUT: u32 = 0x8;
/// Written: the staged words of ROW_WORDS become this row.
pub const L7_BLOCK_ROW: u32 = 0xC;
/// Cycles from the first beat that the block took while it was idle to the first decision behind it, the last time that
/// there was one; 65535: that many or more. For a message of one packet that comes alone, the cycles of its decision.
pub const L7_BLOCK_CYCLES: u32 = 0x10;
/// Messages of several packets that card memory has place for, of all applications; 0: messages in flight are on the
/// chip.
pub const L7_BLOCK_CARD: u32 = 0x14;
/// High word of the counter whose low word was read last. HITS and the applications' PACKETS to FAILED have 64 bits; a
/// read of the low word, which has the counter's name, latches the high word here.
pub const L7_BLOCK_COUNT_H: u32 = 0x18;
/// Packets of messages: UDP destination port, [15:0]; application number on the wire, [23:16]; tenant, [29:24];
/// application, [30]; valid, [31]. The lowest row that matches wins.
pub const L7_BLOCK_FILTER: u32 = 0x20;
/// How many there are, 4 bytes apart.
pub const L7_BLOCK_FILTER_COUNT: u32 = 0x8;
/// First branch of a message; index 32 * application + 16 * bank + type.
pub const L7_BLOCK_STARTS: u32 = 0x400;
/// How many there are, 4 bytes apart.
pub const L7_BLOCK_STARTS_COUNT: u32 = 0x40;
/// A row that is staged: alternative i in words 11 * i to 11 * i + 10, eight of value, then mask, control, branch; miss
/// branch in word 44; hash word in word 45.
pub const L7_BLOCK_ROW_WORDS: u32 = 0x1000;
/// How many there are, 4 bytes apart.
pub const L7_BLOCK_ROW_WORDS_COUNT: u32 = 0x2E;
/// Classes of eight byte values, the lowest in [3:0]; index 32 * (2 * application + bank) + value / 8.
pub const L7_BLOCK_CLASSES: u32 = 0x2000;
/// How many there are, 4 bytes apart.
pub const L7_BLOCK_CLASSES_COUNT: u32 = 0x80;
/// Decisions: kind, [2:0], 0 drop, 1 host queue, 2 unit, 3 dispatch by key, 4 port; bits of the group, [11:8]; in turn,
/// [12]; first number, [31:16].
pub const L7_BLOCK_DECISIONS: u32 = 0x10000;
/// How many there are, 4 bytes apart.
pub const L7_BLOCK_DECISIONS_COUNT: u32 = 0x2000;
/// Messages that got this decision. Written: the counter becomes this number, with the high word 0.
pub const L7_BLOCK_HITS: u32 = 0x18000;
/// How many there are, 4 bytes apart.
pub const L7_BLOCK_HITS_COUNT: u32 = 0x2000;

// engines/l7/regs/l7.rdl
/// Bank of rules for messages that enter from now on. A write answers with an error, and changes nothing, while OLD is
/// not 0.
pub const L7_APP_BANK: u32 = 0x0;
/// Messages that still run in the other bank.
pub const L7_APP_OLD: u32 = 0x4;
/// Matchers that serve the application, a bit each; after a reset all.
pub const L7_APP_MATCHERS: u32 = 0x8;
/// Share of pages of the message memory.
pub const L7_APP_PAGES_MAX: u32 = 0xC;
/// Share of messages in flight.
pub const L7_APP_MESSAGES_MAX: u32 = 0x10;
/// Pages in use.
pub const L7_APP_PAGES: u32 = 0x14;
/// Messages in flight.
pub const L7_APP_MESSAGES: u32 = 0x18;
/// Protocol of the application's messages, [2:0]: 0 QNP, 1 DNS, 2 memcached, 3 CoAP, 4 RADIUS, 5 QUIC; QUIC: bytes of a
/// connection ID in a short header, [12:8].
pub const L7_APP_PROTOCOL: u32 = 0x1C;
/// Packets accepted.
pub const L7_APP_PACKETS: u32 = 0x20;
/// Packets dropped: malformed.
pub const L7_APP_MALFORMED: u32 = 0x24;
/// Packets dropped: their number was received already.
pub const L7_APP_DUPLICATES: u32 = 0x28;
/// Packets dropped: the message would become too long.
pub const L7_APP_OVERSIZE: u32 = 0x2C;
/// Packets dropped: the share of pages or messages is used up, or the table has no place.
pub const L7_APP_REFUSED: u32 = 0x30;
/// Packets dropped: the window queue is full, or the queue of writes to card memory.
pub const L7_APP_BUSY: u32 = 0x34;
/// Messages delivered.
pub const L7_APP_DELIVERED: u32 = 0x38;
/// Messages that a rule dropped.
pub const L7_APP_DENIED: u32 = 0x3C;
/// Messages that expired.
pub const L7_APP_EXPIRED: u32 = 0x40;
/// Messages dropped after 128 steps without an end.
pub const L7_APP_STUCK: u32 = 0x44;
/// Messages dropped because card memory answered with an error, or not at all.
pub const L7_APP_FAILED: u32 = 0x48;
