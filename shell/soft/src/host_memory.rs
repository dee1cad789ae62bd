// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The memory of the host that units read and write: 1 GiB, of which only pages that were written exist.

use std::{collections::HashMap, ops::Range};

/// Bytes of it; beyond, the host refuses.
const BYTES: u64 = 1 << 30;
/// The limit of the card's bursts: a request that ends beyond it is carried out up to there.
const PAGE: usize = 4096;

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
