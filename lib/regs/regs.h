/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/regs.py from the .rdl files; change those. */
#ifndef PENSTOCK_REGS_H
#define PENSTOCK_REGS_H

/* shell/regs/card.rdl */
#define CARD_MAGIC 0x0u /* 0x50454E53, "PENS". */
#define CARD_VERSION 0x4u /* Version of the register map: major [31:16], minor [15:0]. */
#define CARD_PORTS 0x8u /* Ethernet ports. */
#define CARD_UNITS 0xCu /* Units. */
#define CARD_MAX_FRAME 0x10u /* Bytes of the longest frame that the card stores. */
#define CARD_INGRESS_BYTES 0x14u /* Bytes of the ingress buffer of a port. */
#define CARD_CYCLES_L 0x18u /* Cycles since reset, low. Its read latches the high word. */
#define CARD_CYCLES_H 0x1Cu /* Cycles since reset, high. */
#define CARD_UNIT_WRITE_MASK 0x20u /* Units that a write to the unit window reaches. */
#define CARD_UNIT_READ 0x24u /* Unit that a read of the unit window reaches. */
#define CARD_PORT_ENABLE 0x28u /* Ports that may receive; a frame that arrives at a disabled port is dropped and counted. */
#define CARD_POLICY 0x30u /* Dispatch policy: 0 round robin, 1 least loaded (of a cluster), 2 flow hash (waits while the unit is full, see UNIT_TIMEOUT), 3 flow hash that drops. */
#define CARD_UNIT_ENABLE 0x34u /* Units that the dispatcher gives frames to. A unit whose bit falls drains: its slots come back, none goes out. With a flow hash policy change RETA first: frames for a disabled unit are dropped. */
#define CARD_UNIT_FLUSH 0x38u /* Units whose slots the dispatcher forgets, by writing ones; firmware declares them again. Only for drained or dead units to which no frame is on its way over loopback: drain the units that send to it first. */
#define CARD_SLOTS_UNIT 0x3Cu /* Unit whose dispatcher state SLOTS_FREE and SLOTS_TOTAL show. */
#define CARD_SLOTS_FREE 0x40u /* Free slots of the unit SLOTS_UNIT. */
#define CARD_SLOTS_TOTAL 0x44u /* Slots that the unit SLOTS_UNIT has declared. */
#define CARD_SLOTS_SIZE 0x48u /* Bytes of frame that a slot of the unit SLOTS_UNIT holds. */
#define CARD_UNITS_IDLE 0x4Cu /* Units whose slots are all free. */
#define CARD_UNIT_INGRESS 0x50u /* Units that the dispatcher chooses among: enabled ones of these get the frames of ports and host, and those over loopback to any unit. Others get what senders over loopback name them for. All after a reset. */
#define CARD_EXIT_TIMEOUT 0x54u /* Cycles for which an exit, a port or the host, may take nothing. After that, frames that find its buffers full are dropped as unsent until it has sent all that it holds. 0: no limit. 8192 after a reset. */
#define CARD_UNIT_TIMEOUT 0x58u /* Cycles for which a full unit may give back no slot while the flow hash policy waits for it. After that, frames for it are dropped as policy until it gives one back. 0: no limit. 1048576 after a reset. */
#define CARD_HOST_READS 0x60u /* Reads of host memory that units have asked for and got. */
#define CARD_HOST_READ_BYTES 0x64u /* Their bytes, low 32 bits. */
#define CARD_HOST_WRITES 0x68u /* Writes to host memory that units have asked for and that were answered. */
#define CARD_HOST_WRITE_BYTES 0x6Cu /* Their bytes, low 32 bits. */
#define CARD_HOST_ERRORS 0x70u /* Reads and writes among them that the host refused, wholly or in part (SLVERR or DECERR). */
#define CARD_RETA 0x200u /* Flow hash policies: entry i names the unit [4:0] of the frames whose hash ends in i (7 bits). */
#define CARD_RETA_COUNT 0x80u /* How many there are, 4 bytes apart. */
#define CARD_STREAM_BASE 0x400u /* First of these. */
#define CARD_STREAM_STRIDE 0x40u /* Bytes from one to the next. */
#define CARD_STREAM_COUNT 0x6u /* How many there are. */
#define CARD_STREAM_RX_FRAMES 0x0u /* Frames that entered whole. */
#define CARD_STREAM_RX_BYTES 0x4u /* Their bytes, low 32 bits. */
#define CARD_STREAM_DROP_OVERFLOW 0x8u /* Frames dropped at the port because the ingress buffer was full. */
#define CARD_STREAM_DROP_OVERSIZE 0xCu /* Frames dropped because they were longer than MAX_FRAME or than a slot, or became so in the inline chain. */
#define CARD_STREAM_DROP_RUNT 0x10u /* Frames dropped because they were shorter than an Ethernet header. */
#define CARD_STREAM_DROP_DAMAGED 0x14u /* Frames dropped because they arrived damaged. */
#define CARD_STREAM_DROP_DISABLED 0x18u /* Frames dropped because the port was disabled. */
#define CARD_STREAM_DROP_POLICY 0x1Cu /* Frames dropped because their unit was full under the policy flow hash that drops, or for longer than UNIT_TIMEOUT under the one that waits, or because the unit that RETA or the sender named was not enabled or had no slots; over loopback to any unit, because none took frames. */
#define CARD_STREAM_RX_STALLS 0x20u /* Cycles in which a frame waited for a slot; of the loopback, without those in which the unit that its sender names was full. */
#define CARD_STREAM_TX_FRAMES 0x24u /* Frames that left. */
#define CARD_STREAM_TX_BYTES 0x28u /* Their bytes, low 32 bits. */
#define CARD_STREAM_TX_STALLS 0x2Cu /* Cycles in which the receiver of the outgoing stream was not ready. */
#define CARD_STREAM_RX_LEVEL 0x30u /* Rows that wait in the ingress buffer now, 128 bytes each at a port, 64 at the host; of the loopback, units that wait for a place in another. */
#define CARD_STREAM_DROP_UNSENT 0x34u /* Frames dropped at the exit because its receiver took nothing for more than EXIT_TIMEOUT cycles. */

