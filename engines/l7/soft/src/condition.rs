// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The conditions of rules on one field, evaluated together: which rules remain for a field's value.

use std::collections::{HashMap, HashSet};

use penstock_l7_compiler::pattern::{Condition, Pattern, Step};

/// A set of variants of rules, a bit each.
pub(crate) type Bits = Box<[u64]>;

/// States of an automaton that are kept; the automaton forgets them all when there are more. 4,096 rules that differ in
/// four digits take some 10,000.
const STATES: usize = 16_384;
/// A transition that was not taken yet.
const UNKNOWN: u32 = u32::MAX;
/// In a transition, with the state to which it leads: the state stays the same up to a byte ([`State::until`]).
const STAYS: u32 = 1 << 31;

/// The variants that a field fulfils.
#[derive(Debug)]
pub(crate) struct Fulfilled {
    /// A bit each.
    pub variants: Bits,
    /// The first of them; `usize::MAX` if the set is empty.
    pub first: usize,
}

impl From<Bits> for Fulfilled {
    fn from(variants: Bits) -> Self {
        let word = variants.iter().position(|word| *word != 0);
        let first = word.map_or(usize::MAX, |word| 64 * word + variants[word].trailing_zeros() as usize);
        Self { variants, first }
    }
}

/// The conditions on one field.
#[derive(Debug)]
pub(crate) struct FieldRules {
    /// Variants that ask nothing of the field.
    free: Fulfilled,
    patterns: Automaton,
    integers: Integers,
}

impl FieldRules {
    /// The conditions of variants on a field; None for variants that ask nothing of it.
    pub(crate) fn new(conditions: &[Option<&Condition>]) -> Self {
        let mut free = bits(conditions.len());
        let mut patterns: Vec<(Pattern, Bits)> = Vec::new();
        let mut known: HashMap<&Pattern, usize> = HashMap::new();
        let mut integers = Integers { width: 0, bounds: Vec::new() };
        for (variant, condition) in conditions.iter().enumerate() {
            match condition {
                None => set(&mut free, variant),
                Some(Condition::Bytes(pattern)) => {
                    let at = *known.entry(pattern).or_insert(patterns.len());
                    if at == patterns.len() {
                        patterns.push((pattern.clone(), bits(conditions.len())));
                    }
                    set(&mut patterns[at].1, variant);
                }
                Some(Condition::Integer { width, .. }) => integers.width = usize::from(*width),
            }
        }
        integers.bounds = Integers::bounds(conditions);
        Self { patterns: Automaton::new(patterns, &free), integers, free: free.into() }
    }

    /// The variants whose condition a field fulfils; None: the message lacks the field.
    pub(crate) fn fulfilled(&mut self, field: Option<&[u8]>) -> &Fulfilled {
        match field {
            None => &self.free,
            Some(field) if self.integers.width == 0 => self.patterns.run(field),
            Some(field) => self.integers.run(field).unwrap_or_else(|| self.patterns.run(field)),
        }
    }
}

/// An empty set with room for this many variants.
pub(crate) fn bits(count: usize) -> Bits {
    vec![0; count.div_ceil(64).max(1)].into()
}

