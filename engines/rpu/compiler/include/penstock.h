/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware interface of an rpu unit. A program declares its slots once, then receives descriptors and sends them:
 *
 *     #include <penstock.h>
 *     int main(void) {
 *         pn_init();
 *         for (;;) pn_send(pn_recv() ^ pn_port(1));
 *     }
 *
 * A descriptor is one word: length in bytes [15:0], slot [23:16], port [31:24]. Length 0 drops the frame. The program
 * must give each frame that pn_recv() returns back once, with pn_send(), pn_send_from() or pn_drop().
 *
 * Arguments out of range do not compile if they are constants; otherwise the card refuses them and the run reports the
 * line. engines/rpu/regs/rpu.rdl describes the registers and gives their addresses.
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
#define PN_WINDOW_BASE 0x0808000u    /* 256 bytes: the page with the header copy of the last frame received */
#define PN_HEADERS_BASE 0x0804000u   /* header copies; stack below, broadcast region from 0x806000 on */
#define PN_BROADCAST_BASE 0x0806000u
#define PN_BROADCAST_SIZE 0x0002000u
#define PN_PMEM_BASE 0x1000000u
#define PN_PMEM_SIZE 0x0100000u

/*
 * Address at which the core finds the word at `p` with its four bytes in reverse order (big endian). An access takes
 * one cycle more. Only data and packet memory have such addresses; the broadcast region does not.
 */
#define PN_SWAPPED(p) ((volatile void *)((uintptr_t)(p) | 0x4000000u))

/* Bytes between the start of a slot and its frame. With 10 the header after the Ethernet header is word aligned. */
#define PN_PACKET_OFFSET 10u
#define PN_HEADER_BYTES 128u
#define PN_HEADER_SPACING 256u /* bytes from one header copy to the next: a page of the header window */
#define PN_MAX_SLOTS 32u
#define PN_MAX_UNITS 32u

/* Values of a descriptor's port byte. */
#define PN_PORT_HOST 0x02u
#define PN_PORT_LOOPBACK 0x03u /* another unit, which the dispatcher chooses */
#define PN_PORT_ETH(n) ((n) < 2u ? (n) : (n) < 0x38u ? 8u + (n) : PN_PORT_NONE) /* Ethernet n */
#define PN_PORT_UNIT(u) (0x40u + (u)) /* unit u */
#define PN_PORT_NONE 0xFFu            /* no card has this port */

/* Interrupts: bits of the mask and of the flags. Errors, from bit 8 on, cannot be masked. */
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

/* Accelerators: bits of pn_accelerators() and numbers of their pages of registers. */
#define PN_IP_PREFIX 0u
#define PN_FLOW_HASH 1u
#define PN_CHECKSUM 2u
#define PN_CRC32 3u
#define PN_STRING_MATCH 4u

/* A register of the unit, by its address in regs.h, and one of an accelerator. */
#define PN_REG(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define PN_ACCEL_REG(kind, offset) (*(volatile uint32_t *)(uintptr_t)(PN_ACCEL_BASE + 0x100u * (kind) + (offset)))

/*
 * Marks a variable at file scope whose value outlasts a reload of the unit: `static PN_KEPT uint32_t frames;`. The
 * next program finds the value in its variable of the same name and size. When the card starts, the variable has its
 * initial value.
 */
#define PN_KEPT __attribute__((used, section(".kept")))

/*
 * The compiler moves no access to memory across this: accesses to a frame stay on their side of the one that hands it
 * over.
 */
static inline void pn_barrier(void) { __asm__ volatile("" ::: "memory"); }

/*
 * Returns `value` and has the compiler compute it here, not later. The core waits when an instruction uses the result
 * of a load too early, which the compiler does not know; this puts another instruction into the gap.
 */
static inline uint32_t pn_now(uint32_t value) {
  __asm__ volatile("" : "+r"(value) : : "memory");
  return value;
}

/* A call whose arguments are constants that meet the condition does not compile. */
#define PN_REFUSE(condition, message) __attribute__((diagnose_if(condition, message, "error")))

/*
 * `value` as a field of `bits` bits. A larger value becomes the largest of the field, which the card refuses, and
 * changes no other field.
 */
static inline uint32_t pn_field(uint32_t value, uint32_t bits) {
  uint32_t largest = (1u << bits) - 1;
  return value < largest ? value : largest;
}

