// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host's address space (shell/regs/card.rdl): the card's registers, and the units' windows behind them.

use penstock_rpu::regs;

use crate::{
    card::{Card, MAX_FRAME, STREAMS},
    dispatch::{Policy, RETA},
};

const MAGIC: u32 = 0x5045_4E53;
const VERSION: u32 = 1 << 16;
/// First address of the unit window, and its size.
const WINDOW: u32 = 0x4000_0000;
const WINDOW_BYTES: u32 = 64 << 20;

/// What the host has set and only the registers know.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HostState {
    pub port_enable: u32,
    unit_write_mask: u32,
    unit_read: u32,
    slots_unit: u32,
    cycles_high: u32,
}

impl Card {
    /// Reads the register at `address`, a multiple of 4, of the host's address space. Addresses without one give 0.
    pub fn read(&mut self, address: u32) -> u32 {
        if address >= WINDOW {
            let unit = self.host.unit_read as usize;
            return match address - WINDOW {
                offset @ 0..WINDOW_BYTES => self.units.get_mut(unit).map_or(0, |unit| unit.host_read(offset)),
                _ => 0,
            };
        }
        let slots = self.dispatcher.slots.get(self.host.slots_unit as usize);
        match address {
            regs::CARD_MAGIC => MAGIC,
            regs::CARD_VERSION => VERSION,
            regs::CARD_PORTS => self.config.ports.into(),
            regs::CARD_UNITS => self.config.units.into(),
            regs::CARD_MAX_FRAME => MAX_FRAME as u32,
            regs::CARD_CYCLES_L => {
                let cycles = self.instructions();
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
            regs::CARD_HOST_READS => self.host_memory_counters().reads as u32,
            regs::CARD_HOST_READ_BYTES => self.host_memory_counters().read_bytes as u32,
            regs::CARD_HOST_WRITES => self.host_memory_counters().writes as u32,
            regs::CARD_HOST_WRITE_BYTES => self.host_memory_counters().write_bytes as u32,
            regs::CARD_HOST_ERRORS => self.host_memory_counters().errors as u32,
            regs::CARD_SLOTS_UNIT => self.host.slots_unit,
            regs::CARD_SLOTS_FREE => slots.map_or(0, |slots| slots.free.count_ones()),
            regs::CARD_SLOTS_TOTAL => slots.map_or(0, |slots| slots.total.into()),
            regs::CARD_SLOTS_SIZE => slots.map_or(0, |slots| slots.bytes.into()),
            regs::CARD_UNITS_IDLE => {
                let idle = self.dispatcher.slots.iter().enumerate().filter(|(_, slots)| slots.held() == 0);
                idle.fold(0, |mask, (unit, _)| mask | 1 << unit)
            }
            _ => match (indexed(address, regs::CARD_RETA, 4, RETA), stream_of(address)) {
                (Some(entry), _) => self.dispatcher.reta[entry].into(),
                (None, Some((stream, register))) => self.stream_register(stream, register),
                _ => 0,
            },
        }
    }

    fn stream_register(&self, stream: usize, register: u32) -> u32 {
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
            // Without a clock nothing stalls, waits in a buffer, overflows or arrives damaged.
            _ => 0,
        };
        count as u32
    }

    /// Writes the register at `address`, a multiple of 4. Writes to others change nothing.
    pub fn write(&mut self, address: u32, value: u32) {
        let all = u32::MAX >> (32 - self.config.units);
        match address {
            WINDOW.. => self.write_units(address - WINDOW, value),
            regs::CARD_UNIT_WRITE_MASK => self.host.unit_write_mask = value & all,
            regs::CARD_UNIT_READ => self.host.unit_read = value & 31,
            regs::CARD_PORT_ENABLE => self.host.port_enable = value & 0xF,
            regs::CARD_POLICY => self.dispatcher.policy = Policy::from_code(value),
            regs::CARD_UNIT_ENABLE => self.dispatcher.enabled = value & all,
            regs::CARD_UNIT_FLUSH => each_bit(value & all).for_each(|unit| self.forget_slots(unit)),
            regs::CARD_SLOTS_UNIT => self.host.slots_unit = value & 31,
            _ => {
                if let Some(entry) = indexed(address, regs::CARD_RETA, 4, RETA) {
                    self.dispatcher.reta[entry] = (value & 31) as u8;
                }
            }
        }
    }

    fn write_units(&mut self, offset: u32, value: u32) {
        if offset >= WINDOW_BYTES {
            return;
        }
        for unit in each_bit(self.host.unit_write_mask) {
            self.units[usize::from(unit)].host_write(offset, value);
            if offset == regs::RPU_HOST_RESET && value & 1 == 0 {
                self.revive(unit);
            }
            // Only registers can give a unit something to do.
            if offset <= regs::RPU_HOST_DEBUG_IN_H {
                self.wake(unit);
            }
        }
    }
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

/// Numbers of the bits that are set.
fn each_bit(mask: u32) -> impl Iterator<Item = u8> {
    (0..32).filter(move |bit| mask >> bit & 1 != 0)
}
