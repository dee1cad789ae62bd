// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The banks of a card in RTL: requests for memory and maps there, as units make them (engines/xdp/maps.md, "The host").

use std::ops::Range;

use penstock_xdp_compiler::card::CARD;
use penstock_xdp_compiler::ir::CONTEXTS;

use super::Entry;
use super::make::{ANSWERS, BYTES_AT, request, store};
use crate::device::DeviceError;
use crate::host::Bus;
use crate::regs;
use crate::window::MAPS_WINDOW;

/// Operations of a request on a map.
pub const LOOKUP: u32 = 3;
pub const UPDATE: u32 = 4;
pub const DELETE: u32 = 5;
const ROWS: u32 = 6;
/// An atomic operation: the one whose number in INFO is 0.
const ADD: u32 = 2 | 1 << 4 | 1 << 8;
/// Bytes of a row and of a part of a request, and rows that one request reads at most.
pub const ROW: usize = 16;
const MOST_ROWS: u32 = 32;
/// Where INFO has rows less one.
const ROWS_AT: u32 = 25;
/// Of operations on maps in which each processor has a value of its own: where COMMAND has the processor's context, and INFO its unit.
const CONTEXT_AT: u32 = 16;
const UNIT_AT: u32 = 25;

/// A card's banks.
pub struct CardBanks<'a, B: Bus> {
    pub bus: &'a mut B,
}

/// Entries of a map of keys, as its descriptor says.
pub struct Slots {
    /// Row of the first, behind the last, and rows of each.
    first: u32,
    end: u32,
    pub stride: u32,
    /// Rows of a key.
    pub key_rows: u32,
    /// Bytes from a processor's value to the next one's; 0: all have the same.
    step: usize,
}

impl Slots {
    pub fn of(descriptor: &[u32; 5]) -> Self {
        let (first, end) = (descriptor[3] & 0xFFFF, descriptor[3] >> 16);
        let key_bytes = descriptor[0] >> 8 & 0x7F;
        let (stride, step) = ((descriptor[4] >> 16).max(1), 8 * (descriptor[4] & 0x3F) as usize);
        Self { first, end, stride, key_rows: key_bytes.div_ceil(ROW as u32), step }
    }

    /// Where the values of processors begin, behind that of processor 0.
    pub fn values_at(&self, processors: Option<&Range<u32>>) -> Vec<usize> {
        processors.map_or(vec![0], |all| all.clone().map(|processor| processor as usize * self.step).collect())
    }
}

