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
/// In a way into a state, with its number: the state has a shorter way on than its transitions ([`Way`]).
const SHORT: u32 = 1 << 31;
/// The same, and there is no way on.
const END: u32 = SHORT | 1 << 30;

/// The variants that a field fulfils.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fulfilled<'a> {
    /// A bit each.
    pub variants: &'a [u64],
    /// The first of them, or a number above all if the set is empty.
    pub first: usize,
}

/// The first variant of a set; `u32::MAX` if the set is empty.
fn first(variants: &[u64]) -> u32 {
    let word = variants.iter().position(|word| *word != 0);
    word.map_or(u32::MAX, |word| 64 * word as u32 + variants[word].trailing_zeros())
}

/// The conditions on one field.
#[derive(Debug)]
pub(crate) struct FieldRules {
    /// Variants that ask nothing of the field, and the first of them.
    free: (Bits, u32),
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
        let first = first(&free);
        Self { patterns: Automaton::new(patterns, &free), integers, free: (free, first) }
    }

    /// The variants whose condition a field fulfils; None: the message lacks the field.
    pub(crate) fn fulfilled(&mut self, field: Option<Field<'_>>) -> Fulfilled<'_> {
        let (variants, first) = match field {
            None => (&self.free.0, self.free.1),
            Some(field) => match self.integers.run(field) {
                Some((variants, first)) => (variants, *first),
                None => {
                    let state = self.patterns.run(field);
                    (&self.patterns.fulfilled[state], self.patterns.states[state].first)
                }
            },
        };
        Fulfilled { variants, first: first as usize }
    }

    /// [`Fulfilled::first`] of a field, without a look at the others.
    pub(crate) fn first(&mut self, field: Option<Field<'_>>) -> usize {
        let first = match field {
            None => self.free.1,
            Some(field) => match self.integers.run(field) {
                Some((_, first)) => *first,
                None => {
                    let state = self.patterns.run(field);
                    self.patterns.states[state].first
                }
            },
        };
        first as usize
    }
}

/// A field of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    /// The field, and what stands behind it in memory: a walk can then read eight bytes at once up to the field's end.
    pub bytes: &'a [u8],
    /// Its length.
    pub length: usize,
}

impl<'a> Field<'a> {
    /// Its bytes alone.
    pub(crate) fn value(self) -> &'a [u8] {
        &self.bytes[..self.length]
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
    /// The beginnings of parts, ascending, and the variants that each fulfils with the first of them.
    bounds: Vec<(u64, (Bits, u32))>,
}

impl Integers {
    fn bounds(conditions: &[Option<&Condition>]) -> Vec<(u64, (Bits, u32))> {
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
            let first = first(&variants);
            (begin, (variants, first))
        };
        begins.into_iter().map(part).collect()
    }

    /// None: the field is no integer of this width, or there are no integers.
    fn run(&self, field: Field<'_>) -> Option<&(Bits, u32)> {
        if self.width == 0 || field.length != self.width {
            return None;
        }
        let number = field.value().iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
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
    /// The number of a state, by what is left of the patterns.
    known: HashMap<Left, u32>,
    states: Vec<State>,
    /// The rest of the patterns in each state.
    left: Vec<Left>,
    /// The variants that a field fulfils which ends in each state.
    fulfilled: Vec<Bits>,
    /// Bytes that no pattern tells apart have the same class, so that the transitions of a state are few.
    classes: [u8; 256],
    /// Number of classes.
    count: usize,
    /// The way to the state after each state and class; behind the transitions of a state stands its number.
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

/// The part of a state that a walk needs.
#[derive(Debug, Clone, Copy)]
struct State {
    way: Way,
    /// Where its transitions begin.
    row: u32,
    /// The first of the variants that a field fulfils which ends here.
    first: u32,
}

/// The way from a state to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By a transition for each byte.
    Byte,
    /// All bytes but this one lead back to the state. This one leads to a state, if it was made already ([`UNKNOWN`]).
    Until { byte: u8, to: u32 },
    /// All patterns wait for the same bytes, `length` of them, which lead to a state, if it was made already.
    Run { bytes: u64, length: u8, to: u32 },
    /// All bytes lead back to the state.
    End,
}

