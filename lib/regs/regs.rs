// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by tools/regs.py from the .rdl files; change those.

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
/// Dispatch policy: 0 round robin, 1 least loaded (of a cluster), 2 flow hash (waits while the unit is full, see UNIT_TIMEOUT), 3 flow hash that drops.
pub const CARD_POLICY: u32 = 0x30;
/// Units that the dispatcher gives frames to. A unit whose bit falls drains: its slots come back, none goes out. With a flow hash policy change RETA first: frames for a disabled unit are dropped.
pub const CARD_UNIT_ENABLE: u32 = 0x34;
/// Units whose slots the dispatcher forgets, by writing ones; firmware declares them again. Only for drained or dead units to which no frame is on its way over loopback: drain the units that send to it first.
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
/// Units that the dispatcher chooses among: enabled ones of these get the frames of ports and host, and those over loopback to any unit. Others get what senders over loopback name them for. All after a reset.
pub const CARD_UNIT_INGRESS: u32 = 0x50;
/// Cycles for which an exit, a port or the host, may take nothing. After that, frames that find its buffers full are dropped as unsent until it has sent all that it holds. 0: no limit. 8192 after a reset.
pub const CARD_EXIT_TIMEOUT: u32 = 0x54;
/// Cycles for which a full unit may give back no slot while the flow hash policy waits for it. After that, frames for it are dropped as policy until it gives one back. 0: no limit. 1048576 after a reset.
pub const CARD_UNIT_TIMEOUT: u32 = 0x58;
/// Reads of host memory that units have asked for and got.
pub const CARD_HOST_READS: u32 = 0x60;
/// Their bytes, low 32 bits.
pub const CARD_HOST_READ_BYTES: u32 = 0x64;
/// Writes to host memory that units have asked for and that were answered.
pub const CARD_HOST_WRITES: u32 = 0x68;
/// Their bytes, low 32 bits.
pub const CARD_HOST_WRITE_BYTES: u32 = 0x6C;
/// Reads and writes among them that the host refused, wholly or in part (SLVERR or DECERR).
pub const CARD_HOST_ERRORS: u32 = 0x70;
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
/// Their bytes, low 32 bits.
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
/// Frames dropped because their unit was full under the policy flow hash that drops, or for longer than UNIT_TIMEOUT under the one that waits, or because the unit that RETA or the sender named was not enabled or had no slots; over loopback to any unit, because none took frames.
pub const CARD_STREAM_DROP_POLICY: u32 = 0x1C;
/// Cycles in which a frame waited for a slot; of the loopback, without those in which the unit that its sender names was full.
pub const CARD_STREAM_RX_STALLS: u32 = 0x20;
/// Frames that left.
pub const CARD_STREAM_TX_FRAMES: u32 = 0x24;
/// Their bytes, low 32 bits.
pub const CARD_STREAM_TX_BYTES: u32 = 0x28;
/// Cycles in which the receiver of the outgoing stream was not ready.
pub const CARD_STREAM_TX_STALLS: u32 = 0x2C;
/// Rows that wait in the ingress buffer now, 128 bytes each at a port, 64 at the host; of the loopback, units that wait for a place in another.
pub const CARD_STREAM_RX_LEVEL: u32 = 0x30;
/// Frames dropped at the exit because its receiver took nothing for more than EXIT_TIMEOUT cycles.
pub const CARD_STREAM_DROP_UNSENT: u32 = 0x34;

// shell/regs/inline.rdl
/// Elements.
pub const INLINE_ELEMENTS: u32 = 0x0;
/// Places of an element's table of contexts.
pub const INLINE_CONTEXTS: u32 = 0x4;
/// Frames that have gone through the chain.
pub const INLINE_FRAMES: u32 = 0x8;
/// Frames among them that its programs dropped.
pub const INLINE_BLOCKED: u32 = 0xC;
/// Frames among them that its programs sent to ports that the card has not.
pub const INLINE_REFUSED: u32 = 0x10;
/// Clock of all elements in us, modulo 2^32: 0 after a reset, and then it follows the card's cycles.
pub const INLINE_TIME: u32 = 0x14;
/// 1: the clock stands still.
pub const INLINE_HOLD: u32 = 0x18;