/* The port byte `port` in its place in a descriptor. */
#define PN_PORT_RANGE PN_REFUSE(port > 0xFFu, "a port is a byte; PN_PORT_ETH() and PN_PORT_UNIT() give it")
static inline pn_desc_t pn_port(uint32_t port) PN_PORT_RANGE;
static inline pn_desc_t pn_port(uint32_t port) { return pn_field(port, 8) << 24; }
static inline uint32_t pn_len(pn_desc_t desc) { return desc & 0xFFFFu; }
static inline uint32_t pn_slot(pn_desc_t desc) { return (desc >> 16) & 0xFFu; }
/* The port that a frame arrived at. */
static inline uint32_t pn_from(pn_desc_t desc) { return desc >> 24; }
/* The descriptor with `port` as its destination. */
static inline pn_desc_t pn_to(pn_desc_t desc, uint32_t port) PN_PORT_RANGE;
static inline pn_desc_t pn_to(pn_desc_t desc, uint32_t port) { return (desc & 0x00FFFFFFu) | pn_port(port); }

/*
 * For functions that main() calls first: they are not inlined. If an inline function of a header begins main(), gdb 13
 * takes the end of main() for its beginning and sets breakpoints there.
 */
#define PN_SETUP static inline __attribute__((noinline))

/* Arguments that pn_init_headers() and pn_init_slots() refuse: constants do not compile, others raise
 * PN_INT_BAD_SLOT. */
#define PN_BAD_COUNT(count) ((count) == 0 || (count) > PN_MAX_SLOTS)
#define PN_BAD_HEADERS(count, base, bytes)                                              \
  ((base) < PN_HEADERS_BASE || (base) % 32u != 0 ||                                     \
   ((count) > 1 && ((bytes) < PN_HEADER_BYTES || (bytes) % 32u != 0)) ||                \
   (uint64_t)(base) + (uint64_t)((count)-1) * (bytes) + PN_HEADER_BYTES + 14u > PN_BROADCAST_BASE)
#define PN_BAD_OFFSET(base) ((base) % 64u > 14u || (base) % 2u != 0)
#define PN_BAD_SLOTS(count, base, bytes)                                     \
  ((base) < PN_PMEM_BASE || (bytes) <= (base) % 64u ||                       \
   (uint64_t)(base) - (base) % 64u + (uint64_t)(count) * (bytes) > PN_PMEM_BASE + PN_PMEM_SIZE)
#define PN_COUNT_SAYS "slots are numbered 1 to 32: give a count from 1 to 32"
#define PN_HEADERS_SAYS "header copies lie from 0x804000 to 0x806000, at multiples of 32 and at least 128 bytes apart"
#define PN_OFFSET_SAYS "a slot's address modulo 64 is the packet offset: even and at most 14"
#define PN_SLOTS_SAYS \
  "the slots must lie within packet memory (1 MiB from 0x1000000), and each must be larger than its packet offset"

/* Has the card raise PN_INT_BAD_SLOT: there is no slot 0. */
static inline void pn_refuse_slots(void) { PN_REG(RPU_CORE_UPDATE_SLOT) = 0; }

/*
 * Gives slots 1 to `count` their header copies: slot n at `base` + (n - 1) * `bytes` in data memory. pn_window() needs
 * both to be multiples of PN_HEADER_SPACING: two copies in one page would show each other's frames.
 */
PN_SETUP void pn_init_headers(uint32_t count, uint32_t base, uint32_t bytes)
    PN_REFUSE(PN_BAD_COUNT(count), PN_COUNT_SAYS) PN_REFUSE(PN_BAD_HEADERS(count, base, bytes), PN_HEADERS_SAYS);
PN_SETUP void pn_init_headers(uint32_t count, uint32_t base, uint32_t bytes) {
  if (PN_BAD_COUNT(count) || PN_BAD_HEADERS(count, base, bytes)) {
    pn_refuse_slots();
    return;
  }
#pragma clang loop unroll(disable)
  for (uint32_t slot = 1; slot <= count; slot++) {
    PN_REG(RPU_CORE_SLOT_ADDR) = base + (slot - 1) * bytes;
    PN_REG(RPU_CORE_UPDATE_SLOT) = slot | 0x100u;
  }
}

/*
 * Gives slots 1 to `count` their frames, slot n at `base` + (n - 1) * `bytes` in packet memory, and declares them to
 * the dispatcher. `base` modulo 64 is the packet offset: even, at most 14. A slot holds frames of up to `bytes` less
 * the offset. Call it once, before the first pn_recv(): from then on frames arrive, and while a slot holds one the
 * card refuses new slots (PN_INT_BAD_SLOT). Ports and the host fill at most `count` - 1 slots; the last one is left to
 * frames over loopback. A single slot serves all.
 */
