// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From rules to rows of the machine (engines/l7/machine.md): the rules of a message type become one decision graph.
//!
//! A node of the graph is a set of rules that may still win, each with the place that it has reached in its conditions,
//! and the cursor in the message. A row takes the cursor forward and compares; each of its outcomes leads to the node
//! of the rules that survive it. A rule whose place does not follow from the cursor begins its field again in a later
//! row. Equal nodes are one.

use std::collections::{HashMap, HashSet};

use crate::hash::crc16;
use crate::limits::{ALTERNATIVES, BUCKET_BITS, SKIP, STEPS, WINDOW};
use crate::pattern::{ByteSet, Condition, Pattern, Step};
use crate::program::{TypeRules, Variant};

/// The continuation of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// To this row of the message type.
    Row(usize),
    /// The rule of this index matches.
    Rule(usize),
    /// No rule matches.
    Default,
}

/// How a row moves the cursor before it compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// To this many bytes after the beginning of the field of this number.
    Field(u8, u8),
    /// Forward by this many bytes.
    Bytes(u8),
    /// Behind the first byte of this set.
    Until(ByteSet),
}

/// A comparison of the bytes after the cursor.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Test {
    /// The field has these bytes, at most 32, where None is any byte.
    Bytes {
        /// The bytes.
        window: Vec<Option<u8>>,
        /// The field ends with them.
        end: bool,
    },
    /// The rest of the field is an integer of this many bytes in a range.
    Range {
        /// Bytes: 4 or 8.
        width: u8,
        /// The lowest value.
        low: u64,
        /// The highest value.
        high: u64,
    },
}

/// The comparison that always succeeds.
const ALWAYS: Test = Test::Bytes { window: Vec::new(), end: false };

/// An alternative of a row: if the comparison succeeds, the cursor moves past the compared bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    /// What is compared.
    pub test: Test,
    /// The continuation of the row then.
    pub next: Next,
}

/// The use of a row's hash of the bytes after the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    /// Nothing.
    Unused,
    /// A decision takes the hash of up to this many bytes.
    Decide(u8),
    /// The hash of this many bytes chooses one of 2^`bits` rows from `base` on, in place of the alternatives.
    Buckets {
        /// Bytes.
        length: u8,
        /// Binary logarithm of the number of rows.
        bits: u8,
        /// The first row.
        base: usize,
    },
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// How the cursor moves.
    pub skip: Skip,
    /// The purpose of the hash.
    pub hash: Hash,
    /// The first alternative that succeeds is taken.
    pub alternatives: Vec<Alternative>,
    /// The continuation if none succeeds or the skip fails. The cursor then has its place before the row.
    pub otherwise: Next,
    /// Index of the rule for which the row was made; None: the default.
    pub rule: Option<usize>,
}

/// The rows of a message type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// Rows; a row leads only to rows with smaller indices.
    pub rows: Vec<Row>,
    /// The start of a message.
    pub start: Next,
}

/// The rules of a message type do not fit the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excess {
    /// They take too many rows.
    Rows {
        /// Rows made so far, by the index of the rule for which they were made.
        by_rule: HashMap<usize, usize>,
    },
    /// It takes too long to find out.
    Work,
    /// A message could take too many steps.
    Steps {
        /// Index of a rule that is decided so late.
        rule: usize,
    },
}

impl Rows {
    /// The rows of the rules of a message type; at most `most`.
    ///
    /// # Errors
    /// There would be more, or a message could take too many steps.
    pub fn new(rules: &TypeRules, most: usize) -> Result<Self, Excess> {
        let numbered = rules.rules.iter().enumerate();
        let variants: Vec<(usize, &Variant)> =
            numbered.flat_map(|(rule, one)| one.variants.iter().map(move |variant| (rule, variant))).collect();
        let live = (0..variants.len()).map(|variant| Live { variant, field: 0, place: Place::Begin }).collect();
        let mut builder = Builder {
            rules,
            variants: &variants,
            rows: Vec::new(),
            known: HashMap::new(),
            hashed: HashMap::new(),
            most,
            depth: 0,
            compared: 0,
        };
        let start = builder.node(live)?;
        Ok(Self { rows: builder.rows, start })
    }

