// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Patterns over fields. A condition is a pattern over bytes or a range of integers.
//!
//! A pattern is a list of steps. The number of steps done is its state, so each pattern alone is a deterministic
//! automaton with as many states as steps, plus one.

use std::collections::{HashMap, HashSet, VecDeque};

/// A set of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// The set of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut set = Self::default();
        bytes.iter().for_each(|byte| set.0[usize::from(byte >> 6)] |= 1 << (byte & 63));
        set
    }

    /// Whether a byte is in the set.
    #[must_use]
    pub fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// Its bytes, ascending.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).filter(|byte| self.has(*byte))
    }
}

/// A step of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// Takes this byte; None: any byte.
    Byte(Option<u8>),
    /// Takes all bytes up to and with the first byte of the set.
    Until(ByteSet),
}

/// How two patterns go on that have come to the same place in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// They take the same bytes, and come to the same place again.
    Together,
    /// No field goes on with both.
    Apart,
    /// Some fields may, and the places then differ.
    Open,
}

impl Step {
    /// How a pattern with this step goes on beside one with another step.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Beside {
        match (self, other) {
            (Self::Byte(Some(a)), Self::Byte(Some(b))) if a != b => Beside::Apart,
            (Self::Byte(_), Self::Byte(_)) => Beside::Together,
            (Self::Until(a), Self::Until(b)) if a == b => Beside::Together,
            _ => Beside::Open,
        }
    }
}

/// A pattern. It matches a field if all steps are done at the field's end, or before it if the pattern is open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pattern {
    /// The steps.
    pub steps: Vec<Step>,
    /// Any bytes may follow the last step.
    pub open: bool,
}

impl Pattern {
    /// The state after another byte; None if the pattern cannot match any more.
    #[must_use]
    pub fn next(&self, state: usize, byte: u8) -> Option<usize> {
        match self.steps.get(state) {
            Some(Step::Byte(wanted)) => wanted.is_none_or(|wanted| wanted == byte).then_some(state + 1),
            Some(Step::Until(set)) => Some(state + usize::from(set.has(byte))),
            None => self.open.then_some(state),
        }
    }

    /// Whether a field that ends in this state matches.
    #[must_use]
    pub fn accepts(&self, state: usize) -> bool {
        state == self.steps.len()
    }

    /// Whether the pattern matches a whole field.
    #[must_use]
    pub fn matches(&self, field: &[u8]) -> bool {
        field.iter().try_fold(0, |state, byte| self.next(state, *byte)).is_some_and(|state| self.accepts(state))
    }

    /// How many steps the patterns take together, each step of one at the same byte as that of the other. None if they
    /// have no field in common, since they then take different bytes or only one of them ends, as most pairs of rules do.
    #[must_use]
    pub fn together(&self, other: &Self) -> Option<usize> {
        let steps = self.steps.iter().zip(&other.steps);
        let apart = steps.map(|(a, b)| a.beside(b)).enumerate().find(|(_, beside)| *beside != Beside::Together);
        if let Some((at, beside)) = apart {
            return (beside == Beside::Open).then_some(at);
        }
        let ends_first = |one: &Self, other: &Self| !one.open && one.steps.len() < other.steps.len();
        let apart = ends_first(self, other) || ends_first(other, self);
        (!apart).then_some(self.steps.len().min(other.steps.len()))
    }

    /// A shortest field, of at most `longest` bytes, that both patterns match.
    #[must_use]
    pub fn common(&self, other: &Self, longest: usize) -> Option<Vec<u8>> {
        self.together(other)?;
        // Breadth first over pairs of states; each remembers the byte and the pair that led to it.
        let mut from: HashMap<(usize, usize), Before> = HashMap::from([((0, 0), None)]);
        let mut queue = VecDeque::from([(0, 0, 0)]);
        while let Some((a, b, length)) = queue.pop_front() {
            if self.accepts(a) && other.accepts(b) {
                let mut field = Vec::new();
                let mut at = (a, b);
                while let Some(Some((before_a, before_b, byte))) = from.get(&at) {
                    field.push(*byte);
                    at = (*before_a, *before_b);
                }
                field.reverse();
                return Some(field);
            }
            if length == longest {
                continue;
            }
            for byte in kinds(self.steps.get(a), other.steps.get(b)) {
                if let (Some(to_a), Some(to_b)) = (self.next(a, byte), other.next(b, byte))
                    && !from.contains_key(&(to_a, to_b))
                {
                    from.insert((to_a, to_b), Some((a, b, byte)));
                    queue.push_back((to_a, to_b, length + 1));
                }
            }
        }
        None
    }