PN_SETUP void pn_init_slots(uint32_t count, uint32_t base, uint32_t bytes)
    PN_REFUSE(PN_BAD_COUNT(count), PN_COUNT_SAYS) PN_REFUSE(PN_BAD_OFFSET(base), PN_OFFSET_SAYS)
    PN_REFUSE(PN_BAD_SLOTS(count, base, bytes), PN_SLOTS_SAYS);
PN_SETUP void pn_init_slots(uint32_t count, uint32_t base, uint32_t bytes) {
  if (PN_BAD_COUNT(count) || PN_BAD_OFFSET(base) || PN_BAD_SLOTS(count, base, bytes)) {
    pn_refuse_slots();
    return;
  }
#pragma clang loop unroll(disable)
  for (uint32_t slot = 1; slot <= count; slot++) {
    PN_REG(RPU_CORE_SLOT_ADDR) = base + (slot - 1) * bytes;
    PN_REG(RPU_CORE_UPDATE_SLOT) = slot;
  }
  /* The field has 16 bits. No frame is that long, so a larger slot loses nothing. */
  PN_REG(RPU_CORE_SEND_DESC_LOW) = pn_field(bytes - base % 64u, 16) | count << 16;
  PN_REG(RPU_CORE_SEND_DESC_TYPE) = PN_SEND_SLOTS;
}

/* Sets the interrupts that the core takes: PN_INT_ bits. */
static inline void pn_set_interrupts(uint32_t mask) { PN_REG(RPU_CORE_MASK_WRITE) = mask; }
/* Has PN_INT_TIMER rise every `cycles` cycles; 0 stops the timer. */
static inline void pn_set_timer(uint32_t cycles) { PN_REG(RPU_CORE_TIMER_INTERVAL) = cycles; }
static inline uint32_t pn_interrupts(void) { return PN_REG(RPU_CORE_INTERRUPT_FLAGS); }
static inline void pn_ack(uint32_t flags) { PN_REG(RPU_CORE_INTERRUPT_ACK) = flags; }

/*
 * Declares 32 slots of 32 KiB, in which every frame that the card stores fits, with their header copies, and lets the
 * host poke and evict the unit. Call it once, before the first pn_recv(): while a slot holds a frame the card refuses
 * new slots (PN_INT_BAD_SLOT).
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
 * The first min(length, 128) bytes of the last frame received: a copy in data memory, which the core reads fast. A
 * null pointer if the program declared no header copy for the frame's slot.
 */
static inline const uint8_t *pn_hdr(void) { return (const uint8_t *)(uintptr_t)PN_REG(RPU_CORE_RECV_HDR); }
/*
 * The same at an address that never changes: with each frame received the hardware moves another page of data memory
 * behind it. The program need not read the address first, but it sees the frame's header only until it receives the
 * next frame; the copy at pn_hdr() stays until the frame is given back. Each header copy must have a page of its own
 * and start PN_PACKET_OFFSET into it, as pn_init() places them.
 */
static inline const volatile uint8_t *pn_window(void) {
  return (const volatile uint8_t *)(uintptr_t)(PN_WINDOW_BASE + PN_PACKET_OFFSET);
}
/* The last frame received, in packet memory. The card sends the bytes that the program writes there. */
static inline uint8_t *pn_data(void) { return (uint8_t *)(uintptr_t)PN_REG(RPU_CORE_RECV_DATA); }
/* Flow hash of the last frame received; 0 if it has no IP header. */
static inline uint32_t pn_hash(void) { return PN_REG(RPU_CORE_RECV_HASH); }
/* Cycle, modulo 2^32, in which the last frame received entered the card. */
static inline uint32_t pn_arrival(void) { return PN_REG(RPU_CORE_RECV_TIME); }

/* Sends a frame from its slot to the port in its descriptor, and gives the slot back. */
static inline void pn_send(pn_desc_t desc) {
  pn_barrier();
  PN_REG(RPU_CORE_SEND) = desc;
}

/*
 * Sends a frame whose start has moved: the length in `desc`, from address `data` in packet memory. `data` modulo 64
 * must be even and at most 14, as for slots; otherwise the card refuses the frame. An address outside packet memory
 * means the slot's own place. An interrupt handler that also calls this function, pn_generate() or pn_host_request()
 * must be held off meanwhile.
 */
static inline void pn_send_from(pn_desc_t desc, const void *data) {
  pn_barrier();
  PN_REG(RPU_CORE_SEND_DESC_LOW) = desc;
  PN_REG(RPU_CORE_SEND_FROM) = (uint32_t)(uintptr_t)data;
}

