// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The conditions of rules on one field, evaluated together: which rules remain for a field's value.

use std::collections::HashMap;

use penstock_l7_compiler::pattern::{Condition, Pattern};

/// A set of variants of rules, a bit each.
pub type Bits = Box<[u64]>;

/// States of an automaton that are kept; the automaton forgets them all when there are more.
const STATES: usize = 4096;
/// A transition that was not taken yet.
const UNKNOWN: u32 = u32::MAX;

/// The conditions on one field.
#[derive(Debug)]
pub struct FieldRules {
    /// Variants that ask nothing of the field.
    free: Bits,
    patterns: Automaton,
    integers: Integers,
}

impl FieldRules {
    /// The conditions of variants on a field; None for variants that ask nothing of it.
    pub fn new(conditions: &[Option<&Condition>]) -> Self {
        let mut free = bits(conditions.len());
        let mut patterns: Vec<(Pattern, Bits)> = Vec::new();
        let mut integers = Integers { width: 0, bounds: Vec::new() };
        for (variant, condition) in conditions.iter().enumerate() {
            match condition {
                None => set(&mut free, variant),
                Some(Condition::Bytes(pattern)) => {
                    let known = patterns.iter_mut().find(|(other, _)| other == pattern);
                    match known {
                        Some((_, variants)) => set(variants, variant),
                        None => {
                            let mut variants = bits(conditions.len());
                            set(&mut variants, variant);
                            patterns.push((pattern.clone(), variants));
                        }
                    }
                }
                Some(Condition::Integer { width, .. }) => integers.width = usize::from(*width),
            }
        }
        integers.bounds = Integers::bounds(conditions);
        Self { patterns: Automaton::new(patterns, &free), integers, free }
    }

    /// The variants whose condition a field fulfils; None: the message lacks the field.
    pub fn fulfilled(&mut self, field: Option<&[u8]>) -> &[u64] {
        match field {
            None => &self.free,
            Some(field) if self.integers.width == 0 => self.patterns.run(field),
            Some(field) => self.integers.run(field).unwrap_or_else(|| self.patterns.run(field)),
        }
    }
}

/// An empty set with room for this many variants.
pub fn bits(count: usize) -> Bits {
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
    bounds: Vec<(u64, Bits)>,
}

impl Integers {
    fn bounds(conditions: &[Option<&Condition>]) -> Vec<(u64, Bits)> {
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
            (begin, variants)
        };
        begins.into_iter().map(part).collect()
    }

    /// None: the field is no integer of this width.
    fn run(&self, field: &[u8]) -> Option<&[u64]> {
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
    /// Number of a state, by the state of each pattern; u16::MAX: the pattern cannot match any more.
    known: HashMap<Box<[u16]>, u32>,
    states: Vec<State>,
    /// The state after each state and byte.
    next: Vec<u32>,
}

/// Index of the transition of a state with a byte.
fn place(state: u32, byte: u8) -> usize {
    (state as usize) << 8 | usize::from(byte)
}

#[derive(Debug)]
struct State {
    of_patterns: Box<[u16]>,
    /// The variants that a field fulfils which ends here.
    fulfilled: Bits,
}

impl Automaton {
    fn new(patterns: Vec<(Pattern, Bits)>, free: &Bits) -> Self {
        let mut automaton =
            Self { patterns, free: free.clone(), known: HashMap::new(), states: Vec::new(), next: Vec::new() };
        automaton.begin();
        automaton
    }

    /// Forgets all states but the first.
    fn begin(&mut self) {
        self.known.clear();
        self.states.clear();
        self.next.clear();
        self.state(vec![0; self.patterns.len()].into());
    }

    fn state(&mut self, of_patterns: Box<[u16]>) -> u32 {
        if let Some(state) = self.known.get(&of_patterns) {
            return *state;
        }
        let number = self.states.len() as u32;
        let mut fulfilled = self.free.clone();
        for ((pattern, variants), state) in self.patterns.iter().zip(&of_patterns) {
            if *state != u16::MAX && pattern.accepts(usize::from(*state)) {
                fulfilled.iter_mut().zip(variants).for_each(|(all, more)| *all |= more);
            }
        }
        self.known.insert(of_patterns.clone(), number);
        self.states.push(State { of_patterns, fulfilled });
        self.next.extend([UNKNOWN; 256]);
        number
    }

    fn run(&mut self, field: &[u8]) -> &[u64] {
        let mut at = 0;
        for byte in field {
            let next = self.next[place(at, *byte)];
            at = if next == UNKNOWN { self.transition(at, *byte) } else { next };
        }
        &self.states[at as usize].fulfilled
    }

    fn transition(&mut self, from: u32, byte: u8) -> u32 {
        let step = |((pattern, _), state): (&(Pattern, Bits), &u16)| match *state {
            u16::MAX => u16::MAX,
            state => pattern.next(usize::from(state), byte).map_or(u16::MAX, |state| state as u16),
        };
        let to: Box<[u16]> = self.patterns.iter().zip(&self.states[from as usize].of_patterns).map(step).collect();
        if self.states.len() >= STATES && !self.known.contains_key(&to) {
            self.begin();
            return self.state(to);
        }
        let next = self.state(to);
        self.next[place(from, byte)] = next;
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_l7_compiler::pattern::{ByteSet, Step};

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
            .collect();
        let conditions: Vec<Option<&Condition>> = patterns.iter().map(Some).collect();
        let mut field_rules = FieldRules::new(&conditions);
        let mut number = 1u32;
        for _ in 0..3000 {
            let mut field = Vec::new();
            for _ in 0..12 {
                number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                field.push(b'a' + (number >> 28) as u8);
            }
            let fulfilled = field_rules.fulfilled(Some(&field))[0];
            for (at, pattern) in patterns.iter().enumerate() {
                assert_eq!(fulfilled >> at & 1 == 1, pattern.matches(&field), "{at} {field:?}");
            }
            assert!(field_rules.patterns.states.len() <= STATES);
        }
    }
}