/* shell/regs/inline.rdl */
#define INLINE_ELEMENTS 0x0u /* Elements. */
#define INLINE_CONTEXTS 0x4u /* Places of an element's table of contexts. */
#define INLINE_FRAMES 0x8u /* Frames that have gone through the chain. */
#define INLINE_BLOCKED 0xCu /* Frames among them that its programs dropped. */
#define INLINE_REFUSED 0x10u /* Frames among them that its programs sent to ports that the card has not. */
#define INLINE_TIME 0x14u /* Clock of all elements in us, modulo 2^32: 0 after a reset, and then it follows the card's cycles. */
#define INLINE_HOLD 0x18u /* 1: the clock stands still. */

/* engines/rpu/regs/rpu.rdl */
#define RPU_CORE_SEND_DESC_LOW 0x8u /* Descriptor to send, low word: length [15:0], slot [23:16], port [31:24]. */
#define RPU_CORE_SEND_DESC_HIGH 0xCu /* Descriptor to send, high word: address of the first byte; one outside packet memory means the slot's own place. Its write sends what SEND_DESC_TYPE says. With slot 0 and type 0 it sends a frame that the program made: the bytes at the address, which must be in packet memory, to an Ethernet port or the host. Such a frame has no slot and gives none back. One of them, or one request to host memory, may wait in the unit; the write of another one holds the core until that has begun to leave. */
#define RPU_CORE_DRAM_ADDR_LOW 0x10u /* Address in host memory of the next SEND_DESC of type 4 or 5, low word. Its write holds the core while an earlier one waits in the unit. */
#define RPU_CORE_DRAM_ADDR_HIGH 0x14u /* The same, high word. */
#define RPU_CORE_SLOT_ADDR 0x18u /* Address that the next UPDATE_SLOT gives to a slot. */
#define RPU_CORE_TIMER_INTERVAL 0x1Cu /* Cycles between two timer interrupts; 0 stops the timer. */
#define RPU_CORE_DRAM_FLAG_WR 0x20u /* Gives all host memory flags the values written. */
#define RPU_CORE_READY_TO_EVICT 0x24u /* 1: the host may evict this unit. */
#define RPU_CORE_SEND_DESC_TYPE 0x28u /* What a write to SEND_DESC_HIGH does: 0 send a frame, 1 release a slot without sending, 2 to another unit, 3 declare slots (length = bytes a slot holds, slot = how many; refused while any slot holds a frame), 4 write length bytes from the address to host memory at DRAM_ADDR, 5 read them from there: the slot field is a tag, 1..32, and no slot is given up. One such request may wait in the unit, or one frame without a slot; another one holds the core until it has left. */
#define RPU_CORE_RECV_DESC_RELEASE 0x2Cu /* Any write takes the oldest descriptor off the receive queue. */
#define RPU_CORE_DRAM_FLAG_RST 0x30u /* Lowers the host memory flag of tag [5:0]. */
#define RPU_CORE_UPDATE_SLOT 0x34u /* Gives SLOT_ADDR to slot [5:0]: the frame's place in packet memory, or with [8] set the place of its header copy in data memory, a multiple of 32 below the broadcast region. Other places raise interrupt 11. */
#define RPU_CORE_MASK_WRITE 0x38u /* Interrupt mask; 1 lets the interrupt through. Bits as in INTERRUPT_FLAGS. */
#define RPU_CORE_INTERRUPT_ACK 0x3Cu /* Acknowledges the interrupts whose bits are 1. */
#define RPU_CORE_DEBUG_OUT_L 0x40u /* Debug word to the host, low. */
#define RPU_CORE_DEBUG_OUT_H 0x44u /* Debug word to the host, high. */
#define RPU_CORE_BC_FILTER_MASK 0x48u /* Messages are queued of broadcast words whose address in the region [12:2], ANDed with this, is BC_FILTER_VALUE. */
#define RPU_CORE_BC_FILTER_VALUE 0x4Cu /* See BC_FILTER_MASK. */
#define RPU_CORE_BC_LISTEN 0x50u /* 1: queue messages. 0 forgets those that wait, one a cycle: OCCUPANCY says how many are left. */
#define RPU_CORE_BC_RELEASE 0x54u /* Any write takes the oldest message off the queue. */
#define RPU_CORE_RECV_DESC_LOW 0x80u /* Oldest received descriptor, low word; stays until RECV_DESC_RELEASE. 0 when there is none. */
#define RPU_CORE_RECV_DESC_HIGH 0x84u /* Oldest received descriptor, high word: address of the frame in packet memory. */
#define RPU_CORE_DRAM_FLAGS 0x88u /* Host memory flags: bit n-1 rises when the request with tag n is done, written or read to the last byte. */
#define RPU_CORE_READY 0x8Cu /* Byte flags, 1 when ready: [0] a received descriptor waits, [8] SEND_DESC_HIGH takes a write at once (with the SEND_DESC_TYPE and the slot that are set), [16] slot set-up takes a write, [24] message to a core takes a write. */
#define RPU_CORE_CORE_ID 0x90u /* Number of this unit. */
#define RPU_CORE_TIMER_L 0x94u /* Cycles since reset, low. Its read latches the high word. */
#define RPU_CORE_TIMER_H 0x98u /* Cycles since reset, high, as latched by the last read of TIMER_L. */
#define RPU_CORE_INTERRUPT_FLAGS 0x9Cu /* Pending interrupts: 0 timer, 1 packet, 2 host memory, 3 broadcast, 4 poke, 5 evict; errors, which the mask cannot hide: 8 wild address, 9 bad descriptor (slot not held; without a slot, no frame where the address is), 10 bad destination (without a slot, also another unit), 11 bad slot set-up, 12 accelerator, 13 host memory refused a request. */
#define RPU_CORE_MASK_READ 0xA0u /* Interrupt mask. */
#define RPU_CORE_IMEM_SIZE 0xA4u /* Bytes of instruction memory. */
#define RPU_CORE_DMEM_SIZE 0xA8u /* Bytes of data memory. */
#define RPU_CORE_PMEM_SIZE 0xACu /* Bytes of packet memory. */
#define RPU_CORE_SEG_SIZE 0xB0u /* Bytes of a packet memory segment. */
#define RPU_CORE_SEG_COUNT 0xB4u /* Number of packet memory segments. */
#define RPU_CORE_BC_SIZE 0xB8u /* Bytes of the broadcast region. */
#define RPU_CORE_MAX_SLOTS 0xBCu /* Slots that a unit may declare. */
#define RPU_CORE_DEBUG_IN_L 0xC0u /* Debug word from the host, low. */
#define RPU_CORE_DEBUG_IN_H 0xC4u /* Debug word from the host, high. */
#define RPU_CORE_BC_FILTER_MASK_READ 0xC8u /* BC_FILTER_MASK. */
#define RPU_CORE_BC_FILTER_VALUE_READ 0xCCu /* BC_FILTER_VALUE. */
#define RPU_CORE_BC_ADDR 0xD0u /* Address of the word of the oldest message, 0 when there is none. Read the word after it: an address stands here once for all that came before it was read. */
#define RPU_CORE_OCCUPANCY 0xD4u /* [7:0] messages that wait behind the oldest, at most 255; [15:8] broadcast words of this unit in its queue; one more may wait at the output, and others be on their way; [16] a frame that was sent without a slot has not been read to its end. */
#define RPU_CORE_ACTIVE_SLOTS 0xD8u /* Slots that hold a frame: bit n-1 is slot n. */
#define RPU_CORE_RECV 0x100u /* Waits in hardware until a frame is there, takes it off the queue and returns its descriptor: length [15:0], slot [23:16], port [31:24]. */
#define RPU_CORE_RECV_HDR 0x104u /* Address in data memory of the header copy of the frame that RECV returned last. */
#define RPU_CORE_SEND 0x108u /* Sends, in one store: length [15:0] (0 drops), slot [23:16], port [31:24]. The address follows from the slot. */
#define RPU_CORE_RECV_DATA 0x10Cu /* Address in packet memory of the frame that RECV returned last. */
#define RPU_CORE_RECV_HASH 0x110u /* Flow hash of the frame that RECV returned last. */
#define RPU_CORE_RECV_TIME 0x114u /* Cycle, modulo 2^32, in which the frame that RECV returned last entered the card. */
#define RPU_CORE_ACCEL 0x118u /* Accelerators in this unit, a bit each, as the host sees them (ACCEL of rpu_host). */
#define RPU_CORE_DATA 0x11Cu /* Word that core and host share: DATA of the host's registers. For debuggers; a program has no use for it. */