    /// Rows that a message takes until it is decided, at least and at most, by the index of the rule; None is the default.
    /// Rules that decide no message are left out.
    #[must_use]
    pub fn steps(&self) -> HashMap<Option<usize>, (usize, usize)> {
        let mut decided = HashMap::new();
        // Rows that a message takes until it comes to a row. Rows lead only to rows before them.
        let mut to_row: Vec<Option<(usize, usize)>> = vec![None; self.rows.len()];
        let mut reach = |next: Next, (least, most): (usize, usize), to_row: &mut [Option<(usize, usize)>]| {
            let known = match next {
                Next::Row(row) => to_row[row].get_or_insert((least, most)),
                Next::Rule(rule) => decided.entry(Some(rule)).or_insert((least, most)),
                Next::Default => decided.entry(None).or_insert((least, most)),
            };
            *known = (known.0.min(least), known.1.max(most));
        };
        reach(self.start, (0, 0), &mut to_row);
        for (at, row) in self.rows.iter().enumerate().rev() {
            let Some((least, most)) = to_row[at] else { continue };
            let buckets = match row.hash {
                Hash::Buckets { bits, base, .. } => base..base + (1 << bits),
                Hash::Unused | Hash::Decide(_) => 0..0,
            };
            let nexts = row.alternatives.iter().map(|alternative| alternative.next).chain([row.otherwise]);
            nexts.chain(buckets.map(Next::Row)).for_each(|next| reach(next, (least + 1, most + 1), &mut to_row));
        }
        decided
    }
}

/// The place that a variant has reached in its current field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// It begins its field when the cursor goes there.
    Begin,
    /// It has done this many steps, and the cursor is after them.
    Synced(usize),
}

/// A variant that may still match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Live {
    /// Index of the variant.
    variant: usize,
    /// How many of its conditions are fulfilled.
    field: usize,
    place: Place,
}

/// The rest of a variant after bytes of which some are known.
enum Ran {
    Dead,
    /// The known bytes do not decide.
    Unknown,
    Synced(usize),
    /// The whole condition is fulfilled.
    Fulfilled,
}

/// Comparisons after which the builder gives up: more would keep the compiler busy for minutes.
const COMPARED: u64 = 100_000_000;

struct Builder<'a> {
    rules: &'a TypeRules,
    /// Rule and conditions of each variant, by priority.
    variants: &'a [(usize, &'a Variant)],
    rows: Vec<Row>,
    /// Rows of nodes: rules, and whether the cursor goes to the begin of their field.
    known: HashMap<(Vec<Live>, bool), Next>,
    /// Rows that hash a field for a decision, by the decision.
    hashed: HashMap<Option<usize>, Next>,
    most: usize,
    /// Steps from the start to the row that is being made; buckets are not counted.
    depth: usize,
    /// Comparisons of rules with tests so far.
    compared: u64,
}

