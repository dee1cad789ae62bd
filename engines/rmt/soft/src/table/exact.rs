// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Keys that are all exact: a hash table.

use penstock_rmt_compiler::ir::{Match, MatchKind};

use super::words::ByWords;

/// Entries by the values of their keys.
#[derive(Debug)]
pub(super) struct Exact {
    widths: Vec<u32>,
    entries: ByWords<usize>,
}

impl Exact {
    pub(super) fn new(keys: &[(MatchKind, u32)]) -> Self {
        Self { widths: keys.iter().map(|(_, width)| *width).collect(), entries: ByWords::default() }
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
    pub(super) fn find(&self, words: &[u64]) -> Option<usize> {
        self.entries.get(words).copied()
    }

    pub(super) fn insert(&mut self, keys: &[Match], number: usize) {
        let words = self.words(keys);
        self.entries.insert(&words, number);
    }

    pub(super) fn remove(&mut self, keys: &[Match]) {
        let words = self.words(keys);
        self.entries.remove(&words);
    }
}
