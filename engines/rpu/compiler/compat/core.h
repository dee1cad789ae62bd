/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware interface under the names of Rosebud (Khazraee et al., ASPLOS 2023), so that its programs compile
 * unchanged. New programs are faster with penstock.h, which receives in one load that waits and sends in one store.
 *
 * A program sends in two steps. It writes the descriptor to SEND_DESC, whole or in parts of any width and in any
 * order, and then writes to SEND_DESC_TYPE, which sends it. A program that writes SEND_DESC and never SEND_DESC_TYPE
 * does not link.
 */
#ifndef PENSTOCK_COMPAT_CORE_H
#define PENSTOCK_COMPAT_CORE_H

#ifdef PENSTOCK_PACKET_HEADERS_H
#error "include core.h before packet_headers.h: it gives tcp_header the fields that Rosebud's programs use"
#endif

#include <inttypes.h>
#include <string.h>

#include "penstock.h"

/* Memory map. */
#define IO_BASE IO_INT_BASE
#define IO_INT_BASE 0x000600
#define IO_EXT_BASE PN_ACCEL_BASE
#define DMEM_BASE PN_DMEM_BASE
#define BC_BASE PN_BROADCAST_BASE
#define PMEM_BASE PN_PMEM_BASE

/* Descriptor of a frame. Slots (`tag`) are numbered from 1; 0 is a frame that the program made. A length of 0 drops. */
struct Desc {
  union {
    unsigned int desc_low; /* length [15:0], slot [23:16], port [31:24] */
    struct {
      unsigned short len;
      unsigned char tag;
      unsigned char port;
    };
  };
  union {
    unsigned int desc_high;
    unsigned char *data;
  };
};
_Static_assert(sizeof(struct Desc) == 8 && RPU_CORE_SEND_DESC_LOW == IO_INT_BASE + 0x08, "layout of the registers");

#define PN_REG8(address) (*(volatile unsigned char *)(uintptr_t)(address))
#define PN_REG16(address) (*(volatile unsigned short *)(uintptr_t)(address))
#define PN_REG64(address) (*(volatile unsigned long long *)(uintptr_t)(address))

/*
 * Leaves a mark in the object file, by which the linker sees that the program uses a register (start/link.ld). Costs
 * nothing on the card.
 */
#define PN_MARK(section) __asm__ volatile(".pushsection " section ", \"\", @progbits\n.byte 0\n.popsection")
static inline __attribute__((always_inline)) volatile struct Desc *pn_send_desc(void) {
  PN_MARK(".penstock.send_desc");
  return (volatile struct Desc *)RPU_CORE_SEND_DESC_LOW;
}
static inline __attribute__((always_inline)) volatile unsigned char *pn_send_desc_type(void) {
  PN_MARK(".penstock.send_desc_type");
  return (volatile unsigned char *)RPU_CORE_SEND_DESC_TYPE;
}

/* Registers that a program writes. */
#define SEND_DESC (*pn_send_desc())
#define SEND_DESC_LOW (SEND_DESC.desc_low)
#define SEND_DESC_HIGH (SEND_DESC.desc_high)
#define SEND_DESC_TYPE (*pn_send_desc_type())
#define DRAM_ADDR PN_REG64(RPU_CORE_DRAM_ADDR_LOW)
#define TIMER_INTERVAL PN_REG(RPU_CORE_TIMER_INTERVAL)
#define DRAM_FLAG_WR PN_REG(RPU_CORE_DRAM_FLAG_WR)
#define READY_TO_EVICT PN_REG(RPU_CORE_READY_TO_EVICT)
#define RECV_DESC_RELEASE PN_REG8(RPU_CORE_RECV_DESC_RELEASE)
#define DRAM_FLAG_RST PN_REG8(RPU_CORE_DRAM_FLAG_RST)
#define MASK_WRITE PN_REG16(RPU_CORE_MASK_WRITE)
#define INTERRUPT_ACK PN_REG(RPU_CORE_INTERRUPT_ACK)
#define DEBUG_OUT PN_REG64(RPU_CORE_DEBUG_OUT_L)
#define DEBUG_OUT_L PN_REG(RPU_CORE_DEBUG_OUT_L)
#define DEBUG_OUT_H PN_REG(RPU_CORE_DEBUG_OUT_H)
#define BC_MSG_MASK_WR PN_REG(RPU_CORE_BC_FILTER_MASK)
#define BC_MSG_EQUAL_WR PN_REG(RPU_CORE_BC_FILTER_VALUE)
#define BC_MSG_FIFO_EN PN_REG8(RPU_CORE_BC_LISTEN)
#define BC_MSG_RELEASE PN_REG8(RPU_CORE_BC_RELEASE)