impl Way {
    /// The most bytes of a run.
    const LONGEST: usize = 8;

    fn of(patterns: &[(Pattern, Bits)], left: &Left) -> Self {
        let run = Self::run(patterns, left);
        if !run.is_empty() {
            let bytes = run.iter().rev().fold(0, |bytes, byte| bytes << 8 | u64::from(*byte));
            return Self::Run { bytes, length: run.len() as u8, to: UNKNOWN };
        }
        let mut way = Self::End;
        for (pattern, state) in left {
            match patterns[*pattern as usize].0.steps.get(usize::from(*state)) {
                None if patterns[*pattern as usize].0.open => {}
                Some(Step::Until(set)) => {
                    let mut bytes = set.bytes();
                    way = match (way, bytes.next(), bytes.next()) {
                        (Self::End, Some(byte), None) => Self::Until { byte, to: UNKNOWN },
                        (Self::Until { byte: known, .. }, Some(byte), None) if known == byte => way,
                        _ => return Self::Byte,
                    };
                }
                _ => return Self::Byte,
            }
        }
        way
    }

    /// The bytes for which all patterns wait, up to the longest run.
    fn run(patterns: &[(Pattern, Bits)], left: &Left) -> Vec<u8> {
        let wanted = |(pattern, state): &(u32, u16), at: usize| match patterns[*pattern as usize]
            .0
            .steps
            .get(usize::from(*state) + at)
        {
            Some(Step::Byte(wanted)) => *wanted,
            _ => None,
        };
        let same = |at: usize| {
            let byte = wanted(left.first()?, at)?;
            left.iter().all(|pattern| wanted(pattern, at) == Some(byte)).then_some(byte)
        };
        (0..Self::LONGEST).map_while(same).collect()
    }
}

/// Eight bytes from a place on as a number, the first byte lowest; None: there are not so many.
fn eight(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}

/// Place of the first byte of this value in a field, from a place on.
fn find(field: Field<'_>, from: usize, byte: u8) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let mut at = from;
    while at < field.length {
        let Some(word) = eight(field.bytes, at) else {
            return field.value()[at..].iter().position(|one| *one == byte).map(|place| at + place);
        };
        let differs = word ^ (ONES * u64::from(byte));
        // The highest bit of each byte that is 0, and of some above the first of them.
        let same = differs.wrapping_sub(ONES) & !differs & (ONES << 7);
        if same != 0 {
            let place = at + same.trailing_zeros() as usize / 8;
            return (place < field.length).then_some(place);
        }
        at += 8;
    }
    None
}

impl Automaton {
    fn new(patterns: Vec<(Pattern, Bits)>, free: &Bits) -> Self {
        let (classes, count) = classes(&patterns);
        let (known, next) = (HashMap::new(), Vec::new());
        let (states, left, fulfilled) = (Vec::new(), Vec::new(), Vec::new());
        let mut automaton = Self { patterns, free: free.clone(), known, states, left, fulfilled, classes, count, next };
        automaton.begin();
        automaton
    }

    /// Forgets all states but the first.
    fn begin(&mut self) {
        self.known.clear();
        self.states.clear();
        self.left.clear();
        self.fulfilled.clear();
        self.next.clear();
        self.state((0..self.patterns.len() as u32).map(|pattern| (pattern, 0)).collect());
    }

    /// Index of the transition with a byte, among those that begin here.
    fn place(&self, row: u32, byte: u8) -> usize {
        row as usize + usize::from(self.classes[usize::from(byte)])
    }

    /// The way into a state: its number, or the beginning of its transitions.
    fn way(&self, state: u32) -> u32 {
        let State { way, row, .. } = self.states[state as usize];
        match way {
            Way::Byte => row,
            Way::End => END | state,
            Way::Until { .. } | Way::Run { .. } => SHORT | state,
        }
    }

