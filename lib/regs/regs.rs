// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by tools/regs.py from the .rdl files; change those.

#![allow(unreachable_pub, reason = "some crates export these registers, others do not")]

// shell/regs/card.rdl
/// 0x50454E53, "PENS".
pub const CARD_MAGIC: u32 = 0x0;
/// Version of the register map: major [31:16], minor [15:0].
pub const CARD_VERSION: u32 = 0x4;
/// Ethernet ports.
pub const CARD_PORTS: u32 = 0x8;
/// Units.
pub const CARD_UNITS: u32 = 0xC;
/// Bytes of the longest frame that the card stores.
pub const CARD_MAX_FRAME: u32 = 0x10;
/// Bytes of the ingress buffer of a port.
pub const CARD_INGRESS_BYTES: u32 = 0x14;
/// Cycles since reset, low. Its read latches the high word.
pub const CARD_CYCLES_L: u32 = 0x18;
/// Cycles since reset, high.
pub const CARD_CYCLES_H: u32 = 0x1C;
/// Units that a write to the unit window reaches.
pub const CARD_UNIT_WRITE_MASK: u32 = 0x20;
/// Unit that a read of the unit window reaches.
pub const CARD_UNIT_READ: u32 = 0x24;
/// Ports that may receive; a frame that arrives at a disabled port is dropped and counted.
pub const CARD_PORT_ENABLE: u32 = 0x28;
/// Dispatch policy: 0 round robin, 1 least loaded (of a cluster), 2 flow hash (waits while the unit is full, see
/// UNIT_TIMEOUT), 3 flow hash that drops. A frame of which the inline chain names a unit or a key goes there under
/// every policy, and waits while the unit is full.
pub const CARD_POLICY: u32 = 0x30;
/// Units that the dispatcher gives frames to. A unit whose bit falls drains: its slots come back, none goes out. With a
/// flow hash policy change RETA first: frames for a disabled unit are dropped.
pub const CARD_UNIT_ENABLE: u32 = 0x34;
/// Units whose slots the dispatcher forgets, by writing ones; firmware declares them again. Only for drained or dead
/// units to which no frame is on its way over loopback: drain the units that send to it first.
pub const CARD_UNIT_FLUSH: u32 = 0x38;
/// Unit whose dispatcher state SLOTS_FREE and SLOTS_TOTAL show.
pub const CARD_SLOTS_UNIT: u32 = 0x3C;
/// Free slots of the unit SLOTS_UNIT.
pub const CARD_SLOTS_FREE: u32 = 0x40;
/// Slots that the unit SLOTS_UNIT has declared.
pub const CARD_SLOTS_TOTAL: u32 = 0x44;
/// Bytes of frame that a slot of the unit SLOTS_UNIT holds.
pub const CARD_SLOTS_SIZE: u32 = 0x48;
/// Units whose slots are all free.
pub const CARD_UNITS_IDLE: u32 = 0x4C;
/// Units that the dispatcher chooses among: enabled ones of these get the frames of ports and host, and those over
/// loopback to any unit. Others get what senders over loopback name them for. All after a reset.
pub const CARD_UNIT_INGRESS: u32 = 0x50;
/// Cycles for which an exit, a port or the host, may take nothing. After that, frames that find its buffers full are
/// dropped as unsent until it has sent all that it holds. 0: no limit. 4096 after a reset.
pub const CARD_EXIT_TIMEOUT: u32 = 0x54;
/// Cycles for which a full unit may give back no slot while the flow hash policy waits for it. After that, frames for
/// it are dropped as policy until it gives one back. Unless this is 0, a port whose ingress buffer is three quarters
/// full does not wait for a unit that has kept frames waiting for long, either. 0: frames wait for ever. 1048576 after
/// a reset.
pub const CARD_UNIT_TIMEOUT: u32 = 0x58;
/// Reads and writes of host memory that the card denied, because they had a byte outside the range of their unit. They
/// never reach the host, and the counters from HOST_READS to HOST_ERRORS do not count them.
pub const CARD_MEMORY_DENIED: u32 = 0x5C;
/// Reads of host memory that units have asked for and got.
pub const CARD_HOST_READS: u32 = 0x60;
/// Their bytes.
pub const CARD_HOST_READ_BYTES: u32 = 0x64;
/// Writes to host memory that units have asked for and that were answered.
pub const CARD_HOST_WRITES: u32 = 0x68;
/// Their bytes.
pub const CARD_HOST_WRITE_BYTES: u32 = 0x6C;
/// Reads and writes among them that the host refused, wholly or in part (SLVERR or DECERR).
pub const CARD_HOST_ERRORS: u32 = 0x70;
/// High word of the counter whose low word was read last: of a stream, or of host memory. Counters have 64 bits; a read
/// of the low word, which has the counter's name, latches the high word here, so both are of the same cycle.
pub const CARD_COUNT_H: u32 = 0x74;
/// Unit whose range of host memory the next four registers show and set.
pub const CARD_MEMORY_UNIT: u32 = 0x78;
/// First byte of the range, low. A read shows the range of the unit MEMORY_UNIT; writes of this register and the next
/// two take effect when MEMORY_LIMIT_H is written.
pub const CARD_MEMORY_BASE_L: u32 = 0x7C;
/// First byte of the range, high.
pub const CARD_MEMORY_BASE_H: u32 = 0x80;
/// Last byte of the range, low.
pub const CARD_MEMORY_LIMIT_L: u32 = 0x84;
/// Last byte of the range, high. Its write gives the unit MEMORY_UNIT the four words that were written last, all in one
/// cycle. A range whose base is above its limit is empty, as all are after a reset.
pub const CARD_MEMORY_LIMIT_H: u32 = 0x88;
/// Flow hash policies: entry i names the unit [4:0] of the frames whose hash ends in i (7 bits).
pub const CARD_RETA: u32 = 0x200;
/// How many there are, 4 bytes apart.
pub const CARD_RETA_COUNT: u32 = 0x80;
/// First of these.
pub const CARD_STREAM_BASE: u32 = 0x400;
/// Bytes from one to the next.
pub const CARD_STREAM_STRIDE: u32 = 0x40;
/// How many there are.
pub const CARD_STREAM_COUNT: u32 = 0x6;
/// Frames that entered whole.
pub const CARD_STREAM_RX_FRAMES: u32 = 0x0;
/// Their bytes.
pub const CARD_STREAM_RX_BYTES: u32 = 0x4;
/// Frames dropped at the port because the ingress buffer was full.
pub const CARD_STREAM_DROP_OVERFLOW: u32 = 0x8;
/// Frames dropped because they were longer than MAX_FRAME or than a slot, or became so in the inline chain.
pub const CARD_STREAM_DROP_OVERSIZE: u32 = 0xC;
/// Frames dropped because they were shorter than an Ethernet header.
pub const CARD_STREAM_DROP_RUNT: u32 = 0x10;
/// Frames dropped because they arrived damaged.
pub const CARD_STREAM_DROP_DAMAGED: u32 = 0x14;
/// Frames dropped because the port was disabled.
pub const CARD_STREAM_DROP_DISABLED: u32 = 0x18;
/// Frames dropped because their unit was full under the policy flow hash that drops, or, under the one that waits, for
/// longer than UNIT_TIMEOUT or while the ingress buffer was three quarters full, or because the unit that RETA, the
/// inline chain or the sender named was not enabled or had no slots; over loopback to any unit, because none took
/// frames.
pub const CARD_STREAM_DROP_POLICY: u32 = 0x1C;
/// Cycles in which a frame waited for a slot; of the loopback, without those in which the unit that its sender names
/// was full.
pub const CARD_STREAM_RX_STALLS: u32 = 0x20;
/// Frames that left.
pub const CARD_STREAM_TX_FRAMES: u32 = 0x24;
/// Their bytes.
pub const CARD_STREAM_TX_BYTES: u32 = 0x28;
/// Cycles in which the receiver of the outgoing stream was not ready.
pub const CARD_STREAM_TX_STALLS: u32 = 0x2C;
/// Rows that wait in the ingress buffer now, 128 bytes each at a port, 64 at the host; of the loopback, units that wait
/// for a place in another.
pub const CARD_STREAM_RX_LEVEL: u32 = 0x30;
/// Frames dropped at the exit because its receiver took nothing for more than EXIT_TIMEOUT cycles.
pub const CARD_STREAM_DROP_UNSENT: u32 = 0x34;

