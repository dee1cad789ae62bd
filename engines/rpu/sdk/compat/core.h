/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware interface under the names of Rosebud (Khazraee et al., ASPLOS 2023), so that its programs compile unchanged.
 * New programs are faster with penstock.h, whose receive waits in hardware and whose send is one store.
 */
#ifndef PENSTOCK_COMPAT_CORE_H
#define PENSTOCK_COMPAT_CORE_H

#include <inttypes.h>
#include <string.h>

#include "penstock.h"

/* Memory map. */
#define IO_INT_BASE 0x000000
#define IO_EXT_BASE PN_ACCEL_BASE
#define DMEM_BASE PN_DMEM_BASE
#define BC_BASE PN_BROADCAST_BASE
#define PMEM_BASE PN_PMEM_BASE

/* What a unit knows of a frame. Slots (`tag`) are numbered from 1; a length of 0 drops. Tag 0 is a frame that the program made (pkt_send). */
struct Desc {
  unsigned short len;
  unsigned char tag;
  unsigned char port;
  unsigned char *data;
};
/* The first word of a descriptor: length [15:0], slot [23:16], port [31:24]. */
typedef unsigned int __attribute__((may_alias)) desc_word_t;
#define DESC_LOW(desc) (*(desc_word_t *)(desc))
#define desc_low(desc) DESC_LOW(desc)

/* Registers. */
#define SEND_DESC (*(volatile unsigned long long *)RPU_CORE_SEND_DESC_LOW)
#define SEND_DESC_LOW PN_REG(RPU_CORE_SEND_DESC_LOW)
#define SEND_DESC_HIGH PN_REG(RPU_CORE_SEND_DESC_HIGH)
#define SEND_DESC_TYPE PN_REG(RPU_CORE_SEND_DESC_TYPE)
#define DRAM_ADDR (*(volatile unsigned long long *)RPU_CORE_DRAM_ADDR_LOW)
#define DRAM_ADDR_LOW PN_REG(RPU_CORE_DRAM_ADDR_LOW)
#define DRAM_ADDR_HIGH PN_REG(RPU_CORE_DRAM_ADDR_HIGH)
#define DRAM_FLAG_WR PN_REG(RPU_CORE_DRAM_FLAG_WR)
#define DRAM_FLAG_RST PN_REG(RPU_CORE_DRAM_FLAG_RST)
#define DRAM_FLAGS PN_REG(RPU_CORE_DRAM_FLAGS)
#define SLOT_ADDR PN_REG(RPU_CORE_SLOT_ADDR)
#define UPDATE_SLOT PN_REG(RPU_CORE_UPDATE_SLOT)
#define TIMER_INTERVAL PN_REG(RPU_CORE_TIMER_INTERVAL)
#define READY_TO_EVICT PN_REG(RPU_CORE_READY_TO_EVICT)
#define RECV_DESC_RELEASE PN_REG(RPU_CORE_RECV_DESC_RELEASE)
#define MASK_WRITE PN_REG(RPU_CORE_MASK_WRITE)
#define INTERRUPT_ACK PN_REG(RPU_CORE_INTERRUPT_ACK)
#define DEBUG_OUT_L PN_REG(RPU_CORE_DEBUG_OUT_L)
#define DEBUG_OUT_H PN_REG(RPU_CORE_DEBUG_OUT_H)
#define RECV_DESC (*(volatile unsigned long long *)RPU_CORE_RECV_DESC_LOW)
#define RECV_DESC_LOW PN_REG(RPU_CORE_RECV_DESC_LOW)
#define RECV_DESC_HIGH PN_REG(RPU_CORE_RECV_DESC_HIGH)
#define READY_BYTE(n) (*(volatile unsigned char *)(RPU_CORE_READY + (n)))
#define RECV_DESC_READY READY_BYTE(0)
#define SEND_DESC_READY READY_BYTE(1)
#define SLOT_READY READY_BYTE(2)
#define CORE_MSG_READY READY_BYTE(3)
#define CORE_ID PN_REG(RPU_CORE_CORE_ID)
#define TIMER_L PN_REG(RPU_CORE_TIMER_L)
#define TIMER_H PN_REG(RPU_CORE_TIMER_H)
#define INTERRUPT_FLAGS PN_REG(RPU_CORE_INTERRUPT_FLAGS)
#define MASK_READ PN_REG(RPU_CORE_MASK_READ)
#define IMEM_SIZE PN_REG(RPU_CORE_IMEM_SIZE)
#define DMEM_SIZE PN_REG(RPU_CORE_DMEM_SIZE)
#define PMEM_SIZE PN_REG(RPU_CORE_PMEM_SIZE)
#define PMEM_SEG_SIZE PN_REG(RPU_CORE_SEG_SIZE)
#define PMEM_SEG_COUNT PN_REG(RPU_CORE_SEG_COUNT)
#define BC_SIZE PN_REG(RPU_CORE_BC_SIZE)
#define MAX_SLOT_COUNT PN_REG(RPU_CORE_MAX_SLOTS)
#define DEBUG_IN_L PN_REG(RPU_CORE_DEBUG_IN_L)
#define DEBUG_IN_H PN_REG(RPU_CORE_DEBUG_IN_H)
#define BC_FILTER_MASK PN_REG(RPU_CORE_BC_FILTER_MASK)
#define BC_FILTER_VALUE PN_REG(RPU_CORE_BC_FILTER_VALUE)
#define BC_FIFO_ENABLE PN_REG(RPU_CORE_BC_LISTEN)
#define BC_RELEASE PN_REG(RPU_CORE_BC_RELEASE)
#define BC_FILTER_MASK_READ PN_REG(RPU_CORE_BC_FILTER_MASK_READ)
#define BC_FILTER_VALUE_READ PN_REG(RPU_CORE_BC_FILTER_VALUE_READ)
#define BC_ADDR PN_REG(RPU_CORE_BC_ADDR)
#define ACTIVE_SLOTS PN_REG(RPU_CORE_ACTIVE_SLOTS)

