// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Free room in a memory of the machine that tenants share.

use std::ops::Range;

/// A memory with its ranges that are taken.
#[derive(Debug, Clone)]
pub(super) struct Room {
    size: u32,
    taken: Vec<Range<u32>>,
}

impl Room {
    /// A memory of `size` rows, all free.
    pub(super) fn new(size: u32) -> Self {
        Self { size, taken: Vec::new() }
    }

    /// Takes the lowest free range of this length that begins at a multiple of `align`; None if no range fits.
    pub(super) fn take(&mut self, length: u32, align: u32) -> Option<Range<u32>> {
        let mut start = 0;
        loop {
            let range = start..start + length;
            if range.end > self.size {
                return None;
            }
            match self.taken.iter().find(|taken| taken.start < range.end && range.start < taken.end) {
                Some(taken) => start = taken.end.next_multiple_of(align.max(1)),
                None => {
                    self.taken.push(range.clone());
                    return Some(range);
                }
            }
        }
    }

    /// Gives a range back.
    pub(super) fn give(&mut self, range: &Range<u32>) {
        self.taken.retain(|taken| taken != range);
    }

    /// Rows that are free.
    pub(super) fn free(&self) -> u32 {
        self.size - self.taken.iter().map(|taken| taken.end - taken.start).sum::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_do_not_overlap() {
        let mut room = Room::new(64);
        assert_eq!(room.take(3, 1), Some(0..3));
        assert_eq!(room.take(16, 16), Some(16..32));
        assert_eq!(room.take(16, 16), Some(32..48));
        assert_eq!(room.take(32, 32), None);
        assert_eq!(room.take(13, 1), Some(3..16));
        room.give(&(16..32));
        assert_eq!((room.free(), room.take(17, 1), room.take(16, 16)), (32, None, Some(16..32)));
    }
}