/* Registers that a program reads. TIMER_32_H is the high half of the time at which TIMER_32_L was read last. */
#define RECV_DESC (*(volatile struct Desc *)RPU_CORE_RECV_DESC_LOW)
#define RECV_DESC_LOW (RECV_DESC.desc_low)
#define RECV_DESC_HIGH (RECV_DESC.desc_high)
#define DRAM_FLAGS PN_REG(RPU_CORE_DRAM_FLAGS)
#define IN_PKT_READY (PN_REG8(RPU_CORE_READY) == 1)
#define DATA_DESC_READY (PN_REG8(RPU_CORE_READY + 1) == 1)
#define UPDATE_SLOT_READY (PN_REG8(RPU_CORE_READY + 2) == 1)
#define CORE_MSG_READY (PN_REG8(RPU_CORE_READY + 3) == 1)
#define CORE_ID PN_REG(RPU_CORE_CORE_ID)
#define TIMER_32_L PN_REG(RPU_CORE_TIMER_L)
#define TIMER_32_H PN_REG(RPU_CORE_TIMER_H)
#define TIMER_16_LL PN_REG16(RPU_CORE_TIMER_L)
#define TIMER_16_LH PN_REG16(RPU_CORE_TIMER_L + 2)
#define TIMER_16_HL PN_REG16(RPU_CORE_TIMER_H)
#define TIMER_16_HH PN_REG16(RPU_CORE_TIMER_H + 2)
#define FLAGS_REG PN_REG(RPU_CORE_INTERRUPT_FLAGS)
#define INTERRUPT_FLAGS PN_REG16(RPU_CORE_INTERRUPT_FLAGS)
#define ERROR_FLAGS PN_REG8(RPU_CORE_INTERRUPT_FLAGS + 1)
#define MASK_READ PN_REG16(RPU_CORE_MASK_READ)
#define IMEM_SIZE PN_REG(RPU_CORE_IMEM_SIZE)
#define DMEM_SIZE PN_REG(RPU_CORE_DMEM_SIZE)
#define PMEM_SIZE PN_REG(RPU_CORE_PMEM_SIZE)
#define PMEM_SEG_SIZE PN_REG(RPU_CORE_SEG_SIZE)
#define PMEM_SEG_COUNT PN_REG(RPU_CORE_SEG_COUNT)
#define BC_REGION_SIZE PN_REG(RPU_CORE_BC_SIZE)
#define MAX_SLOT_COUNT PN_REG(RPU_CORE_MAX_SLOTS)
#define DEBUG_IN_L PN_REG(RPU_CORE_DEBUG_IN_L)
#define DEBUG_IN_H PN_REG(RPU_CORE_DEBUG_IN_H)
#define RD_BC_MASK PN_REG(RPU_CORE_BC_FILTER_MASK_READ)
#define RD_BC_EQUAL PN_REG(RPU_CORE_BC_FILTER_VALUE_READ)
#define RECV_BC_ADDR PN_REG(RPU_CORE_BC_ADDR)
#define ACTIVE_SLOTS PN_REG(RPU_CORE_ACTIVE_SLOTS)

/* Ours: flow hash and header copy of the frame that was taken last. */
#define RECV_HASH PN_REG(RPU_CORE_RECV_HASH)
#define RECV_HDR PN_REG(RPU_CORE_RECV_HDR)

/* Registers of Rosebud that work differently here: a program that names them does not compile. */
#define PN_UNAVAILABLE(what) __attribute__((unavailable(what)))
extern volatile unsigned int SLOT_ADDR PN_UNAVAILABLE("declare slots with init_slots() and init_hdr_slots()");
extern volatile unsigned char UPDATE_SLOT PN_UNAVAILABLE("declare slots with init_slots() and init_hdr_slots()");
extern volatile struct Desc DESC_OVERRIDE PN_UNAVAILABLE("the card has no such register; send with SEND_DESC");
extern volatile unsigned short LB_TAG_LEN PN_UNAVAILABLE("call set_lb_offset()");