// shell/regs/inline.rdl
/// Blocks.
pub const INLINE_BLOCKS: u32 = 0x0;
/// Blocks that have frames in them, a bit each.
pub const INLINE_BUSY: u32 = 0x4;
/// The card's time in ns, low: 0 after a reset, and 4 more in each cycle. A read latches the high word; a write sets
/// both.
pub const INLINE_TIME_L: u32 = 0x8;
/// The card's time, high, at the last read of TIME_L. Written: takes effect with the next write to TIME_L.
pub const INLINE_TIME_H: u32 = 0xC;
/// 1: stops the card's time.
pub const INLINE_HOLD: u32 = 0x10;
/// Frames dropped after the last block because their verdict names a port, unit or queue that the card does not have.
pub const INLINE_REFUSED: u32 = 0x14;
/// The frames for the next write to TENANT: those whose first VLAN tag has this id, at these ports.
pub const INLINE_TENANT_VLAN: u32 = 0x18;
/// Written: the frames of TENANT_VLAN belong to this tenant from now on. A reset gives all frames to tenant 0; after
/// it, the write waits for up to 4096 cycles.
pub const INLINE_TENANT: u32 = 0x1C;
/// High word of the counter whose low word was read last: REFUSED, or one of a block. Counters have 64 bits; a read of
/// the low word, which has the counter's name, latches the high word here, so both are of the same cycle.
pub const INLINE_COUNT_H: u32 = 0x20;
/// First of these.
pub const INLINE_BLOCK_BASE: u32 = 0x100;
/// Bytes from one to the next.
pub const INLINE_BLOCK_STRIDE: u32 = 0x20;
/// How many there are.
pub const INLINE_BLOCK_COUNT: u32 = 0x8;
/// Number of the block's engine.
pub const INLINE_BLOCK_ENGINE: u32 = 0x0;
/// Frames that entered the block.
pub const INLINE_BLOCK_FRAMES: u32 = 0x4;
/// Frames that the block made.
pub const INLINE_BLOCK_MADE: u32 = 0x8;
/// Frames that ended in the block, as intended.
pub const INLINE_BLOCK_ABSORBED: u32 = 0xC;
/// Frames that the block's program dropped.
pub const INLINE_BLOCK_BLOCKED: u32 = 0x10;
/// Frames that the block dropped because they became longer than MAX_FRAME; they also count as DROP_OVERSIZE of their
/// port.
pub const INLINE_BLOCK_OVERSIZE: u32 = 0x14;
/// Frames that the block dropped because their destination does not exist.
pub const INLINE_BLOCK_REFUSED: u32 = 0x18;
/// Bursts of the block that were beyond its range of the card's memory.
pub const INLINE_BLOCK_MEMORY_ERRORS: u32 = 0x1C;
/// First of these.
pub const INLINE_RECORDS_BASE: u32 = 0x800;
/// Bytes from one to the next.
pub const INLINE_RECORDS_STRIDE: u32 = 0x100;
/// How many there are.
pub const INLINE_RECORDS_COUNT: u32 = 0x8;
/// A word of the oldest record from the block; 0 if no record waits. Word 0 has bytes 0 to 3.
pub const INLINE_RECORDS_HEAD: u32 = 0x0;
/// A word of a record to the block. The write of the last word sends it; without ROOM the write is an error.
pub const INLINE_RECORDS_SEND: u32 = 0x40;
/// Lower bound of the records that wait; 0 only if HEAD is empty.
pub const INLINE_RECORDS_LEVEL: u32 = 0x80;
/// Written: removes the record in HEAD. An error if HEAD is empty.
pub const INLINE_RECORDS_POP: u32 = 0x84;
/// 1: a record to the block can be sent.
pub const INLINE_RECORDS_ROOM: u32 = 0x88;

