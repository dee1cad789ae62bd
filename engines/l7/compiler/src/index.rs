// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Finds the variants of rules that may share messages with another variant, without a look at all pairs.

use std::collections::BTreeMap;

use crate::pattern::{Beside, Condition, Pattern, Step};
use crate::program::Variant;

/// A variant of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    /// Index of the rule.
    pub rule: usize,
    /// Index of the variant in the rule.
    pub variant: usize,
}

/// Variants, by their conditions on each field.
#[derive(Debug, Default)]
pub(crate) struct Index {
    all: Vec<Id>,
    fields: BTreeMap<u8, OfField>,
}

/// The conditions of variants on a field.
#[derive(Debug, Default)]
struct OfField {
    patterns: Tree,
    /// Ranges of integers.
    ranges: Vec<(u64, u64, Id)>,
    /// Variants without a condition on the field.
    free: Vec<Id>,
}

impl Index {
    /// Adds a variant.
    pub(crate) fn add(&mut self, id: Id, variant: &Variant) {
        for (field, condition) in variant {
            // A field that is new was free in all variants before.
            let of_field =
                self.fields.entry(*field).or_insert_with(|| OfField { free: self.all.clone(), ..OfField::default() });
            match condition {
                Condition::Bytes(pattern) => of_field.patterns.add(id, pattern),
                Condition::Integer { low, high, .. } => of_field.ranges.push((*low, *high, id)),
            }
        }
        for (field, of_field) in &mut self.fields {
            if !variant.iter().any(|(number, _)| number == field) {
                of_field.free.push(id);
            }
        }
        self.all.push(id);
    }

    /// Variants that may share messages with a variant, in any order: all that do, and some that do not.
    #[must_use]
    pub(crate) fn near(&self, variant: &Variant) -> Vec<Id> {
        // The field that leaves the fewest.
        let by_field = variant.iter().filter_map(|(field, condition)| Some(self.fields.get(field)?.near(condition)));
        by_field.min_by_key(Vec::len).unwrap_or_else(|| self.all.clone())
    }
}

impl OfField {
    fn near(&self, condition: &Condition) -> Vec<Id> {
        let mut near = self.free.clone();
        match condition {
            Condition::Bytes(pattern) => {
                self.patterns.near(pattern, &mut near);
                near.extend(self.ranges.iter().map(|(_, _, id)| *id));
            }
            Condition::Integer { low, high, .. } => {
                self.patterns.all(ROOT, &mut near);
                let meets = |(other_low, other_high, _): &&(u64, u64, Id)| other_low <= high && low <= other_high;
                near.extend(self.ranges.iter().filter(meets).map(|(_, _, id)| *id));
            }
        }
        near
    }
}

/// Patterns by their steps.
#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
}

/// Index of the node in front of the first step.
const ROOT: usize = 0;

/// The patterns that have these steps in common.
#[derive(Debug, Default)]
struct Node {
    next: Vec<(Step, usize)>,
    /// Patterns that end here, and whether they are open.
    ends: Vec<(Id, bool)>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

impl Tree {
    fn add(&mut self, id: Id, pattern: &Pattern) {
        let mut at = ROOT;
        for step in &pattern.steps {
            at = match self.nodes[at].next.iter().find(|(known, _)| known == step) {
                Some((_, next)) => *next,
                None => {
                    let next = self.nodes.len();
                    self.nodes[at].next.push((*step, next));
                    self.nodes.push(Node::default());
                    next
                }
            };
        }
        self.nodes[at].ends.push((id, pattern.open));
    }

    /// The patterns that [`Pattern::together`] does not tell apart from this one.
    fn near(&self, pattern: &Pattern, near: &mut Vec<Id>) {
        let mut ways = vec![(ROOT, 0)];
        while let Some((at, done)) = ways.pop() {
            let Node { next, ends } = &self.nodes[at];
            let Some(step) = pattern.steps.get(done) else {
                match pattern.open {
                    true => self.all(at, near),
                    false => near.extend(ends.iter().map(|(id, _)| *id)),
                }
                continue;
            };
            near.extend(ends.iter().filter(|(_, open)| *open).map(|(id, _)| *id));
            for (other, to) in next {
                match step.beside(other) {
                    Beside::Together => ways.push((*to, done + 1)),
                    Beside::Open => self.all(*to, near),
                    Beside::Apart => {}
                }
            }
        }
    }