/* The index of the lowest bit that is 1. */
#define ctz(value) __builtin_ctz(value)

/* Whether slots have header copies. */
static unsigned char pn_has_headers;

/*
 * Gives slots 1..count their header copies in data memory, slot_size bytes apart; base is an address or an offset in
 * it.
 */
PN_SETUP void init_hdr_slots(unsigned int count, unsigned int base, unsigned int slot_size)
    PN_REFUSE(PN_BAD_COUNT(count), PN_COUNT_SAYS) PN_REFUSE(PN_BAD_HEADERS(count, base | DMEM_BASE, slot_size), PN_HEADERS_SAYS);
PN_SETUP void init_hdr_slots(unsigned int count, unsigned int base, unsigned int slot_size) {
  pn_init_headers(count, base | DMEM_BASE, slot_size);
  pn_has_headers = 1;
}

/*
 * Declares slots 1..count, slot_size bytes apart; base is an address or an offset in packet memory and holds the
 * packet offset. Call it once, before frames arrive. Ports and the host fill at most count - 1 slots; the last is left
 * to frames over loopback. A single slot serves all.
 */
PN_SETUP void init_slots(unsigned int count, unsigned int base, unsigned int slot_size)
    PN_REFUSE(PN_BAD_COUNT(count), PN_COUNT_SAYS) PN_REFUSE(PN_BAD_OFFSET(base), PN_OFFSET_SAYS)
    PN_REFUSE(PN_BAD_SLOTS(count, base | PMEM_BASE, slot_size), PN_SLOTS_SAYS);
PN_SETUP void init_slots(unsigned int count, unsigned int base, unsigned int slot_size) {
  pn_init_slots(count, base | PMEM_BASE, slot_size);
}

static inline void set_masks(unsigned short mask) { MASK_WRITE = mask; }
static inline unsigned short read_masks(void) { return MASK_READ; }

/* Not 0 when a frame waits. */
static inline _Bool in_pkt_ready(void) { return IN_PKT_READY; }
static inline _Bool update_slot_ready(void) { return UPDATE_SLOT_READY; }
static inline _Bool core_msg_ready(void) { return CORE_MSG_READY; }

/* Whether read_in_pkt() puts the flow hash in front of the frame. */
static unsigned char pn_hash_in_front;

/*
 * With 4, read_in_pkt() stores the flow hash in the four bytes in front of each frame and of its header copy, least
 * significant byte first. With 0, the value at the start of a program, it does not. The packet offset must leave room
 * for it. RECV_HASH gives the hash without a store.
 */
static inline void set_lb_offset(unsigned short bytes) { pn_hash_in_front = bytes != 0; }

/* Stores the hash of the frame taken last in front of `place`, which is even. */
static inline void pn_put_hash(uintptr_t place) {
  unsigned int hash = RECV_HASH;
  volatile unsigned short *halves = (volatile unsigned short *)(place - 4);
  halves[0] = (unsigned short)hash;
  halves[1] = (unsigned short)(hash >> 16);
}

/* Takes the oldest frame off the receive queue; only after in_pkt_ready(). */
static inline void read_in_pkt(struct Desc *desc) {
  desc->desc_low = PN_REG(RPU_CORE_RECV_DESC_LOW);
  desc->desc_high = PN_REG(RPU_CORE_RECV_DESC_HIGH);
  PN_REG(RPU_CORE_RECV_DESC_RELEASE) = 1;
  if (pn_hash_in_front) {
    pn_put_hash((uintptr_t)desc->data);
    uintptr_t headers = pn_has_headers ? RECV_HDR : 0;
    if (headers) pn_put_hash(headers); /* A slot behind the header slots has no copy. */
  }
  pn_barrier();
}

/*
 * Sends desc->len bytes from desc->data to desc->port and gives the slot back. Length 0 drops. With tag 0 the program
 * has made the frame: it goes to a port or the host, no slot comes back, and the memory may be written again as
 * pn_generate() says. If an interrupt handler also sends, use atomic_pkt_send().
 */
static inline void pkt_send(const struct Desc *desc) {
  pn_barrier();
  PN_REG(RPU_CORE_SEND_DESC_LOW) = desc->desc_low;
  PN_REG(RPU_CORE_SEND_FROM) = desc->desc_high;
}

