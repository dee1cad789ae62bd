// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Keys with priorities: rows in the order of their priority, of which the first one that matches wins.

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

/// Rows, those with the highest priority first.
#[derive(Debug)]
pub struct Rows {
    widths: Vec<u32>,
    rows: Vec<Row>,
}

impl Rows {
    pub fn new(keys: &[(MatchKind, u32)]) -> Self {
        Self { widths: keys.iter().map(|(_, width)| *width).collect(), rows: Vec::new() }
    }

    pub fn find(&self, words: &[u64]) -> Option<usize> {
        let fits = |row: &&Row| {
            row.words.iter().zip(words).all(|((mask, value), word)| word & mask == *value)
                && row.ranges.iter().all(|(at, wide, low, high)| {
                    let upper = if *wide { u128::from(words[at + 1]) << 64 } else { 0 };
                    (*low..=*high).contains(&(u128::from(words[*at]) | upper))
                })
        };
        self.rows.iter().find(fits).map(|row| row.number)
    }

    pub fn insert(&mut self, entry: &Entry, number: usize) {
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
    }

    pub fn remove(&mut self, number: usize) {
        self.rows.retain(|row| row.number != number);
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
}