/* engines/rpu/regs/rpu.rdl */
#define RPU_HOST_RESET 0x0u /* 1 holds the core in reset. Set after power-up, so that memories can be loaded. */
#define RPU_HOST_POKE 0x4u /* Any write raises the poke interrupt. */
#define RPU_HOST_EVICT 0x8u /* Any write raises the evict interrupt. */
#define RPU_HOST_DEBUG_IN_L 0x10u /* Debug word to the firmware, low. */
#define RPU_HOST_DEBUG_IN_H 0x14u /* Debug word to the firmware, high. */
#define RPU_HOST_ENGINE 0x20u /* Engine: 0x00757072, "rpu". */
#define RPU_HOST_UNIT_ID 0x24u /* Number of this unit. */
#define RPU_HOST_STATUS 0x28u /* [0] core in reset, [1] ready to evict, [2] interrupt taken and not returned. */
#define RPU_HOST_ERRORS 0x2Cu /* Error flags since reset, bits as in INTERRUPT_FLAGS. */
#define RPU_HOST_ERROR_ADDR 0x30u /* Address of the last access that was wild. */
#define RPU_HOST_PC 0x34u /* Address of the instruction the core is at. A core that is halted goes on at the address written, modulo 64 KiB. */
#define RPU_HOST_ACTIVE_SLOTS 0x38u /* Slots that hold a frame. */
#define RPU_HOST_HELD_CYCLES 0x3Cu /* Cycles since the unit last released a slot while it held one, without those in which a debugger was at work (HALT [1] is set, or the core is halted or in a step); 0 when it holds none. */
#define RPU_HOST_DEBUG_OUT_L 0x40u /* Debug word from the firmware, low. */
#define RPU_HOST_DEBUG_OUT_H 0x44u /* Debug word from the firmware, high. */
#define RPU_HOST_RX_FRAMES 0x50u /* Frames received. */
#define RPU_HOST_RX_BYTES 0x54u /* Bytes received, low 32 bits. */
#define RPU_HOST_RX_STALLS 0x58u /* Cycles in which the unit said that it has no room for beats. */
#define RPU_HOST_TX_FRAMES 0x5Cu /* Frames sent. */
#define RPU_HOST_TX_BYTES 0x60u /* Bytes sent, low 32 bits. */
#define RPU_HOST_TX_STALLS 0x64u /* Cycles in which a departing beat had to wait. */
#define RPU_HOST_BLOCKED 0x68u /* Frames that the program dropped: length 0, or slot released without sending. */
#define RPU_HOST_REFUSED 0x6Cu /* Frames dropped because the program's descriptor was refused: destination or type that does not exist, too long, or a pointer to where no frame may start. */
#define RPU_HOST_ACCEL 0x70u /* Accelerators in this unit, a bit each: 0 ip_prefix, 1 flow_hash, 2 checksum, 3 crc32, 4 string_match. */
#define RPU_HOST_GENERATED 0x74u /* Frames that the program made: sent without a slot. TX_FRAMES counts them, too, when they leave. */
#define RPU_HOST_HALT 0x80u /* [0] 1 halts the core before its next instruction, also in a load that waits and after a reset, and ends a step in a load that waits; 0 lets it go on. [1] ebreak halts the core and is no exception. */
#define RPU_HOST_STEP 0x84u /* Any write has a halted core carry out one instruction and halt again. No interrupt is taken then; an exception is one instruction. A load that waits is waited for. */
#define RPU_HOST_HALTED 0x88u /* 0 when the core runs or is in a step, else what has halted it: 1 HALT, 2 ebreak, 3 a step's end. */
#define RPU_HOST_DATA 0x8Cu /* Word that core and host share: DATA of the core's registers. */
#define RPU_HOST_WILD_PC 0x90u /* Address of the instruction of the last wild access. */
#define RPU_HOST_DESCRIPTOR_PC 0x94u /* Address of the instruction that wrote the last bad descriptor. */
#define RPU_HOST_DESTINATION_PC 0x98u /* Address of the instruction that wrote the last descriptor with a bad destination. */
#define RPU_HOST_SLOT_PC 0x9Cu /* Address of the instruction of the last bad slot set-up. */