/* Sends as SEND_DESC_TYPE `type` does, with interrupts held off in between: an interrupt handler may also send. */
static inline void pn_send_typed(unsigned int type, const struct Desc *desc) {
  unsigned int before;
  __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before)::"memory");
  PN_REG(RPU_CORE_SEND_DESC_LOW) = desc->desc_low;
  PN_REG(RPU_CORE_SEND_DESC_HIGH) = desc->desc_high;
  PN_REG(RPU_CORE_SEND_DESC_TYPE) = type;
  __asm__ volatile("csrs mstatus, %0" ::"r"(before & 8u) : "memory");
}

/* pkt_send() that no interrupt handler disturbs. */
static inline void atomic_pkt_send(const struct Desc *desc) { pn_send_typed(PN_SEND_FRAME, desc); }
/* Gives a slot back without sending its frame. */
static inline void pkt_done_msg(const struct Desc *desc) { pn_send_typed(PN_SEND_RELEASE, desc); }
/* Sends a frame to another unit: desc->port is its number. */
static inline void send_to_core(const struct Desc *desc) { pn_send_typed(PN_SEND_TO_UNIT, desc); }

/*
 * Writes desc->len bytes from desc->data to host memory; the flag of desc->tag rises when that is done. desc->port
 * means nothing.
 */
static inline void dram_write(const unsigned long long *dram_addr, const struct Desc *desc) {
  pn_host_write(desc->tag, *dram_addr, desc->data, desc->len);
}
/* Reads desc->len bytes from host memory to desc->data; the flag of desc->tag rises when they have arrived. */
static inline void dram_read_req(const unsigned long long *dram_addr, const struct Desc *desc) {
  pn_host_read(desc->tag, *dram_addr, desc->data, desc->len);
}
/* The flag of tag n is bit n - 1. */
static inline unsigned int dram_flags(void) { return DRAM_FLAGS; }
/* Lowers the flag of a tag. */
static inline void dram_flag_reset(unsigned char tag) { DRAM_FLAG_RST = tag; }
/* Gives all flags a value. */
static inline void write_dram_flags(unsigned int flags) { DRAM_FLAG_WR = flags; }

/*
 * From now on a broadcast word whose offset in the region, ANDed with mask, is value is a message and raises interrupt
 * 3.
 */
static inline void set_bc_filter(unsigned int mask, unsigned int value) {
  pn_listen(mask, value);
  MASK_WRITE = (unsigned short)(MASK_READ | PN_INT_BROADCAST);
}
static inline unsigned int read_bc_mask(void) { return RD_BC_MASK; }
static inline unsigned int read_bc_equal(void) { return RD_BC_EQUAL; }
static inline unsigned int recv_bc_msg_addr(void) { return RECV_BC_ADDR; }

static inline void write_timer_interval(unsigned int cycles) { TIMER_INTERVAL = cycles; }
static inline unsigned int read_timer_low(void) { return TIMER_32_L; }
/* High word of the time at which read_timer_low() was called last. */
static inline unsigned int read_timer_high(void) { return TIMER_32_H; }

static inline void write_debug(unsigned long long words) { DEBUG_OUT = words; }
static inline unsigned short interrupt_flags(void) { return INTERRUPT_FLAGS; }
static inline void interrupt_ack(unsigned int flags) { INTERRUPT_ACK = flags; }
/* Error interrupts: bit n is interrupt 8 + n. */
static inline unsigned char error_flags(void) { return ERROR_FLAGS; }
static inline void error_ack(unsigned int flags) { INTERRUPT_ACK = flags << 8; }

static inline unsigned int core_id(void) { return CORE_ID; }
static inline unsigned int active_slots(void) { return ACTIVE_SLOTS; }
static inline unsigned int imem_size(void) { return IMEM_SIZE; }
static inline unsigned int dmem_size(void) { return DMEM_SIZE; }
static inline unsigned int pmem_size(void) { return PMEM_SIZE; }
static inline unsigned int pmem_seg_size(void) { return PMEM_SEG_SIZE; }
static inline unsigned int pmem_seg_count(void) { return PMEM_SEG_COUNT; }
static inline unsigned int bc_size(void) { return BC_REGION_SIZE; }
static inline unsigned int max_slot_count(void) { return MAX_SLOT_COUNT; }

#endif