// engines/rpu/regs/rpu.rdl
/// Descriptor to send, low word: length [15:0], slot [23:16], port [31:24].
pub const RPU_CORE_SEND_DESC_LOW: u32 = 0x8;
/// Descriptor to send, high word: address of the first byte; one outside packet memory means the slot's own place. Its write sends what SEND_DESC_TYPE says. With slot 0 and type 0 it sends a frame that the program made: the bytes at the address, which must be in packet memory, to an Ethernet port or the host. Such a frame has no slot and gives none back. One of them, or one request to host memory, may wait in the unit; the write of another one holds the core until that has begun to leave.
pub const RPU_CORE_SEND_DESC_HIGH: u32 = 0xC;
/// Address in host memory of the next SEND_DESC of type 4 or 5, low word. Its write holds the core while an earlier one waits in the unit.
pub const RPU_CORE_DRAM_ADDR_LOW: u32 = 0x10;
/// The same, high word.
pub const RPU_CORE_DRAM_ADDR_HIGH: u32 = 0x14;
/// Address that the next UPDATE_SLOT gives to a slot.
pub const RPU_CORE_SLOT_ADDR: u32 = 0x18;
/// Cycles between two timer interrupts; 0 stops the timer.
pub const RPU_CORE_TIMER_INTERVAL: u32 = 0x1C;
/// Gives all host memory flags the values written.
pub const RPU_CORE_DRAM_FLAG_WR: u32 = 0x20;
/// 1: the host may evict this unit.
pub const RPU_CORE_READY_TO_EVICT: u32 = 0x24;
/// What a write to SEND_DESC_HIGH does: 0 send a frame, 1 release a slot without sending, 2 to another unit, 3 declare slots (length = bytes a slot holds, slot = how many; refused while any slot holds a frame), 4 write length bytes from the address to host memory at DRAM_ADDR, 5 read them from there: the slot field is a tag, 1..32, and no slot is given up. One such request may wait in the unit, or one frame without a slot; another one holds the core until it has left.
pub const RPU_CORE_SEND_DESC_TYPE: u32 = 0x28;
/// Any write takes the oldest descriptor off the receive queue.
pub const RPU_CORE_RECV_DESC_RELEASE: u32 = 0x2C;
/// Lowers the host memory flag of tag [5:0].
pub const RPU_CORE_DRAM_FLAG_RST: u32 = 0x30;
/// Gives SLOT_ADDR to slot [5:0]: the frame's place in packet memory, or with [8] set the place of its header copy in data memory, a multiple of 32 below the broadcast region. Other places raise interrupt 11.
pub const RPU_CORE_UPDATE_SLOT: u32 = 0x34;
/// Interrupt mask; 1 lets the interrupt through. Bits as in INTERRUPT_FLAGS.
pub const RPU_CORE_MASK_WRITE: u32 = 0x38;
/// Acknowledges the interrupts whose bits are 1.
pub const RPU_CORE_INTERRUPT_ACK: u32 = 0x3C;
/// Debug word to the host, low.
pub const RPU_CORE_DEBUG_OUT_L: u32 = 0x40;
/// Debug word to the host, high.
pub const RPU_CORE_DEBUG_OUT_H: u32 = 0x44;
/// Messages are queued of broadcast words whose address in the region [12:2], ANDed with this, is BC_FILTER_VALUE.
pub const RPU_CORE_BC_FILTER_MASK: u32 = 0x48;
/// See BC_FILTER_MASK.
pub const RPU_CORE_BC_FILTER_VALUE: u32 = 0x4C;
/// 1: queue messages. 0 forgets those that wait, one a cycle: OCCUPANCY says how many are left.
pub const RPU_CORE_BC_LISTEN: u32 = 0x50;
/// Any write takes the oldest message off the queue.
pub const RPU_CORE_BC_RELEASE: u32 = 0x54;
/// Oldest received descriptor, low word; stays until RECV_DESC_RELEASE. 0 when there is none.
pub const RPU_CORE_RECV_DESC_LOW: u32 = 0x80;
/// Oldest received descriptor, high word: address of the frame in packet memory.
pub const RPU_CORE_RECV_DESC_HIGH: u32 = 0x84;
/// Host memory flags: bit n-1 rises when the request with tag n is done, written or read to the last byte.
pub const RPU_CORE_DRAM_FLAGS: u32 = 0x88;
/// Byte flags, 1 when ready: [0] a received descriptor waits, [8] SEND_DESC_HIGH takes a write at once (with the SEND_DESC_TYPE and the slot that are set), [16] slot set-up takes a write, [24] message to a core takes a write.
pub const RPU_CORE_READY: u32 = 0x8C;
/// Number of this unit.
pub const RPU_CORE_CORE_ID: u32 = 0x90;
/// Cycles since reset, low. Its read latches the high word.
pub const RPU_CORE_TIMER_L: u32 = 0x94;
/// Cycles since reset, high, as latched by the last read of TIMER_L.
pub const RPU_CORE_TIMER_H: u32 = 0x98;
/// Pending interrupts: 0 timer, 1 packet, 2 host memory, 3 broadcast, 4 poke, 5 evict; errors, which the mask cannot hide: 8 wild address, 9 bad descriptor (slot not held; without a slot, no frame where the address is), 10 bad destination (without a slot, also another unit), 11 bad slot set-up, 12 accelerator, 13 host memory refused a request.
pub const RPU_CORE_INTERRUPT_FLAGS: u32 = 0x9C;
/// Interrupt mask.
pub const RPU_CORE_MASK_READ: u32 = 0xA0;
/// Bytes of instruction memory.
pub const RPU_CORE_IMEM_SIZE: u32 = 0xA4;
/// Bytes of data memory.
pub const RPU_CORE_DMEM_SIZE: u32 = 0xA8;
/// Bytes of packet memory.
pub const RPU_CORE_PMEM_SIZE: u32 = 0xAC;
/// Bytes of a packet memory segment.
pub const RPU_CORE_SEG_SIZE: u32 = 0xB0;
/// Number of packet memory segments.
pub const RPU_CORE_SEG_COUNT: u32 = 0xB4;
/// Bytes of the broadcast region.
pub const RPU_CORE_BC_SIZE: u32 = 0xB8;
/// Slots that a unit may declare.
pub const RPU_CORE_MAX_SLOTS: u32 = 0xBC;
/// Debug word from the host, low.
pub const RPU_CORE_DEBUG_IN_L: u32 = 0xC0;
/// Debug word from the host, high.
pub const RPU_CORE_DEBUG_IN_H: u32 = 0xC4;
/// BC_FILTER_MASK.
pub const RPU_CORE_BC_FILTER_MASK_READ: u32 = 0xC8;
/// BC_FILTER_VALUE.
pub const RPU_CORE_BC_FILTER_VALUE_READ: u32 = 0xCC;
/// Address of the word of the oldest message, 0 when there is none. Read the word after it: an address stands here once for all that came before it was read.
pub const RPU_CORE_BC_ADDR: u32 = 0xD0;
/// [7:0] messages that wait behind the oldest, at most 255; [15:8] broadcast words of this unit in its queue; one more may wait at the output, and others be on their way; [16] a frame that was sent without a slot has not been read to its end.
pub const RPU_CORE_OCCUPANCY: u32 = 0xD4;
/// Slots that hold a frame: bit n-1 is slot n.
pub const RPU_CORE_ACTIVE_SLOTS: u32 = 0xD8;
/// Waits in hardware until a frame is there, takes it off the queue and returns its descriptor: length [15:0], slot [23:16], port [31:24].
pub const RPU_CORE_RECV: u32 = 0x100;
/// Address in data memory of the header copy of the frame that RECV returned last.
pub const RPU_CORE_RECV_HDR: u32 = 0x104;
/// Sends, in one store: length [15:0] (0 drops), slot [23:16], port [31:24]. The address follows from the slot.
pub const RPU_CORE_SEND: u32 = 0x108;
/// Address in packet memory of the frame that RECV returned last.
pub const RPU_CORE_RECV_DATA: u32 = 0x10C;
/// Flow hash of the frame that RECV returned last.
pub const RPU_CORE_RECV_HASH: u32 = 0x110;
/// Cycle, modulo 2^32, in which the frame that RECV returned last entered the card.
pub const RPU_CORE_RECV_TIME: u32 = 0x114;
/// Accelerators in this unit, a bit each, as the host sees them (ACCEL of rpu_host).
pub const RPU_CORE_ACCEL: u32 = 0x118;
/// Word that core and host share: DATA of the host's registers. For debuggers; a program has no use for it.
pub const RPU_CORE_DATA: u32 = 0x11C;

