// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The banks of a card in RTL: requests for memory and maps there, as units make them (engines/xdp/maps.md, "The host").

use penstock_xdp_compiler::card::CARD;

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
}

impl Slots {
    pub fn of(descriptor: &[u32; 5]) -> Self {
        let (first, end) = (descriptor[3] & 0xFFFF, descriptor[3] >> 16);
        let key_bytes = descriptor[0] >> 8 & 0x7F;
        Self { first, end, stride: (descriptor[4] >> 16).max(1), key_rows: key_bytes.div_ceil(ROW as u32) }
    }
}

impl<B: Bus> CardBanks<'_, B> {
    /// An operation on a key; gives the answer.
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

    /// All entries of a map of keys that are there.
    pub fn scan(&mut self, slots: &Slots, key_bytes: usize, value_bytes: usize) -> Result<Vec<Entry>, DeviceError> {
        let Slots { first, end, stride, key_rows } = *slots;
        let shape = self.bus.read(MAPS_WINDOW + regs::MAPS_HOST_SHAPE)?;
        let (banks, bank_rows) = (1 << (shape & 0xFF), 1u32 << (shape >> 8 & 0xFF));
        // Entries that one request reads.
        let many = (MOST_ROWS / stride).max(1);
        let mut all = Vec::new();
        for bank in 0..banks {
            for row in (first..end).step_by((many * stride) as usize) {
                let count = ((end - row) / stride).min(many);
                self.ask_rows(CARD + (bank * bank_rows + row) * ROW as u32, count * stride)?;
                for entry in 0..count {
                    let at = (entry * stride) as usize * ROW;
                    // Most are empty, and each word is a transaction.
                    if self.answer(at, 4)?[2] & 1 == 1 {
                        let key = self.answer(at + ROW, key_bytes)?;
                        let value = self.answer(at + (1 + key_rows as usize) * ROW, value_bytes)?;
                        all.push((key, value));
                    }
                }
            }
        }
        Ok(all)
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