impl Builder<'_> {
    /// Number of the field that a variant tests next; None if all its conditions are fulfilled.
    fn field(&self, live: &Live) -> Option<u8> {
        self.variants[live.variant].1.get(live.field).map(|(number, _)| *number)
    }

    fn condition(&self, live: &Live) -> &Condition {
        &self.variants[live.variant].1[live.field].1
    }

    fn push(&mut self, row: Row) -> Result<Next, Excess> {
        if self.rows.len() >= self.most {
            return Err(self.excess());
        }
        self.rows.push(row);
        Ok(Next::Row(self.rows.len() - 1))
    }

    /// Rules that want more rows than there are.
    fn excess(&self) -> Excess {
        let mut by_rule = HashMap::new();
        self.rows.iter().filter_map(|row| row.rule).for_each(|rule| *by_rule.entry(rule).or_insert(0) += 1);
        Excess::Rows { by_rule }
    }

    /// A decision. A rule whose action depends on a hash takes a row more.
    fn decide(&mut self, rule: Option<usize>) -> Result<Next, Excess> {
        let (action, next) = match rule {
            Some(rule) => (self.rules.rules[rule].action, Next::Rule(rule)),
            None => (self.rules.default, Next::Default),
        };
        let Some(field) = action.hashed() else { return Ok(next) };
        if let Some(row) = self.hashed.get(&rule) {
            return Ok(*row);
        }
        let alternatives = vec![Alternative { test: ALWAYS, next }];
        let skip = Skip::Field(field, 0);
        let row = self.push(Row { skip, hash: Hash::Decide(WINDOW as u8), alternatives, otherwise: next, rule })?;
        self.hashed.insert(rule, row);
        Ok(row)
    }

    /// The row at which these rules are decided. Those that are synced agree on the cursor.
    fn node(&mut self, mut live: Vec<Live>) -> Result<Next, Excess> {
        // A variant whose conditions are fulfilled wins against later ones.
        if let Some(fulfilled) = live.iter().position(|one| self.field(one).is_none()) {
            live.truncate(fulfilled + 1);
        }
        let Some(first) = live.first() else { return self.decide(None) };
        if self.field(first).is_none() {
            return self.decide(Some(self.variants[first.variant].0));
        }
        let rewind = self.rewind(&mut live);
        let node = (live, rewind.is_some());
        if let Some(next) = self.known.get(&node) {
            return Ok(*next);
        }
        // The following rows are made first, so this counts the steps to it.
        if self.depth == STEPS {
            return Err(Excess::Steps { rule: self.variants[node.0[0].variant].0 });
        }
        self.depth += 1;
        let row = self.row(&node.0, rewind, false)?;
        self.depth -= 1;
        let next = self.push(row)?;
        self.known.insert(node, next);
        Ok(next)
    }

    /// If no variant is synced, all variants that wait for the first field become so, at its begin; gives the number of
    /// the field then.
    fn rewind(&self, live: &mut [Live]) -> Option<u8> {
        if live.iter().any(|one| matches!(one.place, Place::Synced(_))) {
            return None;
        }
        let field = live.iter().filter_map(|one| self.field(one)).min()?;
        for one in live.iter_mut().filter(|one| self.field(one) == Some(field)) {
            one.place = Place::Synced(0);
        }
        Some(field)
    }

    /// The row of a node; the following rows are made first. With `stay` the row does not move the cursor.
    fn row(&mut self, live: &[Live], rewind: Option<u8>, stay: bool) -> Result<Row, Excess> {
        let synced: Vec<Live> = live.iter().filter(|one| matches!(one.place, Place::Synced(_))).copied().collect();
        let fixed: Vec<Live> = synced.iter().filter(|one| self.until(one).is_none()).copied().collect();
        // The cursor's way, and the variants that compare after it.
        let (bytes, until, group) = if !fixed.is_empty() {
            // Variants that search for a delimiter stay at the cursor.
            let all = fixed.len() == synced.len() && !stay;
            let bytes = if all { fixed.iter().map(|one| self.any_bytes(one)).min().unwrap_or(0) } else { 0 };
            (bytes.min(SKIP), None, fixed)
        } else if rewind.is_some() || stay {
            // One skip goes to the field, or into the bucket; the next one searches for the delimiter.
            (0, None, Vec::new())
        } else {
            let set = self.until(&synced[0]);
            (0, set, synced.iter().filter(|one| self.until(one) == set).copied().collect())
        };
        let bytes = u8::try_from(bytes).unwrap_or(u8::MAX);
        let skip = match (rewind, until) {
            (Some(field), _) => Skip::Field(field, bytes),
            (None, Some(set)) => Skip::Until(set),
            (None, None) => Skip::Bytes(bytes),
        };
        let rule = Some(self.variants[group.first().unwrap_or(&synced[0]).variant].0);
        let behind: Vec<Option<Live>> = live.iter().map(|one| self.behind_skip(one, bytes, until)).collect();
        let group: HashSet<Live> = group.into_iter().collect();
        let test_of = |index: usize| {
            let compares = group.contains(&live[index]);
            behind[index].filter(|_| compares).map(|one| self.test(&one))
        };
        let tests: Vec<Option<Test>> = (0..live.len()).map(test_of).collect();
        let mut distinct: Vec<Test> = tests.iter().flatten().cloned().collect();
        // A comparison precedes those that follow from it.
        distinct.sort_by_cached_key(|test| (std::cmp::Reverse(weight(test)), test.clone()));
        distinct.dedup();
        if distinct.is_empty() {
            distinct.push(ALWAYS);
        }
        self.compared += live.len() as u64 * distinct.len().min(ALTERNATIVES) as u64;
        if self.compared > COMPARED {
            return Err(Excess::Work);
        }
        let otherwise_of = |failed: &HashSet<&Test>| -> Vec<Live> {
            let survives = |test: &Option<Test>| match test {
                Some(test) => !failed.contains(test) && !failed.iter().any(|failed| implies(test, failed)),
                // If the row has not found a delimiter, the others cannot find it either.
                None => true,
            };
            let rest =
                live.iter().zip(&tests).filter(|(_, test)| survives(test)).map(|(one, _)| match (one.place, rewind) {
                    // The miss leaves the cursor where it was before the row, which is not at the field's begin.
                    (Place::Synced(_), Some(_)) => Live { place: Place::Begin, ..*one },
                    _ => *one,
                });
            rest.collect()
        };
        if distinct.len() > ALTERNATIVES
            && !stay
            && let Some((length, bits)) = buckets(&distinct)
        {
            let hashes: Vec<Option<u16>> =
                tests.iter().map(|test| Prefix::of(test.as_ref()?).hash(usize::from(length))).collect();
            let base = self.buckets(&behind, &hashes, bits)?;
            let hashed: HashSet<&Test> = tests
                .iter()
                .zip(&hashes)
                .filter(|(_, hash)| hash.is_some())
                .filter_map(|(test, _)| test.as_ref())
                .collect();
            let rest = tests.iter().flatten().filter(|test| !hashed.contains(test)).count();
            self.compared += rest as u64 * hashed.len() as u64;
            if self.compared > COMPARED {
                return Err(Excess::Work);
            }
            // The alternatives are not tested, and the miss is for a failed skip: no variant after it can match.
            let rest = otherwise_of(&hashed);
            let rest = rest
                .into_iter()
                .filter(|one| !(group.contains(one) || rewind.is_some() && self.is_of(one, rewind)))
                .collect();
            let otherwise = self.node(rest)?;
            let hash = Hash::Buckets { length, bits, base };
            return Ok(Row { skip, hash, alternatives: Vec::new(), otherwise, rule });
        }
        distinct.truncate(ALTERNATIVES);
        let mut alternatives = Vec::new();
        for (at, test) in distinct.iter().enumerate() {
            let mut after = Vec::new();
            for (index, one) in behind.iter().enumerate() {
                let Some(one) = one else { continue };
                // It needs the comparison that failed in an earlier alternative.
                let failed =
                    tests[index].as_ref().is_some_and(|own| distinct[..at].iter().any(|failed| implies(own, failed)));
                after.extend(if failed { None } else { self.behind_test(one, test) });
            }
            alternatives.push(Alternative { test: test.clone(), next: self.node(after)? });
        }
        let rest = if tests.iter().all(Option::is_none) {
            // The row only goes to the field: if that fails, the message lacks it.
            live.iter().filter(|one| !self.is_of(one, rewind)).copied().collect()
        } else {
            otherwise_of(&distinct.iter().collect())
        };
        let otherwise = self.node(rest)?;
        Ok(Row { skip, hash: Hash::Unused, alternatives, otherwise, rule })
    }

    /// Whether a variant waits for this field.
    fn is_of(&self, one: &Live, field: Option<u8>) -> bool {
        self.field(one).is_some() && self.field(one) == field
    }

    /// Rows for the variants by the hash of their compared bytes; returns the first.
    fn buckets(&mut self, behind: &[Option<Live>], hashes: &[Option<u16>], bits: u8) -> Result<usize, Excess> {
        let mut rows = Vec::new();
        for bucket in 0..1u16 << bits {
            let here = |hash: &Option<u16>| hash.is_none_or(|hash| hash & ((1 << bits) - 1) == bucket);
            let live = behind.iter().zip(hashes).filter(|(_, hash)| here(hash)).filter_map(|(one, _)| *one);
            let live: Vec<Live> = live.collect();
            let synced = live.iter().any(|one| matches!(one.place, Place::Synced(_)));
            rows.push(if synced {
                self.row(&live, None, true)?
            } else {
                // No comparison here; the message continues.
                let next = self.node(live)?;
                Row { skip: Skip::Bytes(0), hash: Hash::Unused, alternatives: Vec::new(), otherwise: next, rule: None }
            });
        }
        let base = self.rows.len();
        for row in rows {
            self.push(row)?;
        }
        Ok(base)
    }

    /// The set of bytes that a variant searches for next, if it does.
    fn until(&self, live: &Live) -> Option<ByteSet> {
        match (live.place, self.condition(live)) {
            (Place::Synced(at), Condition::Bytes(pattern)) => match pattern.steps.get(at) {
                Some(Step::Until(set)) => Some(*set),
                _ => None,
            },
            _ => None,
        }
    }

    /// The number of arbitrary bytes that follow in a variant.
    fn any_bytes(&self, live: &Live) -> usize {
        match (live.place, self.condition(live)) {
            (Place::Synced(at), Condition::Bytes(pattern)) => {
                pattern.steps[at..].iter().take_while(|step| **step == Step::Byte(None)).count()
            }
            _ => 0,
        }
    }

    /// The comparison that a variant needs at the cursor.
    fn test(&self, live: &Live) -> Test {
        match (live.place, self.condition(live)) {
            (Place::Synced(at), Condition::Bytes(pattern)) => {
                let bytes = pattern.steps[at..].iter().map_while(|step| match step {
                    Step::Byte(byte) => Some(*byte),
                    Step::Until(_) => None,
                });
                let window: Vec<Option<u8>> = bytes.take(WINDOW).collect();
                let end = !pattern.open && at + window.len() == pattern.steps.len();
                Test::Bytes { window, end }
            }
            (_, Condition::Integer { width, low, high }) => Test::Range { width: *width, low: *low, high: *high },
            (Place::Begin, Condition::Bytes(_)) => ALWAYS,
        }
    }

    /// A variant after a skip of this many bytes, or of all bytes up to one of a set.
    fn behind_skip(&self, live: &Live, bytes: u8, until: Option<ByteSet>) -> Option<Live> {
        let Place::Synced(at) = live.place else { return Some(*live) };
        let ran = match until {
            Some(set) if self.until(live) == Some(set) => Ran::Synced(at + 1),
            Some(_) => Ran::Unknown,
            None => self.run(live, at, &vec![None; usize::from(bytes)]),
        };
        self.ran(live, &ran)
    }

    /// A variant after a comparison that has succeeded; None if it can no longer match.
    fn behind_test(&self, live: &Live, test: &Test) -> Option<Live> {
        let Place::Synced(at) = live.place else { return Some(*live) };
        let ran = match (self.condition(live), test) {
            (Condition::Integer { low, high, .. }, Test::Range { low: test_low, high: test_high, .. }) => {
                if low <= test_low && test_high <= high {
                    Ran::Fulfilled
                } else if test_low.max(low) > test_high.min(high) {
                    Ran::Dead
                } else {
                    Ran::Unknown
                }
            }
            (Condition::Bytes(pattern), Test::Bytes { window, end }) => match self.run(live, at, window) {
                Ran::Synced(at) if at == pattern.steps.len() && (pattern.open || *end) => Ran::Fulfilled,
                // The field ends here, and the pattern does not.
                Ran::Synced(_) if *end => Ran::Dead,
                ran => ran,
            },
            // Only a pattern that matches every field is one over an integer.
            (Condition::Bytes(_), Test::Range { .. }) => Ran::Fulfilled,
            (Condition::Integer { .. }, Test::Bytes { window, .. }) if window.is_empty() => Ran::Synced(at),
            (Condition::Integer { .. }, Test::Bytes { .. }) => Ran::Unknown,
        };
        self.ran(live, &ran)
    }

    fn ran(&self, live: &Live, ran: &Ran) -> Option<Live> {
        match ran {
            Ran::Dead => None,
            Ran::Unknown => Some(Live { place: Place::Begin, ..*live }),
            Ran::Synced(at) => Some(Live { place: Place::Synced(*at), ..*live }),
            Ran::Fulfilled => Some(Live { field: live.field + 1, place: Place::Begin, ..*live }),
        }
    }

    /// Carries a variant over bytes of which some are known.
    fn run(&self, live: &Live, from: usize, bytes: &[Option<u8>]) -> Ran {
        let Condition::Bytes(Pattern { steps, open }) = self.condition(live) else {
            return if bytes.is_empty() { Ran::Synced(from) } else { Ran::Unknown };
        };
        let mut at = from;
        for byte in bytes {
            at = match (steps.get(at), byte) {
                (None, _) if *open => return Ran::Synced(at),
                (None, _) => return Ran::Dead,
                (Some(Step::Byte(None)), _) => at + 1,
                (Some(Step::Byte(Some(wanted))), Some(byte)) if wanted == byte => at + 1,
                (Some(Step::Byte(Some(_))), Some(_)) => return Ran::Dead,
                (Some(Step::Until(set)), Some(byte)) => at + usize::from(set.has(*byte)),
                (Some(Step::Byte(Some(_)) | Step::Until(_)), None) => return Ran::Unknown,
            };
        }
        Ran::Synced(at)
    }
}