// shell/regs/unit.rdl
/// 1 holds the unit in reset: it declares no slots. Set after power-up, so that the host can load the unit's memories.
pub const UNIT_RESET: u32 = 0x0;
/// Any write raises the poke interrupt of the unit's program.
pub const UNIT_POKE: u32 = 0x4;
/// Any write raises the evict interrupt: the program is to finish its frames and say so in STATUS [1].
pub const UNIT_EVICT: u32 = 0x8;
/// Any write lets the time of the unit's programs go on from where it stands.
pub const UNIT_TIME_RUN: u32 = 0xC;
/// Debug word to the program, low.
pub const UNIT_DEBUG_IN_L: u32 = 0x10;
/// Debug word to the program, high.
pub const UNIT_DEBUG_IN_H: u32 = 0x14;
/// Time that the unit's programs see, in ns since the card's reset, low word. A write sets the time, with the high word
/// written last, and stops it. A read latches the high word.
pub const UNIT_TIME_L: u32 = 0x18;
/// The same, high word: of the next write of TIME_L; of the last read of it.
pub const UNIT_TIME_H: u32 = 0x1C;
/// Engine of the unit: up to four ASCII characters of its name, the first in [7:0], padded with 0.
pub const UNIT_ENGINE: u32 = 0x20;
/// Number of this unit.
pub const UNIT_ID: u32 = 0x24;
/// [0] unit in reset, [1] ready to evict, [2] interrupt taken and not returned.
pub const UNIT_STATUS: u32 = 0x28;
/// Error flags since reset; the engine says what its bits mean.
pub const UNIT_ERRORS: u32 = 0x2C;
/// Address of the last access to where nothing is.
pub const UNIT_ERROR_ADDR: u32 = 0x30;
/// Address of the instruction the core is at. A core that is halted goes on at the address written.
pub const UNIT_PC: u32 = 0x34;
/// Slots that hold a frame: bit n-1 is slot n.
pub const UNIT_ACTIVE_SLOTS: u32 = 0x38;
/// Cycles since the unit last released a slot while it held one, without those in which a debugger was at work (HALT
/// [1] is set, or the core is halted or in a step); 0 when it holds none.
pub const UNIT_HELD_CYCLES: u32 = 0x3C;
/// Debug word from the program, low.
pub const UNIT_DEBUG_OUT_L: u32 = 0x40;
/// Debug word from the program, high.
pub const UNIT_DEBUG_OUT_H: u32 = 0x44;
/// Frames received.
pub const UNIT_RX_FRAMES: u32 = 0x50;
/// Bytes received.
pub const UNIT_RX_BYTES: u32 = 0x54;
/// Cycles in which the unit said that it has no room for beats.
pub const UNIT_RX_STALLS: u32 = 0x58;
/// Frames sent.
pub const UNIT_TX_FRAMES: u32 = 0x5C;
/// Bytes sent.
pub const UNIT_TX_BYTES: u32 = 0x60;
/// Cycles in which a departing beat had to wait.
pub const UNIT_TX_STALLS: u32 = 0x64;
/// Frames that the program dropped.
pub const UNIT_BLOCKED: u32 = 0x68;
/// Frames dropped because the program named a destination that does not exist, or a length or place that does not fit.
pub const UNIT_REFUSED: u32 = 0x6C;
/// Frames that the program made. TX_FRAMES counts them, too, when they leave.
pub const UNIT_GENERATED: u32 = 0x74;
/// High word of the counter whose low word was read last, the engine's own ones included. Counters have 64 bits; a read
/// of the low word, which has the counter's name, latches the high word here, so both are of the same cycle.
pub const UNIT_COUNT_H: u32 = 0x78;
/// [0] 1 halts the core before its next instruction, also in a load that waits and after a reset, and ends a step in a
/// load that waits; 0 lets it go on. [1] The breakpoint instruction halts the core and is no exception.
pub const UNIT_HALT: u32 = 0x80;
/// Any write has a halted core carry out one instruction and halt again. No interrupt is taken then; an exception is
/// one instruction. A load that waits is waited for.
pub const UNIT_STEP: u32 = 0x84;
/// 0 when the core runs or is in a step, else what has halted it: 1 HALT, 2 a breakpoint instruction, 3 a step's end.
pub const UNIT_HALTED: u32 = 0x88;
/// Word that core and host share, for debuggers.
pub const UNIT_DATA: u32 = 0x8C;
