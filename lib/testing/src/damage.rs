// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Damage for files: of bytes anywhere, and of texts word by word.

use crate::Numbers;

/// Changes 1 to 4 places of a file: flips bits, sets bytes and numbers to values at which readers tend to fail, cuts,
/// doubles or moves parts. The file may become empty.
pub fn bytes(data: &mut Vec<u8>, numbers: &mut Numbers) {
    for _ in 0..1 + numbers.below(4) {
        if data.is_empty() {
            return;
        }
        let at = numbers.below(data.len());
        let end = (at + 1 + numbers.below(64)).min(data.len());
        match numbers.below(16) {
            0 => data.truncate(at),
            1 => drop(data.drain(at..end)),
            2 => {
                let part = data[at..end].to_vec();
                data.splice(at..at, part);
            }
            3 => {
                let (to, length) = (numbers.below(data.len()), data.len());
                data.copy_within(at..end.min(at + length - to), to);
            }
            4..8 => data[at] = numbers.of(&[0, 0xFF, 0x7F, 0x80, 1]),
            8..12 => {
                // A number of 2, 4 or 8 bytes, in either order.
                let width = numbers.of(&[2, 4, 4, 8]);
                let mut value = number(numbers).to_le_bytes()[..width].to_vec();
                if numbers.below(2) == 0 {
                    value.reverse();
                }
                if let Some(place) = data.get_mut(at..at + width) {
                    place.copy_from_slice(&value);
                }
            }
            _ => data[at] ^= 1 << numbers.below(8),
        }
    }
}

/// A number at which readers tend to fail.
fn number(numbers: &mut Numbers) -> u64 {
    match numbers.below(6) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << numbers.below(64),
        3 => (1 << numbers.below(64)) - 1,
        4 => numbers.below(64) as u64,
        _ => numbers.next(),
    }
}

/// Words, numbers and single signs of a text, each with the spaces behind it.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for sign in text.chars() {
        let joins = |last: &String| {
            let before = last.chars().next_back().unwrap_or(' ');
            sign == ' ' || (sign.is_alphanumeric() || sign == '_') && (before.is_alphanumeric() || before == '_')
        };
        match all.last_mut().filter(|last| joins(last)) {
            Some(last) => last.push(sign),
            None => all.push(sign.to_string()),
        }
    }
    all
}

/// Numbers that texts get in place of theirs.
const NUMBERS: [&str; 8] =
    ["0 ", "1 ", "127 ", "129 ", "4294967296 ", "18446744073709551615 ", "-1 ", "99999999999999999999999999999999999 "];

/// One of the texts with 1 to 4 places damaged, or random words of them. A text is given as its [`words`]; `others` are
/// words to put in beside those of the texts. There must be texts and other words, and no text may be empty.
pub fn text(texts: &[Vec<String>], others: &[&str], numbers: &mut Numbers) -> String {
    let other = |numbers: &mut Numbers| {
        let text = &texts[numbers.below(texts.len())];
        if numbers.below(4) == 0 { format!("{} ", numbers.of(others)) } else { text[numbers.below(text.len())].clone() }
    };
    if numbers.below(10) == 0 {
        return (0..numbers.below(300)).map(|_| other(numbers)).collect();
    }
    let mut words = texts[numbers.below(texts.len())].clone();
    for _ in 0..numbers.of(&[1, 1, 2, 4]) {
        if words.is_empty() {
            break;
        }
        let at = numbers.below(words.len());
        let end = (at + 1 + numbers.below(8)).min(words.len());
        match numbers.below(14) {
            0 => words[at] = other(numbers),
            1 => words.insert(at, other(numbers)),
            2 => drop(words.drain(at..end)),
            3 => {
                let to = numbers.below(words.len());
                words.swap(at, to);
            }
            4 => {
                // A part stands there twice, or many times.
                let part: Vec<String> = words[at..end].to_vec();
                let times = numbers.of(&[1, 1, 1, 2000]);
                words.splice(at..at, std::iter::repeat_n(part, times).flatten());
            }
            5 => words.truncate(at.max(1)),
            6 | 7 => {
                let is_number = |word: &&mut String| word.starts_with(|sign: char| sign.is_ascii_digit());
                if let Some(number) = words[at..].iter_mut().find(is_number) {
                    *number = numbers.of(&NUMBERS).to_owned();
                }
            }
            _ => {
                // A word becomes another one of its kind, which often gives a valid text.
                let kind =
                    |word: &String| word.chars().next().map(|sign| (sign.is_alphabetic(), sign.is_ascii_digit()));
                let of = kind(&words[at]);
                let same: Vec<usize> = (0..words.len()).filter(|other| kind(&words[*other]) == of).collect();
                words[at] = words[same[numbers.below(same.len())]].clone();
            }
        }
    }
    words.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_changes_files_and_keeps_words() {
        let text = "[card]\nname = \"a_b\"\nports = 2 # two\n";
        assert_eq!(words(text).concat(), text);
        assert!(words(text).contains(&"a_b".to_owned()));
        let (mut changed, data) = (0, vec![7; 100]);
        for case in 0..1000 {
            let mut numbers = Numbers::of_case(case);
            let mut other = data.clone();
            bytes(&mut other, &mut numbers);
            changed += usize::from(other != data);
            assert!(other.len() <= 100 + 4 * 64);
        }
        assert!(changed > 900, "{changed}");
    }
}
