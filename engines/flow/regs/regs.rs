// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by tools/regs.py from the .rdl files; change those.

// engines/flow/regs/flow.rdl
/// Elements.
pub const FLOW_BLOCK_ELEMENTS: u32 = 0x0;
/// Places of an element's table of contexts.
pub const FLOW_BLOCK_CONTEXTS: u32 = 0x4;

// engines/flow/regs/flow.rdl
/// Places of the table, as a power of two, [7:0]; the element's number in the block, [15:8]; words of a program, [31:16].
pub const FLOW_HOST_SHAPE: u32 = 0x0;
/// [0] All words of a program are there; [1] a change is being made; [2] the operation has no answer yet; [3] the last one found a context; [4] the table is full; [5] an event waits.
pub const FLOW_HOST_STATUS: u32 = 0x4;
/// Written: the next word of a program is its first.
pub const FLOW_HOST_BEGIN: u32 = 0x8;
/// Written: a word of a program, which changes nothing before it is complete and committed.
pub const FLOW_HOST_PROGRAM: u32 = 0xC;
/// Written: between two frames, [0] the program that is complete is committed, [1] all contexts are removed, [2] global registers get their first values, [3] contexts whose time is over end, wherever they are: a cycle for each place. In this order.
pub const FLOW_HOST_CHANGE: u32 = 0x10;
/// Written: a word of the table's secret, lowest first; the secret has 325 bits and twice those of an address in a way. The table must be empty.
pub const FLOW_HOST_SECRET: u32 = 0x14;
/// Written: begins an operation on contexts: 0 reads what lies at PLACE (entries move while the stash has some), 1 finds the context of KEY, 2 gives KEY a context, 3 removes it. None may be under way.
pub const FLOW_HOST_COMMAND: u32 = 0x18;
/// What is read: an address in a way, [17:0], of the way [21:20]; with [31] of the stash the slot [23:20].
pub const FLOW_HOST_PLACE: u32 = 0x1C;
/// Contexts in the table.
pub const FLOW_HOST_CONTEXTS: u32 = 0x20;
/// Entries of the stash, [7:0]; the most that there were, [15:8]. Written: that begins anew.
pub const FLOW_HOST_STASH: u32 = 0x24;
/// Frames that the element took.
pub const FLOW_HOST_FRAMES: u32 = 0x28;
/// Frames that lack a field of the key.
pub const FLOW_HOST_KEYLESS: u32 = 0x2C;
/// Frames that no row fits.
pub const FLOW_HOST_UNMATCHED: u32 = 0x30;
/// Frames whose context found no room: the table is full, or their places and the stash are.
pub const FLOW_HOST_UNKEPT: u32 = 0x34;
/// Contexts whose time was over.
pub const FLOW_HOST_EXPIRED: u32 = 0x38;
/// Contexts that gave way to others.
pub const FLOW_HOST_EVICTED: u32 = 0x3C;
/// Times that an entry went to another place of the table.
pub const FLOW_HOST_MOVED: u32 = 0x40;
/// Events that found their queue full.
pub const FLOW_HOST_EVENTS_LOST: u32 = 0x44;
/// Of the table: ways, [7:0]; slots of the stash, [15:8]; bits of the secret, [31:16].
pub const FLOW_HOST_TABLE: u32 = 0x48;
/// Contexts for which the table has room.
pub const FLOW_HOST_ROOM: u32 = 0x4C;
/// Kinds of events that go into the queue, as EVENT names them; all after a reset. Of others nothing is kept, and they are not lost.
pub const FLOW_HOST_TELL: u32 = 0x50;
/// Global registers. Written between two frames; no change may be under way.
pub const FLOW_HOST_GLOBALS: u32 = 0x60;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_GLOBALS_COUNT: u32 = 0x8;
/// Key of the operation, lowest word first; behind it, that of what was read.
pub const FLOW_HOST_KEY: u32 = 0x80;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_KEY_COUNT: u32 = 0xA;
/// State of the context: that is given, or that was found.
pub const FLOW_HOST_STATE: u32 = 0xA8;
/// Its registers.
pub const FLOW_HOST_REGISTERS: u32 = 0xAC;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_REGISTERS_COUNT: u32 = 0x4;
/// Its deadlines: the hard one, then the idle one. [0] There is one; [3:1] number of the timeout, which says where it leads.
pub const FLOW_HOST_TIMEOUT: u32 = 0xBC;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_TIMEOUT_COUNT: u32 = 0x2;
/// When they are over, in us.
pub const FLOW_HOST_DEADLINE: u32 = 0xC4;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_DEADLINE_COUNT: u32 = 0x2;
/// Frames by the row that they took; since the program was committed.
pub const FLOW_HOST_ROWS: u32 = 0x100;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_ROWS_COUNT: u32 = 0x40;
/// The oldest event: [0] expired, [1] evicted, [2] new, [3] the last place was taken, [4] notified; 0: none waits. Several in this order are of one frame. Written: takes it out of the queue.
pub const FLOW_HOST_EVENT: u32 = 0x200;
/// When it was, in us.
pub const FLOW_HOST_EVENT_TIME: u32 = 0x204;
/// Key (ten words), state and registers of the flow, as the frame has left it.
pub const FLOW_HOST_EVENT_FLOW: u32 = 0x208;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_EVENT_FLOW_COUNT: u32 = 0xF;
/// The same of the context that has expired or was evicted, as it was.
pub const FLOW_HOST_EVENT_GONE: u32 = 0x244;
/// How many there are, 4 bytes apart.
pub const FLOW_HOST_EVENT_GONE_COUNT: u32 = 0xF;