/* engines/xdp/regs/xdp.rdl */
#define XDP_HOST_RESET 0x0u /* 1 holds the unit in reset: it has declared no slots. Set after power-up, so that rows and maps can be loaded. */
#define XDP_HOST_ENGINE 0x20u /* Engine: 0x00706478, "xdp". */
#define XDP_HOST_UNIT_ID 0x24u /* Number of this unit. */
#define XDP_HOST_STATUS 0x28u /* [0] the unit is in reset. */
#define XDP_HOST_ACTIVE_SLOTS 0x38u /* Slots that hold a frame: bit n-1 is slot n. */
#define XDP_HOST_RX_FRAMES 0x50u /* Frames received. */
#define XDP_HOST_RX_BYTES 0x54u /* Bytes received, low 32 bits. */
#define XDP_HOST_RX_STALLS 0x58u /* Cycles in which the unit said that it has no room for beats. */
#define XDP_HOST_TX_FRAMES 0x5Cu /* Frames sent. */
#define XDP_HOST_TX_BYTES 0x60u /* Bytes sent, low 32 bits. */
#define XDP_HOST_TX_STALLS 0x64u /* Cycles in which a departing beat had to wait. */
#define XDP_HOST_BLOCKED 0x68u /* Frames that the program dropped: XDP_DROP. */
#define XDP_HOST_REFUSED 0x6Cu /* Frames redirected to an interface that does not exist. */
#define XDP_HOST_BANK 0x90u /* [0] Bank of row memory in which a frame that begins now finds its program. Frames that are being worked on stay with theirs. */
#define XDP_HOST_BY_FLOW 0x94u /* [0] 1: frames of a flow go to one context, by their flow hash. 0: a frame goes to any that is idle. */
#define XDP_HOST_WORKING 0x98u /* Contexts that work on a frame begun in bank 0, [15:0], and in bank 1, [31:16]. */
#define XDP_HOST_SHAPE 0x9Cu /* Lanes of the core, [7:0]; contexts, [15:8]; bytes of the unit's maps, in KiB, [31:16]. */
#define XDP_HOST_ABORTED 0xA0u /* Frames that ended with XDP_ABORTED, with a verdict that does not exist, or because their program took too many rows. */
#define XDP_HOST_ROWS 0xA4u /* Rows carried out, low 32 bits. */
#define XDP_HOST_WILD 0xA8u /* Requests to where nothing is, or of a kind that the unit has not got. */
#define XDP_HOST_STRAY 0xACu /* Stores outside of metadata and packet, which were not carried out: counted by row. */

