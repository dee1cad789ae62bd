// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! All that the core's data bus reaches: data and packet memory, slots and descriptors, interrupts, accelerators.

use std::{borrow::Cow, collections::VecDeque};

use penstock_unit::{Answer, Arrival, Clock, Counters, Departure, Destination, Identity, Outside, Word};

use crate::{
    accelerator::{Accelerators, Kinds},
    broadcast::{Broadcast, REGION_BYTES},
    core::IMEM_BYTES,
    regs,
};

/// A cycle at the card's 250 MHz.
const NS_A_CYCLE: u64 = 4;

pub(crate) const DMEM_BASE: u32 = 0x0080_0000;
pub(crate) const DMEM_BYTES: u32 = 32 * 1024;
/// The broadcast region is the last part of data memory.
pub(crate) const REGION_BASE: u32 = DMEM_BASE + DMEM_BYTES - REGION_BYTES;
/// The header window: the page of data memory with the header copy of the frame that was taken last.
const WINDOW_BASE: u32 = 0x0080_8000;
const WINDOW_BYTES: u32 = 256;
pub(crate) const PMEM_BASE: u32 = 0x0100_0000;
pub(crate) const PMEM_BYTES: u32 = 1024 * 1024;
pub(crate) const ACCEL_BASE: u32 = 0x0040_0000;
/// Address bit with which data and packet memory show the bytes of each word in reverse order.
const SWAPPED: u32 = 1 << 26;
/// Bytes of a row of packet memory, to which the packet offset is relative.
const ROW: u32 = 64;
const MAX_PACKET_OFFSET: u32 = 14;
/// Header slots start on rows of data memory.
const HEADER_ROW: u32 = 32;
/// The core's registers. Addresses below them are unmapped, so accesses through null pointers are wild.
const REGISTERS: std::ops::Range<u32> = 0x600..0x800;
/// Longest frame that a unit sends.
const MAX_FRAME: u16 = 16_384;
const MAX_SLOTS: usize = 32;
/// Bytes of a frame that the header copy takes.
const HEADER_BYTES: usize = 128;

/// Bits of INTERRUPT_FLAGS.
pub(crate) mod flag {
    pub(crate) const TIMER: u16 = 1 << 0;
    pub(crate) const PACKET: u16 = 1 << 1;
    pub(crate) const HOST_MEMORY: u16 = 1 << 2;
    pub(crate) const BROADCAST: u16 = 1 << 3;
    pub(crate) const POKE: u16 = 1 << 4;
    pub(crate) const EVICT: u16 = 1 << 5;
    pub(crate) const WILD: u16 = 1 << 8;
    pub(crate) const BAD_DESCRIPTOR: u16 = 1 << 9;
    pub(crate) const BAD_DESTINATION: u16 = 1 << 10;
    pub(crate) const BAD_SLOT: u16 = 1 << 11;
    pub(crate) const ACCELERATOR: u16 = 1 << 12;
    pub(crate) const HOST_ERROR: u16 = 1 << 13;
    /// Interrupts that no mask hides.
    pub(crate) const ERRORS: u16 = 0x3F00;
}

/// Values of SEND_DESC_TYPE.
mod kind {
    pub(super) const SEND: u32 = 0;
    pub(super) const RELEASE: u32 = 1;
    pub(super) const TO_UNIT: u32 = 2;
    pub(super) const SLOTS: u32 = 3;
    pub(super) const HOST_WRITE: u32 = 4;
    pub(super) const HOST_READ: u32 = 5;
}

/// The result of a load from a register.
pub(crate) enum Loaded {
    Value(u32),
    /// The same, and an interrupt may be due.
    Interrupts(u32),
    /// A poll found nothing.
    Nothing(u32),
    /// The program polled the words of other units and found nothing new.
    Silence(u32),
    /// Not yet.
    Wait,
}

/// The effect of a store into a register.
#[derive(PartialEq, Eq)]
pub(crate) enum Stored {
    Done,
    /// An interrupt may be due.
    Interrupts,
}

/// A frame that the program has sent.
#[derive(Clone, Copy)]
struct Sending {
    slot: u8,
    destination: Destination,
    /// Offset of its first byte in packet memory.
    start: usize,
    len: u16,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    /// Offset of the frame in packet memory.
    frame: u32,
    /// Offset in data memory where the header copy goes, packet offset included; none before it is declared.
    header: Option<u32>,
    len: u16,
    arrival: Arrival,
}

pub(crate) struct System {
    identity: Identity,
    pub dmem: Box<[[u8; 4]]>,
    pub pmem: Box<[[u8; 4]]>,
    pub accelerators: Accelerators,
    pub broadcast: Broadcast,
    pub counters: Counters,
    /// Instructions since reset.
    pub now: u64,
    /// Time since reset that the host has passed, in cycles.
    told: u64,
    /// The time that the program sees in ns.
    pub time: Clock,
    /// Cycles that the clock is ahead of the instructions, because the host has passed more time.
    ahead: u64,

    slots: [Slot; MAX_SLOTS + 1],
    /// Bases of header slots as declared: the packet offset is known when the frame slot is.
    header_bases: [Option<u32>; MAX_SLOTS + 1],
    /// Slots that hold a frame: bit n - 1 is slot n.
    pub active: u32,
    /// Those of them whose descriptor the program has taken, and which it may send.
    taken: u32,
    queue: VecDeque<u8>,
    /// Frames over loopback whose destination was full when the first of them was sent, oldest first.
    waiting: VecDeque<Sending>,
    /// Their slots: bit n - 1 is slot n.
    pub waiting_slots: u32,
    /// Slot that RECV returned last.
    received: u8,
    /// When a slot was released last, or the first was taken.
    held_since: u64,
    /// When the program has sent a frame last that it had made.
    generated_at: Option<u64>,