#define RECV_HASH PN_REG(RPU_CORE_RECV_HASH)
#define RECV_HDR PN_REG(RPU_CORE_RECV_HDR)

/* Whether slots have header copies. */
static unsigned char pn_has_headers;

/* Gives slots 1..count their header copies in data memory, slot_size bytes apart; base is an address or an offset in it. */
PN_SETUP void init_hdr_slots(unsigned int count, unsigned int base, unsigned int slot_size) {
  pn_init_headers(count, base | DMEM_BASE, slot_size);
  pn_has_headers = 1;
}

/*
 * Declares slots 1..count, slot_size bytes apart; base is an offset within packet memory and holds the packet offset. Once, before frames come.
 * Ports and the host fill at most count - 1 slots, the last is left to frames over loopback; a single slot serves all.
 */
PN_SETUP void init_slots(unsigned int count, unsigned int base, unsigned int slot_size) {
  pn_init_slots(count, base | PMEM_BASE, slot_size);
}

static inline void set_masks(unsigned short mask) { MASK_WRITE = mask; }

/* Not 0 when a frame waits. */
static inline unsigned char in_pkt_ready(void) { return RECV_DESC_READY; }

/* Whether read_in_pkt() puts the flow hash in front of the frame. */
static unsigned char pn_hash_in_front;

/*
 * With 4, the flow hash stands in the four bytes in front of each frame and of its header copy, least significant byte first; with 0, where a
 * program begins, it does not. The packet offset must leave room for it. RECV_HASH gives it without a store.
 */
static inline void set_lb_offset(unsigned char bytes) { pn_hash_in_front = bytes; }

/* Stores the hash of the frame taken last in front of `place`, which is even. */
static inline void pn_put_hash(uintptr_t place) {
  unsigned int hash = PN_REG(RPU_CORE_RECV_HASH);
  volatile unsigned short *halves = (volatile unsigned short *)(place - 4);
  halves[0] = (unsigned short)hash;
  halves[1] = (unsigned short)(hash >> 16);
}

/* Takes the oldest frame off the receive queue; only after in_pkt_ready(). */
static inline void read_in_pkt(struct Desc *desc) {
  DESC_LOW(desc) = RECV_DESC_LOW;
  desc->data = (unsigned char *)(uintptr_t)RECV_DESC_HIGH;
  RECV_DESC_RELEASE = 1;
  if (pn_hash_in_front) {
    pn_put_hash((uintptr_t)desc->data);
    uintptr_t headers = pn_has_headers ? PN_REG(RPU_CORE_RECV_HDR) : 0;
    if (headers) pn_put_hash(headers); /* A slot behind the header slots has no copy. */
  }
  pn_barrier();
}

