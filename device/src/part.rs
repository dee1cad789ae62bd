// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A part of the frames of captures, for runs side by side: all frames between two addresses are in one part.

use std::fmt;
use std::str::FromStr;

/// The part `number` (from 1) of `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    number: u64,
    of: u64,
}

/// The text that is no [`Part`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no part: write K/N, for example 1/4, with K from 1 to N")]
pub struct ParsePartError(String);

impl FromStr for Part {
    type Err = ParsePartError;

    /// Parses `2/4`.
    fn from_str(text: &str) -> Result<Self, ParsePartError> {
        let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(ParsePartError(text.to_owned())),
        }
    }
}

impl Part {
    /// Whether a frame is in this part. Frames without IP are in the first one.
    ///
    /// Ports do not count, since fragments lack them, and a program may look at several connections of a host.
    #[must_use]
    pub fn holds(self, frame: &[u8]) -> bool {
        pair(frame) % self.of == self.number - 1
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// A hash of both addresses that does not depend on the direction, behind any VLAN tags; 0 without addresses.
fn pair(frame: &[u8]) -> u64 {
    let mut at = 12;
    let mut kind = [0; 2];
    while let Some(found) = frame.get(at..at + 2) {
        kind.copy_from_slice(found);
        at += 2;
        if !matches!(kind, [0x81, 0x00] | [0x88, 0xA8] | [0x91, 0x00]) {
            break;
        }
        at += 2;
    }
    let (first, bytes) = match kind {
        [0x08, 0x00] => (at + 12, 4),
        [0x86, 0xDD] => (at + 8, 16),
        _ => return 0,
    };
    match (frame.get(first..first + bytes), frame.get(first + bytes..first + 2 * bytes)) {
        (Some(source), Some(destination)) => mixed(mixed(0, source.min(destination)), source.max(destination)),
        _ => 0,
    }
}

/// FNV-1a, with a last step that brings the upper bits down.
fn mixed(start: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    let hash = bytes.iter().fold(start ^ 0xCBF2_9CE4_8422_2325, step);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv4(source: u8, destination: u8, tagged: bool) -> Vec<u8> {
        let tag: &[u8] = if tagged { &[0x91, 0, 0, 7, 0x81, 0, 0, 7] } else { &[] };
        let mut frame = [&[0; 12], tag, &[8, 0, 0x45]].concat();
        frame.extend([0; 11]);
        frame.extend([10, 0, 0, source, 10, 0, 0, destination]);
        frame
    }

    #[test]
    fn each_frame_is_in_one_part_with_its_answer() {
        let parts: Vec<Part> = (1..=4).map(|number| format!("{number}/4").parse().unwrap()).collect();
        let mut sizes = [0; 4];
        for number in 0..=255 {
            let there = ipv4(number, 1, false);
            for frame in [&there, &ipv4(1, number, false), &ipv4(number, 1, true)] {
                let holds: Vec<bool> = parts.iter().map(|part| part.holds(frame)).collect();
                assert_eq!(holds.iter().filter(|holds| **holds).count(), 1);
                assert!(holds.iter().zip(&parts).all(|(holds, part)| *holds == part.holds(&there)));
            }
            sizes[parts.iter().position(|part| part.holds(&there)).unwrap()] += 1;
        }
        assert!(sizes.iter().all(|size| (40..90).contains(size)), "{sizes:?}");
        assert!(parts[0].holds(&[0; 60]) && parts[0].holds(&ipv4(1, 2, false)[..30]) && parts[0].holds(&[]));
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for text in ["", "1", "0/4", "5/4", "1/0", "a/b", "-1/4"] {
            assert!(text.parse::<Part>().is_err(), "{text}");
        }
    }
}
