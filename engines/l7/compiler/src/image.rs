// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The words for a block: rows, starts, decisions and classes of each application, in the format of
//! engines/l7/machine.md.

use crate::fault::{Fault, Span};
use crate::limits::{CLASSES, DECISIONS, ROWS, STEPS};
use crate::pattern::ByteSet;
use crate::program::{Action, Application, Program, TypeRules};
use crate::rows::{Excess, Hash, Next, Row, Rows, Skip, Test};
use crate::syntax::Source;

/// Words of a row.
pub const ROW_WORDS: usize = 46;
/// Length of an alternative that never matches.
const NEVER: u32 = 63;
/// Bit of a decision: the number is that of messages so far, not a hash.
const IN_TURN: u32 = 1 << 12;
/// Bits of a branch.
const LAST: u32 = 1 << 13;

/// The image of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppImage {
    /// The rows of each message type, in the program's order.
    pub types: Vec<Rows>,
    /// The classes of bytes that `until` tells apart; their index is the class, from 1.
    classes: Vec<Vec<u8>>,
    application: Application,
    /// Numbers of the message types.
    numbers: Vec<u8>,
}

/// A decision of an application, in the order of decision words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decided {
    /// Index of the message type in the application; None: a message of another type.
    pub of_type: Option<usize>,
    /// Index of the rule; None: the default.
    pub rule: Option<usize>,
}

impl AppImage {
    /// The image of an application.
    ///
    /// # Errors
    /// Its rules do not fit the machine.
    pub fn new(source: &Source, program: &Program, index: usize) -> Result<Self, Vec<Fault>> {
        let application = &program.applications[index];
        let written = &source.applications[index];
        let mut types = Vec::new();
        let mut faults = Vec::new();
        let mut free = ROWS;
        for (on, rules) in written.types.iter().zip(&application.types) {
            let place = |rule: usize| {
                let name = &rules.rules[rule].name;
                on.rules.iter().find(|rule| rule.name.value == *name).map_or(Span::default(), |rule| rule.name.span)
            };
            match Rows::new(rules, free) {
                Ok(rows) => {
                    free -= rows.rows.len();
                    let late_rules = rows.steps().into_iter().filter(|(_, (_, most))| *most >= STEPS);
                    // A rule rather than the default.
                    if let Some(rule) = late_rules.map(|(rule, _)| rule).min_by_key(|rule| rule.unwrap_or(usize::MAX)) {
                        faults.push(Fault::new(rule.map_or(on.message.span, place), late(STEPS)));
                    }
                    types.push(rows);
                }
                Err(Excess::Rows { by_rule }) => {
                    faults.push(Fault::new(on.message.span, crowded(rules, by_rule.into_iter().collect())));
                }
                Err(Excess::Work) => faults.push(Fault::new(on.message.span, tangled())),
                Err(Excess::Steps { rule }) => faults.push(Fault::new(place(rule), late(STEPS))),
            }
        }
        let classes = classes(&types);
        if classes.len() >= CLASSES {
            let text = format!(
                "`until` of this application tells {} kinds of bytes apart, and the card {}: use fewer sets of delimiters",
                classes.len(),
                CLASSES - 1
            );
            faults.push(Fault::new(written.name.span, text));
        }
        let numbers = application.types.iter().map(|rules| program.message(rules).number).collect();
        let image = Self { types, classes, application: application.clone(), numbers };
        let decisions = image.decided().len();
        if decisions > DECISIONS {
            let text = format!(
                "the rules and defaults of this application take {decisions} decisions, and the card has {DECISIONS}: leave rules out"
            );
            faults.push(Fault::new(written.name.span, text));
        }
        if faults.is_empty() { Ok(image) } else { Err(faults) }
    }

