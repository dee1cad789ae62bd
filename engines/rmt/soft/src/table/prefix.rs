// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! One key by its longest prefix, others exact: for each value of the exact ones a trie that takes eight bits a step.

use hashbrown::HashMap;
use penstock_rmt_compiler::ir::{Match, MatchKind};

/// No entry, no node.
const NONE: u32 = u32::MAX;

/// Entries by the values of their keys.
#[derive(Debug)]
pub struct Prefixes {
    keys: Vec<(MatchKind, u32)>,
    /// Bits of the key with prefixes, and the place of its words among those of a frame.
    width: u32,
    at: usize,
    /// The trie of tables without exact keys.
    single: Trie,
    /// By the words of the exact keys.
    several: HashMap<Box<[u64]>, Trie>,
}

impl Prefixes {
    pub fn new(keys: &[(MatchKind, u32)]) -> Self {
        let before = keys.iter().take_while(|(kind, _)| *kind != MatchKind::Lpm);
        let at = before.clone().map(|(_, width)| if *width > 64 { 2 } else { 1 }).sum();
        let width = keys.get(before.count()).map_or(0, |(_, width)| *width);
        Self { keys: keys.to_vec(), width, at, single: Trie::default(), several: HashMap::new() }
    }

    /// The key with prefixes, its first bit highest, and the words of the others.
    fn split<'w>(&self, words: &'w [u64]) -> (u128, &'w [u64], &'w [u64]) {
        let count = if self.width > 64 { 2 } else { 1 };
        let key = u128::from(words[self.at]) | if count == 2 { u128::from(words[self.at + 1]) << 64 } else { 0 };
        (key << (128 - self.width), &words[..self.at], &words[self.at + count..])
    }

    #[inline]
    pub fn find(&self, words: &[u64]) -> Option<usize> {
        let (key, before, behind) = self.split(words);
        let trie = match (before, behind) {
            ([], []) => &self.single,
            (before, []) => self.several.get(before)?,
            _ => self.several.get(&[before, behind].concat()[..])?,
        };
        trie.find(key)
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
        let trie = if words.is_empty() { &mut self.single } else { self.several.entry(words.into()).or_default() };
        (trie, prefix.0, prefix.1)
    }

    pub fn insert(&mut self, keys: &[Match], number: usize) {
        let (trie, prefix, length) = self.place(keys);
        trie.insert(prefix, length, number as u32);
    }

    pub fn remove(&mut self, keys: &[Match], number: usize) {
        let (trie, prefix, length) = self.place(keys);
        trie.remove(prefix, length, number as u32);
    }
}

/// A node: for each value of its eight bits the next node, and the entry of the longest prefix that ends in this node.
#[derive(Debug)]
struct Node {
    next: [u32; 256],
    entry: [u32; 256],
    /// Prefixes that end here: bits in this node (0 to 8), first value, entry.
    ends: Vec<(u8, u8, u32)>,
}

#[derive(Debug)]
struct Trie {
    nodes: Vec<Node>,
}

impl Default for Trie {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

impl Default for Node {
    fn default() -> Self {
        Self { next: [NONE; 256], entry: [NONE; 256], ends: Vec::new() }
    }
}

impl Node {
    /// Finds the entries of the values of a prefix again.
    fn refresh(&mut self, bits: u8, first: u8) {
        let count = 256 >> bits;
        for value in usize::from(first)..usize::from(first) + count {
            let covers = |(bits, first, _): &&(u8, u8, u32)| (value as u32 ^ u32::from(*first)) >> (8 - bits) == 0;
            let longest = self.ends.iter().filter(covers).max_by_key(|(bits, ..)| *bits);
            self.entry[value] = longest.map_or(NONE, |(.., entry)| *entry);
        }
    }
}

impl Trie {
    /// The entry of the longest prefix of a key.
    #[inline]
    fn find(&self, key: u128) -> Option<usize> {
        let (mut found, mut node, mut rest) = (NONE, 0, key);
        loop {
            let at = (rest >> 120) as usize;
            let here = &self.nodes[node as usize];
            if here.entry[at] != NONE {
                found = here.entry[at];
            }
            node = here.next[at];
            if node == NONE {
                return (found != NONE).then_some(found as usize);
            }
            rest <<= 8;
        }
    }

    /// The node that a prefix ends in; the bits that it has there, and their value.
    fn end(&mut self, prefix: u128, length: u32) -> (usize, u8, u8) {
        // A prefix of 8 bits ends in the first node, one of 9 in the second one.
        let steps = length.saturating_sub(1) / 8;
        let mut node = 0;
        for step in 0..steps {
            let at = (prefix >> (120 - 8 * step)) as usize & 0xFF;
            if self.nodes[node].next[at] == NONE {
                self.nodes[node].next[at] = self.nodes.len() as u32;
                self.nodes.push(Node::default());
            }
            node = self.nodes[node].next[at] as usize;
        }
        let bits = (length - 8 * steps) as u8;
        let value = (prefix >> (120 - 8 * steps)) as u8;
        (node, bits, value & !(0xFFu16 >> bits) as u8)
    }

    fn insert(&mut self, prefix: u128, length: u32, entry: u32) {
        let (node, bits, first) = self.end(prefix, length);
        self.nodes[node].ends.push((bits, first, entry));
        self.nodes[node].refresh(bits, first);
    }

    /// Nodes stay: the next prefixes are most likely the old ones.
    fn remove(&mut self, prefix: u128, length: u32, entry: u32) {
        let (node, bits, first) = self.end(prefix, length);
        self.nodes[node].ends.retain(|end| *end != (bits, first, entry));
        self.nodes[node].refresh(bits, first);
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
        assert_eq!(table.find(&[1, 0x0A01_0203, 0, 5]), Some(0));
        assert_eq!(table.find(&[2, 0x0A01_0203, 0, 5]), Some(1));
        assert_eq!(table.find(&[1, 0x0B01_0203, 0, 5]), None);
        assert_eq!(table.find(&[1, 0x0A01_0203, 5, 0]), None);
    }
}
