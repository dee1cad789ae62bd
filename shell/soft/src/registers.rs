// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host's address space (shell/regs/card.rdl): the card's registers, and the units' windows behind them.

use penstock_unit::{Access, AccessError};

use crate::{
    card::{Card, LOOPBACK, MAX_FRAME, STREAMS, each_bit},
    dispatch::{Policy, RETA},
    host_memory::HostRange,
    regs,
};

const MAGIC: u32 = 0x5045_4E53;
const VERSION: u32 = 1 << 16;
/// Bytes of the ingress buffer that a port of the card in RTL has.
const INGRESS_BYTES: u32 = 512 << 10;
/// The unit window.
const WINDOW: u32 = 0x4000_0000;
const WINDOW_END: u32 = WINDOW + (64 << 20);
/// Registers of the inline chain (shell/regs/inline.rdl) that the card in native code has.
const TENANT_VLAN: u32 = 0x4400_1000 + regs::INLINE_TENANT_VLAN;
const TENANT: u32 = 0x4400_1000 + regs::INLINE_TENANT;

/// Settings of the host that only the registers have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostState {
    pub port_enable: u32,
    exit_timeout: u32,
    unit_timeout: u32,
    unit_write_mask: u32,
    unit_read: u32,
    slots_unit: u32,
    range_unit: u32,
    /// Range of host memory that the next write of MEMORY_LIMIT_H gives the unit `range_unit`.
    range: HostRange,
    cycles_high: u32,
    /// High words of the counters that were read last: of the card's, and of each unit's.
    count_high: u32,
    unit_count_high: [u32; 32],
}

impl Default for HostState {
    fn default() -> Self {
        Self {
            port_enable: 0,
            exit_timeout: 4096,
            unit_timeout: 1 << 20,
            unit_write_mask: 0,
            unit_read: 0,
            slots_unit: 0,
            range_unit: 0,
            range: HostRange::default(),
            cycles_high: 0,
            count_high: 0,
            unit_count_high: [0; 32],
        }
    }
}

impl Card {
    /// Reads the register at `address` of the host's address space.
    ///
    /// # Errors
    /// When there is none that can be read, `address` is no multiple of 4, or UNIT_READ names no unit of the card.
    pub fn read(&mut self, address: u32) -> Result<u32, AccessError> {
        let value = match address {
            _ if !address.is_multiple_of(4) => None,
            WINDOW..WINDOW_END => self.unit_word(self.host.unit_read as usize, address - WINDOW),
            _ => self.register(address),
        };
        value.ok_or(AccessError { access: Access::Read, address })
    }

    /// Reads the word at `offset` of a unit's window, whatever UNIT_READ names.
    ///
    /// # Errors
    /// When there is no such unit or word, or `offset` is no multiple of 4.
    pub fn read_unit(&mut self, unit: u8, offset: u32) -> Result<u32, AccessError> {
        let is_there = offset.is_multiple_of(4) && offset < WINDOW_END - WINDOW;
        let word = if is_there { self.unit_word(unit.into(), offset) } else { None };
        word.ok_or(AccessError { access: Access::Read, address: WINDOW.wrapping_add(offset) })
    }

    /// The word at `offset` of a unit's window. Its counters are here: a read of the low word latches the high word.
    fn unit_word(&mut self, number: usize, offset: u32) -> Option<u32> {
        let (unit, high) = (self.units.get(number)?, self.host.unit_count_high.get_mut(number)?);
        match (offset, unit.count_at(offset)) {
            (regs::UNIT_COUNT_H, _) => Some(*high),
            (_, Some(count)) => {
                *high = (count >> 32) as u32;
                Some(count as u32)
            }
            _ => unit.host_read(offset),
        }
    }

