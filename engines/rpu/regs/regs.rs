// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by tools/regs.py from the .rdl files; change those.

#![allow(unreachable_pub, reason = "some crates export these registers, others do not")]

// engines/rpu/regs/rpu.rdl
/// Descriptor to send, low word: length [15:0], slot [23:16], port [31:24]. Kept from one send to the next.
pub const RPU_CORE_SEND_DESC_LOW: u32 = 0x608;
/// Descriptor to send, high word: address of the first byte. An address outside packet memory means the slot's own
/// place. Kept from one send to the next.
pub const RPU_CORE_SEND_DESC_HIGH: u32 = 0x60C;
/// Address in host memory of the next SEND_DESC_TYPE 4 or 5, low word. Its write holds the core while an earlier
/// request waits in the unit.
pub const RPU_CORE_DRAM_ADDR_LOW: u32 = 0x610;
/// The same, high word.
pub const RPU_CORE_DRAM_ADDR_HIGH: u32 = 0x614;
/// Address that the next UPDATE_SLOT gives to a slot.
pub const RPU_CORE_SLOT_ADDR: u32 = 0x618;
/// Cycles between two timer interrupts; 0 stops the timer.
pub const RPU_CORE_TIMER_INTERVAL: u32 = 0x61C;
/// Gives all host memory flags the values written.
pub const RPU_CORE_DRAM_FLAG_WR: u32 = 0x620;
/// 1: the host may evict this unit.
pub const RPU_CORE_READY_TO_EVICT: u32 = 0x624;
/// Its write sends the descriptor in SEND_DESC_LOW and SEND_DESC_HIGH: 0 sends a frame, 1 releases a slot without
/// sending, 2 sends a frame to unit port, 3 declares slots (length = bytes a slot holds, slot = how many; refused while
/// any slot holds a frame), 4 writes length bytes from the address to host memory at DRAM_ADDR, 5 reads them from
/// there: the slot field is then a tag, 1..32, and no slot is given up. With slot 0 types 0 and 2 send a frame that the
/// program made: the bytes at the address, which must be in packet memory, to an Ethernet port or the host; no slot
/// comes back. One such frame or host memory request may wait in the unit; until it has begun to leave, a write holds
/// the core.
pub const RPU_CORE_SEND_DESC_TYPE: u32 = 0x628;
/// Any write takes the oldest descriptor off the receive queue.
pub const RPU_CORE_RECV_DESC_RELEASE: u32 = 0x62C;
/// Lowers the host memory flag of tag [5:0].
pub const RPU_CORE_DRAM_FLAG_RST: u32 = 0x630;
/// Gives SLOT_ADDR to slot [5:0]: the frame's place in packet memory, or with [8] set the place of its header copy in
/// data memory, a multiple of 32 below the broadcast region. Other places raise interrupt 11.
pub const RPU_CORE_UPDATE_SLOT: u32 = 0x634;
/// Interrupt mask; 1 lets the interrupt through. Bits as in INTERRUPT_FLAGS.
pub const RPU_CORE_MASK_WRITE: u32 = 0x638;
/// Acknowledges the interrupts whose bits are 1.
pub const RPU_CORE_INTERRUPT_ACK: u32 = 0x63C;
/// Debug word to the host, low.
pub const RPU_CORE_DEBUG_OUT_L: u32 = 0x640;
/// Debug word to the host, high.
pub const RPU_CORE_DEBUG_OUT_H: u32 = 0x644;
/// A broadcast word becomes a message if its address in the region [12:2], ANDed with this mask, is BC_FILTER_VALUE.
pub const RPU_CORE_BC_FILTER_MASK: u32 = 0x648;
/// See BC_FILTER_MASK.
pub const RPU_CORE_BC_FILTER_VALUE: u32 = 0x64C;
/// 1: queue messages. 0 discards waiting messages, one a cycle: OCCUPANCY gives the number left.
pub const RPU_CORE_BC_LISTEN: u32 = 0x650;
/// Any write takes the oldest message off the queue.
pub const RPU_CORE_BC_RELEASE: u32 = 0x654;
/// Oldest received descriptor, low word; stays until RECV_DESC_RELEASE; 0 if the queue is empty.
pub const RPU_CORE_RECV_DESC_LOW: u32 = 0x680;
/// Oldest received descriptor, high word: address of the frame in packet memory.
pub const RPU_CORE_RECV_DESC_HIGH: u32 = 0x684;
/// Host memory flags: bit n-1 rises when the request with tag n is done, written or read to the last byte.
pub const RPU_CORE_DRAM_FLAGS: u32 = 0x688;
/// Byte flags, 1 when ready: [0] a received descriptor waits, [8] SEND_DESC_TYPE takes a write at once, [16] slot
/// set-up takes a write, [24] message to a core takes a write.
pub const RPU_CORE_READY: u32 = 0x68C;
/// Number of this unit.
pub const RPU_CORE_CORE_ID: u32 = 0x690;
/// Cycles since reset, low. Its read latches the high word.
pub const RPU_CORE_TIMER_L: u32 = 0x694;
/// Cycles since reset, high, as latched by the last read of TIMER_L.
pub const RPU_CORE_TIMER_H: u32 = 0x698;
/// Pending interrupts: 0 timer, 1 packet, 2 host memory, 3 broadcast, 4 poke, 5 evict; errors, which the mask cannot
/// hide: 8 wild address, 9 bad descriptor (slot not held; without a slot, no frame where the address is), 10 bad
/// destination (without a slot, also another unit), 11 bad slot set-up, 12 accelerator, 13 host memory refused a
/// request.
pub const RPU_CORE_INTERRUPT_FLAGS: u32 = 0x69C;
/// Interrupt mask.
pub const RPU_CORE_MASK_READ: u32 = 0x6A0;
/// Bytes of instruction memory.
pub const RPU_CORE_IMEM_SIZE: u32 = 0x6A4;
/// Bytes of data memory.
pub const RPU_CORE_DMEM_SIZE: u32 = 0x6A8;
/// Bytes of packet memory.
pub const RPU_CORE_PMEM_SIZE: u32 = 0x6AC;
/// Bytes of a packet memory segment.
pub const RPU_CORE_SEG_SIZE: u32 = 0x6B0;
/// Number of packet memory segments.
pub const RPU_CORE_SEG_COUNT: u32 = 0x6B4;
/// Bytes of the broadcast region.
pub const RPU_CORE_BC_SIZE: u32 = 0x6B8;
/// Slots that a unit may declare.
pub const RPU_CORE_MAX_SLOTS: u32 = 0x6BC;
/// Debug word from the host, low.
pub const RPU_CORE_DEBUG_IN_L: u32 = 0x6C0;
/// Debug word from the host, high.
pub const RPU_CORE_DEBUG_IN_H: u32 = 0x6C4;
/// BC_FILTER_MASK.
pub const RPU_CORE_BC_FILTER_MASK_READ: u32 = 0x6C8;
/// BC_FILTER_VALUE.
pub const RPU_CORE_BC_FILTER_VALUE_READ: u32 = 0x6CC;
/// Address of the word of the oldest message, 0 if the queue is empty. Read the word after the address: one address
/// covers all stores before it was read.
pub const RPU_CORE_BC_ADDR: u32 = 0x6D0;
/// [7:0] messages that wait behind the oldest, at most 255; [15:8] broadcast words of this unit in its queue; one more
/// may wait at the output, and others may be in flight; [16] a frame that was sent without a slot has not been read
/// completely.
pub const RPU_CORE_OCCUPANCY: u32 = 0x6D4;
/// Slots that hold a frame: bit n-1 is slot n.
pub const RPU_CORE_ACTIVE_SLOTS: u32 = 0x6D8;
/// Waits in hardware for a frame, takes it off the queue and returns its descriptor: length [15:0], slot [23:16], port
/// [31:24].
pub const RPU_CORE_RECV: u32 = 0x700;
/// Address in data memory of the header copy of the frame that RECV returned last.
pub const RPU_CORE_RECV_HDR: u32 = 0x704;
/// Sends, in one store: length [15:0] (0 drops), slot [23:16], port [31:24]. The address follows from the slot.
pub const RPU_CORE_SEND: u32 = 0x708;
/// Address in packet memory of the frame that RECV returned last.
pub const RPU_CORE_RECV_DATA: u32 = 0x70C;
/// Flow hash of the frame that RECV returned last.
pub const RPU_CORE_RECV_HASH: u32 = 0x710;
/// Cycle, modulo 2^32, in which the frame that RECV returned last entered the card.
pub const RPU_CORE_RECV_TIME: u32 = 0x714;
/// Accelerators in this unit, a bit each, as the host sees them (ACCEL of rpu_host).
pub const RPU_CORE_ACCEL: u32 = 0x718;
/// Word that core and host share (DATA of the host's registers), for debuggers only.
pub const RPU_CORE_DATA: u32 = 0x71C;
/// Writes SEND_DESC_HIGH and sends as SEND_DESC_TYPE 0 does, in one store. It holds the core only with slot 0.
pub const RPU_CORE_SEND_FROM: u32 = 0x720;
/// Time in ns, low: TIME_L of the host's registers. Its read latches the high word.
pub const RPU_CORE_TIME_L: u32 = 0x724;
/// Time in ns, high, as latched by the last read of TIME_L.
pub const RPU_CORE_TIME_H: u32 = 0x728;

