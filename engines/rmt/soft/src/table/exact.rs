// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Keys that are all exact: a hash table.

use hashbrown::HashMap;
use penstock_rmt_compiler::ir::{Match, MatchKind};

/// Entries by the values of their keys.
#[derive(Debug)]
pub struct Exact {
    widths: Vec<u32>,
    /// Tables with one key of at most 64 bits, the usual case.
    single: HashMap<u64, usize>,
    /// All others.
    several: HashMap<Box<[u64]>, usize>,
}

impl Exact {
    pub fn new(keys: &[(MatchKind, u32)]) -> Self {
        Self { widths: keys.iter().map(|(_, width)| *width).collect(), single: HashMap::new(), several: HashMap::new() }
    }

    /// The words of an entry's keys, in the layout of a frame's words.
    fn words(&self, keys: &[Match]) -> Vec<u64> {
        let mut words = Vec::new();
        for (key, width) in keys.iter().zip(&self.widths) {
            if let Match::Exact(value) = key {
                super::push_words(&mut words, *value, *width);
            }
        }
        words
    }

    #[inline]
    pub fn find(&self, words: &[u64]) -> Option<usize> {
        match words {
            [word] => self.single.get(word).copied(),
            // A table without keys has no entries.
            [] => None,
            _ => self.several.get(words).copied(),
        }
    }

    pub fn insert(&mut self, keys: &[Match], number: usize) {
        match &self.words(keys)[..] {
            [word] => self.single.insert(*word, number),
            words => self.several.insert(words.into(), number),
        };
    }

    pub fn remove(&mut self, keys: &[Match]) {
        match &self.words(keys)[..] {
            [word] => self.single.remove(word),
            words => self.several.remove(words),
        };
    }
}
