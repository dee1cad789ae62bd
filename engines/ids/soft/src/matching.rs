// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The conditions of a rule on bytes.
//!
//! A match is one place for each content and pcre that satisfies the rule's conditions. Places are counted from the
//! beginning of the stream or from the end of the previous step. The steps are therefore evaluated in order, with the
//! set of all possible ends of the steps so far: the set grows with the bytes only, and no combination is tried twice.

use std::borrow::Cow;
use std::collections::BTreeMap;

use penstock_app::base64;
use penstock_ids_compiler::rule::{Base64, ByteJump, Content, JumpFrom, Number, Pcre, Place, Step};

use crate::search::find;

/// Ends that a pcre is tried from, and matches of one that are followed.
const PCRE_MOST: usize = 1_000;

/// Searches that all pcre of a rule may begin in one look: without a bound, two that follow each other search a million
/// times.
const PCRE_SEARCHES: usize = 4_000;

/// Decoded bytes that count as a search.
const DECODED: usize = 1_024;

/// Searches that a search counts as which PCRE2's limits have stopped.
const STOPPED: usize = 400;

/// Values of variables that are followed in one look.
const VALUES: usize = 1_000;

/// The effects of limits, and the cost of evaluation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limited {
    /// Searches that did not match because a limit stopped them, and variables that had too many values.
    pub stopped: u64,
    /// Searches of negated pcre that a limit stopped: the rule counts them as not found.
    pub negated: u64,
    /// Searches of pcre, with those that a limit stopped counted for what they cost.
    pub searches: u64,
}

/// The remaining work of a rule's steps.
struct Work<'a> {
    /// Searches that are left.
    searches: usize,
    /// Values of variables that may still be followed.
    values: usize,
    limited: &'a mut Limited,
}

impl Work<'_> {
    /// Takes a search; false if none is left.
    fn search(&mut self) -> bool {
        if self.searches == 0 {
            return false;
        }
        self.searches -= 1;
        self.limited.searches += 1;
        true
    }

    /// Something has cost as much as these searches.
    fn charge(&mut self, searches: usize) {
        self.limited.searches += searches as u64;
        self.searches = self.searches.saturating_sub(searches);
    }
}

/// Bytes that steps look at: the payload of a packet, or the stream of a direction as far as it was seen and kept.
#[derive(Debug, Clone, Copy)]
pub struct Bytes<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Position of the first of them.
    pub base: u64,
    /// Matches must end behind this position; 0: anywhere.
    pub fresh: u64,
}

/// Ends of matches, in order: those whose match has no fresh byte, and those whose match has one.
#[derive(Debug, Clone, Default)]
struct Ends {
    stale: Vec<i64>,
    fresh: Vec<i64>,
}

impl Ends {
    fn is_empty(&self) -> bool {
        self.stale.is_empty() && self.fresh.is_empty()
    }

    fn push(&mut self, end: i64, fresh: bool) {
        if fresh { self.fresh.push(end) } else { self.stale.push(end) }
    }

    fn sort(&mut self) {
        for ends in [&mut self.stale, &mut self.fresh] {
            ends.sort_unstable();
            ends.dedup();
        }
    }
}

/// Whether a match changes a set.
pub(crate) fn is_change(step: &Step) -> bool {
    matches!(step, Step::Dataset(set) if set.is_change())
}

/// Changes the sets that steps name by the value of a buffer, after a match.
pub(crate) fn change(steps: &[Step], bytes: &[u8]) {
    for step in steps {
        if let Step::Dataset(set) = step {
            set.change(bytes);
        }
    }
}

/// Whether one of the numbers, which are in order, is in a range.
fn any_in(numbers: &[i64], low: i64, high: i64) -> bool {
    numbers.get(numbers.partition_point(|number| *number < low)).is_some_and(|number| *number <= high)
}