// engines/rpu/regs/rpu.rdl
/// Accelerators in this unit, a bit each: 0 ip_prefix, 1 flow_hash, 2 checksum, 3 crc32, 4 string_match.
pub const RPU_HOST_ACCEL: u32 = 0x70;
/// Address of the instruction of the last wild access.
pub const RPU_HOST_WILD_PC: u32 = 0x90;
/// Address of the instruction that wrote the last bad descriptor.
pub const RPU_HOST_DESCRIPTOR_PC: u32 = 0x94;
/// Address of the instruction that wrote the last descriptor with a bad destination.
pub const RPU_HOST_DESTINATION_PC: u32 = 0x98;
/// Address of the instruction of the last bad slot set-up.
pub const RPU_HOST_SLOT_PC: u32 = 0x9C;

// engines/rpu/accelerators/checksum/checksum.rdl
/// Address of the first byte, in packet memory, at any alignment.
pub const CHECKSUM_ADDR: u32 = 0x0;
/// Bytes, 0 and odd numbers included. A write starts the accelerator; a write before the sum is ready restarts it.
/// Bytes outside packet memory are an error, and nothing is summed.
pub const CHECKSUM_LENGTH: u32 = 0x4;
/// Ones' complement sum of the 16-bit words and of INITIAL, in the byte order of the frame: its complement is the
/// checksum, which a store of two bytes writes into the frame. An odd last byte counts as if a zero followed. Holds the
/// core until it is ready.
pub const CHECKSUM_SUM: u32 = 0x8;
/// Initial value of the sum, taken when LENGTH is written: one or two words of 16 bits in the byte order of the frame.
pub const CHECKSUM_INITIAL: u32 = 0xC;