    /// Rows of all message types.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.types.iter().map(|rows| rows.rows.len()).sum()
    }

    /// The purpose of each decision word.
    #[must_use]
    pub fn decided(&self) -> Vec<Decided> {
        let of_type = |(at, rules): (usize, &TypeRules)| {
            let mut count = 0;
            let is_first = |(rule, decision): (usize, usize)| {
                let is_first = decision == count;
                count += usize::from(is_first);
                is_first.then_some(Some(rule))
            };
            let rules: Vec<_> = rules.decisions().into_iter().enumerate().filter_map(is_first).collect();
            rules.into_iter().chain([None]).map(move |rule| Decided { of_type: Some(at), rule }).collect::<Vec<_>>()
        };
        let types = self.application.types.iter().enumerate().flat_map(of_type);
        [Decided { of_type: None, rule: None }].into_iter().chain(types).collect()
    }

    /// The decision words.
    #[must_use]
    pub fn decisions(&self) -> Vec<u32> {
        let action = |decided: Decided| match (decided.of_type.map(|at| &self.application.types[at]), decided.rule) {
            (Some(rules), Some(rule)) => rules.rules[rule].action,
            (Some(rules), None) => rules.default,
            (None, _) => self.application.others,
        };
        self.decided().into_iter().map(|decided| decision(action(decided))).collect()
    }

    /// The words of all rows, if the application's first row is `base` and its first decision word is `decisions`.
    #[must_use]
    pub fn rows(&self, base: usize, decisions: usize) -> Vec<[u32; ROW_WORDS]> {
        let mut words = Vec::new();
        for place in self.places(base, decisions) {
            words.extend(place.rows.rows.iter().map(|row| place.row(row)));
        }
        words
    }

    /// The 16 branches at which messages start, by their type.
    #[must_use]
    pub fn starts(&self, base: usize, decisions: usize) -> [u32; 16] {
        let mut starts = [LAST | decisions as u32; 16];
        for (number, place) in self.numbers.iter().zip(self.places(base, decisions)) {
            starts[usize::from(number & 15)] = place.branch(place.rows.start);
        }
        starts
    }

    /// Where the rows and decisions of each message type are.
    fn places(&self, mut base: usize, mut decisions: usize) -> Vec<Place<'_>> {
        // The first decision is for messages of other types.
        decisions += 1;
        let place = |(rows, rules): (_, &TypeRules)| {
            let of_rule = rules.decisions();
            let default = decisions + of_rule.iter().max().map_or(0, |last| last + 1);
            let place = Place { image: self, rows, base, first: decisions, of_rule, default };
            base += rows.rows.len();
            decisions = default + 1;
            place
        };
        self.types.iter().zip(&self.application.types).map(place).collect()
    }

    /// Classes of all byte values, eight in a word.
    #[must_use]
    pub fn class_words(&self) -> [u32; 32] {
        let mut words = [0; 32];
        for (class, bytes) in (1..).zip(&self.classes) {
            bytes.iter().for_each(|byte| words[usize::from(byte >> 3)] |= class << (4 * (byte & 7)));
        }
        words
    }

    /// The classes of a set, a bit each.
    fn set(&self, set: ByteSet) -> u32 {
        let class =
            |(class, bytes): (u32, &Vec<u8>)| u32::from(bytes.first().is_some_and(|byte| set.has(*byte))) << class;
        (1..).zip(&self.classes).map(class).sum()
    }
}

/// Where rows and decisions of a message type are.
struct Place<'a> {
    image: &'a AppImage,
    rows: &'a Rows,
    /// The first row.
    base: usize,
    /// The first decision.
    first: usize,
    /// The decision of each rule, counted from `first`.
    of_rule: Vec<usize>,
    /// The decision of the default.
    default: usize,
}

impl Place<'_> {
    fn branch(&self, next: Next) -> u32 {
        match next {
            Next::Rule(rule) => LAST | (self.first + self.of_rule[rule]) as u32,
            Next::Default => LAST | self.default as u32,
            Next::Row(row) => {
                let (kind, operand) = match self.rows.rows[row].skip {
                    Skip::Bytes(bytes) => (0, u32::from(bytes)),
                    Skip::Until(set) => (1, self.image.set(set)),
                    Skip::Field(field, bytes) => (2, u32::from(field) | u32::from(bytes) << 8),
                };
                (self.base + row) as u32 | kind << 14 | operand << 16
            }
        }
    }

    fn row(&self, row: &Row) -> [u32; ROW_WORDS] {
        let mut words = [0; ROW_WORDS];
        for at in 0..4 {
            let words = &mut words[11 * at..11 * (at + 1)];
            match row.alternatives.get(at) {
                Some(alternative) => {
                    test(&alternative.test, words);
                    words[10] = self.branch(alternative.next);
                }
                None => words[9] = NEVER,
            }
        }
        words[44] = self.branch(row.otherwise);
        words[45] = match row.hash {
            Hash::Unused => 0,
            Hash::Decide(length) => u32::from(length),
            Hash::Buckets { length, bits, base } => {
                u32::from(length) | ((self.base + base) as u32) << 8 | u32::from(bits) << 20 | 1 << 31
            }
        };
        words
    }
}