    /// Writes the word at `offset` of a unit's window, whatever UNIT_WRITE_MASK names.
    ///
    /// # Errors
    /// When there is no such unit or word, or `offset` is no multiple of 4.
    pub fn write_unit(&mut self, unit: u8, offset: u32, value: u32) -> Result<(), AccessError> {
        let units = 1u32.checked_shl(unit.into()).unwrap_or(0);
        let mask = std::mem::replace(&mut self.host.unit_write_mask, units);
        let is_there = offset.is_multiple_of(4) && offset < WINDOW_END - WINDOW;
        let written = is_there && self.write_units(offset, value);
        self.host.unit_write_mask = mask;
        let error = AccessError { access: Access::Write, address: WINDOW.wrapping_add(offset) };
        if written { Ok(()) } else { Err(error) }
    }

    fn register(&mut self, address: u32) -> Option<u32> {
        let slots = self.dispatcher.slots.get(self.host.slots_unit as usize);
        Some(match address {
            regs::CARD_MAGIC => MAGIC,
            regs::CARD_VERSION => VERSION,
            regs::CARD_PORTS => self.ports.into(),
            regs::CARD_UNITS => self.units.len() as u32,
            regs::CARD_MAX_FRAME => MAX_FRAME as u32,
            regs::CARD_INGRESS_BYTES => INGRESS_BYTES,
            regs::CARD_CYCLES_L => {
                let cycles = self.steps();
                self.host.cycles_high = (cycles >> 32) as u32;
                cycles as u32
            }
            regs::CARD_CYCLES_H => self.host.cycles_high,
            regs::CARD_UNIT_WRITE_MASK => self.host.unit_write_mask,
            regs::CARD_UNIT_READ => self.host.unit_read,
            regs::CARD_PORT_ENABLE => self.host.port_enable,
            regs::CARD_POLICY => match self.dispatcher.policy {
                Policy::RoundRobin => 0,
                Policy::LeastLoaded => 1,
                Policy::FlowHash => 2,
                Policy::FlowHashDrop => 3,
            },
            regs::CARD_UNIT_ENABLE => self.dispatcher.enabled,
            regs::CARD_UNIT_INGRESS => self.dispatcher.ingress,
            // Without a clock no exit and no unit keeps others waiting.
            regs::CARD_EXIT_TIMEOUT => self.host.exit_timeout,
            regs::CARD_UNIT_TIMEOUT => self.host.unit_timeout,
            regs::CARD_MEMORY_UNIT => self.host.range_unit,
            regs::CARD_MEMORY_BASE_L => self.host_range(self.host.range_unit).base as u32,
            regs::CARD_MEMORY_BASE_H => (self.host_range(self.host.range_unit).base >> 32) as u32,
            regs::CARD_MEMORY_LIMIT_L => self.host_range(self.host.range_unit).limit as u32,
            regs::CARD_MEMORY_LIMIT_H => (self.host_range(self.host.range_unit).limit >> 32) as u32,
            regs::CARD_MEMORY_DENIED => self.low_word(self.host_memory_counters().denied),
            regs::CARD_HOST_READS => self.low_word(self.host_memory_counters().reads),
            regs::CARD_HOST_READ_BYTES => self.low_word(self.host_memory_counters().read_bytes),
            regs::CARD_HOST_WRITES => self.low_word(self.host_memory_counters().writes),
            regs::CARD_HOST_WRITE_BYTES => self.low_word(self.host_memory_counters().write_bytes),
            regs::CARD_HOST_ERRORS => self.low_word(self.host_memory_counters().errors),
            regs::CARD_COUNT_H => self.host.count_high,
            regs::CARD_SLOTS_UNIT => self.host.slots_unit,
            TENANT_VLAN if self.has_blocks() => self.tenants.select,
            regs::CARD_SLOTS_FREE => slots.map_or(0, |slots| slots.free.count_ones()),
            regs::CARD_SLOTS_TOTAL => slots.map_or(0, |slots| slots.total.into()),
            regs::CARD_SLOTS_SIZE => slots.map_or(0, |slots| slots.bytes.into()),
            regs::CARD_UNITS_IDLE => {
                let idle = self.dispatcher.slots.iter().enumerate().filter(|(_, slots)| slots.held() == 0);
                idle.fold(0, |mask, (unit, _)| mask | 1 << unit)
            }
            _ => match (indexed(address, regs::CARD_RETA, 4, RETA), stream_of(address)) {
                (Some(entry), _) => self.dispatcher.reta[entry].into(),
                (None, Some((stream, register))) => self.stream_register(stream, register)?,
                _ => return None,
            },
        })
    }