    /// All patterns behind a node.
    fn all(&self, from: usize, all: &mut Vec<Id>) {
        let mut ways = vec![from];
        while let Some(at) = ways.pop() {
            all.extend(self.nodes[at].ends.iter().map(|(id, _)| *id));
            ways.extend(self.nodes[at].next.iter().map(|(_, next)| *next));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::ByteSet;

    /// A pattern of up to four steps for each number.
    fn pattern(mut number: usize) -> Pattern {
        let byte = |byte: u8| Step::Byte(Some(byte));
        let steps =
            [byte(b'a'), byte(b'/'), Step::Byte(None), Step::Until(ByteSet::of(b"/")), Step::Until(ByteSet::of(b"/;"))];
        let open = number.is_multiple_of(2);
        number /= 2;
        let mut of = Vec::new();
        while number > 0 {
            of.push(steps[(number - 1) % 5]);
            number = (number - 1) / 5;
        }
        Pattern { steps: of, open }
    }

    /// The index leaves out only variants that share no message, and all patterns that differ from the begin on.
    #[test]
    fn the_index_finds_all_that_share_messages() {
        // Longer patterns also come before shorter ones.
        let variants: Vec<Variant> = (0..400)
            .map(|at| at * 7 % 400)
            .map(|number| {
                let bytes = Condition::Bytes(pattern(number));
                let low = number as u64 * 7 % 100;
                match number % 7 {
                    0 => vec![(2, Condition::Integer { width: 4, low, high: low + 5 })],
                    1 => vec![(1, bytes), (2, Condition::Integer { width: 4, low, high: low + 50 })],
                    2 if number > 380 => Vec::new(),
                    _ => vec![(1, bytes)],
                }
            })
            .collect();
        // All fields of up to five of three bytes, and all integers, that a condition takes.
        let of_length = |length: u32| (0..3usize.pow(length)).map(move |number| (length, number));
        let fields: Vec<Vec<u8>> = (0..=5)
            .flat_map(of_length)
            .map(|(length, number)| (0..length).map(|at| b"a/;"[number / 3usize.pow(at) % 3]).collect())
            .collect();
        let integers: Vec<Vec<u8>> = (0..160u32).map(|number| number.to_be_bytes().to_vec()).collect();
        let takes = |variant: &Variant, field: u8, values: &[Vec<u8>]| -> Vec<bool> {
            let condition = variant.iter().find(|(number, _)| *number == field).map(|(_, condition)| condition);
            values.iter().map(|value| condition.is_none_or(|condition| condition.matches(value))).collect()
        };
        let taken: Vec<[Vec<bool>; 2]> =
            variants.iter().map(|variant| [takes(variant, 1, &fields), takes(variant, 2, &integers)]).collect();
        let mut index = Index::default();
        for (rule, variant) in variants.iter().enumerate() {
            let mut near: Vec<usize> = index.near(variant).iter().map(|id| id.rule).collect();
            near.sort_unstable();
            let shares = |other: &usize| {
                let mut of_field = taken[rule].iter().zip(&taken[*other]);
                of_field.all(|(one, other)| one.iter().zip(other).any(|(one, other)| *one && *other))
            };
            let wanted: Vec<usize> = (0..rule).filter(shares).collect();
            assert!(wanted.iter().all(|other| near.binary_search(other).is_ok()), "{rule} {variant:?}");
            if let [(1, Condition::Bytes(one))] = &variant[..] {
                let stays = |other: &usize| match &variants[*other][..] {
                    [(1, Condition::Bytes(other)), ..] => one.together(other).is_some(),
                    _ => true,
                };
                assert_eq!(near, (0..rule).filter(stays).collect::<Vec<_>>(), "{rule} {variant:?}");
            }
            index.add(Id { rule, variant: 0 }, variant);
        }
    }
}
