// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! One key by its longest prefix, others exact: for each value of the exact ones a trie that takes eight bits a step.

use std::ops::Range;

use penstock_rmt_compiler::ir::{Match, MatchKind};

use super::words::ByWords;

/// No entry, no node.
const NONE: u32 = u32::MAX;

/// Entries by the values of their keys. The words of a key are those of the exact keys, then those of the prefix.
#[derive(Debug)]
pub(super) struct Prefixes {
    keys: Vec<(MatchKind, u32)>,
    /// Bits of the key with prefixes.
    width: u32,
    /// By the words of the exact keys.
    tries: ByWords<Trie>,
}

impl Prefixes {
    pub(super) fn new(keys: &[(MatchKind, u32)]) -> Self {
        let width = keys.iter().find(|(kind, _)| *kind == MatchKind::Lpm).map_or(0, |(_, width)| *width);
        Self { keys: keys.to_vec(), width, tries: ByWords::default() }
    }

    #[inline]
    pub(super) fn find(&self, words: &[u64]) -> Option<usize> {
        let (exact, key) = match words {
            [exact @ .., low, high] if self.width > 64 => (exact, u128::from(*high) << 64 | u128::from(*low)),
            [exact @ .., word] => (exact, u128::from(*word)),
            [] => return None,
        };
        self.tries.get(exact)?.find(key << (128 - self.width))
    }

    /// The trie of an entry, its prefix and that one's length.
    fn place(&mut self, keys: &[Match]) -> (&mut Trie, u128, u32) {
        let (mut words, mut prefix) = (Vec::new(), (0, 0));
        for (key, (_, width)) in keys.iter().zip(&self.keys) {
            match key {
                Match::Lpm(value, length) => prefix = (*value << (128 - width), *length),
                Match::Exact(value) => super::push_words(&mut words, *value, *width),
                _ => {}
            }
        }
        (self.tries.entry(&words), prefix.0, prefix.1)
    }

    pub(super) fn insert(&mut self, keys: &[Match], number: usize) {
        let (trie, prefix, length) = self.place(keys);
        trie.insert(prefix, length, number as u32);
    }

    pub(super) fn remove(&mut self, keys: &[Match], number: usize) {
        let (trie, prefix, length) = self.place(keys);
        trie.remove(prefix, length, number as u32);
    }
}

/// The target of a value of eight bits: the entry of the longest prefix that ends in its node, and the next node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    entry: u32,
    next: u32,
}

/// A node: a cell for each run of neighboring values that lead to the same. Most nodes have few of them, which a lookup
/// finds in one cache line of the node and one of the cells.
#[derive(Debug)]
#[repr(align(64))]
struct Node {
    /// A bit for each value at which a run begins.
    starts: [u64; 4],
    /// For each of these words, the runs that begin before it.
    before: [u8; 4],
    cells: Box<[Cell]>,
}

#[derive(Debug)]
struct Trie {
    nodes: Vec<Node>,
    /// For each node, prefixes that end there: bits in the node (0 to 8), first value, entry.
    ends: Vec<Vec<(u8, u8, u32)>>,
}

impl Default for Trie {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], ends: vec![Vec::new()] }
    }
}

impl Default for Node {
    fn default() -> Self {
        Self::of(&[Cell { entry: NONE, next: NONE }; 256])
    }
}

impl Node {
    /// A node of the cells of all values.
    fn of(all: &[Cell; 256]) -> Self {
        let (mut starts, mut before, mut cells) = ([0; 4], [0; 4], Vec::new());
        for (value, cell) in all.iter().enumerate() {
            if value % 64 == 0 {
                before[value / 64] = cells.len() as u8;
            }
            if cells.last() != Some(cell) {
                starts[value / 64] |= 1 << (value % 64);
                cells.push(*cell);
            }
        }
        Self { starts, before, cells: cells.into() }
    }

    /// The cell of a value.
    #[inline]
    fn cell(&self, value: usize) -> Cell {
        let word = value / 64;
        let up_to = self.starts[word] << (63 - value % 64);
        self.cells[usize::from(self.before[word]) + up_to.count_ones() as usize - 1]
    }

    /// Changes the cells of some values.
    fn change(&mut self, values: Range<usize>, mut change: impl FnMut(usize, &mut Cell)) {
        let mut all: [Cell; 256] = std::array::from_fn(|value| self.cell(value));
        for value in values {
            change(value, &mut all[value]);
        }
        *self = Self::of(&all);
    }
}

impl Trie {
    /// The entry of the longest prefix of a key.
    #[inline]
    fn find(&self, key: u128) -> Option<usize> {
        let (mut found, mut node) = (NONE, 0);
        for half in [(key >> 64) as u64, key as u64] {
            for byte in half.to_be_bytes() {
                let cell = self.nodes[node as usize].cell(byte.into());
                if cell.entry != NONE {
                    found = cell.entry;
                }
                if cell.next == NONE {
                    return (found != NONE).then_some(found as usize);
                }
                node = cell.next;
            }
        }
        (found != NONE).then_some(found as usize)
    }