    /// SEND_DESC: low and high word.
    send_desc: [u32; 2],
    host_address: [u32; 2],
    /// Bit n - 1: the request to host memory with tag n is done.
    host_flags: u32,
    slot_addr: u32,
    timer_interval: u32,
    timer_due: u64,
    timer_high: u32,
    ns_high: u32,
    flags: u16,
    mask: u16,
    pub errors: u16,
    pub error_addr: u32,
    /// Address of the instruction that accesses an unmapped address.
    pub pc: u32,
    /// Addresses of the instructions of the last errors: wild access, bad descriptor, bad destination, bad slot set-up.
    pub error_pcs: [u32; 4],
    pub ready_to_evict: bool,
    pub debug_in: [u32; 2],
    pub debug_out: [u32; 2],
    /// Word that host and core share.
    pub data: u32,
}

impl System {
    pub(crate) fn new(identity: Identity, accelerators: Kinds) -> Self {
        Self {
            identity,
            dmem: vec![[0; 4]; DMEM_BYTES as usize / 4].into(),
            pmem: vec![[0; 4]; PMEM_BYTES as usize / 4].into(),
            accelerators: Accelerators::new(accelerators),
            broadcast: Broadcast::new(),
            counters: Counters::default(),
            now: 0,
            told: 0,
            time: Clock::default(),
            ahead: 0,
            slots: [Slot::default(); MAX_SLOTS + 1],
            header_bases: [None; MAX_SLOTS + 1],
            active: 0,
            taken: 0,
            queue: VecDeque::with_capacity(MAX_SLOTS),
            waiting: VecDeque::new(),
            waiting_slots: 0,
            received: 0,
            held_since: 0,
            generated_at: None,
            send_desc: [0; 2],
            host_address: [0; 2],
            host_flags: 0,
            slot_addr: 0,
            timer_interval: 0,
            timer_due: 0,
            timer_high: 0,
            ns_high: 0,
            flags: 0,
            mask: 0,
            errors: 0,
            error_addr: 0,
            pc: 0,
            error_pcs: [0; 4],
            ready_to_evict: false,
            debug_in: [0; 2],
            debug_out: [0; 2],
            data: 0,
        }
    }

    /// Forgets frames, slots and settings; memories, counters and tables stay.
    pub(crate) fn reset(&mut self) {
        self.time.rebase(self.ns());
        (self.now, self.told, self.ahead) = (0, 0, 0);
        self.slots = [Slot::default(); MAX_SLOTS + 1];
        self.header_bases = [None; MAX_SLOTS + 1];
        (self.active, self.taken) = (0, 0);
        self.queue.clear();
        self.broadcast.reset();
        self.forget_waiting();
        self.received = 0;
        self.held_since = 0;
        self.generated_at = None;
        (self.send_desc, self.slot_addr) = ([0; 2], 0);
        self.host_flags = 0;
        (self.timer_interval, self.timer_due, self.timer_high) = (0, 0, 0);
        (self.flags, self.mask, self.errors, self.error_addr) = (0, 0, 0, 0);
        self.ready_to_evict = false;
        self.debug_out = [0; 2];
    }

    /// Takes a frame into a slot that the program has declared.
    pub(crate) fn receive(&mut self, slot: u8, arrival: Arrival, bytes: &[u8]) {
        let Some(place) = self.slots.get_mut(usize::from(slot)) else {
            return;
        };
        place.arrival = arrival;
        place.len = bytes.len() as u16;
        let (frame, header) = (place.frame as usize, place.header);
        copy(self.pmem.as_flattened_mut(), frame, bytes);
        if let Some(header) = header {
            copy(self.dmem.as_flattened_mut(), header as usize, &bytes[..bytes.len().min(HEADER_BYTES)]);
        }
        if self.held_slots() == 0 {
            self.held_since = self.now;
        }
        self.active |= 1 << (slot - 1);
        if self.queue.is_empty() {
            self.flags |= flag::PACKET;
        }
        self.queue.push_back(slot);
        self.counters.rx_frames += 1;
        self.counters.rx_bytes += bytes.len() as u64;
    }

    /// Slots whose frames the program has not disposed of: bit n - 1 is slot n.
    pub(crate) fn held_slots(&self) -> u32 {
        self.active & !self.waiting_slots
    }

    /// Instructions since a slot was released while one was held; 0 when none is.
    pub(crate) fn held(&self) -> u64 {
        if self.held_slots() == 0 { 0 } else { self.now - self.held_since }
    }

    /// Instructions since the program sent a frame that it had made, if it ever has.
    pub(crate) fn since_generated(&self) -> Option<u64> {
        Some(self.now - self.generated_at?)
    }

    /// Excludes this many instructions from the time in which slots were held: a debugger executed them.
    pub(crate) fn pardon(&mut self, instructions: u64) {
        // Slots may have been released meanwhile.
        self.held_since = self.now.min(self.held_since + instructions);
    }

    /// The frames that wait to go over loopback will not.
    pub(crate) fn forget_waiting(&mut self) {
        self.waiting.clear();
        self.waiting_slots = 0;
    }

    /// The memory word that holds `address`, if it is in memory of this unit alone.
    #[inline(always)]
    pub(crate) fn memory(&mut self, address: u32) -> Option<&mut [u8; 4]> {
        let dmem = address.wrapping_sub(DMEM_BASE);
        if dmem < DMEM_BYTES - REGION_BYTES {
            return self.dmem.get_mut((dmem >> 2) as usize);
        }
        self.pmem.get_mut((address.wrapping_sub(PMEM_BASE) >> 2) as usize)
    }

    /// The same for the program, which has the header window besides.
    #[inline(always)]
    pub(crate) fn program_memory(&mut self, address: u32) -> Option<&mut [u8; 4]> {
        let window = address.wrapping_sub(WINDOW_BASE);
        if window < WINDOW_BYTES {
            let header = self.slots[usize::from(self.received)].header.unwrap_or_default();
            return self.memory(DMEM_BASE + (header & !(WINDOW_BYTES - 1) | window));
        }
        self.memory(address)
    }

    /// The memory word that holds `address` where it shows its bytes in reverse order.
    fn swapped_memory(&mut self, address: u32) -> Option<&mut [u8; 4]> {
        if address & SWAPPED == 0 { None } else { self.memory(address & !SWAPPED) }
    }

    /// The word that holds `address`, in reverse order, if there is an alias of memory.
    pub(crate) fn load_swapped(&mut self, address: u32) -> Option<u32> {
        self.swapped_memory(address).map(|word| u32::from_be_bytes(*word))
    }