impl<B: Bus> CardBanks<'_, B> {
    /// An operation on a key; gives the answer. Where each processor has a value of its own, that of one is meant.
    pub fn ask_as(
        &mut self,
        processor: u32,
        operation: u32,
        info: u32,
        key: &[u8],
        value: &[u8],
    ) -> Result<i64, DeviceError> {
        let (unit, context) = (processor / CONTEXTS, processor % CONTEXTS);
        self.ask(operation | context << CONTEXT_AT, info | unit << UNIT_AT, key, value)
    }

    /// An operation on a key; gives the answer. Where each processor has a value of its own, that of processor 0 is meant.
    pub fn ask(&mut self, operation: u32, info: u32, key: &[u8], value: &[u8]) -> Result<i64, DeviceError> {
        let parts = |bytes: &[u8]| bytes.len().div_ceil(ROW);
        let mut data = key.to_vec();
        data.resize(parts(key) * ROW, 0);
        data.extend_from_slice(value);
        let command = operation | (parts(key) as u32) << 4 | ((parts(key) + parts(value)) as u32) << 8;
        request(self.bus, command, info, &data)?;
        let answer = self.answer(0, 8)?;
        Ok(i64::from_le_bytes(answer.first_chunk().copied().unwrap_or_default()))
    }

    /// Bytes from an address on, which is that of a row.
    pub fn read(&mut self, address: u32, count: usize) -> Result<Vec<u8>, DeviceError> {
        let mut bytes = Vec::with_capacity(count);
        while bytes.len() < count {
            let left = count - bytes.len();
            let rows = (left.div_ceil(ROW) as u32).min(MOST_ROWS);
            self.ask_rows(address + bytes.len() as u32, rows)?;
            bytes.extend(self.answer(0, left.min(rows as usize * ROW))?);
        }
        Ok(bytes)
    }

    /// Writes bytes from an address on, eight at a time.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        (0..).step_by(8).zip(bytes.chunks(8)).try_for_each(|(offset, chunk)| store(self.bus, address + offset, chunk))
    }

    /// Adds to the number of 8 bytes at an address, in one step.
    pub fn add(&mut self, address: u32, number: u64) -> Result<(), DeviceError> {
        request(self.bus, ADD, (address - CARD) | 8 << BYTES_AT, &number.to_le_bytes())
    }

    /// All entries of a map of keys that are there, with the values that begin in each at `places`.
    pub fn scan(
        &mut self,
        slots: &Slots,
        key_bytes: usize,
        places: &[usize],
        value_bytes: usize,
    ) -> Result<Vec<Entry>, DeviceError> {
        let Slots { first, end, stride, key_rows, .. } = *slots;
        let head = 1 + key_rows;
        let shape = self.bus.read(MAPS_WINDOW + regs::MAPS_HOST_SHAPE)?;
        let (banks, bank_rows) = (1 << (shape & 0xFF), 1u32 << (shape >> 8 & 0xFF));
        // Entries that one request reads, and rows of each: of long ones, at first what comes before the values.
        let (many, part) = if stride > MOST_ROWS { (1, head) } else { (MOST_ROWS / stride, stride) };
        let mut all = Vec::new();
        for bank in 0..banks {
            for row in (first..end).step_by((many * stride) as usize) {
                let count = ((end - row) / stride).min(many);
                let address = CARD + (bank * bank_rows + row) * ROW as u32;
                self.ask_rows(address, count * part)?;
                for entry in 0..count {
                    let at = (entry * stride) as usize * ROW;
                    // Most are empty, and each word is a transaction.
                    if !self.is_used(at)? {
                        continue;
                    }
                    let key = self.answer(at + ROW, key_bytes)?;
                    if part == stride {
                        let values_at = at + head as usize * ROW;
                        let values = places.iter().map(|place| self.answer(values_at + place, value_bytes));
                        let value = values.collect::<Result<Vec<_>, _>>()?.concat();
                        all.push((key, value));
                        continue;
                    }
                    let bytes = places.last().map_or(0, |last| last + value_bytes);
                    let values = self.read(address + head * ROW as u32, bytes)?;
                    // It may have become another's meanwhile.
                    self.ask_rows(address, head)?;
                    if self.is_used(0)? && self.answer(ROW, key_bytes)? == key {
                        let value = places.iter().flat_map(|place| &values[*place..][..value_bytes]).copied();
                        all.push((key, value.collect()));
                    }
                }
            }
        }
        Ok(all)
    }

    /// Whether there is an entry whose rows stand in DATA from there on.
    fn is_used(&mut self, at: usize) -> Result<bool, DeviceError> {
        Ok(self.answer(at, 4)?[2] & 1 == 1)
    }

    /// Asks for rows; they stand in DATA then.
    fn ask_rows(&mut self, address: u32, rows: u32) -> Result<(), DeviceError> {
        request(self.bus, ROWS | 1 << 4 | 1 << 8, address.wrapping_sub(CARD) | (rows - 1) << ROWS_AT, &[])
    }

    /// Bytes of the answer from a multiple of 4 on.
    fn answer(&mut self, at: usize, count: usize) -> Result<Vec<u8>, DeviceError> {
        let mut bytes = Vec::with_capacity(count.next_multiple_of(4));
        for offset in (at..at + count).step_by(4) {
            bytes.extend(self.bus.read(ANSWERS + offset as u32)?.to_le_bytes());
        }
        bytes.truncate(count);
        Ok(bytes)
    }
}