    /// Whether the pattern matches every field that `other` matches.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let Some(together) = self.together(other) else { return false };
        let steps = self.steps.iter().zip(&other.steps).take(together);
        if steps.into_iter().any(|(wide, narrow)| *wide != Step::Byte(None) && wide != narrow) {
            return false;
        }
        let mut seen = HashSet::from([(0, Some(0))]);
        let mut queue = vec![(0, Some(0))];
        while let Some((theirs, ours)) = queue.pop() {
            if other.accepts(theirs) && !ours.is_some_and(|ours| self.accepts(ours)) {
                return false;
            }
            let own = ours.and_then(|ours| self.steps.get(ours));
            for byte in kinds(other.steps.get(theirs), own) {
                let Some(to) = other.next(theirs, byte) else { continue };
                let pair = (to, ours.and_then(|ours| self.next(ours, byte)));
                if seen.insert(pair) {
                    queue.push(pair);
                }
            }
        }
        true
    }
}

/// The pair of states and the byte that led to another pair of states.
type Before = Option<(usize, usize, u8)>;

/// A rule's condition on a field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The field matches this pattern.
    Bytes(Pattern),
    /// The field is an integer of this many bytes, most significant byte first, in this range.
    Integer {
        /// Bytes: 4 or 8.
        width: u8,
        /// The lowest value.
        low: u64,
        /// The highest value.
        high: u64,
    },
}

impl Condition {
    /// Bytes of the shortest field that fulfils the condition.
    #[must_use]
    pub fn shortest(&self) -> usize {
        match self {
            Self::Bytes(pattern) => pattern.steps.len(),
            Self::Integer { width, .. } => usize::from(*width),
        }
    }

    /// Whether a field fulfils the condition.
    #[must_use]
    pub fn matches(&self, field: &[u8]) -> bool {
        match self {
            Self::Bytes(pattern) => pattern.matches(field),
            Self::Integer { width, low, high } => {
                let number = field.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
                field.len() == usize::from(*width) && (*low..=*high).contains(&number)
            }
        }
    }

    /// Pairs of states that a comparison with another condition may visit, at most; 0 if it visits none.
    #[must_use]
    pub fn pairs(&self, other: &Self) -> u64 {
        match (self, other) {
            (Self::Bytes(a), Self::Bytes(b)) => a.together(b).map_or(0, |together| {
                let rest = |pattern: &Pattern| (pattern.steps.len() - together) as u64;
                together as u64 + (rest(a) + 1) * (rest(b) + 2)
            }),
            _ => 0,
        }
    }

    /// A field, of at most `longest` bytes, that fulfils both conditions.
    #[must_use]
    pub fn common(&self, other: &Self, longest: usize) -> Option<Vec<u8>> {
        match (self, other) {
            (Self::Bytes(a), Self::Bytes(b)) => a.common(b, longest),
            (Self::Integer { width, low, high }, Self::Integer { low: other_low, high: other_high, .. }) => {
                let number = (*low).max(*other_low);
                let bytes = number.to_be_bytes();
                (number <= (*high).min(*other_high)).then(|| bytes[bytes.len() - usize::from(*width)..].to_vec())
            }
            // The only pattern over an integer is one that matches every field.
            (one @ Self::Integer { .. }, Self::Bytes(_)) | (Self::Bytes(_), one @ Self::Integer { .. }) => {
                one.common(one, longest)
            }
        }
    }

    /// Whether every field that fulfils `other` fulfils this condition.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bytes(a), Self::Bytes(b)) => a.covers(b),
            (Self::Integer { low, high, .. }, Self::Integer { low: other_low, high: other_high, .. }) => {
                low <= other_low && other_high <= high
            }
            (Self::Bytes(_), Self::Integer { .. }) => true,
            (Self::Integer { .. }, Self::Bytes(_)) => false,
        }
    }
}