    /// Stores bytes of a word from `address` on, in reverse order; false if the address is not in an alias of memory.
    pub(crate) fn store_swapped(&mut self, address: u32, bytes: &[u8]) -> bool {
        let at = (address & 3) as usize;
        let Some(word) = self.swapped_memory(address) else { return false };
        for (lane, byte) in (at..).zip(bytes) {
            word[3 - lane] = *byte;
        }
        true
    }

    pub(crate) fn raise(&mut self, flags: u16) {
        self.flags |= flags;
        self.errors |= flags & flag::ERRORS;
        const OF_INSTRUCTIONS: [u16; 4] = [flag::WILD, flag::BAD_DESCRIPTOR, flag::BAD_DESTINATION, flag::BAD_SLOT];
        for (flag, pc) in OF_INSTRUCTIONS.iter().zip(&mut self.error_pcs) {
            if flags & flag != 0 {
                *pc = self.pc;
            }
        }
    }

    /// A frame waits to be taken.
    pub(crate) fn has_frame(&self) -> bool {
        !self.queue.is_empty()
    }

    /// An interrupt is due.
    pub(crate) fn interrupt(&self) -> bool {
        self.flags & (self.mask | flag::ERRORS) != 0
    }

    /// Cycles since reset: an instruction takes one, or longer if the host has passed more time.
    #[inline]
    pub(crate) fn clock(&self) -> u64 {
        self.now + self.ahead
    }

    /// The same in ns.
    pub(crate) fn ns(&self) -> u64 {
        self.clock() * NS_A_CYCLE
    }

    /// Tells the system that `cycles` have passed since the last call.
    pub(crate) fn pass(&mut self, cycles: u64) {
        self.told += cycles;
        self.ahead = self.ahead.max(self.told.saturating_sub(self.now));
    }

    pub(crate) fn tick_timer(&mut self) {
        let late = self.clock().checked_sub(self.timer_due);
        if let (1.., Some(late)) = (self.timer_interval, late) {
            let interval = u64::from(self.timer_interval);
            self.timer_due += late / interval * interval + interval;
            self.flags |= flag::TIMER;
        }
    }

    /// Cycles until the timer's next interrupt, 0 if it is due already; `u64::MAX` if the timer is off.
    pub(crate) fn until_timer(&self) -> u64 {
        if self.timer_interval == 0 { u64::MAX } else { self.timer_due.saturating_sub(self.clock()) }
    }

    /// Takes the oldest frame off the receive queue; the next one raises the packet interrupt anew.
    fn pop(&mut self) -> Option<u8> {
        let slot = self.queue.pop_front()?;
        self.received = slot;
        self.taken |= 1 << (slot - 1);
        if !self.queue.is_empty() {
            self.flags |= flag::PACKET;
        }
        Some(slot)
    }

    fn wild(&mut self, address: u32) {
        self.error_addr = address;
        self.raise(flag::WILD);
    }

    fn oldest(&self) -> Option<(u8, Slot)> {
        self.queue.front().map(|&slot| (slot, self.slots[usize::from(slot)]))
    }

    fn descriptor(slot: u8, place: &Slot) -> u32 {
        u32::from(place.len) | u32::from(slot) << 16 | u32::from(place.arrival.port) << 24
    }

    /// Loads the register that holds `address`, where no memory is.
    pub(crate) fn load_register(&mut self, address: u32) -> Loaded {
        let last = &self.slots[usize::from(self.received)];
        let value = match address & !3 {
            regs::RPU_CORE_RECV => {
                let Some(slot) = self.pop() else {
                    return Loaded::Wait;
                };
                let descriptor = Self::descriptor(slot, &self.slots[usize::from(slot)]);
                return if self.interrupt() { Loaded::Interrupts(descriptor) } else { Loaded::Value(descriptor) };
            }
            regs::RPU_CORE_SEND_DESC_LOW => self.send_desc[0],
            regs::RPU_CORE_SEND_DESC_HIGH => self.send_desc[1],
            regs::RPU_CORE_RECV_HDR => last.header.map_or(0, |offset| DMEM_BASE + offset),
            regs::RPU_CORE_RECV_DATA => PMEM_BASE + last.frame,
            regs::RPU_CORE_RECV_HASH => last.arrival.hash,
            regs::RPU_CORE_RECV_TIME => last.arrival.time,
            regs::RPU_CORE_RECV_DESC_LOW => match self.oldest() {
                Some((slot, place)) => Self::descriptor(slot, &place),
                None => return Loaded::Nothing(0),
            },
            regs::RPU_CORE_DRAM_FLAGS => self.host_flags,
            regs::RPU_CORE_RECV_DESC_HIGH => self.oldest().map_or(0, |(_, place)| PMEM_BASE + place.frame),
            // Only a program that asks for a frame has nothing to do without one.
            regs::RPU_CORE_READY if self.queue.is_empty() && address & 3 == 0 => {
                return Loaded::Nothing(0x0101_0100);
            }
            regs::RPU_CORE_READY => 0x0101_0100 | u32::from(!self.queue.is_empty()),
            regs::RPU_CORE_CORE_ID => u32::from(self.identity.unit),
            regs::RPU_CORE_TIMER_L => {
                self.timer_high = (self.clock() >> 32) as u32;
                self.clock() as u32
            }
            regs::RPU_CORE_TIMER_H => self.timer_high,
            regs::RPU_CORE_TIME_L => {
                let ns = self.time.now(self.ns());
                self.ns_high = (ns >> 32) as u32;
                ns as u32
            }
            regs::RPU_CORE_TIME_H => self.ns_high,
            regs::RPU_CORE_INTERRUPT_FLAGS => u32::from(self.flags),
            regs::RPU_CORE_MASK_READ => u32::from(self.mask),
            regs::RPU_CORE_IMEM_SIZE => IMEM_BYTES as u32,
            regs::RPU_CORE_DMEM_SIZE => DMEM_BYTES,
            regs::RPU_CORE_PMEM_SIZE => PMEM_BYTES,
            // Packet memory is one segment.
            regs::RPU_CORE_SEG_SIZE => PMEM_BYTES,
            regs::RPU_CORE_SEG_COUNT => 1,
            regs::RPU_CORE_BC_SIZE => REGION_BYTES,
            regs::RPU_CORE_BC_FILTER_MASK_READ => self.broadcast.mask,
            regs::RPU_CORE_BC_FILTER_VALUE_READ => self.broadcast.value,
            regs::RPU_CORE_BC_ADDR => match self.broadcast.head() {
                Some(offset) => REGION_BASE + offset,
                None => return Loaded::Silence(0),
            },
            // In native code a stored word reaches all regions at once.
            regs::RPU_CORE_OCCUPANCY => self.broadcast.waiting().min(255) as u32,
            regs::RPU_CORE_MAX_SLOTS => MAX_SLOTS as u32,
            regs::RPU_CORE_DEBUG_IN_L => self.debug_in[0],
            regs::RPU_CORE_DEBUG_IN_H => self.debug_in[1],
            regs::RPU_CORE_ACTIVE_SLOTS => self.active,
            regs::RPU_CORE_ACCEL => self.accelerators.mask(),
            regs::RPU_CORE_DATA => self.data,
            register if REGISTERS.contains(&register) => 0,
            region @ REGION_BASE..WINDOW_BASE => {
                let word = self.broadcast.word(region - REGION_BASE);
                return if self.broadcast.take_news() { Loaded::Value(word) } else { Loaded::Silence(word) };
            }
            register @ ACCEL_BASE..DMEM_BASE => match self.accelerators.read(register - ACCEL_BASE) {
                Some(value) => value,
                None => {
                    self.raise(flag::ACCELERATOR);
                    return Loaded::Interrupts(0);
                }
            },
            _ => {
                self.wild(address);
                return Loaded::Interrupts(0);
            }
        };
        Loaded::Value(value)
    }