// engines/rpu/regs/rpu.rdl
/// 1 holds the core in reset. Set after power-up, so that memories can be loaded.
pub const RPU_HOST_RESET: u32 = 0x0;
/// Any write raises the poke interrupt.
pub const RPU_HOST_POKE: u32 = 0x4;
/// Any write raises the evict interrupt.
pub const RPU_HOST_EVICT: u32 = 0x8;
/// Debug word to the firmware, low.
pub const RPU_HOST_DEBUG_IN_L: u32 = 0x10;
/// Debug word to the firmware, high.
pub const RPU_HOST_DEBUG_IN_H: u32 = 0x14;
/// Engine: 0x00757072, "rpu".
pub const RPU_HOST_ENGINE: u32 = 0x20;
/// Number of this unit.
pub const RPU_HOST_UNIT_ID: u32 = 0x24;
/// [0] core in reset, [1] ready to evict, [2] interrupt taken and not returned.
pub const RPU_HOST_STATUS: u32 = 0x28;
/// Error flags since reset, bits as in INTERRUPT_FLAGS.
pub const RPU_HOST_ERRORS: u32 = 0x2C;
/// Address of the last access that was wild.
pub const RPU_HOST_ERROR_ADDR: u32 = 0x30;
/// Address of the instruction the core is at. A core that is halted goes on at the address written, modulo 64 KiB.
pub const RPU_HOST_PC: u32 = 0x34;
/// Slots that hold a frame.
pub const RPU_HOST_ACTIVE_SLOTS: u32 = 0x38;
/// Cycles since the unit last released a slot while it held one, without those in which a debugger was at work (HALT [1] is set, or the core is halted or in a step); 0 when it holds none.
pub const RPU_HOST_HELD_CYCLES: u32 = 0x3C;
/// Debug word from the firmware, low.
pub const RPU_HOST_DEBUG_OUT_L: u32 = 0x40;
/// Debug word from the firmware, high.
pub const RPU_HOST_DEBUG_OUT_H: u32 = 0x44;
/// Frames received.
pub const RPU_HOST_RX_FRAMES: u32 = 0x50;
/// Bytes received, low 32 bits.
pub const RPU_HOST_RX_BYTES: u32 = 0x54;
/// Cycles in which the unit said that it has no room for beats.
pub const RPU_HOST_RX_STALLS: u32 = 0x58;
/// Frames sent.
pub const RPU_HOST_TX_FRAMES: u32 = 0x5C;
/// Bytes sent, low 32 bits.
pub const RPU_HOST_TX_BYTES: u32 = 0x60;
/// Cycles in which a departing beat had to wait.
pub const RPU_HOST_TX_STALLS: u32 = 0x64;
/// Frames that the program dropped: length 0, or slot released without sending.
pub const RPU_HOST_BLOCKED: u32 = 0x68;
/// Frames dropped because the program's descriptor was refused: destination or type that does not exist, too long, or a pointer to where no frame may start.
pub const RPU_HOST_REFUSED: u32 = 0x6C;
/// Accelerators in this unit, a bit each: 0 ip_prefix, 1 flow_hash, 2 checksum, 3 crc32, 4 string_match.
pub const RPU_HOST_ACCEL: u32 = 0x70;
/// Frames that the program made: sent without a slot. TX_FRAMES counts them, too, when they leave.
pub const RPU_HOST_GENERATED: u32 = 0x74;
/// [0] 1 halts the core before its next instruction, also in a load that waits and after a reset, and ends a step in a load that waits; 0 lets it go on. [1] ebreak halts the core and is no exception.
pub const RPU_HOST_HALT: u32 = 0x80;
/// Any write has a halted core carry out one instruction and halt again. No interrupt is taken then; an exception is one instruction. A load that waits is waited for.
pub const RPU_HOST_STEP: u32 = 0x84;
/// 0 when the core runs or is in a step, else what has halted it: 1 HALT, 2 ebreak, 3 a step's end.
pub const RPU_HOST_HALTED: u32 = 0x88;
/// Word that core and host share: DATA of the core's registers.
pub const RPU_HOST_DATA: u32 = 0x8C;
/// Address of the instruction of the last wild access.
pub const RPU_HOST_WILD_PC: u32 = 0x90;
/// Address of the instruction that wrote the last bad descriptor.
pub const RPU_HOST_DESCRIPTOR_PC: u32 = 0x94;
/// Address of the instruction that wrote the last descriptor with a bad destination.
pub const RPU_HOST_DESTINATION_PC: u32 = 0x98;
/// Address of the instruction of the last bad slot set-up.
pub const RPU_HOST_SLOT_PC: u32 = 0x9C;