fn set(bits: &mut Bits, at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

/// Ranges of integers, divided where one begins or ends.
#[derive(Debug)]
struct Integers {
    /// Bytes of the integers; 0 if there are no integers.
    width: usize,
    /// The beginnings of parts, ascending, and the variants that each fulfils.
    bounds: Vec<(u64, Fulfilled)>,
}

impl Integers {
    fn bounds(conditions: &[Option<&Condition>]) -> Vec<(u64, Fulfilled)> {
        let ranges = || {
            conditions.iter().filter_map(|condition| match condition {
                Some(Condition::Integer { low, high, .. }) => Some((*low, *high)),
                _ => None,
            })
        };
        let mut begins: Vec<u64> =
            ranges().flat_map(|(low, high)| [Some(low), high.checked_add(1)]).flatten().chain([0]).collect();
        begins.sort_unstable();
        begins.dedup();
        let part = |begin: u64| {
            let mut variants = bits(conditions.len());
            for (variant, condition) in conditions.iter().enumerate() {
                let fulfils = match condition {
                    None | Some(Condition::Bytes(_)) => true,
                    Some(Condition::Integer { low, high, .. }) => (*low..=*high).contains(&begin),
                };
                if fulfils {
                    set(&mut variants, variant);
                }
            }
            (begin, variants.into())
        };
        begins.into_iter().map(part).collect()
    }

    /// None: the field is no integer of this width.
    fn run(&self, field: &[u8]) -> Option<&Fulfilled> {
        if field.len() != self.width {
            return None;
        }
        let number = field.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let at = self.bounds.partition_point(|(begin, _)| *begin <= number);
        Some(&self.bounds[at.checked_sub(1)?].1)
    }
}

/// Patterns that walk over a field together. States and transitions are made when a field first needs them.
#[derive(Debug)]
struct Automaton {
    /// Patterns, and the variants whose condition each is.
    patterns: Vec<(Pattern, Bits)>,
    free: Bits,
    /// A state, by what is left of the patterns. A state is the index of its first transition.
    known: HashMap<Left, u32>,
    states: Vec<State>,
    /// Bytes that no pattern tells apart have the same class, so that the transitions of a state are few.
    classes: [u8; 256],
    /// Number of classes.
    count: usize,
    /// The state after each state and class; behind the transitions of a state stands its place in `states`.
    next: Vec<u32>,
}

/// The patterns that can still match, ascending, and the state of each.
type Left = Box<[(u32, u16)]>;

/// The class of each byte, and their number.
fn classes(patterns: &[(Pattern, Bits)]) -> ([u8; 256], usize) {
    let steps: HashSet<Step> = patterns.iter().flat_map(|(pattern, _)| pattern.steps.iter().copied()).collect();
    let mut classes = [0u8; 256];
    let mut count = 1;
    for step in steps {
        let has = |byte: u8| match step {
            Step::Byte(wanted) => wanted == Some(byte),
            Step::Until(set) => set.has(byte),
        };
        let mut parts = HashMap::new();
        let old = classes;
        for byte in 0..=u8::MAX {
            if has(byte) {
                let class = old[usize::from(byte)];
                // The bytes of a class outside the set keep it; if there are none, the new class takes its place.
                let whole = (0..=u8::MAX).all(|other| old[usize::from(other)] != class || has(other));
                classes[usize::from(byte)] = *parts.entry(class).or_insert_with(|| match whole {
                    true => class,
                    false => {
                        count += 1;
                        (count - 1) as u8
                    }
                });
            }
        }
    }
    (classes, count)
}

#[derive(Debug)]
struct State {
    left: Left,
    /// The variants that a field fulfils which ends here.
    fulfilled: Fulfilled,
    /// The byte that leads to another state if all others lead back to this one.
    until: Until,
}

/// The bytes that lead from a state to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Several.
    Any,
    /// This one alone.
    Byte(u8),
    /// None.
    End,
}

impl Until {
    fn of(patterns: &[(Pattern, Bits)], left: &Left) -> Self {
        let mut until = Self::End;
        for (pattern, state) in left {
            match patterns[*pattern as usize].0.steps.get(usize::from(*state)) {
                None if patterns[*pattern as usize].0.open => {}
                Some(Step::Until(set)) => {
                    let mut bytes = set.bytes();
                    until = match (until, bytes.next(), bytes.next()) {
                        (Self::End, Some(byte), None) => Self::Byte(byte),
                        (Self::Byte(known), Some(byte), None) if known == byte => until,
                        _ => return Self::Any,
                    };
                }
                _ => return Self::Any,
            }
        }
        until
    }
}

impl Automaton {
    fn new(patterns: Vec<(Pattern, Bits)>, free: &Bits) -> Self {
        let (classes, count) = classes(&patterns);
        let (known, states, next) = (HashMap::new(), Vec::new(), Vec::new());
        let mut automaton = Self { patterns, free: free.clone(), known, states, classes, count, next };
        automaton.begin();
        automaton
    }

    /// Forgets all states but the first.
    fn begin(&mut self) {
        self.known.clear();
        self.states.clear();
        self.next.clear();
        self.state((0..self.patterns.len() as u32).map(|pattern| (pattern, 0)).collect());
    }

    /// Index of the transition of a state with a byte.
    fn place(&self, state: u32, byte: u8) -> usize {
        state as usize + usize::from(self.classes[usize::from(byte)])
    }

    /// The state of this number.
    fn at(&self, state: u32) -> &State {
        &self.states[self.next[state as usize + self.count] as usize]
    }

    fn state(&mut self, left: Left) -> u32 {
        if let Some(state) = self.known.get(&left) {
            return *state;
        }
        let number = self.next.len() as u32;
        let mut fulfilled = self.free.clone();
        for (pattern, state) in &left {
            let (pattern, variants) = &self.patterns[*pattern as usize];
            if pattern.accepts(usize::from(*state)) {
                fulfilled.iter_mut().zip(variants).for_each(|(all, more)| *all |= more);
            }
        }
        let until = Until::of(&self.patterns, &left);
        let number = if until == Until::Any { number } else { number | STAYS };
        self.known.insert(left.clone(), number);
        self.next.resize(self.next.len() + self.count, UNKNOWN);
        self.next.push(self.states.len() as u32);
        self.states.push(State { left, fulfilled: fulfilled.into(), until });
        number
    }