    /// Stores `bytes` bytes into the register that holds `address`, where no memory is. All bytes, halves or the whole
    /// of `value` are what is stored.
    pub(crate) fn store_register(&mut self, address: u32, value: u32, bytes: u32, outside: &mut dyn Outside) -> Stored {
        match address & !3 {
            regs::RPU_CORE_SEND => self.send(value, None, kind::SEND, outside),
            regs::RPU_CORE_SEND_DESC_LOW => self.send_desc[0] = merged(self.send_desc[0], value, address, bytes),
            regs::RPU_CORE_SEND_DESC_HIGH => self.send_desc[1] = merged(self.send_desc[1], value, address, bytes),
            regs::RPU_CORE_SEND_DESC_TYPE => {
                let [low, high] = self.send_desc;
                self.send(low, Some(high), value & 7, outside);
            }
            regs::RPU_CORE_SEND_FROM => {
                self.send_desc[1] = merged(self.send_desc[1], value, address, bytes);
                self.send(self.send_desc[0], Some(value), kind::SEND, outside);
            }
            regs::RPU_CORE_DRAM_ADDR_LOW => self.host_address[0] = value,
            regs::RPU_CORE_DRAM_ADDR_HIGH => self.host_address[1] = value,
            regs::RPU_CORE_DRAM_FLAG_WR => self.host_flags = value,
            regs::RPU_CORE_DRAM_FLAG_RST => {
                self.host_flags &= !1u32.rotate_left((value & 63).wrapping_sub(1));
            }
            regs::RPU_CORE_RECV_DESC_RELEASE => {
                self.pop();
            }
            regs::RPU_CORE_SLOT_ADDR => self.slot_addr = value,
            regs::RPU_CORE_UPDATE_SLOT => self.update_slot(value),
            regs::RPU_CORE_TIMER_INTERVAL => {
                self.timer_interval = value;
                self.timer_due = self.clock() + u64::from(value);
                return Stored::Interrupts;
            }
            regs::RPU_CORE_READY_TO_EVICT => self.ready_to_evict = value & 1 != 0,
            regs::RPU_CORE_MASK_WRITE => {
                self.mask = value as u16;
                return Stored::Interrupts;
            }
            regs::RPU_CORE_INTERRUPT_ACK => self.flags &= !(value as u16),
            regs::RPU_CORE_BC_FILTER_MASK => self.broadcast.mask = value & (REGION_BYTES - 4),
            regs::RPU_CORE_BC_FILTER_VALUE => self.broadcast.value = value & (REGION_BYTES - 4),
            regs::RPU_CORE_BC_LISTEN => self.broadcast.listen(value & 1 != 0),
            regs::RPU_CORE_BC_RELEASE => {
                if self.broadcast.release() {
                    self.flags |= flag::BROADCAST;
                }
            }
            regs::RPU_CORE_DEBUG_OUT_L => self.debug_out[0] = value,
            regs::RPU_CORE_DEBUG_OUT_H => self.debug_out[1] = value,
            regs::RPU_CORE_DATA => self.data = value,
            register if REGISTERS.contains(&register) => {}
            register @ ACCEL_BASE..DMEM_BASE => {
                if !self.accelerators.write(register - ACCEL_BASE, value, self.pmem.as_flattened()) {
                    self.raise(flag::ACCELERATOR);
                }
            }
            _ => self.wild(address),
        }
        if self.interrupt() { Stored::Interrupts } else { Stored::Done }
    }

    /// Stores `bytes` into the broadcast region, if `address` is in it.
    pub(crate) fn store_broadcast(&mut self, address: u32, bytes: &[u8], outside: &mut dyn Outside) -> bool {
        let offset = address.wrapping_sub(REGION_BASE);
        if offset >= REGION_BYTES {
            return false;
        }
        outside.broadcast(self.broadcast.store(offset, bytes));
        true
    }

    /// Receives a word from another unit.
    pub(crate) fn hear(&mut self, word: Word) {
        if self.broadcast.receive(word) {
            self.flags |= flag::BROADCAST;
        }
    }