// engines/xdp/regs/xdp.rdl
/// 1 holds the unit in reset: it has declared no slots. Set after power-up, so that rows and maps can be loaded.
pub const XDP_HOST_RESET: u32 = 0x0;
/// Engine: 0x00706478, "xdp".
pub const XDP_HOST_ENGINE: u32 = 0x20;
/// Number of this unit.
pub const XDP_HOST_UNIT_ID: u32 = 0x24;
/// [0] the unit is in reset.
pub const XDP_HOST_STATUS: u32 = 0x28;
/// Slots that hold a frame: bit n-1 is slot n.
pub const XDP_HOST_ACTIVE_SLOTS: u32 = 0x38;
/// Frames received.
pub const XDP_HOST_RX_FRAMES: u32 = 0x50;
/// Bytes received, low 32 bits.
pub const XDP_HOST_RX_BYTES: u32 = 0x54;
/// Cycles in which the unit said that it has no room for beats.
pub const XDP_HOST_RX_STALLS: u32 = 0x58;
/// Frames sent.
pub const XDP_HOST_TX_FRAMES: u32 = 0x5C;
/// Bytes sent, low 32 bits.
pub const XDP_HOST_TX_BYTES: u32 = 0x60;
/// Cycles in which a departing beat had to wait.
pub const XDP_HOST_TX_STALLS: u32 = 0x64;
/// Frames that the program dropped: XDP_DROP.
pub const XDP_HOST_BLOCKED: u32 = 0x68;
/// Frames redirected to an interface that does not exist.
pub const XDP_HOST_REFUSED: u32 = 0x6C;
/// [0] Bank of row memory in which a frame that begins now finds its program. Frames that are being worked on stay with theirs.
pub const XDP_HOST_BANK: u32 = 0x90;
/// [0] 1: frames of a flow go to one context, by their flow hash. 0: a frame goes to any that is idle.
pub const XDP_HOST_BY_FLOW: u32 = 0x94;
/// Contexts that work on a frame begun in bank 0, [15:0], and in bank 1, [31:16].
pub const XDP_HOST_WORKING: u32 = 0x98;
/// Lanes of the core, [7:0]; contexts, [15:8]; bytes of the unit's maps, in KiB, [31:16].
pub const XDP_HOST_SHAPE: u32 = 0x9C;
/// Frames that ended with XDP_ABORTED, with a verdict that does not exist, or because their program took too many rows.
pub const XDP_HOST_ABORTED: u32 = 0xA0;
/// Rows carried out, low 32 bits.
pub const XDP_HOST_ROWS: u32 = 0xA4;
/// Requests to where nothing is, or of a kind that the unit has not got.
pub const XDP_HOST_WILD: u32 = 0xA8;
/// Stores outside of metadata and packet, which were not carried out: counted by row.
pub const XDP_HOST_STRAY: u32 = 0xAC;