    fn run(&mut self, field: &[u8]) -> &Fulfilled {
        let mut at = 0;
        let mut bytes = field.iter();
        while let Some(byte) = bytes.next() {
            let next = self.next[self.place(at, *byte)];
            if next < STAYS {
                at = next;
                continue;
            }
            at = if next == UNKNOWN { self.transition(at, *byte) } else { next };
            if at >= STAYS {
                at -= STAYS;
                // Bytes that change nothing take no transition each.
                let rest = bytes.as_slice();
                let stays = match self.at(at).until {
                    Until::Byte(until) => rest.iter().position(|byte| *byte == until).unwrap_or(rest.len()),
                    Until::Any | Until::End => rest.len(),
                };
                bytes = rest[stays..].iter();
            }
        }
        &self.at(at).fulfilled
    }

    fn transition(&mut self, from: u32, byte: u8) -> u32 {
        let step = |(number, state): &(u32, u16)| {
            let next = self.patterns[*number as usize].0.next(usize::from(*state), byte)?;
            Some((*number, next as u16))
        };
        let to: Left = self.at(from).left.iter().filter_map(step).collect();
        if self.states.len() >= STATES && !self.known.contains_key(&to) {
            self.begin();
            return self.state(to);
        }
        let next = self.state(to);
        let place = self.place(from, byte);
        self.next[place] = next;
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_l7_compiler::pattern::ByteSet;

    /// Patterns that need more states than the limit give the same result as each of them alone.
    #[test]
    fn forgotten_states_change_nothing() {
        let until = |byte: u8| Step::Until(ByteSet::of(&[byte]));
        let patterns: Vec<Condition> = (0..16u8)
            .map(|at| {
                Condition::Bytes(Pattern {
                    steps: vec![until(b'a' + at), until(b'a' + (at * 7 + 3) % 16)],
                    open: at % 2 == 0,
                })
            })
            .chain([Condition::Bytes(Pattern { steps: vec![Step::Until(ByteSet::of(b"ab"))], open: true })])
            .collect();
        let conditions: Vec<Option<&Condition>> = patterns.iter().map(Some).collect();
        let mut field_rules = FieldRules::new(&conditions);
        let mut number = 1u32;
        for _ in 0..60_000 {
            let mut field = Vec::new();
            for _ in 0..12 {
                number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                field.push(b'a' + (number >> 28) as u8);
            }
            let fulfilled = field_rules.fulfilled(Some(&field)).variants[0];
            for (at, pattern) in patterns.iter().enumerate() {
                assert_eq!(fulfilled >> at & 1 == 1, pattern.matches(&field), "{at} {field:?}");
            }
            assert!(field_rules.patterns.states.len() <= STATES);
        }
    }
    /// Walks that pass over bytes give the results of each pattern, on all fields of up to six of four bytes.
    #[test]
    fn bytes_that_change_nothing_are_passed_over() {
        let byte = |byte: u8| Step::Byte(Some(byte));
        let until = |bytes: &[u8]| Step::Until(ByteSet::of(bytes));
        let pattern = |steps: &[Step], open| Pattern { steps: steps.to_vec(), open };
        let patterns = [
            pattern(&[byte(b'a'), byte(b'b')], false),
            pattern(&[until(b"/"), byte(b'a')], true),
            pattern(&[until(b"/"), until(b"/")], false),
            pattern(&[byte(b'a'), until(b"/b")], true),
            pattern(&[byte(b'b'), until(b"c"), until(b"/")], true),
        ];
        let conditions = patterns.clone().map(Condition::Bytes);
        let together = FieldRules::new(&conditions.iter().map(Some).collect::<Vec<_>>());
        let alone = conditions.iter().map(|condition| FieldRules::new(&[Some(condition)]));
        let mut sets: Vec<(FieldRules, &[Pattern])> = vec![(together, &patterns)];
        sets.extend(alone.zip(patterns.chunks(1)));
        for length in 0..=6u32 {
            for number in 0..4usize.pow(length) {
                let field: Vec<u8> = (0..length).map(|at| b"abc/"[number >> (2 * at) & 3]).collect();
                for (rules, patterns) in &mut sets {
                    let fulfilled = rules.fulfilled(Some(&field)).variants[0];
                    for (at, pattern) in patterns.iter().enumerate() {
                        assert_eq!(fulfilled >> at & 1 == 1, pattern.matches(&field), "{pattern:?} {field:?}");
                    }
                }
            }
        }
    }
}
