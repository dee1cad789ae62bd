// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The software dispatcher that the paper compares with: "a straw-man match against the configured rules in a for loop
//! in each skip-and-match".

use std::collections::HashMap;

/// A skip to the next `/`, and the bytes behind it.
struct Entry {
    /// The state in which the entry counts, and the one behind it.
    from: usize,
    to: usize,
    value: Vec<u8>,
    /// The rule that ends here.
    rule: Option<usize>,
}

/// Rules as entries of states; rules that begin alike share entries.
#[derive(Default)]
pub(crate) struct StrawMan {
    entries: Vec<Entry>,
}

impl StrawMan {
    /// Rules, each of which is a list of the values behind one `/` after the other.
    pub(crate) fn new(rules: &[Vec<Vec<u8>>]) -> Self {
        let mut man = Self::default();
        let mut known: HashMap<(usize, Vec<u8>), usize> = HashMap::new();
        for (number, rule) in rules.iter().enumerate() {
            let mut from = 0;
            for (at, value) in rule.iter().enumerate() {
                let to = known.len() + 1;
                let to = *known.entry((from, value.clone())).or_insert_with(|| {
                    let rule = (at + 1 == rule.len()).then_some(number);
                    man.entries.push(Entry { from, to, value: value.clone(), rule });
                    to
                });
                from = to;
            }
        }
        man
    }

    /// The rule that the field of a message matches.
    pub(crate) fn decide(&self, field: &[u8]) -> Option<usize> {
        let (mut state, mut rest) = (0, field);
        loop {
            let slash = rest.iter().position(|byte| *byte == b'/')?;
            rest = &rest[slash + 1..];
            let entry = self.entries.iter().find(|entry| entry.from == state && rest.starts_with(&entry.value))?;
            if entry.rule.is_some() {
                return entry.rule;
            }
            rest = &rest[entry.value.len()..];
            state = entry.to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_found() {
        let rule = |values: &[&str]| values.iter().map(|value| value.as_bytes().to_vec()).collect::<Vec<_>>();
        let man = StrawMan::new(&[rule(&["", "v1", "a"]), rule(&["", "v1", "b"]), rule(&["", "v2", "a"])]);
        for (field, found) in [("/x/v1/a", Some(0)), ("/x/v1/b/c", Some(1)), ("/x/v2/a", Some(2)), ("/x/v3/a", None)] {
            assert_eq!(man.decide(field.as_bytes()), found, "{field}");
        }
    }
}
