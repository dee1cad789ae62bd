// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A compiled matcher beside ours: one DFA of the crate regex-automata for all rules.
//!
//! It runs over the serialized dispatch field: number, length and value. It is complete before the first message, and
//! stops at the byte at which a rule matches.

use penstock_bench::BenchError;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

/// Bytes of the DFA, and of memory that its construction takes, at most.
const MOST: usize = 256 << 20;

/// Expressions, compiled to one table of states.
pub(crate) struct Dfa(dense::DFA<Vec<u32>>);

impl Dfa {
    /// A DFA that tells which of these expressions matches from the first byte on.
    pub(crate) fn new(expressions: &[String]) -> Result<Self, BenchError> {
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .dfa_size_limit(Some(MOST))
            .determinize_size_limit(Some(MOST));
        dense::Builder::new()
            .configure(config)
            .syntax(syntax::Config::new().unicode(false).utf8(false).dot_matches_new_line(true))
            .thompson(thompson::Config::new().utf8(false))
            .build_many(expressions)
            .map(Self)
            .map_err(|error| BenchError::Program(Box::new(error)))
    }

    /// The expression that a serialized field matches.
    pub(crate) fn decide(&self, field: &[u8]) -> Option<usize> {
        let input = Input::new(field).anchored(Anchored::Yes).earliest(true);
        // The DFA has no quit bytes, so a search does not fail.
        let found = self.0.try_search_fwd(&input).ok().flatten();
        found.map(|found| found.pattern().as_usize())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_found() {
        let dfa = Dfa::new(&[r"\x01./[^/]*/a".to_owned(), r"\x01./[^/]*/b".to_owned()]).unwrap();
        for (field, found) in [
            (&b"\x01\x05/x/ab"[..], Some(0)),
            (b"\x01\x0A/\xFF\n/b", Some(1)),
            (b"\x01\x05/x/cb", None),
            (b"\x02\x05/x/ab", None),
            (b"\x00\x01\x05/x/ab", None),
        ] {
            assert_eq!(dfa.decide(field), found, "{field:?}");
        }
    }
}
