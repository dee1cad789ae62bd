// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Search for patterns in native code: each pattern is tried wherever its first byte occurs.

use crate::{
    accelerator::{Accelerator, range},
    regs,
};

/// Places for bytes of patterns.
pub const PLACES: usize = 128;
/// Patterns.
pub const PATTERNS: usize = 16;
/// Words of the table, from the accelerator's window on: at 16 c + 4 w bits 32 w to 32 w + 31 of the places at which
/// byte c may stand.
pub const ALLOWED: u32 = 0x0000;
/// The same of the places where patterns begin.
pub const FIRSTS: u32 = 0x1000;
/// The same of the places where patterns end.
pub const LASTS: u32 = 0x1010;
/// At 4 n from here: where pattern n ends.
pub const ENDS: u32 = 0x1040;
/// Added to that: there is a pattern n.
pub const THERE: u8 = 0x80;

/// A `string_match` accelerator.
pub struct StringMatch {
    /// Places at which each byte may occur, a bit each.
    allowed: Box<[u128; 256]>,
    firsts: u128,
    lasts: u128,
    ends: [u8; PATTERNS],
    /// First and last place of each pattern. The first search after a change of the table builds it again.
    runs: Option<Vec<(usize, usize)>>,
    address: u32,
    found: u16,
    end: u32,
}

impl Default for StringMatch {
    fn default() -> Self {
        Self::new()
    }
}

impl StringMatch {
    /// Without patterns.
    #[must_use]
    pub fn new() -> Self {
        Self {
            allowed: Box::new([0; 256]),
            firsts: 0,
            lasts: 0,
            ends: [0; PATTERNS],
            runs: None,
            address: 0,
            found: 0,
            end: 0,
        }
    }

    /// Patterns as the table has them: a run of places up to each that is marked as the last, from the nearest one that
    /// is marked as a first.
    fn runs_of(&self) -> Vec<(usize, usize)> {
        let is = |places: u128, place: usize| places >> place & 1 == 1;
        let ends = (0..PLACES).filter(|&place| is(self.lasts, place));
        ends.filter_map(|last| Some(((0..=last).rev().find(|&first| is(self.firsts, first))?, last))).collect()
    }

    fn search(&mut self, bytes: &[u8]) {
        let runs = self.runs.take().unwrap_or_else(|| self.runs_of());
        let mut seen = 0u128;
        let mut first_end = usize::MAX;
        for at in 0..bytes.len() {
            let begins = self.allowed[usize::from(bytes[at])];
            for &(first, last) in runs.iter().filter(|(first, _)| begins >> first & 1 == 1) {
                let end = at + last - first + 1;
                let Some(candidate) = bytes.get(at..end) else {
                    continue;
                };
                if candidate.iter().zip(first..).all(|(byte, place)| self.allowed[usize::from(*byte)] >> place & 1 == 1)
                {
                    seen |= 1 << last;
                    first_end = first_end.min(end);
                }
            }
        }
        self.end = if seen == 0 { 0 } else { first_end as u32 };
        self.found = (0..PATTERNS).fold(0, |found, n| {
            let is_seen = self.ends[n] & THERE != 0 && seen >> (self.ends[n] & !THERE) & 1 == 1;
            found | u16::from(is_seen) << n
        });
        self.runs = Some(runs);
    }

    /// The 128 bits that hold the table word at `offset`, and the lowest bit of the word.
    fn places(&mut self, offset: u32) -> Option<(&mut u128, u32)> {
        let places = match offset {
            ALLOWED..FIRSTS => &mut self.allowed[(offset / 16) as usize],
            FIRSTS..LASTS => &mut self.firsts,
            LASTS..0x1020 => &mut self.lasts,
            _ => return None,
        };
        Some((places, offset % 16 * 8))
    }
}

impl Accelerator for StringMatch {
    fn read(&mut self, offset: u32) -> u32 {
        match offset {
            regs::STRING_MATCH_FOUND => u32::from(self.found),
            regs::STRING_MATCH_END => self.end,
            _ => 0,
        }
    }

    fn write(&mut self, offset: u32, value: u32, packets: &[u8]) -> bool {
        match offset {
            regs::STRING_MATCH_ADDR => self.address = value,
            regs::STRING_MATCH_LENGTH => {
                let bytes = range(packets, self.address, value);
                self.search(bytes.unwrap_or_default());
                return bytes.is_some();
            }
            _ => {}
        }
        true
    }

    fn table(&self, offset: u32) -> u32 {
        let word = |places: u128| (places >> (offset % 16 * 8)) as u32;
        match offset {
            ALLOWED..FIRSTS => word(self.allowed[(offset / 16) as usize]),
            FIRSTS..LASTS => word(self.firsts),
            LASTS..0x1020 => word(self.lasts),
            ENDS..0x1080 => u32::from(self.ends[((offset - ENDS) / 4) as usize]),
            _ => 0,
        }
    }

    fn load(&mut self, offset: u32, value: u32) {
        self.runs = None;
        if let ENDS..0x1080 = offset {
            self.ends[((offset - ENDS) / 4) as usize] = value as u8;
        }
        if let Some((places, shift)) = self.places(offset) {
            *places = *places & !(u128::from(u32::MAX) << shift) | u128::from(value) << shift;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern_table::compile;

    fn search(matcher: &mut StringMatch, text: &[u8]) -> (u32, u32) {
        let packets = [b"ab", text, b"cd"].concat();
        matcher.write(regs::STRING_MATCH_ADDR, 0x0100_0002, &packets);
        assert!(matcher.write(regs::STRING_MATCH_LENGTH, text.len() as u32, &packets));
        (matcher.read(regs::STRING_MATCH_FOUND), matcher.read(regs::STRING_MATCH_END))
    }

    #[test]
    fn patterns_are_found_where_they_are() {
        let mut matcher = StringMatch::new();
        assert_eq!(search(&mut matcher, b"anything"), (0, 0));
        for (offset, word) in compile("list", "\"abc\"\n\"BC\" nocase\n\"d\"\n").unwrap() {
            matcher.load(offset, word);
            assert_eq!(matcher.table(offset), word);
        }
        for (text, found) in [
            ("abc", (0b011, 3)),
            ("xxabcd", (0b111, 5)),
            ("aBc", (0b010, 3)),
            ("ab", (0, 0)),
            ("bd", (0b100, 2)),
            ("dabc", (0b111, 1)),
            ("", (0, 0)),
        ] {
            assert_eq!(search(&mut matcher, text.as_bytes()), found, "{text}");
        }
        assert!(!matcher.write(regs::STRING_MATCH_LENGTH, 4, b"abc"));
        assert_eq!(matcher.read(regs::STRING_MATCH_FOUND), 0);
        compile("list", "").unwrap().into_iter().for_each(|(offset, word)| matcher.load(offset, word));
        assert_eq!(search(&mut matcher, b"abcd"), (0, 0));
    }
}