impl Bytes<'_> {
    fn begin(&self) -> i64 {
        self.base.cast_signed()
    }

    fn end(&self) -> i64 {
        self.begin() + self.bytes.len() as i64
    }

    /// Whether a match that ends here is new.
    fn is_fresh(&self, end: i64) -> bool {
        end > self.fresh.cast_signed()
    }

    /// Positions of a content that begins at `low` or behind and ends at `high` or before.
    fn places(&self, content: &Content, low: i64, high: i64) -> Vec<i64> {
        let length = content.bytes.len() as i64;
        let low = if content.at_end { low.max(self.end() - length) } else { low };
        let index = |position: i64| usize::try_from(position.clamp(self.begin(), self.end()) - self.begin());
        let (Ok(from), Ok(to)) = (index(low), index(high)) else { return Vec::new() };
        let mut all = Vec::new();
        let mut at = from;
        while let Some(found) = self.bytes.get(at..to).and_then(|bytes| find(content, bytes)) {
            let place = self.begin() + (at + found) as i64;
            if !content.at_end || place + length == self.end() {
                all.push(place);
            }
            at += found + 1;
        }
        all
    }

    /// Whether steps match. A search that a limit stopped finds nothing, and `limited` counts it.
    #[must_use]
    pub fn matches(&self, steps: &[Step], limited: &mut Limited) -> bool {
        let must = steps.iter().any(Step::is_positive);
        let mut work = Work { searches: PCRE_SEARCHES, values: VALUES, limited };
        let mut ends = Ends::default();
        ends.push(0, !must || self.fresh == 0);
        self.run(steps, ends, &[], &mut work)
    }

    /// The number of a content that must be there and is not, if there is one.
    pub(crate) fn absent(&self, steps: &[Step]) -> Option<usize> {
        steps.iter().position(|step| match step {
            Step::Content(content) => !content.negated && find(content, self.bytes).is_none(),
            _ => false,
        })
    }

    /// Whether steps match from these ends, with these values of variables.
    fn run(&self, steps: &[Step], mut ends: Ends, values: &[u64], work: &mut Work<'_>) -> bool {
        for (at, step) in steps.iter().enumerate() {
            let placed = |content| Self::placed(content, values);
            ends = match step {
                Step::Content(content) if content.negated => self.without(&placed(content), ends),
                Step::Content(content) => self.with(&placed(content), &ends),
                Step::Pcre(pcre) if pcre.negated => self.without_pcre(pcre, ends, work),
                Step::Pcre(pcre) => self.with_pcre(pcre, &ends, work),
                Step::DataAt { at, relative, negated } => self.data_at(at.signed(values), *relative, *negated, &ends),
                Step::ByteTest(test) => {
                    let holds = |end: &i64| {
                        self.number(&test.number, *end, values).is_some_and(|(number, _)| test.holds(number, values))
                    };
                    ends.stale.retain(holds);
                    ends.fresh.retain(holds);
                    ends
                }
                Step::ByteJump(jump) => self.jumps(jump, &ends, values),
                Step::ByteExtract(extract) => {
                    let value = |end| extract.value(self.number(&extract.number, end, values)?.0);
                    return self.fork(&steps[at + 1..], &ends, values, extract.to, &value, work);
                }
                Step::ByteMath(math) => {
                    let value = |end| math.value(self.number(&math.number, end, values)?.0, values);
                    return self.fork(&steps[at + 1..], &ends, values, math.to, &value, work);
                }
                Step::Size(within) => {
                    let size = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
                    if within.holds(size) { ends } else { Ends::default() }
                }
                Step::OneOf(all, negated) => {
                    if all.contains(self.bytes) == *negated {
                        Ends::default()
                    } else {
                        ends
                    }
                }
                Step::Base64(base64) => {
                    let mut holds = |end: &i64| self.base64(base64, *end, work);
                    ends.stale.retain(&mut holds);
                    ends.fresh.retain(&mut holds);
                    ends
                }
                Step::Dataset(set) => {
                    if set.holds(self.bytes) {
                        ends
                    } else {
                        Ends::default()
                    }
                }
                Step::Value(within) => {
                    let value = self.bytes.iter().fold(0, |value: u32, byte| value << 8 | u32::from(*byte));
                    if within.holds(value) { ends } else { Ends::default() }
                }
            };
            if ends.is_empty() {
                return false;
            }
        }
        !ends.fresh.is_empty()
    }

    /// Goes on with the ends of each value that a variable has.
    fn fork(
        &self,
        steps: &[Step],
        ends: &Ends,
        values: &[u64],
        to: u8,
        value: &dyn Fn(i64) -> Option<u64>,
        work: &mut Work<'_>,
    ) -> bool {
        let mut by_value: BTreeMap<u64, Ends> = BTreeMap::new();
        for (list, fresh) in [(&ends.stale, false), (&ends.fresh, true)] {
            for end in list {
                if let Some(value) = value(*end) {
                    by_value.entry(value).or_default().push(*end, fresh);
                }
            }
        }
        let mut values = values.to_vec();
        values.resize(values.len().max(usize::from(to) + 1), 0);
        for (value, ends) in by_value {
            if work.values == 0 {
                work.limited.stopped += 1;
                return false;
            }
            work.values -= 1;
            values[usize::from(to)] = value;
            if self.run(steps, ends, &values, work) {
                return true;
            }
        }
        false
    }

    /// A content whose place has no variables.
    fn placed<'a>(content: &'a Content, values: &[u64]) -> Cow<'a, Content> {
        match &content.variables {
            Some(variables) => Cow::Owned(Content { place: variables.place(values), ..content.clone() }),
            None => Cow::Borrowed(content),
        }
    }

    fn with(&self, content: &Content, before: &Ends) -> Ends {
        let length = content.bytes.len() as i64;
        let mut ends = Ends::default();
        match content.place {
            Place::Absolute { offset, end } => {
                let high = end.map_or(i64::MAX, i64::from);
                let fresh = !before.fresh.is_empty();
                for place in self.places(content, offset.into(), high) {
                    ends.push(place + length, fresh || self.is_fresh(place + length));
                }
            }
            Place::Relative { distance, within } => {
                let distance = i64::from(distance);
                let firsts = [before.stale.first(), before.fresh.first()];
                let lasts = [before.stale.last(), before.fresh.last()];
                let (Some(first), Some(last)) = (firsts.into_iter().flatten().min(), lasts.into_iter().flatten().max())
                else {
                    return ends;
                };
                let reach = |end: i64| within.map_or(i64::MAX, |within| end + distance + i64::from(within));
                for place in self.places(content, first + distance, reach(*last)) {
                    // Ends from which the rule allows this place.
                    let high = place - distance;
                    let low = within.map_or(i64::MIN, |within| place + length - distance - i64::from(within));
                    if any_in(&before.fresh, low, high) {
                        ends.push(place + length, true);
                    } else if any_in(&before.stale, low, high) {
                        ends.push(place + length, self.is_fresh(place + length));
                    }
                }
            }
        }
        ends
    }

    fn without(&self, content: &Content, mut ends: Ends) -> Ends {
        let length = content.bytes.len() as i64;
        match content.place {
            Place::Absolute { offset, end } => {
                let places = self.places(content, offset.into(), end.map_or(i64::MAX, i64::from));
                if places.is_empty() { ends } else { Ends::default() }
            }
            Place::Relative { distance, within } => {
                let distance = i64::from(distance);
                let places = self.places(content, i64::MIN, i64::MAX);
                let clean = |end: &i64| {
                    let high = within.map_or(i64::MAX, |within| end + distance + i64::from(within) - length);
                    !any_in(&places, end + distance, high)
                };
                ends.stale.retain(clean);
                ends.fresh.retain(clean);
                ends
            }
        }
    }

    /// Ends of the matches of a pcre in what lies behind a position.
    fn pcre_ends(&self, pcre: &Pcre, from: i64, work: &mut Work<'_>) -> Vec<i64> {
        let Some(subject) = usize::try_from(from - self.begin()).ok().and_then(|at| self.bytes.get(at..)) else {
            return Vec::new();
        };
        // The beginning of what was kept of a stream is not the beginning of the stream.
        let mut at = usize::from(from > 0 && !pcre.relative);
        let mut ends = Vec::new();
        while at <= subject.len() {
            if !work.search() {
                work.limited.stopped += 1;
                break;
            }
            match pcre.regex.find_at(subject, at) {
                Ok(Some(found)) => {
                    ends.push(from + found.end() as i64);
                    at = found.start() + 1;
                }
                Ok(None) => break,
                // A limit of PCRE2 has stopped the search.
                Err(_) => {
                    work.charge(STOPPED);
                    work.limited.stopped += 1;
                    break;
                }
            }
            if ends.len() >= PCRE_MOST {
                work.limited.stopped += 1;
                break;
            }
        }
        ends
    }

    fn with_pcre(&self, pcre: &Pcre, before: &Ends, work: &mut Work<'_>) -> Ends {
        let mut ends = Ends::default();
        if !pcre.relative {
            let fresh = !before.fresh.is_empty();
            for end in self.pcre_ends(pcre, self.begin(), work) {
                ends.push(end, fresh || self.is_fresh(end));
            }
        } else {
            if before.stale.len() + before.fresh.len() > PCRE_MOST {
                work.limited.stopped += 1;
            }
            let fresh = before.fresh.iter().map(|end| (end, true));
            let stale = before.stale.iter().map(|end| (end, false));
            for (from, fresh) in fresh.chain(stale).take(PCRE_MOST) {
                if work.searches == 0 {
                    work.limited.stopped += 1;
                    break;
                }
                for end in self.pcre_ends(pcre, *from, work) {
                    ends.push(end, fresh || self.is_fresh(end));
                }
            }
        }
        ends.sort();
        ends
    }

    /// Ends behind which a pcre does not match. A search that a limit stopped has found nothing: otherwise a sender
    /// could hide from the rule by bytes that take long.
    fn without_pcre(&self, pcre: &Pcre, mut ends: Ends, work: &mut Work<'_>) -> Ends {
        let from = |end: i64| usize::try_from(end - self.begin()).ok().and_then(|at| self.bytes.get(at..));
        let mut clean = |subject: Option<&[u8]>| {
            let Some(subject) = subject else { return true };
            if !work.search() {
                work.limited.negated += 1;
                return true;
            }
            match pcre.regex.is_match(subject) {
                Ok(found) => !found,
                Err(_) => {
                    work.charge(STOPPED);
                    work.limited.negated += 1;
                    true
                }
            }
        };
        if pcre.relative {
            ends.stale.retain(|end| clean(from(*end)));
            ends.fresh.retain(|end| clean(from(*end)));
            ends
        } else if clean(Some(self.bytes)) {
            ends
        } else {
            Ends::default()
        }
    }

    /// A number in the bytes, and the position behind it; None if it is not there.
    fn number(&self, number: &Number, end: i64, values: &[u64]) -> Option<(u64, i64)> {
        let begin = number.at.signed(values) + if number.relative { end } else { 0 };
        let at = usize::try_from(begin - self.begin()).ok()?;
        let (value, count) = number.read(self.bytes.get(at..)?, values)?;
        Some((value, begin + count as i64))
    }

    /// Where a jump leads from each end. A jump before the beginning leads there, one behind the end nowhere.
    fn jumps(&self, jump: &ByteJump, before: &Ends, values: &[u64]) -> Ends {
        let to = |end: i64| {
            let (number, behind) = self.number(&jump.number, end, values)?;
            let distance = i64::try_from(number.checked_mul(jump.multiplier)?).ok()?;
            let distance = if jump.align { distance.checked_add(3)? & !3 } else { distance };
            let from = match jump.from {
                JumpFrom::Number => behind,
                JumpFrom::Beginning => 0,
                JumpFrom::End => self.end(),
            };
            let to = from.checked_add(distance)?.checked_add(jump.post_offset.signed(values))?.max(0);
            (to <= self.end()).then_some(to)
        };
        let mut ends = Ends::default();
        before.stale.iter().filter_map(|end| to(*end)).for_each(|end| ends.push(end, false));
        before.fresh.iter().filter_map(|end| to(*end)).for_each(|end| ends.push(end, true));
        ends.sort();
        ends
    }

    /// Whether letters of base64 stand for bytes that meet conditions.
    fn base64(&self, base64: &Base64, end: i64, work: &mut Work<'_>) -> bool {
        let begin = base64.at + if base64.relative { end } else { 0 };
        let letters = usize::try_from(begin - self.begin()).ok().and_then(|at| self.bytes.get(at..));
        let Some(letters) = letters else { return false };
        // Decoding costs as much as a search, and more if there is much to decode. All decodings of a rule share its
        // work with what is searched in them: a sender may have letters begin at every byte.
        if !work.search() {
            work.limited.stopped += 1;
            return false;
        }
        let bytes = base64::decoded(&letters[..letters.len().min(base64.count)]);
        work.charge(bytes.len() / DECODED);
        let begin = Ends { stale: Vec::new(), fresh: vec![0] };
        !bytes.is_empty() && Bytes { bytes: &bytes, base: 0, fresh: 0 }.run(&base64.steps, begin, &[], work)
    }

    fn data_at(&self, at: i64, relative: bool, negated: bool, before: &Ends) -> Ends {
        let mut ends = Ends::default();
        for (list, fresh) in [(&before.stale, false), (&before.fresh, true)] {
            for end in list {
                let there = if relative { end + at <= self.end() } else { at < self.end() };
                if there != negated {
                    ends.push(*end, fresh);
                }
            }
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use penstock_ids_compiler::{Options, RuleFile, Ruleset};

    use super::*;

    fn steps(options: &str) -> Vec<Step> {
        let text = format!("alert tcp any any -> any any ({options} sid:1;)");
        let set = Ruleset::read(&[RuleFile { name: "r".into(), text }], &Options::default()).unwrap();
        set.rules[0].steps.clone()
    }

    fn matches(options: &str, text: &str) -> bool {
        let bytes = Bytes { bytes: text.as_bytes(), base: 0, fresh: 0 };
        bytes.matches(&steps(options), &mut Limited::default())
    }

    #[test]
    fn contents_stand_where_rules_say() {
        for (options, yes, no) in [
            ("content:\"aB\";", "xaB", "xab"),
            ("content:\"aB\"; nocase;", "xAb", "xa"),
            ("content:\"ab\"; offset:2;", "xxab", "xab"),
            ("content:\"ab\"; depth:3;", "xab", "xxab"),
            ("content:\"ab\"; offset:1; depth:3;", "xxab", "xxxab"),
            ("content:\"ab\"; startswith;", "ab", "xab"),
            ("content:\"ab\"; endswith;", "abab", "abx"),
            ("content:\"a\"; content:\"b\"; distance:1;", "axb", "ab"),
            ("content:\"a\"; content:\"b\"; within:2;", "axb", "axxb"),
            ("content:\"a\"; content:\"b\"; distance:1; within:2;", "axxb", "axxxb"),
            ("content:\"ab\"; content:\"ab\"; distance:-1; within:9;", "abab", "ab"),
            ("content:\"b\"; content:\"a\"; distance:-5;", "ab", "b"),
            ("content:\"a\"; content:!\"b\"; within:1;", "abax", "ab"),
            ("content:\"a\"; content:!\"b\";", "a", "ba"),
            ("content:!\"b\"; offset:1;", "ba", "bb"),
            ("content:\"a\"; isdataat:2,relative;", "axx", "ax"),
            ("content:\"a\"; isdataat:!2,relative;", "ax", "axx"),
            ("content:\"a\"; isdataat:2;", "axx", "ax"),
            ("content:\"a\"; within:2;", "xa", "xxa"),
            ("pcre:\"/a+b$/\";", "aab", "aabc"),
            ("content:\"a\"; pcre:\"/^b/R\";", "xab", "abxb".trim_start_matches("ab")),
            ("pcre:\"/a./\"; content:\"c\"; distance:0; within:1;", "abcaxx", "abxc"),
            ("content:\"a\"; pcre:!\"/^b/R\";", "abac", "ab"),
            ("byte_test:2,>,0x6160,1;", "xab", "xa`"),
            ("byte_test:2,=,0x6261,1,little;", "xab", "xba"),
            ("content:\"n=\"; byte_test:3,!<,100,0,relative,string,dec;", "n=120", "n=99x"),
            ("byte_test:1,&,1,0;", "a", "b"),
            ("byte_test:1,=,3,0,bitmask 0xf0;", "0", "A"),
            ("content:\"L\"; byte_jump:1,0,relative,string,dec; content:\"X\"; within:1;", "L3...X", "L2...X"),
            ("byte_jump:1,0,string,dec,from_beginning,post_offset 1; content:\"X\"; within:1;", "3...X", "2...X"),
            ("byte_jump:1,0,string,dec,align; content:\"X\"; within:1;", "3....X", "3...X"),
            ("byte_extract:1,0,n,string,dec; content:\"X\"; offset:n; depth:1;", "3..X", "2..X"),
            ("byte_extract:1,0,n,string,dec; content:\"X\"; distance:n;", "3..X", "3.X"),
            ("byte_extract:1,0,n,string,dec,multiplier 2; isdataat:!n;", "2...", "2...."),
            ("content:\"L\"; byte_extract:1,0,n,relative,string,dec; content:\"X\"; within:n;", "L3.X", "L2.X"),
            ("content:\"b=\"; base64_decode:relative; base64_data; content:\"evil\";", "b=b=eGV2aWw", "b=ZXZpL"),
            ("base64_decode:bytes 8, offset 1; base64_data; content:\"evil\"; endswith;", "-ZXZpbA==aaa", "-ZXZpbAZZ"),
            // Each match of the content gives a value of its own.
            (
                "content:\"L\"; byte_extract:1,0,n,relative,string,dec; content:\"X\"; distance:n; within:1;",
                "L1L3..X",
                "L1L2..X",
            ),
            (
                "byte_math:bytes 1, offset 0, oper *, rvalue 2, result n, string dec; byte_test:1,=,n,1,string,dec;",
                "36",
                "35",
            ),
            (
                "byte_extract:1,0,a,string,dec; byte_math:bytes 1, offset 1, oper +, rvalue a, result b, string dec; content:\"X\"; offset:b;",
                "12.X",
                "13.X",
            ),
        ] {
            assert!(matches(options, yes), "{options} {yes}");
            assert!(!matches(options, no), "{options} {no}");
        }
    }

    /// The first place of a content is not the only one.
    #[test]
    fn all_places_are_tried() {
        assert!(matches("content:\"a\"; content:\"b\"; within:1; content:\"c\"; within:1;", "axabxabc"));
        assert!(matches("content:\"aa\"; content:\"b\"; within:1;", "aaab"));
        let text = "a".repeat(5000);
        let options = "content:\"a\"; content:\"a\"; distance:0; content:\"a\"; distance:0; content:\"b\"; distance:0;";
        assert!(!matches(options, &text));
    }

    #[test]
    fn repeated_matches_need_fresh_bytes() {
        let stream = |options: &str, text: &str, base: u64, fresh: u64| {
            Bytes { bytes: text.as_bytes(), base, fresh }.matches(&steps(options), &mut Limited::default())
        };
        assert!(stream("content:\"ab\";", "xxab", 0, 3) && !stream("content:\"ab\";", "abxx", 0, 2));
        assert!(stream("content:\"b\"; content:\"a\";", "abxb", 0, 3));
        assert!(stream("content:\"a\"; content:\"b\"; distance:0;", "a..b", 0, 3));
        assert!(!stream("content:\"a\"; content:\"b\"; distance:0;", "ab..", 0, 3));
        // Positions are those of the stream, not of what was kept.
        assert!(stream("content:\"b\"; offset:101; depth:1;", "ab", 100, 0));
        assert!(!stream("content:\"a\"; startswith;", "ab", 100, 0) && !stream("pcre:\"/^a/\";", "ab", 100, 0));
    }

    /// Letters that begin at many places, and an expression that is searched in what each of them stands for.
    #[test]
    fn decodings_share_the_work_of_a_rule() {
        let rule = "content:\"!\"; base64_decode:bytes 4, relative; base64_data; pcre:\"/z/\";";
        let run = |text: &str, steps: &[Step]| {
            let bytes = Bytes { bytes: text.as_bytes(), base: 0, fresh: 0 };
            let (mut limited, mut begin) = (Limited::default(), Ends::default());
            begin.push(0, true);
            let mut work = Work { searches: 100, values: 0, limited: &mut limited };
            (bytes.run(steps, begin, &[], &mut work), work.searches, limited.searches)
        };
        assert_eq!(run(&"!QUJD".repeat(1_000), &steps(rule)), (false, 0, 100));
        // A search for each decoding, one in the first and four in the second.
        assert_eq!(run("!QUJD!enp6", &steps(rule)), (true, 93, 7));
        // A decoding of 48 KiB counts as 48 searches, and one more.
        let letters = format!("!{}", "QUJD".repeat(16 << 10));
        let long = steps("content:\"!\"; base64_decode:relative; base64_data; content:\"CA\";");
        assert_eq!(run(&letters, &long), (true, 100 - 48, 48));
    }

    /// Two expressions in a row that match everywhere: each end of the first would begin a thousand searches of the
    /// second.
    #[test]
    fn searches_of_a_rule_have_an_end() {
        let text = "a".repeat(5_000);
        let bytes = Bytes { bytes: text.as_bytes(), base: 0, fresh: 0 };
        let steps = steps("pcre:\"/a/\"; pcre:\"/a/R\";");
        let (Step::Pcre(first), Step::Pcre(second)) = (&steps[0], &steps[1]) else { panic!("{steps:?}") };
        let mut limited = Limited::default();
        let mut work = Work { searches: 1_500, values: 0, limited: &mut limited };
        let mut begin = Ends::default();
        begin.push(0, true);
        let ends = bytes.with_pcre(first, &begin, &mut work);
        assert_eq!((ends.fresh.len(), work.searches), (PCRE_MOST, 500));
        let ends = bytes.with_pcre(second, &ends, &mut work);
        assert_eq!((ends.fresh.len(), work.searches), (500, 0));
        // Bytes that could not be searched count as not found if the string must be absent.
        assert_eq!(bytes.without_pcre(second, ends, &mut work).fresh.len(), 500);
        assert!(limited.stopped > 2 && limited.negated == 500);
    }
}
