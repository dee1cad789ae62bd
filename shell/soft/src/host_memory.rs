// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The memory of the host that units read and write: 1 GiB, of which only pages that were written exist. A unit reaches
//! the part that the host has given it.

use std::{collections::HashMap, ops::Range};

/// Bytes of it; beyond, the host refuses.
const BYTES: u64 = 1 << 30;
/// The limit of the card's bursts: a request that ends beyond it is carried out up to there.
const PAGE: usize = 4096;

/// The host memory that a unit reaches: bytes `base` to `limit`, both included. None if `base` is above `limit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HostRange {
    pub base: u64,
    pub limit: u64,
}

impl Default for HostRange {
    fn default() -> Self {
        Self { base: u64::MAX, limit: 0 }
    }
}

impl HostRange {
    /// Whether all of `count` bytes from `address` on lie in it. Requests do not wrap around at the end of the address
    /// space.
    pub(crate) fn holds(self, address: u64, count: usize) -> bool {
        let last = (count as u64).checked_sub(1).and_then(|less| address.checked_add(less));
        last.is_some_and(|last| self.base <= address && last <= self.limit)
    }
}

/// Host memory, zero where it was not written.
#[derive(Default)]
pub struct HostMemory {
    pages: HashMap<u64, Box<[u8; PAGE]>>,
}

impl HostMemory {
    /// Fills `bytes` from `address` on; addresses that do not exist read as zero, and make it return false.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        let mut whole = true;
        for (page, within, part) in parts(address, bytes.len()) {
            let part = &mut bytes[part];
            match self.pages.get(&page) {
                Some(memory) => part.copy_from_slice(&memory[within..within + part.len()]),
                None => part.fill(0),
            }
            whole &= exists(page);
        }
        whole
    }

    /// Writes `bytes` from `address` on, where memory exists; false when some of it does not.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        let mut whole = true;
        for (page, within, part) in parts(address, bytes.len()) {
            if exists(page) {
                let part = &bytes[part];
                let memory = self.pages.entry(page).or_insert_with(|| Box::new([0; PAGE]));
                memory[within..within + part.len()].copy_from_slice(part);
            } else {
                whole = false;
            }
        }
        whole
    }
}

fn exists(page: u64) -> bool {
    page < BYTES / PAGE as u64
}

/// Cuts `count` bytes from `address` on by pages: the page, the place within it, and the range of the bytes. Addresses
/// are modulo 2^64.
fn parts(address: u64, count: usize) -> impl Iterator<Item = (u64, usize, Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        (done < count).then(|| {
            let place = address.wrapping_add(done as u64);
            let within = place as usize % PAGE;
            let range = done..count.min(done + PAGE - within);
            done = range.end;
            (place / PAGE as u64, within, range)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_where_they_are_written() {
        let mut memory = HostMemory::default();
        let bytes: Vec<u8> = (0..10_000).map(|n| n as u8).collect();
        assert!(memory.write(4000, &bytes));
        let mut back = vec![1; 10_200];
        assert!(memory.read(3900, &mut back));
        assert_eq!(back[..100], [0; 100]);
        assert_eq!(back[100..10_100], bytes);
        assert_eq!(back[10_100..], [0; 100]);
    }

    #[test]
    fn ranges_include_both_ends() {
        let range = |base, limit| HostRange { base, limit };
        let cases = [
            (range(10, 19), 10, 10, true),
            (range(10, 19), 10, 11, false),
            (range(10, 19), 9, 1, false),
            (range(10, 19), 9, 2, false),
            (range(10, 19), 19, 1, true),
            (range(10, 19), 19, 2, false),
            (range(10, 19), 20, 1, false),
            (range(10, 10), 10, 1, true),
            (range(10, 9), 10, 1, false),
            (range(10, 9), 9, 1, false),
            (range(0, u64::MAX), 0, 16384, true),
            (range(0, u64::MAX), u64::MAX, 1, true),
            (range(0, u64::MAX), u64::MAX, 2, false),
            (range(u64::MAX - 3, u64::MAX), u64::MAX - 3, 4, true),
            (range(u64::MAX - 3, u64::MAX), u64::MAX - 4, 4, false),
            (range(10, 19), (1 << 32) + 12, 1, false),
            (HostRange::default(), 0, 1, false),
            (HostRange::default(), u64::MAX, 1, false),
        ];
        for (range, address, count, held) in cases {
            assert_eq!(range.holds(address, count), held, "{count} bytes from {address:#x} in {range:x?}");
        }
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        let mut memory = HostMemory::default();
        assert!(!memory.write(BYTES - 3, &[1, 2, 3, 4, 5]));
        let mut back = [9; 5];
        assert!(!memory.read(BYTES - 3, &mut back));
        assert_eq!(back, [1, 2, 3, 0, 0]);
        assert!(!memory.write(u64::MAX, &[6, 7]));
        assert!(memory.read(0, &mut back));
        assert_eq!(back, [7, 0, 0, 0, 0]);
    }
}
