// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A library's search for the strings of the filter: what a plain scan costs.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use penstock_ids_compiler::Filter;
use penstock_ids_compiler::filter::Entry;

/// What the library is, in rows.
pub(crate) const NAME: &str = "aho-corasick 1.1, DFA";

/// The keys of a filter as the library searches for them, in whatever case.
pub(crate) struct Library(AhoCorasick);

/// The keys of a filter.
pub(crate) fn keys(filter: &Filter) -> Vec<Vec<u8>> {
    let key = |entry: &Entry| {
        let window = u64::from(entry.b) << 32 | u64::from(entry.a);
        window.to_le_bytes()[8 - usize::from(entry.length)..].to_vec()
    };
    filter.exact.iter().filter(|entry| entry.length > 0).map(key).collect()
}

impl Library {
    /// The keys of these tables. None: the library does not take them.
    pub(crate) fn new(filter: &Filter) -> Option<Self> {
        let mut builder = AhoCorasick::builder();
        builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA));
        builder.build(keys(filter)).ok().map(Self)
    }

    /// Occurrences that do not overlap.
    pub(crate) fn count(&self, bytes: &[u8]) -> usize {
        self.0.find_iter(bytes).count()
    }
}