// engines/xdp/regs/maps.rdl
/// Banks, as a power of two, [7:0]; rows of 16 bytes of each, as a power of two, [15:8]; maps, [23:16].
pub const MAPS_HOST_SHAPE: u32 = 0x0;
/// What the request says beside its parts: see `info` in maps.md.
pub const MAPS_HOST_INFO: u32 = 0x4;
/// Written: sends a request of the operation [2:0], whose key has [6:4] parts, with [12:8] parts in all, as a processor with the context [19:16]. Read: [0] its answer is not here yet, [1] a map is being made.
pub const MAPS_HOST_COMMAND: u32 = 0x8;
/// Written: makes the map of that number as DESCRIPTOR says. All that it held is gone.
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
/// Parts of a request, four words each: of its key, then of its value. An answer stands in the first two words; rows stand from the first word on.
pub const MAPS_HOST_DATA: u32 = 0x200;
/// How many there are, 4 bytes apart.
pub const MAPS_HOST_DATA_COUNT: u32 = 0x80;

// engines/flow/regs/flow.rdl
/// Places of the table, as a power of two, [7:0]; the element's number in the chain, [15:8]; words of a program, [31:16].
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

// engines/rpu/accelerators/checksum/checksum.rdl
/// Address of the first byte, in packet memory, at any alignment.
pub const CHECKSUM_ADDR: u32 = 0x0;
/// Bytes, 0 and odd numbers included. Its write starts; one that comes before the sum is there starts anew. Bytes outside packet memory are an error, and nothing is summed.
pub const CHECKSUM_LENGTH: u32 = 0x4;
/// Ones' complement sum of the 16-bit words and of INITIAL, in the byte order of the frame: a store of two bytes puts it there, and its complement is the checksum. An odd last byte counts as if a zero followed. Holds the core until it is there.
pub const CHECKSUM_SUM: u32 = 0x8;
/// What the sum begins with, taken when LENGTH is written: one or two words of 16 bits in the byte order of the frame.
pub const CHECKSUM_INITIAL: u32 = 0xC;

