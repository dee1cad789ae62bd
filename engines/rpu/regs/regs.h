/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/regs.py from the .rdl files; change those. */
#ifndef PENSTOCK_RPU_REGS_H
#define PENSTOCK_RPU_REGS_H

/* engines/rpu/regs/rpu.rdl */
/* Descriptor to send, low word: length [15:0], slot [23:16], port [31:24]. Kept from one send to the next. */
#define RPU_CORE_SEND_DESC_LOW 0x608u
/* Descriptor to send, high word: address of the first byte. An address outside packet memory means the slot's own
 * place. Kept from one send to the next. */
#define RPU_CORE_SEND_DESC_HIGH 0x60Cu
/* Address in host memory of the next SEND_DESC_TYPE 4 or 5, low word. Its write holds the core while an earlier request
 * waits in the unit. */
#define RPU_CORE_DRAM_ADDR_LOW 0x610u
/* The same, high word. */
#define RPU_CORE_DRAM_ADDR_HIGH 0x614u
/* Address that the next UPDATE_SLOT gives to a slot. */
#define RPU_CORE_SLOT_ADDR 0x618u
/* Cycles between two timer interrupts; 0 stops the timer. */
#define RPU_CORE_TIMER_INTERVAL 0x61Cu
/* Gives all host memory flags the values written. */
#define RPU_CORE_DRAM_FLAG_WR 0x620u
/* 1: the host may evict this unit. */
#define RPU_CORE_READY_TO_EVICT 0x624u
/* Its write sends the descriptor in SEND_DESC_LOW and SEND_DESC_HIGH: 0 sends a frame, 1 releases a slot without
 * sending, 2 sends a frame to unit port, 3 declares slots (length = bytes a slot holds, slot = how many; refused while
 * any slot holds a frame), 4 writes length bytes from the address to host memory at DRAM_ADDR, 5 reads them from there:
 * the slot field is then a tag, 1..32, and no slot is given up. With slot 0 types 0 and 2 send a frame that the program
 * made: the bytes at the address, which must be in packet memory, to an Ethernet port or the host; no slot comes back.
 * One such frame or host memory request may wait in the unit; until it has begun to leave, a write holds the core. */
#define RPU_CORE_SEND_DESC_TYPE 0x628u
/* Any write takes the oldest descriptor off the receive queue. */
#define RPU_CORE_RECV_DESC_RELEASE 0x62Cu
/* Lowers the host memory flag of tag [5:0]. */
#define RPU_CORE_DRAM_FLAG_RST 0x630u
/* Gives SLOT_ADDR to slot [5:0]: the frame's place in packet memory, or with [8] set the place of its header copy in
 * data memory, a multiple of 32 below the broadcast region. Other places raise interrupt 11. */
#define RPU_CORE_UPDATE_SLOT 0x634u
/* Interrupt mask; 1 lets the interrupt through. Bits as in INTERRUPT_FLAGS. */
#define RPU_CORE_MASK_WRITE 0x638u
/* Acknowledges the interrupts whose bits are 1. */
#define RPU_CORE_INTERRUPT_ACK 0x63Cu
/* Debug word to the host, low. */
#define RPU_CORE_DEBUG_OUT_L 0x640u
/* Debug word to the host, high. */
#define RPU_CORE_DEBUG_OUT_H 0x644u
/* A broadcast word becomes a message if its address in the region [12:2], ANDed with this mask, is BC_FILTER_VALUE. */
#define RPU_CORE_BC_FILTER_MASK 0x648u
/* See BC_FILTER_MASK. */
#define RPU_CORE_BC_FILTER_VALUE 0x64Cu
/* 1: queue messages. 0 discards waiting messages, one a cycle: OCCUPANCY gives the number left. */
#define RPU_CORE_BC_LISTEN 0x650u
/* Any write takes the oldest message off the queue. */
#define RPU_CORE_BC_RELEASE 0x654u
/* Oldest received descriptor, low word; stays until RECV_DESC_RELEASE; 0 if the queue is empty. */
#define RPU_CORE_RECV_DESC_LOW 0x680u
/* Oldest received descriptor, high word: address of the frame in packet memory. */
#define RPU_CORE_RECV_DESC_HIGH 0x684u
/* Host memory flags: bit n-1 rises when the request with tag n is done, written or read to the last byte. */
#define RPU_CORE_DRAM_FLAGS 0x688u
/* Byte flags, 1 when ready: [0] a received descriptor waits, [8] SEND_DESC_TYPE takes a write at once, [16] slot set-up
 * takes a write, [24] message to a core takes a write. */
