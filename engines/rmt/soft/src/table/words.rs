// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Values by the words of exact keys.

use hashbrown::HashMap;

/// Values by the words of exact keys.
#[derive(Debug)]
pub(super) struct ByWords<V> {
    /// The value without words.
    none: Option<V>,
    /// Those with one word, the usual case.
    one: HashMap<u64, V>,
    several: HashMap<Box<[u64]>, V>,
}

impl<V> Default for ByWords<V> {
    fn default() -> Self {
        Self { none: None, one: HashMap::new(), several: HashMap::new() }
    }
}

impl<V> ByWords<V> {
    #[inline]
    pub(super) fn get(&self, words: &[u64]) -> Option<&V> {
        match words {
            [] => self.none.as_ref(),
            [word] => self.one.get(word),
            _ => self.several.get(words),
        }
    }

    pub(super) fn insert(&mut self, words: &[u64], value: V) {
        match words {
            [] => self.none = Some(value),
            [word] => drop(self.one.insert(*word, value)),
            _ => drop(self.several.insert(words.into(), value)),
        }
    }

    pub(super) fn remove(&mut self, words: &[u64]) {
        match words {
            [] => self.none = None,
            [word] => drop(self.one.remove(word)),
            _ => drop(self.several.remove(words)),
        }
    }
}

impl<V: Default> ByWords<V> {
    /// The value of words, which is new if these words had no value.
    pub(super) fn entry(&mut self, words: &[u64]) -> &mut V {
        match words {
            [] => self.none.get_or_insert_default(),
            [word] => self.one.entry(*word).or_default(),
            _ => self.several.entry(words.into()).or_default(),
        }
    }
}
