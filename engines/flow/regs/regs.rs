// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by tools/regs.py from the .rdl files; change those.

#![allow(unreachable_pub, reason = "some crates export these registers, others do not")]

// engines/flow/regs/flow.rdl
/// Elements.
pub const FLOW_BLOCK_ELEMENTS: u32 = 0x0;
/// Places of an element's table of contexts.
pub const FLOW_BLOCK_CONTEXTS: u32 = 0x4;

// engines/flow/regs/flow.rdl
/// Places of the table, as a power of two, [7:0]; the element's number in the block, [15:8]; words of a program,
/// [31:16].
pub const FLOW_HOST_SHAPE: u32 = 0x0;
/// [0] All words of a program have arrived; [1] a change is in progress; [2] the operation has no answer yet; [3] the
/// last operation found a context; [4] the table is full; [5] an event waits.
pub const FLOW_HOST_STATUS: u32 = 0x4;
/// Written: the next word of a program is its first.
pub const FLOW_HOST_BEGIN: u32 = 0x8;
/// Written: a word of a program, which takes effect when it is complete and committed.
pub const FLOW_HOST_PROGRAM: u32 = 0xC;
/// Written: between two frames, in this order, [0] commits the complete program, [1] removes all contexts, [2] gives
/// global registers their first values, [3] ends all contexts whose time is over, with a cycle for each place.
pub const FLOW_HOST_CHANGE: u32 = 0x10;
/// Written: a word of the table's secret, lowest first; the secret has 325 bits and twice those of an address in a way.
/// The table must be empty.
pub const FLOW_HOST_SECRET: u32 = 0x14;
/// Written: begins an operation on contexts: 0 reads the context at PLACE (entries move while the stash is not empty),
/// 1 finds the context of KEY, 2 gives KEY a context, 3 removes it. The last operation must have ended.
pub const FLOW_HOST_COMMAND: u32 = 0x18;
/// The place to read: address [17:0] of way [21:20]; with [31] set, slot [23:20] of the stash.
pub const FLOW_HOST_PLACE: u32 = 0x1C;
/// Contexts in the table.
pub const FLOW_HOST_CONTEXTS: u32 = 0x20;
/// Entries of the stash, [7:0]; their maximum so far, [15:8]. Written: restarts the maximum.
pub const FLOW_HOST_STASH: u32 = 0x24;
/// Frames that the element took.
pub const FLOW_HOST_FRAMES: u32 = 0x28;
/// Frames that lack a field of the key.
pub const FLOW_HOST_KEYLESS: u32 = 0x2C;
/// Frames that match no row.
pub const FLOW_HOST_UNMATCHED: u32 = 0x30;
/// Frames whose context found no room: the table is full, or their places and the stash are full.
pub const FLOW_HOST_UNKEPT: u32 = 0x34;
/// Contexts whose time was over.
pub const FLOW_HOST_EXPIRED: u32 = 0x38;
/// Contexts that gave way to others.
pub const FLOW_HOST_EVICTED: u32 = 0x3C;
/// Times that an entry went to another place of the table.
pub const FLOW_HOST_MOVED: u32 = 0x40;
/// Events that found their queue full.
pub const FLOW_HOST_EVENTS_LOST: u32 = 0x44;
/// Table: ways, [7:0]; slots of the stash, [15:8]; bits of the secret, [31:16].
pub const FLOW_HOST_TABLE: u32 = 0x48;
/// Contexts for which the table has room.
pub const FLOW_HOST_ROOM: u32 = 0x4C;
/// Kinds of events that go into the queue, as EVENT names them; all after a reset. Other events are not kept and do not
/// count as lost.
pub const FLOW_HOST_TELL: u32 = 0x50;
/// High word of the counter whose low word was read last. FRAMES to EVENTS_LOST and ROWS have 64 bits; a read of the
/// low word, which has the counter's name, latches the high word here.
pub const FLOW_HOST_COUNT_H: u32 = 0x54;
/// Global registers. Written between two frames; no change may be in progress.
pub const FLOW_HOST_GLOBALS: u32 = 0x60;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_GLOBALS_COUNT: u32 = 0x8;
/// Key of the operation, lowest word first; after it, the key of the context that was read.
pub const FLOW_HOST_KEY: u32 = 0x80;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_KEY_COUNT: u32 = 0xA;
/// State of the context that is given, or that was found.
pub const FLOW_HOST_STATE: u32 = 0xA8;
/// Its registers.
pub const FLOW_HOST_REGISTERS: u32 = 0xAC;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_REGISTERS_COUNT: u32 = 0x4;
/// Its deadlines: the hard one, then the idle one. [0] The deadline is set; [3:1] number of the timeout, which defines
/// the next state.
pub const FLOW_HOST_TIMEOUT: u32 = 0xBC;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_TIMEOUT_COUNT: u32 = 0x2;
/// Times of the deadlines, in us.
pub const FLOW_HOST_DEADLINE: u32 = 0xC4;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_DEADLINE_COUNT: u32 = 0x2;
/// Frames by the row that they matched, since the program was committed.
pub const FLOW_HOST_ROWS: u32 = 0x100;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_ROWS_COUNT: u32 = 0x40;
/// The oldest event: [0] expired, [1] evicted, [2] new, [3] the last place was taken, [4] notified; 0: the queue is
/// empty. Several bits belong to one frame, in this order. Written: removes the event from the queue.
pub const FLOW_HOST_EVENT: u32 = 0x200;
/// Time of the event, in us.
pub const FLOW_HOST_EVENT_TIME: u32 = 0x204;
/// Key (ten words), state and registers of the flow after the frame.
pub const FLOW_HOST_EVENT_FLOW: u32 = 0x208;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_EVENT_FLOW_COUNT: u32 = 0xF;
/// The same for the context that has expired or was evicted, with its old values.
pub const FLOW_HOST_EVENT_GONE: u32 = 0x244;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_EVENT_GONE_COUNT: u32 = 0xF;
