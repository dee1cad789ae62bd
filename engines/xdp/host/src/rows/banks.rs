// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The banks of a card in hardware: requests for memory and maps, as units send them (engines/xdp/maps.md, "The host").

use std::ops::Range;

use penstock_engine::Bus;
use penstock_xdp_compiler::card::CARD;
use penstock_xdp_compiler::ir::CONTEXTS;
use penstock_xdp_maps::SLICE;

use super::error::RowsError;
use super::make::{ANSWERS, BYTES_AT, request, store};
use crate::maps::Slice;
use crate::window::MAPS_WINDOW;

/// Operations of a request on a map.
pub(super) const LOOKUP: u32 = 3;
pub(super) const UPDATE: u32 = 4;
pub(super) const DELETE: u32 = 5;
const ROWS: u32 = 6;
/// COMMAND of an atomic operation; its number in INFO is 0, which adds.
const ADD: u32 = 2 | 1 << 4 | 1 << 8;
/// Bytes of a row, and of a part of a request.
pub(super) const ROW: usize = 16;
/// Rows that one request reads at most.
const MOST_ROWS: u32 = 32;
/// Requests for a slice of a map at most.
const SLICE_REQUESTS: u32 = 1024;
/// Lowest bit of the number of rows less one in INFO.
const ROWS_AT: u32 = 25;
/// Operations on maps with a value for each processor: lowest bits of the context in COMMAND, and of the unit in INFO.
const CONTEXT_AT: u32 = 16;
const UNIT_AT: u32 = 25;

/// A card's banks.
pub(super) struct CardBanks<'a> {
    pub bus: &'a mut dyn Bus,
}

/// The place of the entries of a map of keys.
pub(super) struct Slots {
    /// Row of the first entry.
    first: u32,
    /// Row after the last entry.
    end: u32,
    /// Rows of an entry.
    pub stride: u32,
    /// Rows of a key.
    pub key_rows: u32,
    /// Bytes from the value of a processor to the value of the next one; 0 if all processors share one value.
    step: usize,
}

impl Slots {
    /// Reads the descriptor of a map.
    pub(super) fn of(descriptor: &[u32; 5]) -> Self {
        let (first, end) = (descriptor[3] & 0xFFFF, descriptor[3] >> 16);
        let key_bytes = descriptor[0] >> 8 & 0x7F;
        let (stride, step) = ((descriptor[4] >> 16).max(1), 8 * (descriptor[4] & 0x3F) as usize);
        Self { first, end, stride, key_rows: key_bytes.div_ceil(ROW as u32), step }
    }

    /// Offsets of the values of processors, in bytes after the value of processor 0.
    pub(super) fn values_at(&self, processors: Option<&Range<u32>>) -> Vec<usize> {
        processors.map_or(vec![0], |all| all.clone().map(|processor| processor as usize * self.step).collect())
    }
}

