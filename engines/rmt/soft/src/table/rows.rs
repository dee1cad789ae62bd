// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Keys with priorities: rows in the order of their priority, of which the first one that matches wins.
//!
//! A frame looks for it in bit vectors (Lakshman and Stiliadis, SIGCOMM 1998): for each byte of the key and each value
//! of it a vector says which rows it fits, and the conjunction of a key's vectors is the rows that the whole key fits.
//! Only these compare their ranges.

use std::cell::{Cell, OnceCell};

use penstock_rmt_compiler::ir::{Entry, Match, MatchKind};
use penstock_rmt_compiler::mask;

/// A row.
#[derive(Debug)]
struct Row {
    priority: i32,
    number: usize,
    /// For each word of the key mask and value.
    words: Vec<(u64, u64)>,
    /// Ranges: first word of the key, whether it has two, lowest and highest value.
    ranges: Vec<(usize, bool, u128, u128)>,
}

impl Row {
    fn fits(&self, words: &[u64]) -> bool {
        self.words.iter().zip(words).all(|((mask, value), word)| word & mask == *value) && self.in_ranges(words)
    }

    fn in_ranges(&self, words: &[u64]) -> bool {
        self.ranges.iter().all(|(at, wide, low, high)| {
            let upper = if *wide { u128::from(words[at + 1]) << 64 } else { 0 };
            (*low..=*high).contains(&(u128::from(words[*at]) | upper))
        })
    }
}

/// Rows, those with the highest priority first.
#[derive(Debug)]
pub(super) struct Rows {
    widths: Vec<u32>,
    rows: Vec<Row>,
    /// The bit vectors, once enough frames have come since the last change.
    vectors: OnceCell<Vec<Chunk>>,
    /// Frames since the last change.
    finds: Cell<u32>,
}

/// Fewer rows than this are compared one by one.
const FEW_ROWS: usize = 8;
/// Frames after a change that compare the rows one by one. A change makes all vectors anew, so entries that come one
/// after the other between few frames must not make them each time.
const FRAMES_BEFORE: u32 = 32;
/// Rows of a chunk: as many bits as a cache line has.
const CHUNK: usize = 512;

/// A bit for each row of a chunk.
type Bits = [u64; CHUNK / 64];

/// The bit vectors of some rows.
#[derive(Debug)]
struct Chunk {
    /// Rows that are there.
    all: Bits,
    /// For each byte of the key that a row looks at, its word, its place in it, and the rows that each value fits.
    bytes: Vec<(usize, u32, Box<[Bits; 256]>)>,
}

impl Chunk {
    fn new(rows: &[Row]) -> Self {
        let mut all = [0; CHUNK / 64];
        (0..rows.len()).for_each(|row| set(&mut all, row));
        let words = rows.first().map_or(0, |row| row.words.len());
        let places = (0..words).flat_map(|word| (0..64).step_by(8).map(move |shift| (word, shift)));
        let bytes = places.filter_map(|(word, shift)| Some((word, shift, Self::byte(rows, word, shift)?)));
        Self { all, bytes: bytes.collect() }
    }

    /// The rows that each value of a byte fits; none if no row looks at the byte.
    fn byte(rows: &[Row], word: usize, shift: u32) -> Option<Box<[Bits; 256]>> {
        let of = |row: &Row| ((row.words[word].0 >> shift) as u8, (row.words[word].1 >> shift) as u8);
        let mut any = [0; CHUNK / 64];
        let mut looking = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            match of(row) {
                (0, _) => set(&mut any, number),
                (mask, value) => looking.push((number, mask, value)),
            }
        }
        if looking.is_empty() {
            return None;
        }
        let mut values = Box::new([any; 256]);
        for (number, mask, value) in looking {
            // The values that differ from the row's in bits that it does not look at: all subsets of these bits.
            let free = !mask;
            let mut other = 0u8;
            loop {
                set(&mut values[usize::from(value | other)], number);
                other = other.wrapping_sub(free) & free;
                if other == 0 {
                    break;
                }
            }
        }
        Some(values)
    }

    /// The first of these rows that fits.
    fn find(&self, rows: &[Row], words: &[u64]) -> Option<usize> {
        let mut fits = self.all;
        for (word, shift, values) in &self.bytes {
            let of_value = &values[usize::from((words[*word] >> shift) as u8)];
            fits.iter_mut().zip(of_value).for_each(|(fits, of_value)| *fits &= of_value);
        }
        for (at, mut bits) in fits.into_iter().enumerate() {
            while bits != 0 {
                let row = &rows[at * 64 + bits.trailing_zeros() as usize];
                if row.in_ranges(words) {
                    return Some(row.number);
                }
                bits &= bits - 1;
            }
        }
        None
    }
}

fn set(bits: &mut Bits, row: usize) {
    bits[row / 64] |= 1 << (row % 64);
}

impl Rows {
    pub(super) fn new(keys: &[(MatchKind, u32)]) -> Self {
        Self {
            widths: keys.iter().map(|(_, width)| *width).collect(),
            rows: Vec::new(),
            vectors: OnceCell::new(),
            finds: Cell::new(0),
        }
    }