// engines/rpu/accelerators/crc32/crc32.rdl
/// Address of the first byte, in packet memory, at any alignment.
pub const CRC32_ADDR: u32 = 0x0;
/// Bytes, 0 included. Its write starts; one that comes before the answer is there starts anew. Bytes outside packet memory are an error, and nothing is read.
pub const CRC32_LENGTH: u32 = 0x4;
/// The CRC; stored as a word behind the bytes it is their frame check sequence. Holds the core until it is there.
pub const CRC32_CRC: u32 = 0x8;
/// CRC of the bytes before these, taken when LENGTH is written; 0 begins.
pub const CRC32_INITIAL: u32 = 0xC;

// engines/rpu/accelerators/flow_hash/flow_hash.rdl
/// Any write begins a new hash.
pub const FLOW_HASH_CLEAR: u32 = 0x0;
/// Pushes one byte, [7:0].
pub const FLOW_HASH_PUSH1: u32 = 0x4;
/// Pushes two bytes as a load from the frame gives them: [7:0] first.
pub const FLOW_HASH_PUSH2: u32 = 0x8;
/// Pushes four bytes as a load from the frame gives them: [7:0] first.
pub const FLOW_HASH_PUSH4: u32 = 0xC;
/// Hash of what was pushed since CLEAR: up to 36 bytes, which is what a key of 40 can hash. Holds the core until all of it has gone in.
pub const FLOW_HASH_HASH: u32 = 0x10;

// engines/rpu/accelerators/ip_prefix/ip_prefix.rdl
/// Starts the look-up of an IPv4 address as a load from the frame gives it (first octet in [7:0]).
pub const IP_PREFIX_ADDR: u32 = 0x0;
/// Class of the longest matching prefix, 1..15; 0 when none matches. Holds the core until the look-up is done.
pub const IP_PREFIX_CLASS: u32 = 0x4;
/// All ones when the class is 0; 0xFFFF0000 otherwise: ANDed with a descriptor it drops the frames that match. Holds the core like CLASS.
pub const IP_PREFIX_PASS_MASK: u32 = 0x8;

// engines/rpu/accelerators/string_match/string_match.rdl
/// Address of the first byte, in packet memory, at any alignment.
pub const STRING_MATCH_ADDR: u32 = 0x0;
/// Bytes, 0 included. Its write starts; one that comes before the answer is there starts anew. Bytes outside packet memory are an error, and nothing is searched.
pub const STRING_MATCH_LENGTH: u32 = 0x4;
/// Bit n: pattern n occurs within the bytes. Holds the core until all of them are searched.
pub const STRING_MATCH_FOUND: u32 = 0x8;
/// Bytes up to the end of the occurrence that ends first; 0 when there is none. Holds the core like FOUND.
pub const STRING_MATCH_END: u32 = 0xC;
