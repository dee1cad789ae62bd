/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware interface of an rpu unit. A program declares its slots once, then takes descriptors and sends them on:
 *
 *     #include <penstock.h>
 *     int main(void) {
 *         pn_init();
 *         for (;;) pn_send(pn_recv() ^ pn_port(1));
 *     }
 *
 * A descriptor is one word: length in bytes [15:0], slot [23:16], port [31:24]. Length 0 drops the frame.
 * Each frame that pn_recv() returns must be given back once, by pn_send() or pn_drop().
 * Registers are described in engines/rpu/regs/rpu.rdl; their addresses come from there.
 */
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include <stddef.h>
#include <stdint.h>

#include "regs.h"

typedef uint32_t pn_desc_t;

/* Memory map of the core's data bus. */
#define PN_ACCEL_BASE 0x0400000u
#define PN_DMEM_BASE 0x0800000u
#define PN_WINDOW_BASE 0x0808000u    /* 256 bytes: the page of data memory with the header copy of the frame taken last */
#define PN_HEADERS_BASE 0x0804000u   /* header copies; stack below, broadcast region from 0x806000 on */
#define PN_BROADCAST_BASE 0x0806000u
#define PN_BROADCAST_SIZE 0x0002000u
#define PN_PMEM_BASE 0x1000000u
#define PN_PMEM_SIZE 0x0100000u

/* The same word of data or packet memory with its four bytes in reverse order (big endian), one cycle slower; not of the broadcast region. */
#define PN_SWAPPED(p) ((volatile void *)((uintptr_t)(p) | 0x4000000u))

/* Bytes between the start of a slot and its frame, so that what follows an Ethernet header is word aligned. */
#define PN_PACKET_OFFSET 10u
#define PN_HEADER_BYTES 128u
#define PN_HEADER_SPACING 256u /* a page of the window: between two header copies */
#define PN_MAX_SLOTS 32u
#define PN_MAX_UNITS 32u

/* Values of a descriptor's port byte. */
#define PN_PORT_HOST 0x02u
#define PN_PORT_LOOPBACK 0x03u                    /* another unit, which the dispatcher chooses */
#define PN_PORT_ETH(n) ((n) < 2u ? (n) : 8u + (n)) /* Ethernet n */
#define PN_PORT_UNIT(u) (0x40u + (u))             /* unit u */

/* Interrupts: bits of the mask and of the flags. Errors (from bit 8 on) cannot be masked. */
#define PN_INT_TIMER (1u << 0)
#define PN_INT_PACKET (1u << 1)
#define PN_INT_HOST_MEMORY (1u << 2)
#define PN_INT_BROADCAST (1u << 3)
#define PN_INT_POKE (1u << 4)
#define PN_INT_EVICT (1u << 5)
#define PN_INT_WILD_ADDRESS (1u << 8)
#define PN_INT_BAD_DESCRIPTOR (1u << 9)
#define PN_INT_BAD_DESTINATION (1u << 10)
#define PN_INT_BAD_SLOT (1u << 11)
#define PN_INT_ACCELERATOR (1u << 12)
#define PN_INT_HOST_REFUSED (1u << 13)

/* Values of SEND_DESC_TYPE. */
#define PN_SEND_FRAME 0u
#define PN_SEND_RELEASE 1u
#define PN_SEND_TO_UNIT 2u
#define PN_SEND_SLOTS 3u
#define PN_SEND_HOST_WRITE 4u
#define PN_SEND_HOST_READ 5u

/* Accelerators: bits of pn_accelerators(), and pages of registers. */
#define PN_IP_PREFIX 0u
#define PN_FLOW_HASH 1u
#define PN_CHECKSUM 2u
#define PN_CRC32 3u
#define PN_STRING_MATCH 4u

/* A register of the unit, by its offset in regs.h, and one of an accelerator. */
#define PN_REG(offset) (*(volatile uint32_t *)(uintptr_t)(offset))
#define PN_ACCEL_REG(kind, offset) (*(volatile uint32_t *)(uintptr_t)(PN_ACCEL_BASE + 0x100u * (kind) + (offset)))

/*
 * A variable at file scope that a reload of the unit leaves as it is, `static PN_KEPT uint32_t frames;`: the next program finds the value in its
 * variable of the same name and size. When the card comes up it starts like any other.
 */
#define PN_KEPT __attribute__((used, section(".kept")))

/* Keeps the compiler from moving accesses to frames across the access that hands the frame over. */
static inline void pn_barrier(void) { __asm__ volatile("" ::: "memory"); }

/*
 * Gives `value` back, computed here and not later. The compiler does not know the core's waits (a load's result is there one instruction
 * late); this puts an instruction into the gap.
 */