/* engines/xdp/regs/maps.rdl */
#define MAPS_HOST_SHAPE 0x0u /* Banks, as a power of two, [7:0]; rows of 16 bytes of each, as a power of two, [15:8]; maps, [23:16]. */
#define MAPS_HOST_INFO 0x4u /* What the request says beside its parts: see `info` in maps.md. */
#define MAPS_HOST_COMMAND 0x8u /* Written: sends a request of the operation [2:0], whose key has [6:4] parts, with [12:8] parts in all, as a processor with the context [19:16]. Read: [0] its answer is not here yet, [1] a map is being made. */
#define MAPS_HOST_DEFINE 0xCu /* Written: makes the map of that number as DESCRIPTOR says. All that it held is gone. */
#define MAPS_HOST_DESCRIPTOR 0x10u /* Five words that describe a map. */
#define MAPS_HOST_DESCRIPTOR_COUNT 0x5u /* How many there are, 4 bytes apart. */
#define MAPS_HOST_SEED_LOW 0x24u /* Word of the hash's seed, lower half. */
#define MAPS_HOST_SEED_HIGH 0x28u /* Its upper half. */
#define MAPS_HOST_SEED_AT 0x2Cu /* Written: stores SEED_HIGH and SEED_LOW as the word of that number, 0 to 16. No map of keys may be in use. */
#define MAPS_HOST_DATA 0x200u /* Parts of a request, four words each: of its key, then of its value. An answer stands in the first two words; rows stand from the first word on. */
#define MAPS_HOST_DATA_COUNT 0x80u /* How many there are, 4 bytes apart. */