/// A byte of each kind that these steps tell apart, or fewer: if the first step takes one byte alone, only this byte. None
/// stands for the end of a pattern, which tells no bytes apart.
fn kinds(first: Option<&Step>, second: Option<&Step>) -> impl Iterator<Item = u8> {
    let only = match first {
        Some(Step::Byte(Some(byte))) => Some(*byte),
        _ => None,
    };
    let takes = |step: Option<&Step>, byte: u8| match step {
        Some(Step::Byte(Some(wanted))) => *wanted == byte,
        Some(Step::Until(set)) => set.has(byte),
        Some(Step::Byte(None)) | None => true,
    };
    let mut known = [false; 4];
    let (first, second) = (first.copied(), second.copied());
    let is_new = move |byte: &u8| {
        let kind = usize::from(takes(first.as_ref(), *byte)) | usize::from(takes(second.as_ref(), *byte)) << 1;
        !std::mem::replace(&mut known[kind], true)
    };
    let rest = only.is_none().then(|| readable().filter(is_new));
    only.into_iter().chain(rest.into_iter().flatten())
}

/// All bytes, those first that can be read in a message.
fn readable() -> impl Iterator<Item = u8> {
    let plain = b"x0a/".iter().copied();
    plain.chain(b'!'..=b'~').chain(0..b'!').chain(0x7F..=u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern in which `*` is "until /", `?` any byte and `.` at the end the rest.
    fn pattern(text: &str) -> Pattern {
        let open = text.ends_with('.');
        let step = |byte: u8| match byte {
            b'*' => Step::Until(ByteSet::of(b"/")),
            b'?' => Step::Byte(None),
            byte => Step::Byte(Some(byte)),
        };
        Pattern { steps: text.trim_end_matches('.').bytes().map(step).collect(), open }
    }

    #[test]
    fn patterns_match_whole_fields() {
        for (text, fits, not) in [
            (
                "/*2024.",
                &["/CA/2024", "//20249", "/CA/20240919"][..],
                &["/PA/202345", "/CA/202", "CA/2024", "/x/y/2024"][..],
            ),
            ("/*Math", &["/x/Math", "//Math"], &["/x/Maths", "/x/Mat", "Math"]),
            ("a??", &["abc"], &["ab", "abcd"]),
            ("a*.", &["a/", "abc/def"], &["abc"]),
        ] {
            let pattern = pattern(text);
            for field in fits {
                assert!(pattern.matches(field.as_bytes()), "{text} {field}");
            }
            for field in not {
                assert!(!pattern.matches(field.as_bytes()), "{text} {field}");
            }
        }
    }

    #[test]
    fn patterns_that_overlap_have_a_witness() {
        for (a, b, witness) in [
            ("/*2024.", "/CA/.", Some("/CA/2024")),
            ("abc.", "abd.", None),
            ("a?c", "ab.", Some("abc")),
            ("ab", "abc", None),
            ("*x", "??????.", Some("xxxx/x")),
        ] {
            let common = pattern(a).common(&pattern(b), 254);
            assert_eq!(common.as_deref(), witness.map(str::as_bytes), "{a} {b}");
        }
        assert_eq!(pattern("*x").common(&pattern("??????."), 5), None);
    }

    #[test]
    fn a_wider_pattern_covers_a_narrower_one() {
        for (wide, narrow, covers) in [
            ("/.", "/CA/.", true),
            ("/CA/.", "/.", false),
            ("/*2.", "/CA/2", true),
            ("/CA/2", "/CA/2", true),
            ("a?c", "abc.", false),
        ] {
            assert_eq!(pattern(wide).covers(&pattern(narrow)), covers, "{wide} {narrow}");
        }
    }

    #[test]
    fn integers_are_ranges() {
        let of = |low, high| Condition::Integer { width: 4, low, high };
        let any = Condition::Bytes(pattern("."));
        for (field, fits) in
            [(&[0, 0, 1, 0][..], true), (&[0, 0, 0, 255], false), (&[0, 0, 2, 1], false), (&[1, 0], false)]
        {
            assert_eq!(of(256, 512).matches(field), fits, "{field:?}");
        }
        assert_eq!(of(1, 300).common(&of(256, 512), 254), Some(vec![0, 0, 1, 0]));
        assert_eq!(of(1, 255).common(&of(256, 512), 254), None);
        assert_eq!(any.common(&of(7, 8), 254), Some(vec![0, 0, 0, 7]));
        assert!(any.covers(&of(1, 2)) && !of(0, u64::MAX).covers(&any));
        assert!(of(1, 5).covers(&of(2, 5)) && !of(2, 5).covers(&of(1, 5)));
    }
}
