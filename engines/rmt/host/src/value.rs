// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Numbers of entries as people write them: 10, 0x0a, 10.0.0.1, 2001:db8::1, 02:00:00:00:00:01.

use std::net::{Ipv4Addr, Ipv6Addr};

use penstock_rmt_compiler::ir::{Key, Match, MatchKind};
use serde_json::Value as Json;

/// Largest number that all JSON libraries read without loss.
const EXACT: u128 = (1 << 53) - 1;

/// How a number is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Decimal.
    Number,
    /// As an address of Ethernet, 48 bits.
    Mac,
    /// As an address of IPv4, 32 bits.
    Ipv4,
    /// As an address of IPv6, 128 bits.
    Ipv6,
}

impl Format {
    /// The format that an annotation `@format` names. Without one, 48 and 128 bits are addresses.
    pub(crate) fn of(width: u32, annotations: &[String]) -> Self {
        let named = |name: &str| annotations.iter().any(|one| one.replace(' ', "") == format!("@format({name})"));
        match width {
            48 => Self::Mac,
            128 => Self::Ipv6,
            32 if named("IPV4_ADDRESS") => Self::Ipv4,
            _ => Self::Number,
        }
    }

    /// The format of a key. Prefixes of 32 bits are addresses of IPv4.
    pub(crate) fn of_key(key: &Key) -> Self {
        match (key.kind, key.width) {
            (MatchKind::Lpm, 32) => Self::Ipv4,
            _ => Self::of(key.width, &key.annotations),
        }
    }

    /// A number as text.
    pub(crate) fn text(self, value: u128) -> String {
        match self {
            Self::Number if value > EXACT => format!("0x{value:x}"),
            Self::Number => value.to_string(),
            Self::Mac => {
                let bytes = value.to_be_bytes();
                bytes[10..].iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
            }
            Self::Ipv4 => Ipv4Addr::from(value as u32).to_string(),
            Self::Ipv6 => Ipv6Addr::from(value).to_string(),
        }
    }

    /// A number as JSON.
    pub(crate) fn json(self, value: u128) -> Json {
        match u64::try_from(value).ok().filter(|_| value <= EXACT && self == Self::Number) {
            Some(number) => number.into(),
            None => self.text(value).into(),
        }
    }
}

/// Reads a number of `width` bits.
///
/// # Errors
/// It is none, or has more bits; a sentence.
pub(crate) fn read(json: &Json, width: u32) -> Result<u128, String> {
    match json {
        Json::Number(number) => {
            let value = number.as_u64().ok_or_else(|| format!("{number} is not a number from 0 on"))?;
            fit(value.into(), width)
        }
        Json::String(text) => read_text(text, width),
        other => Err(format!("{other} is no number")),
    }
}

/// Reads a number that is written as text.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_text(text: &str, width: u32) -> Result<u128, String> {
    let text = text.trim();
    let digits = text.replace('_', "");
    let number = match digits.split_at_checked(2) {
        Some(("0x" | "0X", digits)) => u128::from_str_radix(digits, 16).ok(),
        Some(("0b" | "0B", digits)) => u128::from_str_radix(digits, 2).ok(),
        _ => digits.parse().ok(),
    };
    let address = || match width {
        32 => text.parse().ok().map(|address: Ipv4Addr| u128::from(u32::from(address))),
        48 => mac(text),
        128 => text.parse().ok().map(|address: Ipv6Addr| u128::from(address)),
        _ => None,
    };
    let kinds = match width {
        32 => ", and no address of IPv4",
        48 => ", and no address of Ethernet",
        128 => ", and no address of IPv6",
        _ => "",
    };
    let value = number.or_else(address);
    fit(value.ok_or_else(|| format!("`{text}` is no number{kinds}: write 10, 0x0a or 0b1010"))?, width)
}

fn mac(text: &str) -> Option<u128> {
    let parts: Vec<_> = text.split([':', '-']).collect();
    let bytes = parts.iter().map(|part| u8::from_str_radix(part, 16).ok().filter(|_| part.len() <= 2));
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    (bytes.len() == 6).then(|| bytes.iter().fold(0, |value, byte| value << 8 | u128::from(*byte)))
}

fn fit(value: u128, width: u32) -> Result<u128, String> {
    match width < 128 && value >> width != 0 {
        true => Err(format!("0x{value:x} has more than {width} bits")),
        false => Ok(value),
    }
}