/// How narrow a comparison is: one that implies another is at least as narrow.
fn weight(test: &Test) -> (usize, bool, usize, u64) {
    match test {
        Test::Bytes { window, end } => (window.iter().flatten().count(), *end, window.len(), 0),
        Test::Range { low, high, .. } => (0, true, 0, u64::MAX - (high - low)),
    }
}

/// Whether a field that passes `a` passes `b`.
fn implies(a: &Test, b: &Test) -> bool {
    match (a, b) {
        (Test::Bytes { window: narrow, end: ends }, Test::Bytes { window: wide, end }) => {
            let same = |(wide, narrow): (&Option<u8>, &Option<u8>)| wide.is_none() || wide == narrow;
            let end = !end || (*ends && narrow.len() == wide.len());
            end && wide.len() <= narrow.len() && wide.iter().zip(narrow).all(same)
        }
        (Test::Range { low: a, high: b, .. }, Test::Range { low, high, .. }) => low <= a && b <= high,
        (Test::Range { .. }, Test::Bytes { window, end }) => window.is_empty() && !end,
        (Test::Bytes { .. }, Test::Range { .. }) => false,
    }
}

/// The known bytes with which each field begins that passes a comparison.
struct Prefix {
    bytes: Vec<u8>,
    /// The field ends with them.
    is_all: bool,
}