    /// Executes a descriptor. `address` is its high word, if it has one.
    fn send(&mut self, low: u32, address: Option<u32>, kind: u32, outside: &mut dyn Outside) {
        let (len, slot, port) = (low as u16, (low >> 16) as u8, (low >> 24) as u8);
        let exists = (1..=MAX_SLOTS as u8).contains(&slot);
        if kind == kind::SLOTS {
            // New places would take memory from slots that hold frames.
            if exists && self.active == 0 {
                outside.declare(slot, len);
            } else {
                self.raise(flag::BAD_SLOT);
            }
            return;
        }
        if matches!(kind, kind::HOST_WRITE | kind::HOST_READ) {
            if !exists || !self.reach_host(len, slot, address, kind, outside) {
                self.raise(flag::BAD_DESCRIPTOR);
            }
            return;
        }
        if !exists || self.taken & 1 << (slot - 1) == 0 {
            let done = match address {
                Some(address) if slot == 0 && matches!(kind, kind::SEND | kind::TO_UNIT) => {
                    self.generate(len, port, address, kind, outside)
                }
                _ => Err(flag::BAD_DESCRIPTOR),
            };
            done.unwrap_or_else(|error| self.raise(error));
            return;
        }
        self.taken &= !(1 << (slot - 1));
        self.held_since = self.now;
        if kind == kind::RELEASE || len == 0 {
            self.counters.blocked += 1;
        } else {
            match self.sending(len, slot, port, address, kind) {
                Ok(frame) if frame.destination.loops() => {
                    self.waiting.push_back(frame);
                    self.waiting_slots |= 1 << (slot - 1);
                    // Those before it have been offered already.
                    if self.waiting.len() == 1 {
                        self.resume(outside);
                    }
                    return;
                }
                Ok(frame) => {
                    self.offer(frame, outside);
                }
                Err(error) => {
                    self.counters.refused += 1;
                    self.raise(error);
                }
            }
        }
        self.active &= !(1 << (slot - 1));
        outside.free(slot);
    }

    /// Offers the frames that wait to go over loopback, until one has to wait on; false when that was the first.
    #[inline(never)]
    pub(crate) fn resume(&mut self, outside: &mut dyn Outside) -> bool {
        let mut moved = false;
        while let Some(&frame) = self.waiting.front()
            && self.offer(frame, outside) != Answer::Full
        {
            self.waiting.pop_front();
            self.waiting_slots &= !(1 << (frame.slot - 1));
            self.active &= !(1 << (frame.slot - 1));
            outside.free(frame.slot);
            moved = true;
        }
        moved
    }

    /// Writes a part of packet memory to host memory or reads it from there; false when there is no such part. It is
    /// done at once.
    fn reach_host(&mut self, len: u16, tag: u8, address: Option<u32>, kind: u32, outside: &mut dyn Outside) -> bool {
        let Some(start) = address.and_then(packet_offset) else {
            return false;
        };
        let range = start as usize..start as usize + usize::from(len);
        let Some(bytes) = self.pmem.as_flattened_mut().get_mut(range) else {
            return false;
        };
        if len == 0 || len > MAX_FRAME {
            return false;
        }
        let [low, high] = self.host_address.map(u64::from);
        let whole = if kind == kind::HOST_WRITE {
            outside.host_write(high << 32 | low, bytes)
        } else {
            outside.host_read(high << 32 | low, bytes)
        };
        self.host_flags |= 1 << (tag - 1);
        self.raise(flag::HOST_MEMORY);
        if !whole {
            self.raise(flag::HOST_ERROR);
        }
        true
    }

    /// Sends a frame that the program made. Returns the error flag to raise if there is no frame at `address`, or if
    /// the destination does not exist.
    #[cold]
    fn generate(&mut self, len: u16, port: u8, address: u32, kind: u32, outside: &mut dyn Outside) -> Result<(), u16> {
        let destination = self.destination(port, kind).filter(|to| !to.loops()).ok_or(flag::BAD_DESTINATION)?;
        let start = packet_offset(address).filter(|_| (1..=MAX_FRAME).contains(&len)).ok_or(flag::BAD_DESCRIPTOR)?;
        outside.generate(destination, &part(self.pmem.as_flattened(), start as usize, len.into()));
        self.generated_at = Some(self.now);
        self.counters.generated += 1;
        self.counters.tx_frames += 1;
        self.counters.tx_bytes += u64::from(len);
        Ok(())
    }

    /// The destination of a descriptor's port byte, if it exists.
    #[inline(always)]
    fn destination(&self, port: u8, kind: u32) -> Option<Destination> {
        let Identity { ports, units, .. } = self.identity;
        match kind {
            kind::SEND => Destination::from_byte(port, ports, units),
            kind::TO_UNIT => (port < units).then_some(Destination::Unit(port)),
            _ => None,
        }
    }

    /// The frame that a descriptor describes, or the error flag to raise.
    #[inline(always)]
    fn sending(&self, len: u16, slot: u8, port: u8, address: Option<u32>, kind: u32) -> Result<Sending, u16> {
        let place = &self.slots[usize::from(slot)];
        let destination = self.destination(port, kind).ok_or(flag::BAD_DESTINATION)?;
        // A pointer to anywhere else means the slot's own place.
        let pointer = address.filter(|address| address.wrapping_sub(PMEM_BASE) < PMEM_BYTES);
        let start = pointer.map_or(Some(place.frame), packet_offset).filter(|_| len <= MAX_FRAME);
        let start = start.ok_or(flag::BAD_DESCRIPTOR)? as usize;
        Ok(Sending { slot, destination, start, len })
    }

    /// Offers a frame to the card, and counts it when the card takes it.
    #[inline(always)]
    fn offer(&mut self, frame: Sending, outside: &mut dyn Outside) -> Answer {
        let Sending { slot, destination, start, len } = frame;
        let departure = Departure { destination, arrival: self.slots[usize::from(slot)].arrival };
        let answer = outside.send(departure, &part(self.pmem.as_flattened(), start, len.into()));
        if answer == Answer::Taken {
            self.counters.tx_frames += 1;
            self.counters.tx_bytes += u64::from(len);
        }
        answer
    }