    /// The low word of a counter of the card. COUNT_H then has the high word.
    fn low_word(&mut self, count: u64) -> u32 {
        self.host.count_high = (count >> 32) as u32;
        count as u32
    }

    fn stream_register(&mut self, stream: usize, register: u32) -> Option<u32> {
        let counters = self.streams[stream];
        let count = match register {
            regs::CARD_STREAM_RX_FRAMES => counters.rx_frames,
            regs::CARD_STREAM_RX_BYTES => counters.rx_bytes,
            regs::CARD_STREAM_DROP_OVERSIZE => counters.oversize,
            regs::CARD_STREAM_DROP_RUNT => counters.runt,
            regs::CARD_STREAM_DROP_DISABLED => counters.disabled,
            regs::CARD_STREAM_DROP_POLICY => counters.policy,
            regs::CARD_STREAM_TX_FRAMES => counters.tx_frames,
            regs::CARD_STREAM_TX_BYTES => counters.tx_bytes,
            regs::CARD_STREAM_RX_LEVEL if stream == LOOPBACK => self.waiting_units(),
            // Without a clock nothing stalls, waits in a buffer or at an exit, overflows or arrives damaged.
            regs::CARD_STREAM_RX_STALLS
            | regs::CARD_STREAM_TX_STALLS
            | regs::CARD_STREAM_RX_LEVEL
            | regs::CARD_STREAM_DROP_OVERFLOW
            | regs::CARD_STREAM_DROP_DAMAGED
            | regs::CARD_STREAM_DROP_UNSENT => 0,
            _ => return None,
        };
        Some(self.low_word(count))
    }

    /// Writes the register at `address`.
    ///
    /// # Errors
    /// When there is none that can be written, `address` is no multiple of 4, or UNIT_WRITE_MASK names no unit of the card.
    pub fn write(&mut self, address: u32, value: u32) -> Result<(), AccessError> {
        let error = AccessError { access: Access::Write, address };
        match address {
            _ if !address.is_multiple_of(4) => return Err(error),
            WINDOW..WINDOW_END => return self.write_units(address - WINDOW, value).then_some(()).ok_or(error),
            regs::CARD_UNIT_WRITE_MASK => self.host.unit_write_mask = value,
            regs::CARD_UNIT_READ => self.host.unit_read = value & 31,
            regs::CARD_PORT_ENABLE => self.host.port_enable = value & 0xF,
            regs::CARD_POLICY => self.dispatcher.policy = Policy::from_code(value),
            regs::CARD_UNIT_ENABLE => self.dispatcher.enabled = value,
            regs::CARD_UNIT_INGRESS => self.dispatcher.ingress = value,
            regs::CARD_EXIT_TIMEOUT => self.host.exit_timeout = value & 0xFF_FFFF,
            regs::CARD_UNIT_TIMEOUT => self.host.unit_timeout = value & 0xFF_FFFF,
            regs::CARD_UNIT_FLUSH => each_bit(value & self.all_units()).for_each(|unit| self.forget_slots(unit)),
            regs::CARD_SLOTS_UNIT => self.host.slots_unit = value & 31,
            regs::CARD_MEMORY_UNIT => self.host.range_unit = value & 31,
            regs::CARD_MEMORY_BASE_L => set_low(&mut self.host.range.base, value),
            regs::CARD_MEMORY_BASE_H => set_high(&mut self.host.range.base, value),
            regs::CARD_MEMORY_LIMIT_L => set_low(&mut self.host.range.limit, value),
            regs::CARD_MEMORY_LIMIT_H => {
                set_high(&mut self.host.range.limit, value);
                *self.host_range_mut(self.host.range_unit) = self.host.range;
            }
            TENANT_VLAN if self.has_blocks() => self.tenants.select = value & 0xF_0FFF,
            TENANT if self.has_blocks() => self.tenants.give((value & 63) as u8),
            _ => {
                let entry = indexed(address, regs::CARD_RETA, 4, RETA).ok_or(error)?;
                self.dispatcher.reta[entry] = (value & 31) as u8;
            }
        }
        Ok(())
    }