impl Prefix {
    fn of(test: &Test) -> Self {
        match test {
            Test::Bytes { window, end } => {
                let bytes: Vec<u8> = window.iter().map_while(|byte| *byte).collect();
                Self { is_all: *end && bytes.len() == window.len(), bytes }
            }
            Test::Range { width, low, high } => {
                let of = |number: &u64| number.to_be_bytes()[8 - usize::from(*width)..].to_vec();
                let both = of(low).into_iter().zip(of(high));
                let bytes = both.take_while(|(low, high)| low == high).map(|(byte, _)| byte).collect();
                Self { bytes, is_all: low == high }
            }
        }
    }

    /// The machine's hash of the first `length` bytes, with zeros behind a shorter field; None if they are not known.
    fn hash(&self, length: usize) -> Option<u16> {
        let known = self.is_all || self.bytes.len() >= length;
        known.then(|| crc16(&self.bytes[..self.bytes.len().min(length)]))
    }
}

/// Length of the prefixes that divide comparisons best, and binary logarithm of the number of buckets for them; None if
/// the prefixes of no length are of half as many kinds as there are comparisons.
fn buckets(tests: &[Test]) -> Option<(u8, u8)> {
    let prefixes: Vec<Prefix> = tests.iter().map(Prefix::of).collect();
    let most = (tests.len().ilog2() + 1).min(BUCKET_BITS);
    let of_length = |length: usize| {
        let hashes: Vec<u16> = prefixes.iter().filter_map(|prefix| prefix.hash(length)).collect();
        let kinds = hashes.iter().collect::<HashSet<_>>().len();
        let counts = |bits: u32| {
            let mut counts = vec![0; 1 << bits];
            hashes.iter().for_each(|hash| counts[usize::from(*hash) & ((1 << bits) - 1)] += 1);
            counts
        };
        let fits = |bits: &u32| counts(*bits).into_iter().all(|count| count <= ALTERNATIVES);
        let bits = (1..=most).find(fits).unwrap_or(most);
        // Comparisons without a hash are in all buckets. A row has four of them; the steps to the last row count, too.
        let everywhere = tests.len() - hashes.len();
        let cost = |count: usize| {
            let rows = (count + everywhere).div_ceil(ALTERNATIVES).max(1);
            rows * (rows + 1) / 2
        };
        let cost: usize = counts(bits).into_iter().map(cost).sum();
        (kinds, (cost, length as u8, bits as u8))
    };
    let (kinds, costs): (Vec<usize>, Vec<_>) = (1..=WINDOW).map(of_length).unzip();
    if kinds.into_iter().max()? * 2 < tests.len() {
        return None;
    }
    let (_, length, bits) = costs.into_iter().min()?;
    Some((length, bits))
}