/*
 * Sends desc->len bytes from desc->data to desc->port and gives the slot back. Length 0 drops. With tag 0 the program has made the frame: it goes to
 * a port or the host, no slot comes back, and the memory may be written again as pn_generate() says.
 */
static inline void pkt_send(struct Desc *desc) {
  pn_barrier();
  SEND_DESC_LOW = DESC_LOW(desc);
  SEND_DESC_HIGH = (unsigned int)(uintptr_t)desc->data;
}

/* What SEND_DESC_TYPE names, with interrupts held off in between: an interrupt handler may send, too. */
static inline void pn_send_typed(unsigned int type, const struct Desc *desc) {
  unsigned int before;
  __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before)::"memory");
  SEND_DESC_TYPE = type;
  SEND_DESC_LOW = DESC_LOW(desc);
  SEND_DESC_HIGH = (unsigned int)(uintptr_t)desc->data;
  SEND_DESC_TYPE = PN_SEND_FRAME;
  __asm__ volatile("csrs mstatus, %0" ::"r"(before & 8u) : "memory");
}

/* pkt_send() that an interrupt cannot come between. */
static inline void atomic_pkt_send(struct Desc *desc) { pn_send_typed(PN_SEND_FRAME, desc); }
/* Gives a slot back without sending its frame. */
static inline void pkt_done_msg(struct Desc *desc) { pn_send_typed(PN_SEND_RELEASE, desc); }
/* Sends a frame to another unit: desc->port is its number. */
static inline void send_to_core(struct Desc *desc) { pn_send_typed(PN_SEND_TO_UNIT, desc); }

/* Writes desc->len bytes from desc->data to host memory; the flag of desc->tag rises when that is done. desc->port means nothing. */
static inline void dram_write(const unsigned long long *dram_addr, const struct Desc *desc) {
  pn_host_write(desc->tag, *dram_addr, desc->data, desc->len);
}
/* Reads desc->len bytes from host memory to desc->data; the flag of desc->tag rises when they are there. */
static inline void dram_read_req(const unsigned long long *dram_addr, const struct Desc *desc) {
  pn_host_read(desc->tag, *dram_addr, desc->data, desc->len);
}
/* The flag of tag n is bit n - 1. */
static inline unsigned int dram_flags(void) { return DRAM_FLAGS; }
/* Lowers the flag of a tag. */
static inline void dram_flag_reset(unsigned char tag) { DRAM_FLAG_RST = tag; }
/* Gives all flags a value. */
static inline void write_dram_flags(unsigned int flags) { DRAM_FLAG_WR = flags; }

/* Broadcast words whose offset in the region, ANDed with mask, is value are messages from now on. */
static inline void set_bc_filter(unsigned int mask, unsigned int value) { pn_listen(mask, value); }

static inline void write_timer_interval(unsigned int cycles) { TIMER_INTERVAL = cycles; }
static inline unsigned int read_timer_low(void) { return TIMER_L; }
/* The high word as it was at the last read_timer_low(). */
static inline unsigned int read_timer_high(void) { return TIMER_H; }

static inline void write_debug(unsigned int word) { DEBUG_OUT_L = word; }
static inline void interrupt_ack(unsigned short flags) { INTERRUPT_ACK = flags; }
/* Acknowledges all error interrupts. */
static inline void error_ack(void) { INTERRUPT_ACK = INTERRUPT_FLAGS & 0x3F00u; }

static inline unsigned int core_id(void) { return CORE_ID; }
static inline unsigned int active_slots(void) { return ACTIVE_SLOTS; }
static inline unsigned short interrupt_flags(void) { return (unsigned short)INTERRUPT_FLAGS; }
static inline unsigned int imem_size(void) { return IMEM_SIZE; }
static inline unsigned int dmem_size(void) { return DMEM_SIZE; }
static inline unsigned int pmem_size(void) { return PMEM_SIZE; }
static inline unsigned int pmem_seg_size(void) { return PMEM_SEG_SIZE; }
static inline unsigned int pmem_seg_count(void) { return PMEM_SEG_COUNT; }
static inline unsigned int bc_size(void) { return BC_SIZE; }
static inline unsigned int max_slot_count(void) { return MAX_SLOT_COUNT; }

#endif