/*
 * Sends a frame that the program has made: 1 to 16,384 bytes from address `data` in packet memory, with the alignment
 * of pn_send_from(), to an Ethernet port or the host. Such a frame has no slot; the card counts it as made by this
 * unit. It cannot go to another unit (PN_INT_BAD_DESTINATION). The program places these frames in memory that no slot
 * has: pn_init() leaves none, pn_init_slots() leaves what it is not given.
 *
 * The card reads the frame while the program continues. One frame may wait while the card reads the one before; the
 * next call holds the core until the waiting frame is being read. When pn_generate() returns, the card has therefore
 * read all frames except this one and the one before, so a program that uses three buffers in turn may fill the next
 * one. pn_generating() says whether the card has read those two as well.
 */
static inline void pn_generate(uint32_t port, const void *data, uint32_t bytes)
    PN_PORT_RANGE PN_REFUSE(bytes == 0 || bytes > 16384u, "a frame has 1 to 16,384 bytes");
static inline void pn_generate(uint32_t port, const void *data, uint32_t bytes) {
  pn_barrier();
  PN_REG(RPU_CORE_SEND_DESC_LOW) = pn_field(bytes, 16) | pn_port(port);
  PN_REG(RPU_CORE_SEND_FROM) = (uint32_t)(uintptr_t)data;
}

/* 1 while the card has not completely read a frame of pn_generate(): its memory must not change. */
static inline uint32_t pn_generating(void) {
  uint32_t unread = PN_REG(RPU_CORE_OCCUPANCY) >> 16;
  pn_barrier();
  return unread;
}

/* Drops a frame (the card counts it as blocked) and gives the slot back. */
static inline void pn_drop(pn_desc_t desc) { PN_REG(RPU_CORE_SEND) = desc & 0xFFFF0000u; }

/*
 * Host memory. A request names 1 to 16,384 bytes of packet memory with the alignment of pn_send_from(), any address of
 * the host, and a tag from 1 to 32. The card carries it out while the program continues. When the request is done, the
 * flag of its tag rises, and PN_INT_HOST_MEMORY; until then the program must not touch those bytes. One request may
 * wait in the unit; the next one holds the core until that has left. Requests leave a unit in order, but a read is
 * certain to see the data of a write only after the flag of the write has risen. If the host refuses a request,
 * PN_INT_HOST_REFUSED rises as well, and a read gives zeros. It also rises if the card denies a request because it has
 * a byte outside the host memory that the host lets the unit reach; then neither memory changes.
 */
#define PN_TAG_RANGE PN_REFUSE(tag == 0 || tag > 32u, "tags are numbered 1 to 32")
#define PN_HOST_RANGE PN_TAG_RANGE PN_REFUSE(bytes == 0 || bytes > 16384u, "a request has 1 to 16,384 bytes")
static inline void pn_host_request(uint32_t type, uint32_t tag, uint64_t host, const void *data, uint32_t bytes) {
  uint32_t before;
  /* An interrupt handler may also send. */
  __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before)::"memory");
  PN_REG(RPU_CORE_DRAM_ADDR_LOW) = (uint32_t)host;
  PN_REG(RPU_CORE_DRAM_ADDR_HIGH) = (uint32_t)(host >> 32);
  PN_REG(RPU_CORE_SEND_DESC_LOW) = pn_field(bytes, 16) | pn_field(tag, 8) << 16;
  PN_REG(RPU_CORE_SEND_DESC_HIGH) = (uint32_t)(uintptr_t)data;
  PN_REG(RPU_CORE_SEND_DESC_TYPE) = type;
  __asm__ volatile("csrs mstatus, %0" ::"r"(before & 8u) : "memory");
}

/* Starts writing `bytes` bytes from `data` to address `host`. */
static inline void pn_host_write(uint32_t tag, uint64_t host, const void *data, uint32_t bytes) PN_HOST_RANGE;
static inline void pn_host_write(uint32_t tag, uint64_t host, const void *data, uint32_t bytes) {
  pn_host_request(PN_SEND_HOST_WRITE, tag, host, data, bytes);
}

/* Starts reading `bytes` bytes from address `host` to `data`. */
static inline void pn_host_read(uint32_t tag, uint64_t host, void *data, uint32_t bytes) PN_HOST_RANGE;
static inline void pn_host_read(uint32_t tag, uint64_t host, void *data, uint32_t bytes) {
  pn_host_request(PN_SEND_HOST_READ, tag, host, data, bytes);
}