    /// UPDATE_SLOT: gives SLOT_ADDR to a slot, as the place of its frame or of its header copy.
    fn update_slot(&mut self, value: u32) {
        let number = (value & 0x3F) as usize;
        if !(1..=MAX_SLOTS).contains(&number) {
            return self.raise(flag::BAD_SLOT);
        }
        if value & 0x100 != 0 {
            let base = self.slot_addr.wrapping_sub(DMEM_BASE);
            if base >= DMEM_BYTES - REGION_BYTES || !base.is_multiple_of(HEADER_ROW) {
                return self.raise(flag::BAD_SLOT);
            }
            self.header_bases[number] = Some(base);
        } else {
            let Some(frame) = packet_offset(self.slot_addr) else {
                return self.raise(flag::BAD_SLOT);
            };
            self.slots[number].frame = frame;
        }
        let slot = &mut self.slots[number];
        slot.header = self.header_bases[number].map(|base| base + slot.frame % ROW);
    }
}

/// Offset in packet memory of a place where a frame may start: within its row even and at most 14, so that little
/// rotation is needed.
fn packet_offset(address: u32) -> Option<u32> {
    let offset = address.wrapping_sub(PMEM_BASE);
    let in_row = offset % ROW;
    (offset < PMEM_BYTES && in_row <= MAX_PACKET_OFFSET && in_row & 1 == 0).then_some(offset)
}

/// `old` with the bytes at `address` replaced by those of `value`.
fn merged(old: u32, value: u32, address: u32, bytes: u32) -> u32 {
    let lanes = (u32::MAX >> (32 - 8 * bytes)) << (8 * (address & 3));
    old & !lanes | value & lanes
}

/// The `len` bytes of `memory` from `start` on; at its end, `memory` continues at its beginning.
#[inline(always)]
fn part(memory: &[u8], start: usize, len: usize) -> Cow<'_, [u8]> {
    match memory.get(start..start + len) {
        Some(bytes) => bytes.into(),
        None => [&memory[start..], &memory[..len - (memory.len() - start)]].concat().into(),
    }
}