/* engines/flow/regs/flow.rdl */
#define FLOW_HOST_SHAPE 0x0u /* Places of the table, as a power of two, [7:0]; the element's number in the chain, [15:8]; words of a program, [31:16]. */
#define FLOW_HOST_STATUS 0x4u /* [0] All words of a program are there; [1] a change is being made; [2] the operation has no answer yet; [3] the last one found a context; [4] the table is full; [5] an event waits. */
#define FLOW_HOST_BEGIN 0x8u /* Written: the next word of a program is its first. */
#define FLOW_HOST_PROGRAM 0xCu /* Written: a word of a program, which changes nothing before it is complete and committed. */
#define FLOW_HOST_CHANGE 0x10u /* Written: between two frames, [0] the program that is complete is committed, [1] all contexts are removed, [2] global registers get their first values, [3] contexts whose time is over end, wherever they are: a cycle for each place. In this order. */
#define FLOW_HOST_SECRET 0x14u /* Written: a word of the table's secret, lowest first; the secret has 325 bits and twice those of an address in a way. The table must be empty. */
#define FLOW_HOST_COMMAND 0x18u /* Written: begins an operation on contexts: 0 reads what lies at PLACE (entries move while the stash has some), 1 finds the context of KEY, 2 gives KEY a context, 3 removes it. None may be under way. */
#define FLOW_HOST_PLACE 0x1Cu /* What is read: an address in a way, [17:0], of the way [21:20]; with [31] of the stash the slot [23:20]. */
#define FLOW_HOST_CONTEXTS 0x20u /* Contexts in the table. */
#define FLOW_HOST_STASH 0x24u /* Entries of the stash, [7:0]; the most that there were, [15:8]. Written: that begins anew. */
#define FLOW_HOST_FRAMES 0x28u /* Frames that the element took. */
#define FLOW_HOST_KEYLESS 0x2Cu /* Frames that lack a field of the key. */
#define FLOW_HOST_UNMATCHED 0x30u /* Frames that no row fits. */
#define FLOW_HOST_UNKEPT 0x34u /* Frames whose context found no room: the table is full, or their places and the stash are. */
#define FLOW_HOST_EXPIRED 0x38u /* Contexts whose time was over. */
#define FLOW_HOST_EVICTED 0x3Cu /* Contexts that gave way to others. */
#define FLOW_HOST_MOVED 0x40u /* Times that an entry went to another place of the table. */
#define FLOW_HOST_EVENTS_LOST 0x44u /* Events that found their queue full. */
#define FLOW_HOST_TABLE 0x48u /* Of the table: ways, [7:0]; slots of the stash, [15:8]; bits of the secret, [31:16]. */
#define FLOW_HOST_ROOM 0x4Cu /* Contexts for which the table has room. */
#define FLOW_HOST_TELL 0x50u /* Kinds of events that go into the queue, as EVENT names them; all after a reset. Of others nothing is kept, and they are not lost. */
#define FLOW_HOST_GLOBALS 0x60u /* Global registers. Written between two frames; no change may be under way. */
#define FLOW_HOST_GLOBALS_COUNT 0x8u /* How many there are, 4 bytes apart. */
#define FLOW_HOST_KEY 0x80u /* Key of the operation, lowest word first; behind it, that of what was read. */
#define FLOW_HOST_KEY_COUNT 0xAu /* How many there are, 4 bytes apart. */
#define FLOW_HOST_STATE 0xA8u /* State of the context: that is given, or that was found. */
#define FLOW_HOST_REGISTERS 0xACu /* Its registers. */
#define FLOW_HOST_REGISTERS_COUNT 0x4u /* How many there are, 4 bytes apart. */
#define FLOW_HOST_TIMEOUT 0xBCu /* Its deadlines: the hard one, then the idle one. [0] There is one; [3:1] number of the timeout, which says where it leads. */
#define FLOW_HOST_TIMEOUT_COUNT 0x2u /* How many there are, 4 bytes apart. */
#define FLOW_HOST_DEADLINE 0xC4u /* When they are over, in us. */
#define FLOW_HOST_DEADLINE_COUNT 0x2u /* How many there are, 4 bytes apart. */
#define FLOW_HOST_ROWS 0x100u /* Frames by the row that they took; since the program was committed. */
#define FLOW_HOST_ROWS_COUNT 0x40u /* How many there are, 4 bytes apart. */
#define FLOW_HOST_EVENT 0x200u /* The oldest event: [0] expired, [1] evicted, [2] new, [3] the last place was taken, [4] notified; 0: none waits. Several in this order are of one frame. Written: takes it out of the queue. */
#define FLOW_HOST_EVENT_TIME 0x204u /* When it was, in us. */
#define FLOW_HOST_EVENT_FLOW 0x208u /* Key (ten words), state and registers of the flow, as the frame has left it. */
#define FLOW_HOST_EVENT_FLOW_COUNT 0xFu /* How many there are, 4 bytes apart. */
#define FLOW_HOST_EVENT_GONE 0x244u /* The same of the context that has expired or was evicted, as it was. */
#define FLOW_HOST_EVENT_GONE_COUNT 0xFu /* How many there are, 4 bytes apart. */