static inline uint32_t pn_now(uint32_t value) {
  __asm__ volatile("" : "+r"(value) : : "memory");
  return value;
}

/* The port byte `port` in its place in a descriptor. */
static inline pn_desc_t pn_port(uint32_t port) { return port << 24; }
static inline uint32_t pn_len(pn_desc_t desc) { return desc & 0xFFFFu; }
static inline uint32_t pn_slot(pn_desc_t desc) { return (desc >> 16) & 0xFFu; }
/* The port that a frame came from. */
static inline uint32_t pn_from(pn_desc_t desc) { return desc >> 24; }
/* The same descriptor, bound for `port`. */
static inline pn_desc_t pn_to(pn_desc_t desc, uint32_t port) { return (desc & 0x00FFFFFFu) | pn_port(port); }

/*
 * What main() calls first is a function of its own: where an inline function of a header begins main(), gdb 13 takes the end of main() for its
 * beginning, and breakpoints at lines of it go there.
 */
#define PN_SETUP static inline __attribute__((noinline))

/*
 * Gives slots 1..`count` their header copies: slot n at `base` + (n - 1) * `bytes` in data memory. For pn_window() both are multiples of
 * PN_HEADER_SPACING: two copies in a page would show each other's frames.
 */
PN_SETUP void pn_init_headers(uint32_t count, uint32_t base, uint32_t bytes) {
#pragma clang loop unroll(disable)
  for (uint32_t slot = 1; slot <= count; slot++) {
    PN_REG(RPU_CORE_SLOT_ADDR) = base + (slot - 1) * bytes;
    PN_REG(RPU_CORE_UPDATE_SLOT) = slot | 0x100u;
  }
}

/*
 * Gives slots 1..`count` their frames: slot n at `base` + (n - 1) * `bytes` in packet memory, and tells the dispatcher.
 * `base` modulo 64 is the packet offset: even, at most 14. A slot holds frames of up to `bytes` less the offset.
 * Once, before the first pn_recv(): with it frames may come, and while a slot holds one the card refuses new slots (PN_INT_BAD_SLOT).
 * Ports and the host fill at most `count` - 1 slots, the last is left to frames over loopback; a single slot serves all.
 */
PN_SETUP void pn_init_slots(uint32_t count, uint32_t base, uint32_t bytes) {
#pragma clang loop unroll(disable)
  for (uint32_t slot = 1; slot <= count; slot++) {
    PN_REG(RPU_CORE_SLOT_ADDR) = base + (slot - 1) * bytes;
    PN_REG(RPU_CORE_UPDATE_SLOT) = slot;
  }
  PN_REG(RPU_CORE_SEND_DESC_LOW) = (bytes - base % 64u) | count << 16;
  PN_REG(RPU_CORE_SEND_DESC_TYPE) = PN_SEND_SLOTS;
}

/* Interrupts that may come: PN_INT_ bits. */
static inline void pn_set_interrupts(uint32_t mask) { PN_REG(RPU_CORE_MASK_WRITE) = mask; }
/* From now on PN_INT_TIMER rises every so many cycles; 0 stops the timer. */
static inline void pn_set_timer(uint32_t cycles) { PN_REG(RPU_CORE_TIMER_INTERVAL) = cycles; }
static inline uint32_t pn_interrupts(void) { return PN_REG(RPU_CORE_INTERRUPT_FLAGS); }
static inline void pn_ack(uint32_t flags) { PN_REG(RPU_CORE_INTERRUPT_ACK) = flags; }

/*
 * Declares all 32 slots of 32 KiB (every frame that the card stores fits) with their header copies, and lets the host
 * poke and evict. Call it once, before the first pn_recv(): while a slot holds a frame the card refuses it (PN_INT_BAD_SLOT).
 */
PN_SETUP void pn_init(void) {
  pn_set_interrupts(PN_INT_POKE | PN_INT_EVICT);
  pn_init_headers(PN_MAX_SLOTS, PN_HEADERS_BASE, PN_HEADER_SPACING);
  pn_init_slots(PN_MAX_SLOTS, PN_PMEM_BASE + PN_PACKET_OFFSET, PN_PMEM_SIZE / PN_MAX_SLOTS);
}

/* Waits in hardware for the next frame and returns its descriptor. */
static inline pn_desc_t pn_recv(void) {
  pn_desc_t desc = PN_REG(RPU_CORE_RECV);
  pn_barrier();
  return desc;
}

/* 1 when pn_recv() would return at once. */
static inline int pn_ready(void) { return *(volatile uint8_t *)(uintptr_t)RPU_CORE_READY; }

/*
 * The first min(length, 128) bytes of the frame that pn_recv() returned last: a copy in data memory, for reading fast. A null pointer when its
 * slot has none: there are as many copies as the program declared.
 */