// engines/rpu/accelerators/crc32/crc32.rdl
/// Address of the first byte, in packet memory, at any alignment.
pub const CRC32_ADDR: u32 = 0x0;
/// Bytes, 0 included. A write starts the accelerator; a write before the answer is ready restarts it. Bytes outside
/// packet memory are an error, and nothing is read.
pub const CRC32_LENGTH: u32 = 0x4;
/// The CRC. Stored as a word after the bytes, it is their frame check sequence. Holds the core until it is ready.
pub const CRC32_CRC: u32 = 0x8;
/// CRC of the bytes before these, taken when LENGTH is written; 0 for the first bytes.
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
/// Hash of the bytes pushed since CLEAR, up to 36, the most that a key of 40 bytes can hash. Holds the core until all
/// of them are in.
pub const FLOW_HASH_HASH: u32 = 0x10;

// engines/rpu/accelerators/ip_prefix/ip_prefix.rdl
/// Starts the lookup of an IPv4 address as a load from the frame gives it (first octet in [7:0]).
pub const IP_PREFIX_ADDR: u32 = 0x0;
/// Class of the longest matching prefix, 1..15; 0 if no prefix matches. Holds the core until the lookup is done.
pub const IP_PREFIX_CLASS: u32 = 0x4;
/// All ones when the class is 0; 0xFFFF0000 otherwise: ANDed with a descriptor it drops the frames that match. Holds
/// the core like CLASS.
pub const IP_PREFIX_PASS_MASK: u32 = 0x8;

// engines/rpu/accelerators/string_match/string_match.rdl
/// Address of the first byte, in packet memory, at any alignment.
pub const STRING_MATCH_ADDR: u32 = 0x0;
/// Bytes, 0 included. A write starts the accelerator; a write before the answer is ready restarts it. Bytes outside
/// packet memory are an error, and nothing is searched.
pub const STRING_MATCH_LENGTH: u32 = 0x4;
/// Bit n: pattern n occurs within the bytes. Holds the core until all bytes are searched.
pub const STRING_MATCH_FOUND: u32 = 0x8;
/// Bytes up to the end of the occurrence that ends first; 0 if no pattern occurs. Holds the core like FOUND.
pub const STRING_MATCH_END: u32 = 0xC;