    pub(super) fn find(&self, words: &[u64]) -> Option<usize> {
        let finds = self.finds.get();
        if self.rows.len() < FEW_ROWS || finds < FRAMES_BEFORE {
            self.finds.set(finds.saturating_add(1));
            return self.rows.iter().find(|row| row.fits(words)).map(|row| row.number);
        }
        let vectors = self.vectors.get_or_init(|| self.rows.chunks(CHUNK).map(Chunk::new).collect());
        vectors.iter().zip(self.rows.chunks(CHUNK)).find_map(|(chunk, rows)| chunk.find(rows, words))
    }

    fn changed(&mut self) {
        self.vectors.take();
        self.finds.set(0);
    }

    pub(super) fn insert(&mut self, entry: &Entry, number: usize) {
        let mut row = Row { priority: entry.priority, number, words: Vec::new(), ranges: Vec::new() };
        for (key, width) in entry.keys.iter().zip(&self.widths) {
            let (value, bits) = match *key {
                Match::Exact(value) => (value, mask(*width)),
                Match::Lpm(value, length) => (value, mask(*width) & !mask(*width).checked_shr(length).unwrap_or(0)),
                Match::Ternary(value, mask) => (value & mask, mask),
                Match::Range(low, high) => {
                    row.ranges.push((row.words.len(), *width > 64, low, high));
                    (0, 0)
                }
            };
            row.words.push((bits as u64, value as u64));
            if *width > 64 {
                row.words.push(((bits >> 64) as u64, (value >> 64) as u64));
            }
        }
        // If two rows have the same priority, the older one wins.
        let at = self.rows.partition_point(|other| other.priority >= row.priority);
        self.rows.insert(at, row);
        self.changed();
    }

    pub(super) fn remove(&mut self, number: usize) {
        self.rows.retain(|row| row.number != number);
        self.changed();
    }
}

#[cfg(test)]
mod tests {
    use penstock_rmt_compiler::ir::ActionCall;

    use super::*;

    fn entry(keys: Vec<Match>, priority: i32) -> Entry {
        Entry::new(keys, priority, ActionCall { action: 0, args: Vec::new() })
    }

    #[test]
    fn the_highest_priority_wins_then_the_oldest_row() {
        let mut rows = Rows::new(&[(MatchKind::Ternary, 16), (MatchKind::Range, 128), (MatchKind::Optional, 8)]);
        let any = Match::Ternary(0, 0);
        let all = Match::Range(0, u128::MAX);
        rows.insert(&entry(vec![any, all, any], 1), 0);
        rows.insert(&entry(vec![Match::Ternary(0x1200, 0xFF00), all, Match::Exact(7)], 5), 1);
        rows.insert(&entry(vec![any, Match::Range(1 << 70, 3 << 70), any], 5), 2);
        assert_eq!(rows.find(&[0x1234, 0, 1 << 6, 7]), Some(1));
        assert_eq!(rows.find(&[0x1234, 0, 1 << 6, 8]), Some(2));
        assert_eq!(rows.find(&[0x1334, 1, 3 << 6, 7]), Some(0));
        assert_eq!(rows.find(&[0x1334, 0, 3 << 6, 7]), Some(2));
        rows.remove(2);
        assert_eq!(rows.find(&[0x1334, 0, 3 << 6, 7]), Some(0));
    }

    #[test]
    fn bit_vectors_find_what_comparing_row_by_row_finds() {
        let mut seed = 7u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u128::from(seed >> 33)
        };
        let mut rows = Rows::new(&[(MatchKind::Ternary, 32), (MatchKind::Range, 16), (MatchKind::Ternary, 100)]);
        // Few values in few bits, so that keys fit several rows.
        let wide = 0x3_0000_0001_8000_0000_0005;
        let (mut hits, mut last_chunk) = (0, 0);
        for number in 0..1200 {
            let mask = [0x0300_0101, 0x8000_0100, 0][random() as usize % 3];
            let low = random() & 0xFF;
            let keys = vec![
                Match::Ternary(random() & mask, mask),
                Match::Range(low, low + (random() & 0xF)),
                Match::Ternary((random() << 60 | random()) & wide, wide),
            ];
            rows.insert(&entry(keys, random() as i32 & 0x3F), number);
            // Frames with and without vectors, before and after a row is removed.
            let frames = if number % 100 == 99 { 200 } else { 2 };
            for frame in 0..2 * frames {
                if frame == frames && number % 3 == 0 {
                    rows.remove(random() as usize % number.max(1));
                }
                let upper = random() << 60 | random();
                let key = upper & wide | u128::from(rows.rows.len() as u8 & 2);
                let words = [random() as u64, random() as u64 & 0xFF, key as u64, (key >> 64) as u64];
                let expected = rows.rows.iter().position(|row| row.fits(&words));
                assert_eq!(rows.find(&words), expected.map(|at| rows.rows[at].number), "{words:x?}");
                hits += usize::from(expected.is_some());
                last_chunk += usize::from(expected.is_some_and(|at| at >= CHUNK));
            }
        }
        assert!(hits > 500 && last_chunk > 5, "{hits} frames hit, {last_chunk} of them behind the first chunk");
    }
}