/// Words of a comparison: value, mask and control.
fn test(test: &Test, words: &mut [u32]) {
    let mut value = [0; 32];
    let (mask, length, control) = match test {
        Test::Bytes { window, end } => {
            let mut mask = 0u32;
            for (at, byte) in window.iter().enumerate() {
                value[at] = byte.unwrap_or(0);
                mask |= u32::from(byte.is_some()) << at;
            }
            (mask, window.len() as u32, u32::from(*end) << 8)
        }
        Test::Range { width, low, high } => {
            // Both bounds begin with the integer's most significant byte.
            let shift = 64 - 8 * u32::from(*width);
            value[..8].copy_from_slice(&(low << shift).to_be_bytes());
            value[8..16].copy_from_slice(&(high << shift).to_be_bytes());
            ((1u32 << width) - 1, u32::from(*width), 1 << 8 | 1 << 9)
        }
    };
    for (word, bytes) in words.iter_mut().zip(value.chunks(4)) {
        *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    (words[8], words[9]) = (mask, length | control);
}

fn decision(action: Action) -> u32 {
    let (kind, bits, first) = match action {
        Action::Drop => (0, 0, 0),
        Action::Queue(queue) => (1, 0, queue),
        Action::QueuesBy { first, bits, .. } => (1, bits, first),
        Action::Unit(unit) => (2, 0, unit),
        Action::UnitsBy(_) => (3, 15, 0),
        Action::QueuesInTurn { first, bits } => (1 | IN_TURN, bits, first),
        Action::Port(port) => (4, 0, port),
    };
    kind | u32::from(bits) << 8 | u32::from(first) << 16
}

/// Bytes that are in the same sets of `until`, for each combination of sets.
fn classes(types: &[Rows]) -> Vec<Vec<u8>> {
    let rows = types.iter().flat_map(|rows| &rows.rows);
    let mut sets: Vec<ByteSet> =
        rows.filter_map(|row| if let Skip::Until(set) = row.skip { Some(set) } else { None }).collect();
    sets.sort();
    sets.dedup();
    let mut classes: Vec<(Vec<bool>, Vec<u8>)> = Vec::new();
    for byte in 0..=u8::MAX {
        let of: Vec<bool> = sets.iter().map(|set| set.has(byte)).collect();
        if !of.contains(&true) {
            continue;
        }
        match classes.iter_mut().find(|(other, _)| *other == of) {
            Some((_, bytes)) => bytes.push(byte),
            None => classes.push((of, vec![byte])),
        }
    }
    classes.into_iter().map(|(_, bytes)| bytes).collect()
}

fn late(most: usize) -> String {
    format!(
        "a message could take {most} steps or more before it is decided: give the rules more in common at their begin, or leave rules out"
    )
}

fn crowded(rules: &TypeRules, mut by_rule: Vec<(usize, usize)>) -> String {
    by_rule.sort_by_key(|(rule, rows)| (std::cmp::Reverse(*rows), *rule));
    let most = by_rule.iter().take(3).map(|(rule, rows)| format!("`{}` {rows}", rules.rules[*rule].name));
    let most = most.collect::<Vec<_>>().join(", ");
    format!(
        "these rules take more than the {ROWS} rows of a block; most of them so far: {most}. Write fewer fields and `|` in those rules, or leave rules out"
    )
}

fn tangled() -> String {
    "these rules begin in too many ways that a message may go on in: write fewer `|`, or leave rules out".to_owned()
}