#define RPU_CORE_READY 0x68Cu
/* Number of this unit. */
#define RPU_CORE_CORE_ID 0x690u
/* Cycles since reset, low. Its read latches the high word. */
#define RPU_CORE_TIMER_L 0x694u
/* Cycles since reset, high, as latched by the last read of TIMER_L. */
#define RPU_CORE_TIMER_H 0x698u
/* Pending interrupts: 0 timer, 1 packet, 2 host memory, 3 broadcast, 4 poke, 5 evict; errors, which the mask cannot
 * hide: 8 wild address, 9 bad descriptor (slot not held; without a slot, no frame where the address is), 10 bad
 * destination (without a slot, also another unit), 11 bad slot set-up, 12 accelerator, 13 host memory refused a
 * request. */
#define RPU_CORE_INTERRUPT_FLAGS 0x69Cu
/* Interrupt mask. */
#define RPU_CORE_MASK_READ 0x6A0u
/* Bytes of instruction memory. */
#define RPU_CORE_IMEM_SIZE 0x6A4u
/* Bytes of data memory. */
#define RPU_CORE_DMEM_SIZE 0x6A8u
/* Bytes of packet memory. */
#define RPU_CORE_PMEM_SIZE 0x6ACu
/* Bytes of a packet memory segment. */
#define RPU_CORE_SEG_SIZE 0x6B0u
/* Number of packet memory segments. */
#define RPU_CORE_SEG_COUNT 0x6B4u
/* Bytes of the broadcast region. */
#define RPU_CORE_BC_SIZE 0x6B8u
/* Slots that a unit may declare. */
#define RPU_CORE_MAX_SLOTS 0x6BCu
/* Debug word from the host, low. */
#define RPU_CORE_DEBUG_IN_L 0x6C0u
/* Debug word from the host, high. */
#define RPU_CORE_DEBUG_IN_H 0x6C4u
/* BC_FILTER_MASK. */
#define RPU_CORE_BC_FILTER_MASK_READ 0x6C8u
/* BC_FILTER_VALUE. */
#define RPU_CORE_BC_FILTER_VALUE_READ 0x6CCu
/* Address of the word of the oldest message, 0 if the queue is empty. Read the word after the address: one address
 * covers all stores before it was read. */
#define RPU_CORE_BC_ADDR 0x6D0u
/* [7:0] messages that wait behind the oldest, at most 255; [15:8] broadcast words of this unit in its queue; one more
 * may wait at the output, and others may be in flight; [16] a frame that was sent without a slot has not been read
 * completely. */
#define RPU_CORE_OCCUPANCY 0x6D4u
/* Slots that hold a frame: bit n-1 is slot n. */
#define RPU_CORE_ACTIVE_SLOTS 0x6D8u
/* Waits in hardware for a frame, takes it off the queue and returns its descriptor: length [15:0], slot [23:16], port
 * [31:24]. */
#define RPU_CORE_RECV 0x700u
/* Address in data memory of the header copy of the frame that RECV returned last. */
#define RPU_CORE_RECV_HDR 0x704u
/* Sends, in one store: length [15:0] (0 drops), slot [23:16], port [31:24]. The address follows from the slot. */
#define RPU_CORE_SEND 0x708u
/* Address in packet memory of the frame that RECV returned last. */
#define RPU_CORE_RECV_DATA 0x70Cu
/* Flow hash of the frame that RECV returned last. */
#define RPU_CORE_RECV_HASH 0x710u
/* Cycle, modulo 2^32, in which the frame that RECV returned last entered the card. */
#define RPU_CORE_RECV_TIME 0x714u
/* Accelerators in this unit, a bit each, as the host sees them (ACCEL of rpu_host). */
#define RPU_CORE_ACCEL 0x718u
/* Word that core and host share (DATA of the host's registers), for debuggers only. */
#define RPU_CORE_DATA 0x71Cu
/* Writes SEND_DESC_HIGH and sends as SEND_DESC_TYPE 0 does, in one store. It holds the core only with slot 0. */
#define RPU_CORE_SEND_FROM 0x720u
/* Time in ns, low: TIME_L of the host's registers. Its read latches the high word. */
#define RPU_CORE_TIME_L 0x724u
/* Time in ns, high, as latched by the last read of TIME_L. */
#define RPU_CORE_TIME_H 0x728u