static inline const uint8_t *pn_hdr(void) { return (const uint8_t *)(uintptr_t)PN_REG(RPU_CORE_RECV_HDR); }
/*
 * The same at an address that is always the same: the hardware moves the page of data memory behind it with each frame that is taken. So it
 * need not be read first, but it is good until the next frame is taken only; what pn_hdr() gives is good until the frame is given back.
 * The header copies must lie as pn_init() lays them, each in a page of its own and PN_PACKET_OFFSET from its start.
 */
static inline const volatile uint8_t *pn_window(void) {
  return (const volatile uint8_t *)(uintptr_t)(PN_WINDOW_BASE + PN_PACKET_OFFSET);
}
/* The frame that pn_recv() returned last, in packet memory: what it writes there is what the card sends. */
static inline uint8_t *pn_data(void) { return (uint8_t *)(uintptr_t)PN_REG(RPU_CORE_RECV_DATA); }
/* Flow hash of the frame that pn_recv() returned last; 0 when it has no IP header. */
static inline uint32_t pn_hash(void) { return PN_REG(RPU_CORE_RECV_HASH); }
/* Cycle, modulo 2^32, in which the frame that pn_recv() returned last entered the card. */
static inline uint32_t pn_arrival(void) { return PN_REG(RPU_CORE_RECV_TIME); }

/* Sends a frame from its slot to the port its descriptor names, and gives the slot back. */
static inline void pn_send(pn_desc_t desc) {
  pn_barrier();
  PN_REG(RPU_CORE_SEND) = desc;
}

/*
 * Sends `desc`'s length in bytes from address `data` in packet memory: for frames whose start has moved. Within a row of 64 bytes it may
 * start at an even place up to 14, as slots do; anywhere else in packet memory the card refuses it. An address outside packet memory means the
 * slot's own place.
 */
static inline void pn_send_from(pn_desc_t desc, const void *data) {
  pn_barrier();
  PN_REG(RPU_CORE_SEND_DESC_LOW) = desc;
  PN_REG(RPU_CORE_SEND_FROM) = (uint32_t)(uintptr_t)data;
}

/*
 * Sends a frame that the program has made: 1 to 16,384 bytes from address `data` in packet memory, where a frame may start as in pn_send_from(), to
 * an Ethernet port or the host. It has no slot, so nothing is given back, and it counts as made by this unit. To other units it cannot go
 * (PN_INT_BAD_DESTINATION). Memory for it is what slots leave: pn_init() takes all, pn_init_slots() as much as it is told.
 *
 * The card reads the frame while the program goes on. One frame may wait while the one before it is read; the next call holds the core until that
 * has begun. So when pn_generate() returns all frames have been read but this one and the one before, and their memory may be written again:
 * who fills three buffers in turn need not ask. pn_generating() tells when those two have been read as well.
 * As with pn_send_from(), an interrupt handler that does the same must be held off meanwhile.
 */
static inline void pn_generate(uint32_t port, const void *data, uint32_t bytes) {
  pn_barrier();
  PN_REG(RPU_CORE_SEND_DESC_LOW) = bytes | pn_port(port);
  PN_REG(RPU_CORE_SEND_FROM) = (uint32_t)(uintptr_t)data;
}

/* 1 while a frame that pn_generate() was given has not been read to its end: its memory must stay as it is. */
static inline uint32_t pn_generating(void) {
  uint32_t unread = PN_REG(RPU_CORE_OCCUPANCY) >> 16;
  pn_barrier();
  return unread;
}

/* Drops a frame (the card counts it as blocked) and gives the slot back. */
static inline void pn_drop(pn_desc_t desc) { PN_REG(RPU_CORE_SEND) = desc & 0xFFFF0000u; }

/*
 * Host memory. A request names a part of packet memory (as in pn_send_from: within a row of 64 bytes it starts at an even place up to 14), 1 to
 * 16,384 bytes of it, any address of the host, and a tag, 1..32. It is carried out while the program goes on; when it is done the flag of its tag
 * rises, and PN_INT_HOST_MEMORY. Until then the program leaves that part alone. One request may wait in the unit; the next one holds the core until
 * that has left. Requests do not overtake each other within the unit, but a read sees a write for sure only after the write's flag has risen.
 * What the host refuses raises PN_INT_HOST_REFUSED as well; of a read it is zero.
 */
static inline void pn_host_request(uint32_t type, uint32_t tag, uint64_t host, const void *data, uint32_t bytes) {
  uint32_t before;
  /* An interrupt handler may send, too. */
  __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before)::"memory");
  PN_REG(RPU_CORE_DRAM_ADDR_LOW) = (uint32_t)host;
  PN_REG(RPU_CORE_DRAM_ADDR_HIGH) = (uint32_t)(host >> 32);
  PN_REG(RPU_CORE_SEND_DESC_LOW) = bytes | tag << 16;
  PN_REG(RPU_CORE_SEND_DESC_HIGH) = (uint32_t)(uintptr_t)data;
  PN_REG(RPU_CORE_SEND_DESC_TYPE) = type;
  __asm__ volatile("csrs mstatus, %0" ::"r"(before & 8u) : "memory");
}

