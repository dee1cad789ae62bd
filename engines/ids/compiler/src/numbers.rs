// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Numbers and flags in options.

use std::str::FromStr;

use crate::rule::{FlagTest, Within};

/// A number.
///
/// # Errors
/// A sentence.
pub(crate) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is no number, or is out of range"))
}

/// A number or a range up to `most`: `n`, `=n`, `!n`, `!=n`, `<n`, `>n`, `<=n`, `>=n`, `a-b` with both ends or `a<>b`
/// without them. `&mask=n` and `&mask!=n` compare the bits of a mask. Numbers are decimal, or hexadecimal behind `0x`.
///
/// # Errors
/// A sentence.
pub(crate) fn within(text: &str, most: u32) -> Result<Within, String> {
    let (not, text) = text.trim().strip_prefix('!').map_or((false, text.trim()), |rest| (true, rest.trim()));
    // Only a plain number has it: `=>5` may stand for either of two ranges.
    let plain = text.strip_prefix('=').map(str::trim_start);
    let text = plain.unwrap_or(text);
    let range = |low: Option<u32>, high: Option<u32>| match (low, high) {
        (Some(low), Some(high)) if low <= high && high <= most => Ok(Within { low, high, not, mask: u32::MAX }),
        _ => Err(format!("`{text}` has no number from 0 to {most} in it")),
    };
    let value = |text: &str| match text.trim().strip_prefix("0x") {
        Some(digits) => {
            u32::from_str_radix(digits, 16).map_err(|_| format!("`{text}` is no number, or is out of range"))
        }
        None => number::<u32>(text),
    };
    if let Some(masked) = text.strip_prefix('&').filter(|_| plain.is_none()) {
        let (mask, only) = masked.split_once('=').ok_or_else(|| format!("`{text}`: write &MASK=NUMBER"))?;
        let (unequal, mask) = mask.strip_suffix('!').map_or((false, mask), |mask| (true, mask));
        let only = value(only)?;
        Ok(Within { low: only, high: only, not: not != unequal, mask: value(mask)? })
    } else if plain.is_some() {
        let only = value(text)?;
        range(Some(only), Some(only))
    } else if let Some((low, high)) = text.split_once("<>") {
        range(value(low)?.checked_add(1), value(high)?.checked_sub(1))
    } else if let Some(high) = text.strip_prefix("<=") {
        range(Some(0), Some(value(high)?))
    } else if let Some(low) = text.strip_prefix(">=") {
        range(Some(value(low)?), Some(most))
    } else if let Some(high) = text.strip_prefix('<') {
        range(Some(0), value(high)?.checked_sub(1))
    } else if let Some(low) = text.strip_prefix('>') {
        range(value(low)?.checked_add(1), Some(most))
    } else if let Some((low, high)) = text.split_once('-') {
        range(Some(value(low)?), Some(value(high)?))
    } else {
        let only = value(text)?;
        range(Some(only), Some(only))
    }
}

/// Flags of TCP as letters, or `0` for none; `1` and `C` are CWR, `2` and `E` are ECE.
fn letters(text: &str) -> Result<u8, String> {
    let mut bits = 0;
    for letter in text.chars() {
        bits |= match letter.to_ascii_uppercase() {
            'F' => 1,
            'S' => 2,
            'R' => 4,
            'P' => 8,
            'A' => 16,
            'U' => 32,
            'E' | '2' => 64,
            'C' | '1' => 128,
            '0' => 0,
            _ => return Err(format!("`{letter}` is none of the flags F S R P A U E C 0")),
        };
    }
    Ok(bits)
}

/// How flags are compared, by a sign before or behind them; and the flags.
pub(crate) fn tested(text: &str) -> (FlagTest, &str) {
    let tests = [('+', FlagTest::All), ('*', FlagTest::Any), ('!', FlagTest::None)];
    let signed = tests.iter().find_map(|(sign, test)| {
        text.strip_prefix(*sign).or_else(|| text.strip_suffix(*sign)).map(|rest| (*test, rest.trim()))
    });
    signed.unwrap_or((FlagTest::Exactly, text))
}

/// The value of `flags`: how to compare, which flags, and which are ignored.
///
/// # Errors
/// A sentence.
pub(crate) fn flags(text: &str) -> Result<(FlagTest, u8, u8), String> {
    let (flags, ignored) = text.split_once(',').map_or((text, ""), |(flags, ignored)| (flags.trim(), ignored.trim()));
    let (test, flags) = tested(flags);
    if flags.is_empty() {
        return Err("flags need letters of F S R P A U E C, or 0".to_owned());
    }
    Ok((test, letters(flags)?, letters(ignored)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_ranges() {
        for (text, inside, outside) in [
            ("5", &[5][..], &[4, 6][..]),
            ("!5", &[4, 6], &[5]),
            ("=5", &[5], &[4, 6]),
            ("!= 5", &[4, 6], &[5]),
            ("0x10", &[16], &[10]),
            ("<0x10", &[15], &[16]),
            ("<5", &[0, 4], &[5]),
            (">5", &[6, 255], &[5]),
            ("<=5", &[5], &[6]),
            (">=5", &[5], &[4]),
            ("2<>5", &[3, 4], &[2, 5]),
            ("2-5", &[2, 5], &[1, 6]),
            ("&0xf0=16", &[16, 31], &[15, 32]),
            ("& 3 != 1", &[2, 6], &[1, 5]),
            ("!&3=1", &[2, 6], &[1, 5]),
        ] {
            let range = within(text, 255).unwrap();
            assert!(inside.iter().all(|number| range.holds(*number)), "{text}");
            assert!(!outside.iter().any(|number| range.holds(*number)), "{text}");
        }
        for text in [
            "", "=", "=>5", "=<5", "!=>5", "==5", "=2-5", "=2<>5", "&3", "=&3=1", "x", "0x", "256", "<0", "5<>6",
            "6-5", "-1",
        ] {
            assert!(within(text, 255).is_err(), "{text}");
        }
    }

    #[test]
    fn flags_have_tests() {
        assert_eq!(flags("S"), Ok((FlagTest::Exactly, 2, 0)));
        assert_eq!(flags("+SA"), Ok((FlagTest::All, 18, 0)));
        assert_eq!(flags("S,12"), Ok((FlagTest::Exactly, 2, 192)));
        assert_eq!((flags("0"), flags("FSR*")), (Ok((FlagTest::Exactly, 0, 0)), Ok((FlagTest::Any, 7, 0))));
        assert!(flags("X").is_err() && flags("+").is_err());
    }
}