/// Copies `bytes`, fewer than `memory` has, to `offset` on; at its end, `memory` continues at its beginning.
fn copy(memory: &mut [u8], offset: usize, bytes: &[u8]) {
    let offset = offset % memory.len();
    let (now, rest) = bytes.split_at(bytes.len().min(memory.len() - offset));
    memory[offset..offset + now.len()].copy_from_slice(now);
    memory[..rest.len()].copy_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    /// Records the unit's actions.
    #[derive(Default)]
    struct Notes {
        /// The answers to the next frames; all later frames are accepted.
        answers: VecDeque<Answer>,
        sent: Vec<(Destination, Vec<u8>)>,
        generated: Vec<(Destination, Vec<u8>)>,
        freed: Vec<u8>,
        declared: Vec<(u8, u16)>,
    }

    impl Outside for Notes {
        fn send(&mut self, departure: Departure, bytes: &[u8]) -> Answer {
            let answer = self.answers.pop_front().unwrap_or(Answer::Taken);
            if answer == Answer::Taken {
                self.sent.push((departure.destination, bytes.to_vec()));
            }
            answer
        }
        fn generate(&mut self, destination: Destination, bytes: &[u8]) {
            self.generated.push((destination, bytes.to_vec()));
        }
        fn free(&mut self, slot: u8) {
            self.freed.push(slot);
        }
        fn declare(&mut self, count: u8, bytes: u16) {
            self.declared.push((count, bytes));
        }
    }

    const FRAME: [u8; 60] = [0xA5; 60];

    /// A unit with the frame of slot 1 at `place`, and stores into its registers.
    struct Bench {
        system: System,
        notes: Notes,
    }

    impl Bench {
        fn new(place: u32) -> Self {
            let system = System::new(Identity { unit: 0, units: 4, ports: 2 }, Kinds::default());
            let mut bench = Self { system, notes: Notes::default() };
            bench.store(regs::RPU_CORE_SLOT_ADDR, place);
            bench.store(regs::RPU_CORE_UPDATE_SLOT, 1);
            assert_eq!(bench.flags(), 0);
            bench
        }

        fn store(&mut self, register: u32, value: u32) {
            self.system.store_register(register, value, 4, &mut self.notes);
        }

        /// A frame arrives in slot 1 and is taken.
        fn take(&mut self) {
            self.system.receive(1, Arrival::default(), &FRAME);
            assert!(matches!(self.system.load_register(regs::RPU_CORE_RECV), Loaded::Value(_)));
        }

        /// SEND_DESC for slot 1.
        fn send(&mut self, kind: u32, len: u32, port: u32, pointer: u32) {
            self.store(regs::RPU_CORE_SEND_DESC_LOW, len | 1 << 16 | port << 24);
            self.store(regs::RPU_CORE_SEND_DESC_HIGH, pointer);
            self.store(regs::RPU_CORE_SEND_DESC_TYPE, kind);
        }

        /// Error flags that rose since the last call.
        fn flags(&mut self) -> u16 {
            let flags = self.system.flags & flag::ERRORS;
            self.system.flags = 0;
            flags
        }
    }

    #[test]
    fn a_pointer_elsewhere_means_the_slots_place() {
        let mut bench = Bench::new(PMEM_BASE + 10);
        for pointer in [0, 1, DMEM_BASE, PMEM_BASE - 64, PMEM_BASE + PMEM_BYTES, u32::MAX] {
            bench.take();
            bench.send(kind::SEND, 60, 1, pointer);
            assert_eq!(bench.notes.sent.pop(), Some((Destination::Ethernet(1), FRAME.to_vec())), "{pointer:#x}");
            assert_eq!((bench.flags(), bench.notes.freed.pop()), (0, Some(1)));
        }
        // If a descriptor has two mistakes, the error names the destination.
        for (port, expected) in [(1, flag::BAD_DESCRIPTOR), (200, flag::BAD_DESTINATION)] {
            bench.take();
            bench.send(kind::SEND, 60, port, PMEM_BASE + 1);
            assert_eq!((bench.flags(), bench.notes.freed.pop()), (expected, Some(1)));
        }
        assert!(bench.notes.sent.is_empty());
        assert_eq!(bench.system.counters.refused, 2);
    }

    #[test]
    fn a_frame_without_a_slot_comes_from_the_pointer() {
        let mut bench = Bench::new(PMEM_BASE + 10);
        let memory: Vec<u8> = (0..PMEM_BYTES).map(|n| (n % 251) as u8).collect();
        bench.system.pmem.as_flattened_mut().copy_from_slice(&memory);
        bench.take();
        let mut all = [memory.clone(), memory].concat();
        all[10..70].copy_from_slice(&FRAME);
        for (len, port, start, to) in [
            (60, 0, 10, Destination::Ethernet(0)),
            (1, 9, 0x8000E, Destination::Ethernet(1)),
            (16_384, 2, 64, Destination::Host),
            (100, 1, PMEM_BYTES - 64, Destination::Ethernet(1)),
        ] {
            bench.store(regs::RPU_CORE_SEND_DESC_LOW, len | port << 24);
            bench.store(regs::RPU_CORE_SEND_FROM, PMEM_BASE + start);
            let mut due = all[start as usize..(start + len) as usize].to_vec();
            if start + len > PMEM_BYTES {
                due[64..].copy_from_slice(&all[..36]);
            }
            assert_eq!((bench.flags(), bench.notes.generated.pop()), (0, Some((to, due))));
        }
        // Descriptors that are no frame or have no destination; if both, the error names the destination.
        let good = PMEM_BASE + 4;
        for (kind, len, port, pointer, expected) in [
            (kind::SEND, 60, 1, 0, flag::BAD_DESCRIPTOR),
            (kind::SEND, 60, 1, DMEM_BASE, flag::BAD_DESCRIPTOR),
            (kind::SEND, 60, 1, PMEM_BASE + PMEM_BYTES, flag::BAD_DESCRIPTOR),
            (kind::SEND, 60, 1, good + 1, flag::BAD_DESCRIPTOR),
            (kind::SEND, 60, 1, PMEM_BASE + 16, flag::BAD_DESCRIPTOR),
            (kind::SEND, 0, 1, good, flag::BAD_DESCRIPTOR),
            (kind::SEND, 16_385, 1, good, flag::BAD_DESCRIPTOR),
            (kind::SEND, 0, 10, good, flag::BAD_DESTINATION),
            (kind::SEND, 60, 3, good, flag::BAD_DESTINATION),
            (kind::SEND, 60, 0x41, good, flag::BAD_DESTINATION),
            (kind::TO_UNIT, 60, 1, good, flag::BAD_DESTINATION),
            (kind::RELEASE, 60, 1, good, flag::BAD_DESCRIPTOR),
            (6, 60, 1, good, flag::BAD_DESCRIPTOR),
        ] {
            bench.store(regs::RPU_CORE_SEND_DESC_LOW, len | port << 24);
            bench.store(regs::RPU_CORE_SEND_DESC_HIGH, pointer);
            bench.store(regs::RPU_CORE_SEND_DESC_TYPE, kind);
            assert_eq!(bench.flags(), expected, "{len} bytes at {pointer:#x} to {port}");
        }
        // One store has no pointer.
        bench.store(regs::RPU_CORE_SEND, 60 | 1 << 24);
        assert_eq!(bench.flags(), flag::BAD_DESCRIPTOR);
        let Counters { tx_frames, tx_bytes, blocked, refused, generated, .. } = bench.system.counters;
        assert_eq!((tx_frames, tx_bytes, blocked, refused, generated), (4, 60 + 1 + 16_384 + 100, 0, 0, 4));
        assert!(bench.notes.generated.is_empty() && bench.notes.sent.is_empty() && bench.notes.freed.is_empty());
        assert_eq!((bench.system.active, bench.system.taken), (1, 1), "the slot that is held stays");
    }

    #[test]
    fn packet_memory_wraps() {
        let mut bench = Bench::new(PMEM_BASE + PMEM_BYTES - 64 + 14);
        bench.take();
        assert_eq!(bench.system.pmem.as_flattened()[..11], [&FRAME[..10], &[0]].concat());
        bench.system.pmem[3] = [1, 2, 3, 4];
        bench.send(kind::SEND, 66, 0, 0);
        let sent = [&FRAME[..], &[0, 0, 1, 2, 3, 4]].concat();
        assert_eq!(bench.notes.sent.pop(), Some((Destination::Ethernet(0), sent)));
        assert_eq!(bench.flags(), 0);
    }

    #[test]
    fn a_slot_may_be_sent_from_when_its_descriptor_is_taken() {
        for register in [regs::RPU_CORE_RECV, regs::RPU_CORE_RECV_DESC_RELEASE] {
            let mut bench = Bench::new(PMEM_BASE);
            bench.system.receive(1, Arrival::default(), &FRAME);
            bench.system.now += 100;
            assert_eq!(bench.system.held(), 100);
            bench.store(regs::RPU_CORE_SEND, 60 | 1 << 16);
            assert_eq!((bench.flags(), bench.system.active), (flag::BAD_DESCRIPTOR, 1));
            assert!(bench.notes.sent.is_empty() && bench.notes.freed.is_empty());
            if register == regs::RPU_CORE_RECV {
                bench.system.load_register(register);
            } else {
                bench.store(register, 1);
            }
            assert_eq!(bench.system.held(), 100);
            bench.store(regs::RPU_CORE_SEND, 60 | 1 << 16);
            assert_eq!((bench.flags(), bench.notes.sent.len(), bench.system.held()), (0, 1, 0));
            bench.store(regs::RPU_CORE_SEND, 60 | 1 << 16);
            assert_eq!((bench.flags(), bench.notes.sent.len()), (flag::BAD_DESCRIPTOR, 1));
        }
    }

    #[test]
    fn the_window_follows_the_frame_taken_last() {
        let mut bench = Bench::new(PMEM_BASE + 10);
        assert_eq!(bench.system.program_memory(WINDOW_BASE).unwrap().as_ptr(), bench.system.dmem[0].as_ptr());
        for slot in [1, 2] {
            bench.store(regs::RPU_CORE_SLOT_ADDR, PMEM_BASE + slot * 0x1000 + 10);
            bench.store(regs::RPU_CORE_UPDATE_SLOT, slot);
            bench.store(regs::RPU_CORE_SLOT_ADDR, DMEM_BASE + 0x4000 + slot * 0x100);
            bench.store(regs::RPU_CORE_UPDATE_SLOT, slot | 0x100);
            bench.system.receive(slot as u8, Arrival::default(), &[slot as u8; 60]);
        }
        for (slot, register) in [(1u8, regs::RPU_CORE_RECV), (2, regs::RPU_CORE_RECV_DESC_RELEASE)] {
            if register == regs::RPU_CORE_RECV {
                bench.system.load_register(register);
            } else {
                bench.store(register, 1);
            }
            assert_eq!(bench.system.program_memory(WINDOW_BASE + 12), Some(&mut [slot; 4]));
            *bench.system.program_memory(WINDOW_BASE + 252).unwrap() = [0xEE; 4];
            assert_eq!(bench.system.memory(DMEM_BASE + 0x4000 + u32::from(slot) * 0x100 + 252), Some(&mut [0xEE; 4]));
        }
        assert_eq!(bench.system.program_memory(WINDOW_BASE + 256), None);
        assert_eq!(bench.system.memory(WINDOW_BASE), None, "the host has no window");
        assert_eq!(bench.flags(), 0);
    }

    #[test]
    fn frames_over_loopback_wait_in_turn_and_others_pass() {
        let mut bench = Bench::new(PMEM_BASE);
        for slot in 1..=5 {
            bench.store(regs::RPU_CORE_UPDATE_SLOT, slot);
            bench.system.receive(slot as u8, Arrival::default(), &FRAME);
            assert!(matches!(bench.system.load_register(regs::RPU_CORE_RECV), Loaded::Value(_)));
        }
        bench.notes.answers = [Answer::Full, Answer::Taken].into();
        for (slot, port) in [(1, 3), (2, 0x42), (3, 1), (4, 0x43), (4, 1)] {
            bench.store(regs::RPU_CORE_SEND, 60 | slot << 16 | port << 24);
        }
        assert_eq!(bench.flags(), flag::BAD_DESCRIPTOR, "slot 4 was sent already");
        let sent = |bench: &mut Bench| bench.notes.sent.drain(..).map(|(to, _)| to).collect::<Vec<_>>();
        assert_eq!((sent(&mut bench), &bench.notes.freed[..]), (vec![Destination::Ethernet(1)], &[3][..]));
        let system = &bench.system;
        assert_eq!((system.active, system.held_slots(), system.counters.tx_frames), (0b11011, 0b10000, 1));

        for (answers, moves, left, freed, active) in [
            (vec![Answer::Full], false, vec![], vec![], 0b11011),
            (vec![Answer::Taken, Answer::Full], true, vec![Destination::Loopback], vec![1], 0b11010),
            (vec![Answer::Dropped], true, vec![Destination::Unit(3)], vec![2, 4], 0b10000),
            (vec![], false, vec![], vec![], 0b10000),
        ] {
            bench.notes.freed.clear();
            bench.notes.answers = answers.into();
            assert_eq!(bench.system.resume(&mut bench.notes), moves);
            assert_eq!((sent(&mut bench), bench.system.active), (left, active));
            assert_eq!(bench.notes.freed, freed);
        }
        assert_eq!((bench.system.counters.tx_frames, bench.system.counters.blocked), (3, 0));
    }

    #[test]
    fn a_reset_forgets_frames_that_wait() {
        let mut bench = Bench::new(PMEM_BASE);
        bench.take();
        bench.notes.answers = [Answer::Full].into();
        bench.store(regs::RPU_CORE_SEND, 60 | 1 << 16 | 3 << 24);
        bench.system.reset();
        assert!(!bench.system.resume(&mut bench.notes));
        assert_eq!((bench.system.active, bench.system.waiting_slots, bench.notes.sent.len()), (0, 0, 0));
    }

    #[test]
    fn types_that_are_not_built_are_bad_destinations() {
        let mut bench = Bench::new(PMEM_BASE);
        for kind in [6, 7] {
            bench.take();
            bench.send(kind, 60, 1, PMEM_BASE);
            assert_eq!((bench.flags(), bench.notes.freed.pop()), (flag::BAD_DESTINATION, Some(1)));
            bench.take();
            bench.send(kind, 0, 1, PMEM_BASE);
            assert_eq!((bench.flags(), bench.notes.freed.pop()), (0, Some(1)));
            bench.send(kind, 60, 1, PMEM_BASE);
            assert_eq!((bench.flags(), bench.notes.freed.pop()), (flag::BAD_DESCRIPTOR, None));
        }
        assert_eq!((bench.system.counters.refused, bench.system.counters.blocked), (2, 2));
        assert!(bench.notes.sent.is_empty());
    }

    #[test]
    fn slots_are_declared_while_none_holds_a_frame() {
        let mut bench = Bench::new(PMEM_BASE);
        bench.send(kind::SLOTS, 2038, 0, 0);
        assert_eq!((bench.flags(), bench.notes.declared.pop()), (0, Some((1, 2038))));
        bench.system.receive(1, Arrival::default(), &FRAME);
        for _ in 0..2 {
            bench.send(kind::SLOTS, 2038, 0, 0);
            assert_eq!((bench.flags(), bench.notes.declared.pop()), (flag::BAD_SLOT, None));
            bench.store(regs::RPU_CORE_RECV_DESC_RELEASE, 1);
        }
        bench.store(regs::RPU_CORE_SEND, 1 << 16);
        bench.send(kind::SLOTS, 2038, 0, 0);
        assert_eq!((bench.flags(), bench.notes.declared.pop()), (0, Some((1, 2038))));
    }

    #[test]
    fn update_slot_takes_six_bits() {
        let mut bench = Bench::new(PMEM_BASE);
        bench.store(regs::RPU_CORE_SLOT_ADDR, PMEM_BASE + 128);
        for (value, slot) in [(0x42, Some(2)), (0xC3, Some(3)), (0x40, None), (0x21, None)] {
            bench.store(regs::RPU_CORE_UPDATE_SLOT, value);
            assert_eq!(bench.flags(), if slot.is_some() { 0 } else { flag::BAD_SLOT });
            assert!(slot.is_none_or(|slot: usize| bench.system.slots[slot].frame == 128));
        }
    }
}