/* Starts writing `bytes` bytes from `data` to address `host`. */
static inline void pn_host_write(uint32_t tag, uint64_t host, const void *data, uint32_t bytes) {
  pn_host_request(PN_SEND_HOST_WRITE, tag, host, data, bytes);
}

/* Starts reading `bytes` bytes from address `host` to `data`. */
static inline void pn_host_read(uint32_t tag, uint64_t host, void *data, uint32_t bytes) {
  pn_host_request(PN_SEND_HOST_READ, tag, host, data, bytes);
}

/* The flags of all tags: bit n - 1 is that of tag n. */
static inline uint32_t pn_host_flags(void) { return PN_REG(RPU_CORE_DRAM_FLAGS); }
/* Lowers the flag of a tag. */
static inline void pn_host_clear(uint32_t tag) { PN_REG(RPU_CORE_DRAM_FLAG_RST) = tag; }
/* Waits until the request with this tag is done, and lowers its flag. */
static inline void pn_host_wait(uint32_t tag) {
  while (!(pn_host_flags() >> (tag - 1) & 1)) {
  }
  pn_host_clear(tag);
  pn_barrier();
}

/*
 * Broadcast. What a program stores in this region stands in its own at once, and in that of all other units in one and the same cycle, some
 * cycles later; the words of others come in one order for all. A store waits while the words before it have not left; nothing is ever lost.
 * Words arrive also while a unit is busy or in reset. A word should have one writer: of two that store it at the same time each sees its own
 * first, and what stays may differ.
 */
static inline volatile uint32_t *pn_broadcast(void) { return (volatile uint32_t *)(uintptr_t)PN_BROADCAST_BASE; }

/*
 * From now on words of other units whose offset in the region, ANDed with `mask`, is `value` are messages: PN_INT_BROADCAST rises when one
 * is the oldest. With mask and value 0 every word is one.
 */
static inline void pn_listen(uint32_t mask, uint32_t value) {
  PN_REG(RPU_CORE_BC_LISTEN) = 0;
  while (PN_REG(RPU_CORE_OCCUPANCY) & 0xFFu) { /* what waited is being forgotten */
  }
  PN_REG(RPU_CORE_BC_FILTER_MASK) = mask;
  PN_REG(RPU_CORE_BC_FILTER_VALUE) = value;
  PN_REG(RPU_CORE_BC_LISTEN) = 1;
}
/*
 * The word of the oldest message, or NULL when there is none; pn_message_done() takes it away. A word that is stored several times before
 * its message is the oldest is one message.
 */
static inline const volatile uint32_t *pn_message(void) {
  return (const volatile uint32_t *)(uintptr_t)PN_REG(RPU_CORE_BC_ADDR);
}
static inline void pn_message_done(void) { PN_REG(RPU_CORE_BC_RELEASE) = 1; }

/* Number of this unit. */
static inline uint32_t pn_unit(void) { return PN_REG(RPU_CORE_CORE_ID); }
/* Accelerators of this unit: bit PN_CRC32 is 1 when it has crc32, and so on. Using one that is not there raises PN_INT_ACCELERATOR. */
static inline uint32_t pn_accelerators(void) { return PN_REG(RPU_CORE_ACCEL); }

/* Cycles since reset. */
static inline uint64_t pn_cycles(void) {
  uint32_t low = PN_REG(RPU_CORE_TIMER_L);
  return (uint64_t)PN_REG(RPU_CORE_TIMER_H) << 32 | low;
}

/* The 64-bit debug words to and from the host. */
static inline void pn_debug(uint32_t low, uint32_t high) {
  PN_REG(RPU_CORE_DEBUG_OUT_L) = low;
  PN_REG(RPU_CORE_DEBUG_OUT_H) = high;
}
static inline uint64_t pn_debug_in(void) {
  uint32_t low = PN_REG(RPU_CORE_DEBUG_IN_L);
  return (uint64_t)PN_REG(RPU_CORE_DEBUG_IN_H) << 32 | low;
}

/*
 * What start-up code calls on an interrupt; must acknowledge what it handles. A program may define its own; the one in the kit
 * acknowledges everything and, asked to leave, says that it is ready.
 */
void int_handler(void);

/* What start-up code calls when an instruction cannot be executed; the kit's tells the host (debug words) and stops. */
void fault_handler(uint32_t cause, uint32_t pc);

#endif