/* The flags of all tags: bit n - 1 is that of tag n. */
static inline uint32_t pn_host_flags(void) { return PN_REG(RPU_CORE_DRAM_FLAGS); }
/* Lowers the flag of a tag. */
static inline void pn_host_clear(uint32_t tag) { PN_REG(RPU_CORE_DRAM_FLAG_RST) = tag; }
/* Waits until the request with this tag is done, and lowers its flag. */
static inline void pn_host_wait(uint32_t tag) PN_TAG_RANGE;
static inline void pn_host_wait(uint32_t tag) {
  while (!(pn_host_flags() >> (tag - 1) & 1)) {
  }
  pn_host_clear(tag);
  pn_barrier();
}

/*
 * Broadcast. A word that a program stores in this region is in its own copy at once, and some cycles later in the
 * copies of all other units, in the same cycle in each. All units see the words of others in one order. A store waits
 * while earlier words have not left; no word is lost. Words also arrive while a unit is busy or in reset. A word
 * should have one writer: if two units store the same word at the same time, each sees its own value first, and their
 * copies may differ afterwards.
 */
static inline volatile uint32_t *pn_broadcast(void) { return (volatile uint32_t *)(uintptr_t)PN_BROADCAST_BASE; }

/*
 * Selects the words that are messages: those of other units whose offset in the region, ANDed with `mask`, is `value`.
 * With mask and value 0 every word is a message. PN_INT_BROADCAST rises when a message becomes the oldest one.
 */
static inline void pn_listen(uint32_t mask, uint32_t value)
    PN_REFUSE(value & ~mask, "no word passes this filter: value has bits that mask does not have");
static inline void pn_listen(uint32_t mask, uint32_t value) {
  PN_REG(RPU_CORE_BC_LISTEN) = 0;
  while (PN_REG(RPU_CORE_OCCUPANCY) & 0xFFu) { /* the card forgets the messages that waited */
  }
  PN_REG(RPU_CORE_BC_FILTER_MASK) = mask;
  PN_REG(RPU_CORE_BC_FILTER_VALUE) = value;
  PN_REG(RPU_CORE_BC_LISTEN) = 1;
}
/*
 * The word of the oldest message, or NULL if the queue is empty; pn_message_done() removes the message. If a word is
 * stored several times before its message is the oldest one, it is one message.
 */
static inline const volatile uint32_t *pn_message(void) {
  return (const volatile uint32_t *)(uintptr_t)PN_REG(RPU_CORE_BC_ADDR);
}
static inline void pn_message_done(void) { PN_REG(RPU_CORE_BC_RELEASE) = 1; }

/* Number of this unit. */
static inline uint32_t pn_unit(void) { return PN_REG(RPU_CORE_CORE_ID); }
/*
 * Accelerators of this unit: bit PN_CRC32 is 1 if it has crc32, and so on. An access to an accelerator that the unit
 * lacks raises PN_INT_ACCELERATOR.
 */
static inline uint32_t pn_accelerators(void) { return PN_REG(RPU_CORE_ACCEL); }

/* Cycles since reset. */
static inline uint64_t pn_cycles(void) {
  uint32_t low = PN_REG(RPU_CORE_TIMER_L);
  return (uint64_t)PN_REG(RPU_CORE_TIMER_H) << 32 | low;
}

/*
 * Time in ns. It is the time at which the frame was captured if frames of a capture enter in turns, and else goes on by
 * 4 ns a cycle from the card's reset, or from what the host has set.
 */
static inline uint64_t pn_time(void) {
  uint32_t low = PN_REG(RPU_CORE_TIME_L);
  return (uint64_t)PN_REG(RPU_CORE_TIME_H) << 32 | low;
}

/* Sets the 64-bit debug word that the host reads; pn_debug_in() reads the word that the host writes. */
static inline void pn_debug(uint32_t low, uint32_t high) {
  PN_REG(RPU_CORE_DEBUG_OUT_L) = low;
  PN_REG(RPU_CORE_DEBUG_OUT_H) = high;
}
static inline uint64_t pn_debug_in(void) {
  uint32_t low = PN_REG(RPU_CORE_DEBUG_IN_L);
  return (uint64_t)PN_REG(RPU_CORE_DEBUG_IN_H) << 32 | low;
}

/*
 * The start-up code calls this on an interrupt. It must acknowledge the interrupts that it handles, and return like
 * any C function (without __attribute__((interrupt))). A program may define its own; the kit's ends the program after
 * an access to memory that does not exist (PN_INT_WILD_ADDRESS), acknowledges all other interrupts, and answers an
 * evict with READY_TO_EVICT.
 */
void int_handler(void);

/* The start-up code calls this on an exception. The kit's shows pc and cause in the debug words and stops. */
void fault_handler(uint32_t cause, uint32_t pc);

#endif
