// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A ring buffer: records that programs write and the host takes, oldest first.
//!
//! The ring has twice its bytes in memory, so that a record that begins near the end stays contiguous.

use std::collections::VecDeque;

use crate::Memory;

/// Bytes before each record: Linux keeps its length there, and they count as used.
const HEADER: u64 = 8;
/// The longest record: Linux needs two bits of its length.
const MAX_RECORD: u64 = u32::MAX as u64 >> 2;

/// The state of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reserved,
    Submitted,
    Discarded,
}

/// A record that the host has not taken.
#[derive(Debug, Clone, Copy)]
struct Record {
    address: u64,
    bytes: u64,
    state: State,
}

/// A ring of records.
#[derive(Debug, Clone)]
pub struct Ring {
    base: u32,
    size: u64,
    /// Bytes that were ever taken by the host, and by programs.
    taken: u64,
    written: u64,
    records: VecDeque<Record>,
    lost: u64,
}

impl Ring {
    /// A ring of `size` bytes, a power of two, with memory for twice as many from `base` on.
    pub fn new(base: u32, size: u32) -> Ring {
        Ring { base, size: size.into(), taken: 0, written: 0, records: VecDeque::new(), lost: 0 }
    }

    /// Makes room for a record; gives its address. None, and one more is lost, when there is no room.
    pub fn reserve(&mut self, bytes: u64) -> Option<u64> {
        let whole = bytes.next_multiple_of(8) + HEADER;
        if bytes > MAX_RECORD || whole > self.size || self.written + whole - self.taken > self.size - 1 {
            self.lost += 1;
            return None;
        }
        let address = u64::from(self.base) + (self.written & (self.size - 1)) + HEADER;
        self.records.push_back(Record { address, bytes, state: State::Reserved });
        self.written += whole;
        Some(address)
    }

    /// Gives a reserved record to the host, or back. Says whether there is such a record.
    pub fn release(&mut self, address: u64, submit: bool) -> bool {
        let reserved = |record: &&mut Record| record.state == State::Reserved && record.address == address;
        let found = self.records.iter_mut().rev().find(reserved);
        found.map(|record| record.state = if submit { State::Submitted } else { State::Discarded }).is_some()
    }

    /// The oldest record, if it was submitted. Discarded ones are passed over.
    pub fn take(&mut self, memory: &Memory) -> Option<Vec<u8>> {
        while let Some(record) = self.records.front().copied().filter(|record| record.state != State::Reserved) {
            self.records.pop_front();
            self.taken += record.bytes.next_multiple_of(8) + HEADER;
            if record.state == State::Submitted {
                return memory.bytes(record.address, record.bytes as usize).ok().map(<[u8]>::to_vec);
            }
        }
        None
    }

    /// How many records found no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The results of `bpf_ringbuf_query`.
    pub fn query(&self, what: u64) -> u64 {
        match what {
            0 => self.written - self.taken,
            1 => self.size,
            2 => self.taken,
            3 => self.written,
            _ => 0,
        }
    }
}