    /// The node that a prefix ends in; the bits that it has there, and their value.
    fn end(&mut self, prefix: u128, length: u32) -> (usize, u8, u8) {
        // A prefix of 8 bits ends in the first node, one of 9 in the second one.
        let steps = length.saturating_sub(1) / 8;
        let mut node = 0;
        for step in 0..steps {
            let at = (prefix >> (120 - 8 * step)) as usize & 0xFF;
            if self.nodes[node].cell(at).next == NONE {
                let new = self.nodes.len() as u32;
                self.nodes[node].change(at..at + 1, |_, cell| cell.next = new);
                self.nodes.push(Node::default());
                self.ends.push(Vec::new());
            }
            node = self.nodes[node].cell(at).next as usize;
        }
        let bits = (length - 8 * steps) as u8;
        let value = (prefix >> (120 - 8 * steps)) as u8;
        (node, bits, value & !(0xFFu16 >> bits) as u8)
    }

    /// Finds the entries of the values of a prefix again.
    fn refresh(&mut self, node: usize, bits: u8, first: u8) {
        let (first, ends) = (usize::from(first), &self.ends[node]);
        self.nodes[node].change(first..first + (256 >> bits), |value, cell| {
            let covers = |(bits, first, _): &&(u8, u8, u32)| (value as u32 ^ u32::from(*first)) >> (8 - bits) == 0;
            let longest = ends.iter().filter(covers).max_by_key(|(bits, ..)| *bits);
            cell.entry = longest.map_or(NONE, |(.., entry)| *entry);
        });
    }

    fn insert(&mut self, prefix: u128, length: u32, entry: u32) {
        let (node, bits, first) = self.end(prefix, length);
        self.ends[node].push((bits, first, entry));
        self.refresh(node, bits, first);
    }

    /// Nodes stay: the next prefixes are most likely the old ones.
    fn remove(&mut self, prefix: u128, length: u32, entry: u32) {
        let (node, bits, first) = self.end(prefix, length);
        self.ends[node].retain(|end| *end != (bits, first, entry));
        self.refresh(node, bits, first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 33
    }

    #[test]
    fn the_longest_prefix_is_found_while_entries_come_and_go() {
        let mut seed = 3;
        for width in [7, 32, 48, 64, 128] {
            let mut table = Prefixes::new(&[(MatchKind::Lpm, width)]);
            let mut all: Vec<(u128, u32, usize)> = Vec::new();
            for number in 0..400 {
                // Few different values, so that prefixes are nested.
                let bits = (0..4).fold(0u128, |bits, _| bits << 32 | u128::from(mixed(&mut seed) & 0x4100_0301));
                let length = mixed(&mut seed) as u32 % (width + 1);
                let value = if length == 0 { 0 } else { (bits >> (128 - length)) << (width - length) };
                if let Some(at) = all.iter().position(|(known, of, _)| (*known, *of) == (value, length)) {
                    let (value, length, number) = all.swap_remove(at);
                    table.remove(&[Match::Lpm(value, length)], number);
                } else {
                    all.push((value, length, number));
                    table.insert(&[Match::Lpm(value, length)], number);
                }
                let key = (bits ^ u128::from(mixed(&mut seed) & 3) << 60) >> (128 - width);
                let covers =
                    |(value, length, _): &&(u128, u32, usize)| *length == 0 || (key ^ value) >> (width - length) == 0;
                let expected =
                    all.iter().filter(covers).max_by_key(|(_, length, _)| *length).map(|(.., number)| *number);
                let words = [key as u64, (key >> 64) as u64];
                assert_eq!(table.find(&words[..if width > 64 { 2 } else { 1 }]), expected, "{width} bits, {key:x}");
            }
        }
    }

    #[test]
    fn exact_keys_choose_the_trie() {
        let mut table = Prefixes::new(&[(MatchKind::Exact, 8), (MatchKind::Lpm, 32), (MatchKind::Exact, 100)]);
        table.insert(&[Match::Exact(1), Match::Lpm(0x0A00_0000, 8), Match::Exact(5 << 64)], 0);
        table.insert(&[Match::Exact(2), Match::Lpm(0, 0), Match::Exact(5 << 64)], 1);
        assert_eq!(table.find(&[1, 0, 5, 0x0A01_0203]), Some(0));
        assert_eq!(table.find(&[2, 0, 5, 0x0A01_0203]), Some(1));
        assert_eq!(table.find(&[1, 0, 5, 0x0B01_0203]), None);
        assert_eq!(table.find(&[1, 5, 0, 0x0A01_0203]), None);
    }
}