    /// Writes to the units that the mask names; false when there is none, or nothing to write there.
    fn write_units(&mut self, offset: u32, value: u32) -> bool {
        let targets = self.host.unit_write_mask & self.all_units();
        let mut written = targets != 0;
        for unit in each_bit(targets) {
            written &= self.units[usize::from(unit)].host_write(offset, value);
            if offset == regs::UNIT_RESET && value & 1 == 0 {
                self.revive(unit);
            }
            // Only registers can give a unit something to do.
            if offset <= regs::UNIT_DEBUG_IN_H || matches!(offset, regs::UNIT_HALT | regs::UNIT_STEP) {
                self.wake(unit);
            }
        }
        written
    }
}

/// Sets the low word of a number.
fn set_low(number: &mut u64, word: u32) {
    *number = *number & !0xFFFF_FFFF | u64::from(word);
}

/// Sets the high word of a number.
fn set_high(number: &mut u64, word: u32) {
    *number = *number & 0xFFFF_FFFF | u64::from(word) << 32;
}

/// Index of the word at `address` in an array of registers.
fn indexed(address: u32, base: u32, stride: u32, count: usize) -> Option<usize> {
    let index = (address.checked_sub(base)? / stride) as usize;
    (index < count).then_some(index)
}

/// Stream, and register in its block.
fn stream_of(address: u32) -> Option<(usize, u32)> {
    let stream = indexed(address, regs::CARD_STREAM_BASE, regs::CARD_STREAM_STRIDE, STREAMS)?;
    Some((stream, (address - regs::CARD_STREAM_BASE) % regs::CARD_STREAM_STRIDE))
}

#[cfg(test)]
mod tests {
    use penstock_unit::{Counters, Outside, Pause, Unit};

    use super::*;

    /// A unit that has received many bytes, and its window reads as zeros.
    struct Busy(Counters);

    impl Unit for Busy {
        fn receive(&mut self, _slot: u8, _arrival: penstock_unit::Arrival, bytes: &[u8]) {
            self.0.rx_bytes += bytes.len() as u64;
        }

        fn run(&mut self, _outside: &mut dyn Outside, _limit: u64) -> Pause {
            Pause::Waiting
        }

        fn counters(&self) -> Counters {
            self.0
        }

        fn active_slots(&self) -> u32 {
            0
        }

        fn host_read(&self, _offset: u32) -> Option<u32> {
            Some(0)
        }

        fn host_write(&mut self, _offset: u32, _value: u32) -> bool {
            true
        }

        fn steps(&self) -> u64 {
            0
        }
    }

    #[test]
    fn a_read_of_a_low_word_latches_the_high_word() {
        let busy = Busy(Counters { rx_bytes: (3 << 32) - 1, rx_frames: 7, ..Counters::default() });
        let mut card = Card::new(1, vec![Box::new(busy)]);
        let (low, high) = (WINDOW + regs::UNIT_RX_BYTES, WINDOW + regs::UNIT_COUNT_H);
        assert_eq!(card.read(low).unwrap(), u32::MAX);
        card.units[0].receive(1, penstock_unit::Arrival::default(), &[0; 60]);
        assert_eq!(card.read(high).unwrap(), 2, "the high word of another time");
        assert_eq!((card.read(low).unwrap(), card.read(high).unwrap()), (59, 3));
        assert_eq!((card.read(WINDOW + regs::UNIT_RX_FRAMES).unwrap(), card.read(high).unwrap()), (7, 0));

        card.streams[0].rx_bytes = u64::from(u32::MAX);
        let low = regs::CARD_STREAM_BASE + regs::CARD_STREAM_RX_BYTES;
        assert_eq!(card.read(low).unwrap(), u32::MAX);
        card.streams[0].rx_bytes += 1;
        assert_eq!(card.read(regs::CARD_COUNT_H).unwrap(), 0, "the high word of another time");
        assert_eq!((card.read(low).unwrap(), card.read(regs::CARD_COUNT_H).unwrap()), (0, 1));
    }
}