    /// The way into the state in which this is left of the patterns.
    fn state(&mut self, left: Left) -> u32 {
        if let Some(state) = self.known.get(&left) {
            return self.way(*state);
        }
        let number = self.states.len() as u32;
        let mut fulfilled = self.free.clone();
        for (pattern, state) in &left {
            let (pattern, variants) = &self.patterns[*pattern as usize];
            if pattern.accepts(usize::from(*state)) {
                fulfilled.iter_mut().zip(variants).for_each(|(all, more)| *all |= more);
            }
        }
        let way = Way::of(&self.patterns, &left);
        self.states.push(State { way, row: self.next.len() as u32, first: first(&fulfilled) });
        if way != Way::End {
            self.next.resize(self.next.len() + self.count, UNKNOWN);
            self.next.push(number);
        }
        self.known.insert(left.clone(), number);
        self.left.push(left);
        self.fulfilled.push(fulfilled);
        self.way(number)
    }

    /// The number of the state in which a field ends.
    fn run(&mut self, field: Field<'_>) -> usize {
        let mut way = self.way(0);
        let mut at = 0;
        loop {
            let mut row = way;
            if way >= SHORT {
                if way >= END {
                    return (way - END) as usize;
                }
                let number = way - SHORT;
                let state = self.states[number as usize];
                // Where the bytes that the state waits for end, and the way behind them.
                let (behind, to) = match state.way {
                    // Bytes that change nothing take no transition each.
                    Way::Until { byte, to } => match find(field, at, byte) {
                        Some(place) => (place + 1, to),
                        None => return number as usize,
                    },
                    Way::Run { bytes, length, to } => match eight(field.bytes, at) {
                        Some(eight) if (eight ^ bytes) << (64 - 8 * u32::from(length)) == 0 => {
                            (at + usize::from(length), to)
                        }
                        _ => (usize::MAX, to),
                    },
                    Way::Byte | Way::End => (usize::MAX, UNKNOWN),
                };
                if behind <= field.length {
                    at = behind;
                    way = if to == UNKNOWN { self.go_on(number as usize) } else { to };
                    continue;
                }
                row = state.row;
            }
            if at == field.length {
                return self.next[row as usize + self.count] as usize;
            }
            let byte = field.bytes[at];
            way = self.next[self.place(row, byte)];
            if way == UNKNOWN {
                way = self.transition(row, byte);
            }
            at += 1;
        }
    }

    /// The way into the state behind the bytes that a state waits for.
    fn go_on(&mut self, number: usize) -> u32 {
        let steps = match self.states[number].way {
            Way::Run { length, .. } => u16::from(length),
            _ => 1,
        };
        // A pattern that has ended stays where it is.
        let ended = |pattern: u32, state: u16| usize::from(state) == self.patterns[pattern as usize].0.steps.len();
        let step = |(pattern, state): &(u32, u16)| match ended(*pattern, *state) {
            true => (*pattern, *state),
            false => (*pattern, state + steps),
        };
        let to: Left = self.left[number].iter().map(step).collect();
        let (to, is_kept) = self.reach(to);
        if is_kept && let Way::Until { to: known, .. } | Way::Run { to: known, .. } = &mut self.states[number].way {
            *known = to;
        }
        to
    }

    /// The way into the state behind a transition.
    fn transition(&mut self, row: u32, byte: u8) -> u32 {
        let step = |(number, state): &(u32, u16)| {
            let next = self.patterns[*number as usize].0.next(usize::from(*state), byte)?;
            Some((*number, next as u16))
        };
        let from = self.next[row as usize + self.count] as usize;
        let to: Left = self.left[from].iter().filter_map(step).collect();
        let (to, is_kept) = self.reach(to);
        if is_kept {
            let place = self.place(row, byte);
            self.next[place] = to;
        }
        to
    }