/* engines/rpu/accelerators/checksum/checksum.rdl */
#define CHECKSUM_ADDR 0x0u /* Address of the first byte, in packet memory, at any alignment. */
#define CHECKSUM_LENGTH 0x4u /* Bytes, 0 and odd numbers included. Its write starts; one that comes before the sum is there starts anew. Bytes outside packet memory are an error, and nothing is summed. */
#define CHECKSUM_SUM 0x8u /* Ones' complement sum of the 16-bit words and of INITIAL, in the byte order of the frame: a store of two bytes puts it there, and its complement is the checksum. An odd last byte counts as if a zero followed. Holds the core until it is there. */
#define CHECKSUM_INITIAL 0xCu /* What the sum begins with, taken when LENGTH is written: one or two words of 16 bits in the byte order of the frame. */

/* engines/rpu/accelerators/crc32/crc32.rdl */
#define CRC32_ADDR 0x0u /* Address of the first byte, in packet memory, at any alignment. */
#define CRC32_LENGTH 0x4u /* Bytes, 0 included. Its write starts; one that comes before the answer is there starts anew. Bytes outside packet memory are an error, and nothing is read. */
#define CRC32_CRC 0x8u /* The CRC; stored as a word behind the bytes it is their frame check sequence. Holds the core until it is there. */
#define CRC32_INITIAL 0xCu /* CRC of the bytes before these, taken when LENGTH is written; 0 begins. */