/// The number with the lowest `width` bits set.
pub(crate) fn ones(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The mask of a prefix.
pub(crate) fn prefix(width: u32, length: u32) -> u128 {
    if length == 0 { 0 } else { ones(width) & ones(width) << (width - length) }
}

/// Reads what a key matches: `10.0.0.0/8` for lpm, `0x10&&&0xf0` for ternary, `10..20` for range, else a number. A
/// missing field matches anything, and so does `*`.
///
/// # Errors
/// It is no match of the key's kind; a sentence.
pub(crate) fn read_match(json: Option<&Json>, key: &Key) -> Result<Match, String> {
    let text = json.and_then(Json::as_str).map(str::trim);
    let json = json.filter(|_| text != Some("*"));
    let Some(json) = json else {
        return match key.kind {
            MatchKind::Exact => Err("an exact match needs a value".to_owned()),
            MatchKind::Lpm => Ok(Match::Lpm(0, 0)),
            MatchKind::Ternary | MatchKind::Optional => Ok(Match::Ternary(0, 0)),
            MatchKind::Range => Ok(Match::Range(0, ones(key.width))),
        };
    };
    let width = key.width;
    let split = |by: &str| text.and_then(|text| text.split_once(by));
    match key.kind {
        MatchKind::Exact | MatchKind::Optional => Ok(Match::Exact(read(json, width)?)),
        MatchKind::Lpm => {
            let (value, length) = match split("/") {
                Some((value, length)) => {
                    let length = length.parse().ok().filter(|length| *length <= width);
                    (read_text(value, width)?, length.ok_or_else(|| format!("a prefix has 0 to {width} bits"))?)
                }
                None => (read(json, width)?, width),
            };
            match value & !prefix(width, length) {
                0 => Ok(Match::Lpm(value, length)),
                _ => Err(format!("{json} has bits behind its prefix: they must be 0")),
            }
        }
        MatchKind::Ternary => {
            let (value, mask) = match split("&&&") {
                Some((value, mask)) => (read_text(value, width)?, read_text(mask, width)?),
                None => (read(json, width)?, ones(width)),
            };
            match value & !mask {
                0 => Ok(Match::Ternary(value, mask)),
                _ => Err(format!("{json} has bits outside of its mask: they must be 0")),
            }
        }
        MatchKind::Range => {
            let (low, high) = match split("..") {
                Some((low, high)) => (read_text(low, width)?, read_text(high, width)?),
                None => (read(json, width)?, read(json, width)?),
            };
            if low <= high { Ok(Match::Range(low, high)) } else { Err(format!("{json} has no values")) }
        }
    }
}

/// The match of a key, in the form of [`read_match`]; None if it matches any value.
pub(crate) fn show_match(value: Match, key: &Key) -> Option<Json> {
    let format = Format::of_key(key);
    Some(match value {
        Match::Exact(value) => format.json(value),
        Match::Lpm(_, 0) | Match::Ternary(_, 0) => return None,
        Match::Lpm(value, length) => format!("{}/{length}", format.text(value)).into(),
        Match::Ternary(value, mask) if mask == ones(key.width) => format.json(value),
        Match::Ternary(value, mask) => format!("0x{value:x}&&&0x{mask:x}").into(),
        Match::Range(0, high) if high == ones(key.width) => return None,
        Match::Range(low, high) => format!("{}..{}", format.text(low), format.text(high)).into(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(kind: MatchKind, width: u32) -> Key {
        let span = penstock_rmt_compiler::Span::default();
        Key { name: "key".into(), field: 0, width, kind, annotations: Vec::new(), span }
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (json, width, value) in [
            (json!(7), 3, 7),
            (json!("0x0a"), 8, 10),
            (json!("0b1010"), 8, 10),
            (json!("1_000"), 16, 1000),
            (json!("10.0.0.1"), 32, 0x0A00_0001),
            (json!("02:00:00:00:00:0f"), 48, 0x0200_0000_000F),
            (json!("2001:db8::1"), 128, 0x2001_0DB8 << 96 | 1),
        ] {
            assert_eq!(read(&json, width), Ok(value));
        }
        for (json, width, words) in [
            (json!(8), 3, "0x8 has more than 3 bits"),
            (json!(-1), 8, "-1 is not a number from 0 on"),
            (json!("10.0.0.256"), 32, "`10.0.0.256` is no number, and no address of IPv4"),
            (json!("10.0.0.1"), 16, "`10.0.0.1` is no number: write"),
            (json!("02:00:00:00:00"), 48, "no address of Ethernet"),
            (json!(null), 8, "null is no number"),
            (json!("é"), 8, "`é` is no number"),
        ] {
            let why = read(&json, width).unwrap_err();
            assert!(why.starts_with(words) || why.contains(words), "{why}");
        }
    }

    #[test]
    fn matches_are_read_and_shown_alike() {
        for (kind, width, json, value) in [
            (MatchKind::Exact, 48, json!("02:00:00:00:00:01"), Match::Exact(0x0200_0000_0001)),
            (MatchKind::Lpm, 32, json!("10.0.0.0/8"), Match::Lpm(0x0A00_0000, 8)),
            (MatchKind::Lpm, 32, json!("10.0.0.1/32"), Match::Lpm(0x0A00_0001, 32)),
            (MatchKind::Ternary, 16, json!("0x800&&&0xff00"), Match::Ternary(0x800, 0xFF00)),
            (MatchKind::Ternary, 16, json!(5), Match::Ternary(5, 0xFFFF)),
            (MatchKind::Range, 16, json!("10..20"), Match::Range(10, 20)),
            (MatchKind::Optional, 9, json!(3), Match::Exact(3)),
            (MatchKind::Exact, 64, json!("0xffffffffffffffff"), Match::Exact(u128::from(u64::MAX))),
        ] {
            let key = key(kind, width);
            assert_eq!(read_match(Some(&json), &key), Ok(value));
            assert_eq!(show_match(value, &key), Some(json));
        }
        for (kind, value) in [
            (MatchKind::Lpm, Match::Lpm(0, 0)),
            (MatchKind::Ternary, Match::Ternary(0, 0)),
            (MatchKind::Range, Match::Range(0, 0xFFFF)),
            (MatchKind::Optional, Match::Ternary(0, 0)),
        ] {
            let key = key(kind, 16);
            assert_eq!((read_match(None, &key), read_match(Some(&json!("*")), &key)), (Ok(value), Ok(value)));
            assert_eq!(show_match(value, &key), None);
        }
        for (kind, json) in [
            (MatchKind::Exact, None),
            (MatchKind::Lpm, Some(json!("0x0101/8"))),
            (MatchKind::Lpm, Some(json!("0x0100/17"))),
            (MatchKind::Ternary, Some(json!("3&&&2"))),
            (MatchKind::Range, Some(json!("2..1"))),
        ] {
            assert!(read_match(json.as_ref(), &key(kind, 16)).is_err(), "{json:?}");
        }
    }
}