    /// The way into a state, and whether the states from before are kept.
    fn reach(&mut self, left: Left) -> (u32, bool) {
        if self.states.len() >= STATES && !self.known.contains_key(&left) {
            self.begin();
            return (self.state(left), false);
        }
        (self.state(left), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_l7_compiler::pattern::ByteSet;

    /// A field with nothing behind it.
    fn whole(bytes: &[u8]) -> Field<'_> {
        Field { bytes, length: bytes.len() }
    }

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
            let fulfilled = field_rules.fulfilled(Some(whole(&field))).variants[0];
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
                    let fulfilled = rules.fulfilled(Some(whole(&field))).variants[0];
                    for (at, pattern) in patterns.iter().enumerate() {
                        assert_eq!(fulfilled >> at & 1 == 1, pattern.matches(&field), "{pattern:?} {field:?}");
                    }
                }
            }
        }
    }

    /// A byte is found where it is, in fields of all lengths, wherever the field begins and whatever stands behind it.
    #[test]
    fn the_first_of_a_byte_is_found() {
        for length in 0..=20 {
            for behind in [0, 3, 8] {
                for place in 0..length + behind {
                    // Bytes beside 7 whose difference from it borrows from the byte above.
                    for other in [6, 8, 7 ^ 0x80, 0] {
                        let mut bytes = vec![other; length + behind];
                        bytes[place..].iter_mut().step_by(2).for_each(|byte| *byte = 7);
                        let field = Field { bytes: &bytes, length };
                        for from in 0..=length {
                            let there = bytes[from..length].iter().position(|byte| *byte == 7).map(|at| from + at);
                            assert_eq!(find(field, from, 7), there, "{bytes:?} {length} {from}");
                        }
                    }
                }
            }
        }
    }

    /// Walks that compare several bytes at once give the results of each pattern, wherever the field ends.
    #[test]
    fn runs_end_with_the_field() {
        let text = |text: &[u8]| text.iter().map(|byte| Step::Byte(Some(*byte))).collect::<Vec<_>>();
        let slash = [Step::Until(ByteSet::of(b"/"))];
        let pattern = |parts: &[&[Step]], open| Pattern { steps: parts.concat(), open };
        let patterns = [
            pattern(&[&text(b"/abcdefghijk/"), &slash, &text(b"v1/")], true),
            pattern(&[&text(b"/abcdefghijk/"), &slash, &text(b"v1/x")], false),
            pattern(&[&text(b"/abcdefghijk")], false),
            pattern(&[&text(b"/abcdefghijk/")], true),
            pattern(&[&text(b"/abcdefghix"), &slash], true),
        ];
        let conditions = patterns.clone().map(Condition::Bytes);
        let longest = b"/abcdefghijk/ab/v1/x";
        let others =
            [b"/abcdefghixy/ab/v1/x", b"/abcdefxhijk/ab/v1/x", b"/abcdefgxijk/ab/v1/x", b"/abcdefghijk/ab/v1xx"];
        for all in [longest].into_iter().chain(others) {
            // In a new automaton, and in one that has walked over all others.
            let mut known = FieldRules::new(&conditions.iter().map(Some).collect::<Vec<_>>());
            for length in (0..=all.len()).chain(0..=all.len()) {
                let mut new = FieldRules::new(&conditions.iter().map(Some).collect::<Vec<_>>());
                for bytes in [&all[..length], all] {
                    let field = Field { bytes, length };
                    for rules in [&mut known, &mut new] {
                        let found = rules.fulfilled(Some(field));
                        for (at, pattern) in patterns.iter().enumerate() {
                            let matches = pattern.matches(field.value());
                            assert_eq!(found.variants[0] >> at & 1 == 1, matches, "{pattern:?} {field:?}");
                        }
                        let first = patterns.iter().position(|pattern| pattern.matches(field.value()));
                        assert_eq!(found.first, first.unwrap_or(u32::MAX as usize));
                        assert_eq!(rules.first(Some(field)), first.unwrap_or(u32::MAX as usize));
                    }
                }
            }
        }
    }
}