/* engines/rpu/regs/rpu.rdl */
/* Accelerators in this unit, a bit each: 0 ip_prefix, 1 flow_hash, 2 checksum, 3 crc32, 4 string_match. */
#define RPU_HOST_ACCEL 0x70u
/* Address of the instruction of the last wild access. */
#define RPU_HOST_WILD_PC 0x90u
/* Address of the instruction that wrote the last bad descriptor. */
#define RPU_HOST_DESCRIPTOR_PC 0x94u
/* Address of the instruction that wrote the last descriptor with a bad destination. */
#define RPU_HOST_DESTINATION_PC 0x98u
/* Address of the instruction of the last bad slot set-up. */
#define RPU_HOST_SLOT_PC 0x9Cu

/* engines/rpu/accelerators/checksum/checksum.rdl */
/* Address of the first byte, in packet memory, at any alignment. */
#define CHECKSUM_ADDR 0x0u
/* Bytes, 0 and odd numbers included. A write starts the accelerator; a write before the sum is ready restarts it. Bytes
 * outside packet memory are an error, and nothing is summed. */
#define CHECKSUM_LENGTH 0x4u
/* Ones' complement sum of the 16-bit words and of INITIAL, in the byte order of the frame: its complement is the
 * checksum, which a store of two bytes writes into the frame. An odd last byte counts as if a zero followed. Holds the
 * core until it is ready. */
#define CHECKSUM_SUM 0x8u
/* Initial value of the sum, taken when LENGTH is written: one or two words of 16 bits in the byte order of the frame.
 * */
#define CHECKSUM_INITIAL 0xCu

/* engines/rpu/accelerators/crc32/crc32.rdl */
/* Address of the first byte, in packet memory, at any alignment. */
#define CRC32_ADDR 0x0u
/* Bytes, 0 included. A write starts the accelerator; a write before the answer is ready restarts it. Bytes outside
 * packet memory are an error, and nothing is read. */
#define CRC32_LENGTH 0x4u
/* The CRC. Stored as a word after the bytes, it is their frame check sequence. Holds the core until it is ready. */
#define CRC32_CRC 0x8u
/* CRC of the bytes before these, taken when LENGTH is written; 0 for the first bytes. */
#define CRC32_INITIAL 0xCu

/* engines/rpu/accelerators/flow_hash/flow_hash.rdl */
/* Any write begins a new hash. */
#define FLOW_HASH_CLEAR 0x0u
/* Pushes one byte, [7:0]. */
#define FLOW_HASH_PUSH1 0x4u
/* Pushes two bytes as a load from the frame gives them: [7:0] first. */
#define FLOW_HASH_PUSH2 0x8u
/* Pushes four bytes as a load from the frame gives them: [7:0] first. */
#define FLOW_HASH_PUSH4 0xCu
/* Hash of the bytes pushed since CLEAR, up to 36, the most that a key of 40 bytes can hash. Holds the core until all of
 * them are in. */
#define FLOW_HASH_HASH 0x10u

/* engines/rpu/accelerators/ip_prefix/ip_prefix.rdl */
/* Starts the lookup of an IPv4 address as a load from the frame gives it (first octet in [7:0]). */
#define IP_PREFIX_ADDR 0x0u
/* Class of the longest matching prefix, 1..15; 0 if no prefix matches. Holds the core until the lookup is done. */
#define IP_PREFIX_CLASS 0x4u
/* All ones when the class is 0; 0xFFFF0000 otherwise: ANDed with a descriptor it drops the frames that match. Holds the
 * core like CLASS. */
#define IP_PREFIX_PASS_MASK 0x8u

/* engines/rpu/accelerators/string_match/string_match.rdl */
/* Address of the first byte, in packet memory, at any alignment. */
#define STRING_MATCH_ADDR 0x0u
/* Bytes, 0 included. A write starts the accelerator; a write before the answer is ready restarts it. Bytes outside
 * packet memory are an error, and nothing is searched. */
#define STRING_MATCH_LENGTH 0x4u
/* Bit n: pattern n occurs within the bytes. Holds the core until all bytes are searched. */
#define STRING_MATCH_FOUND 0x8u
/* Bytes up to the end of the occurrence that ends first; 0 if no pattern occurs. Holds the core like FOUND. */
#define STRING_MATCH_END 0xCu

#endif