/* engines/rpu/accelerators/flow_hash/flow_hash.rdl */
#define FLOW_HASH_CLEAR 0x0u /* Any write begins a new hash. */
#define FLOW_HASH_PUSH1 0x4u /* Pushes one byte, [7:0]. */
#define FLOW_HASH_PUSH2 0x8u /* Pushes two bytes as a load from the frame gives them: [7:0] first. */
#define FLOW_HASH_PUSH4 0xCu /* Pushes four bytes as a load from the frame gives them: [7:0] first. */
#define FLOW_HASH_HASH 0x10u /* Hash of what was pushed since CLEAR: up to 36 bytes, which is what a key of 40 can hash. Holds the core until all of it has gone in. */

/* engines/rpu/accelerators/ip_prefix/ip_prefix.rdl */
#define IP_PREFIX_ADDR 0x0u /* Starts the look-up of an IPv4 address as a load from the frame gives it (first octet in [7:0]). */
#define IP_PREFIX_CLASS 0x4u /* Class of the longest matching prefix, 1..15; 0 when none matches. Holds the core until the look-up is done. */
#define IP_PREFIX_PASS_MASK 0x8u /* All ones when the class is 0; 0xFFFF0000 otherwise: ANDed with a descriptor it drops the frames that match. Holds the core like CLASS. */

/* engines/rpu/accelerators/string_match/string_match.rdl */
#define STRING_MATCH_ADDR 0x0u /* Address of the first byte, in packet memory, at any alignment. */
#define STRING_MATCH_LENGTH 0x4u /* Bytes, 0 included. Its write starts; one that comes before the answer is there starts anew. Bytes outside packet memory are an error, and nothing is searched. */
#define STRING_MATCH_FOUND 0x8u /* Bit n: pattern n occurs within the bytes. Holds the core until all of them are searched. */
#define STRING_MATCH_END 0xCu /* Bytes up to the end of the occurrence that ends first; 0 when there is none. Holds the core like FOUND. */

#endif