impl CardBanks<'_> {
    /// Carries out an operation on a key, for one processor of a map with a value for each, and gives the answer.
    pub(super) fn ask_as(
        &mut self,
        processor: u32,
        operation: u32,
        info: u32,
        key: &[u8],
        value: &[u8],
    ) -> Result<i64, RowsError> {
        let (unit, context) = (processor / CONTEXTS, processor % CONTEXTS);
        self.ask(operation | context << CONTEXT_AT, info | unit << UNIT_AT, key, value)
    }

    /// Carries out an operation on a key and gives the answer. In a map with a value for each processor it is for
    /// processor 0.
    pub(super) fn ask(&mut self, operation: u32, info: u32, key: &[u8], value: &[u8]) -> Result<i64, RowsError> {
        let parts = |bytes: &[u8]| bytes.len().div_ceil(ROW);
        let mut data = key.to_vec();
        data.resize(parts(key) * ROW, 0);
        data.extend_from_slice(value);
        let command = operation | (parts(key) as u32) << 4 | ((parts(key) + parts(value)) as u32) << 8;
        request(self.bus, command, info, &data)?;
        let answer = self.answer(0, 8)?;
        Ok(i64::from_le_bytes(answer.first_chunk().copied().unwrap_or_default()))
    }

    /// Reads bytes; the address must be that of a row.
    pub(super) fn read(&mut self, address: u32, count: usize) -> Result<Vec<u8>, RowsError> {
        let mut bytes = Vec::with_capacity(count);
        while bytes.len() < count {
            let left = count - bytes.len();
            let rows = (left.div_ceil(ROW) as u32).min(MOST_ROWS);
            self.ask_rows(address + bytes.len() as u32, rows)?;
            bytes.extend(self.answer(0, left.min(rows as usize * ROW))?);
        }
        Ok(bytes)
    }

    /// Writes bytes, eight at a time.
    pub(super) fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), RowsError> {
        (0..).step_by(8).zip(bytes.chunks(8)).try_for_each(|(offset, chunk)| store(self.bus, address + offset, chunk))
    }

    /// Adds to the number of 8 bytes at an address, atomically.
    pub(super) fn add(&mut self, address: u32, number: u64) -> Result<(), RowsError> {
        request(self.bus, ADD, (address - CARD) | 8 << BYTES_AT, &number.to_le_bytes())
    }

    /// Reads a slice of the entries of a map of keys, each with its values at the offsets `places`. It begins at 0 or at
    /// the [`Slice::next`] of the slice before, a number of requests.
    pub(super) fn scan(
        &mut self,
        slots: &Slots,
        key_bytes: usize,
        places: &[usize],
        value_bytes: usize,
        from: u32,
    ) -> Result<Slice, RowsError> {
        let Slots { first, end, stride, key_rows, .. } = *slots;
        let head = 1 + key_rows;
        let shape = self.bus.read(MAPS_WINDOW + penstock_xdp_soft::regs::MAPS_HOST_SHAPE)?;
        let (banks, bank_rows) = (1 << (shape & 0xFF), 1u32 << (shape >> 8 & 0xFF));
        // One request reads `many` entries of `part` rows each. If an entry is too long, the first request reads the
        // rows before the values.
        let (many, part) = if stride > MOST_ROWS { (1, head) } else { (MOST_ROWS / stride, stride) };
        let of_bank = (end - first).div_ceil(many * stride);
        let requests = banks * of_bank;
        let mut all = Vec::new();
        for number in from..requests {
            if all.len() >= SLICE || number - from >= SLICE_REQUESTS {
                return Ok(Slice { entries: all, next: Some(number) });
            }
            let (bank, row) = (number / of_bank, first + number % of_bank * many * stride);
            let count = ((end - row) / stride).min(many);
            let address = CARD + (bank * bank_rows + row) * ROW as u32;
            self.ask_rows(address, count * part)?;
            for entry in 0..count {
                let at = (entry * stride) as usize * ROW;
                // Most entries are empty, and each word is a bus transaction.
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
                // A program may have given the entry to another key meanwhile.
                self.ask_rows(address, head)?;
                if self.is_used(0)? && self.answer(ROW, key_bytes)? == key {
                    let value = places.iter().flat_map(|place| &values[*place..][..value_bytes]).copied();
                    all.push((key, value.collect()));
                }
            }
        }
        Ok(Slice { entries: all, next: None })
    }

    /// Whether the entry whose rows are in DATA from `at` on is in use.
    fn is_used(&mut self, at: usize) -> Result<bool, RowsError> {
        Ok(self.answer(at, 4)?[2] & 1 == 1)
    }

    /// Reads rows into DATA.
    fn ask_rows(&mut self, address: u32, rows: u32) -> Result<(), RowsError> {
        request(self.bus, ROWS | 1 << 4 | 1 << 8, address.wrapping_sub(CARD) | (rows - 1) << ROWS_AT, &[])
    }

    /// Reads bytes of the answer; `at` is a multiple of 4.
    fn answer(&mut self, at: usize, count: usize) -> Result<Vec<u8>, RowsError> {
        let mut bytes = Vec::with_capacity(count.next_multiple_of(4));
        for offset in (at..at + count).step_by(4) {
            bytes.extend(self.bus.read(ANSWERS + offset as u32)?.to_le_bytes());
        }
        bytes.truncate(count);
        Ok(bytes)
    }
}
