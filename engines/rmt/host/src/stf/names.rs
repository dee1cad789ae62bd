// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Resolves names and values of STF to those of a program. Tests name tables, keys and actions by the end of their
//! names, and the match of a number depends on the kind of its key; p4c's tester for bmv2 set these rules.

use penstock_rmt_compiler::ir::{Key, MatchKind, Program};

use super::statement::Call;
use crate::entry::NamedEntry;
use crate::value::{ones, prefix};

/// Largest number of an entry without a priority. If two such entries match, the one that was added first wins.
const LATEST: i32 = 1 << 24;

/// The entry of an `add`, with full names. `added` entries came before.
///
/// # Errors
/// The program has no such name, or a value is none; a sentence.
pub(super) fn entry(
    program: &Program,
    table: &str,
    priority: Option<u32>,
    keys: &[(String, String)],
    action: &Call,
    added: i32,
) -> Result<NamedEntry, String> {
    let (name, about) = (table, table_of(program, table)?);
    let table = &program.tables[about];
    let mut entry = call(program, name, action)?;
    for (written, value) in keys {
        let key = key(&table.keys, written).ok_or_else(|| {
            let there: Vec<_> = table.keys.iter().map(|key| key.name.as_str()).collect();
            format!("{} has no key `{written}`; its keys are: {}", table.name, there.join(", "))
        })?;
        let wrong = |why| format!("{written}:{value}: {why}");
        if let Some(value) = matched(value, key).map_err(wrong)? {
            entry.keys.insert(key.name.clone(), value.into());
        }
    }
    // A key that the test leaves out is 0 if it is exact, and else matches anything.
    for key in table.keys.iter().filter(|key| key.kind == MatchKind::Exact) {
        entry.keys.entry(key.name.clone()).or_insert_with(|| "0".into());
    }
    if table.has_priorities() {
        let given = priority.map(|priority| i32::try_from(priority).unwrap_or(i32::MAX).saturating_add(1));
        entry.priority = given.unwrap_or(LATEST - added);
    }
    Ok(entry)
}

/// A default action by full names.
///
/// # Errors
/// As [`entry`].
pub(super) fn default(program: &Program, table: &str, action: &Call) -> Result<NamedEntry, String> {
    Ok(NamedEntry { default: true, ..call(program, table, action)? })
}

fn call(program: &Program, table: &str, action: &Call) -> Result<NamedEntry, String> {
    let table = &program.tables[table_of(program, table)?];
    let names: Vec<&str> = table.actions.iter().map(|one| program.actions[one.action].name.as_str()).collect();
    let found = find(&names, &action.name, &format!("action of {}", table.name))?;
    Ok(NamedEntry {
        table: table.name.clone(),
        action: Some(names[found].to_owned()),
        params: action.arguments.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect(),
        ..NamedEntry::default()
    })
}

fn table_of(program: &Program, name: &str) -> Result<usize, String> {
    let names: Vec<&str> = program.tables.iter().map(|table| table.name.as_str()).collect();
    find(&names, name, "table")
}

/// The index of a name: a full one, else the end of one after a dot, else the end of one.
///
/// # Errors
/// There is none, or several; a sentence.
pub(super) fn find(names: &[&str], name: &str, what: &str) -> Result<usize, String> {
    if let Some(at) = names.iter().position(|one| *one == name) {
        return Ok(at);
    }
    for end in [&format!(".{name}")[..], name] {
        let found: Vec<usize> = (0..names.len()).filter(|at| names[*at].ends_with(end)).collect();
        match found[..] {
            [at] => return Ok(at),
            [first, second, ..] => {
                return Err(format!("`{name}` is the end of several names: {}, {}", names[first], names[second]));
            }
            [] => {}
        }
    }
    let there = if names.is_empty() { "there are none".to_owned() } else { names.join(", ") };
    Err(format!("there is no {what} `{name}`; there are: {there}"))
}

/// The key of this name. `extra$0.h` is `extra[0].h`, and `h.$valid$` and `h.valid` are `h.isValid()`.
fn key<'k>(keys: &'k [Key], written: &str) -> Option<&'k Key> {
    let plain = |name: &str| name.replace(' ', "").replace("isValid()", "$valid$");
    let mut name = plain(written);
    let digits = |at: usize| name[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
    if let Some((at, count)) = name.match_indices('$').map(|(at, _)| (at, digits(at))).find(|(_, count)| *count > 0) {
        name = format!("{}[{}]{}", &name[..at], &name[at + 1..at + 1 + count], &name[at + 1 + count..]);
    }
    let valid = name.strip_suffix("valid").map(|of| format!("{of}$valid$"));
    let names = [Some(name.clone()), Some(format!("{name}$")), Some(format!("{name}.$valid$")), valid];
    let names: Vec<String> = names.into_iter().flatten().collect();
    names.iter().find_map(|name| keys.iter().find(|key| plain(&key.name) == *name)).or_else(|| {
        names.iter().find_map(|name| keys.iter().rfind(|key| plain(&key.name).ends_with(&format!(".{name}"))))
    })
}

/// A number with digits that match anything: its value, the mask of the other digits, and the bits of all digits if it
/// has a base of 2, 8 or 16.
fn number(text: &str) -> Result<(u128, u128, Option<u32>), String> {
    let (digits, bits) = match text.split_at_checked(2) {
        Some(("0x" | "0X", digits)) => (digits, 4),
        Some(("0o" | "0O", digits)) => (digits, 3),
        Some(("0b" | "0B", digits)) => (digits, 1),
        _ if text.contains('*') => return Err("digits `*` stand in numbers that begin with 0x, 0o or 0b".to_owned()),
        _ => {
            let value = text.parse().map_err(|_| format!("`{text}` is no number"))?;
            return Ok((value, u128::MAX, None));
        }
    };
    let (mut value, mut mask, mut count) = (0u128, 0u128, 0);
    for letter in digits.chars().filter(|letter| *letter != '_') {
        let digit = if letter == '*' { Some(0) } else { letter.to_digit(1 << bits) };
        let digit = digit.ok_or_else(|| format!("`{letter}` is no digit"))?;
        if value.leading_zeros() < bits {
            return Err("the number has more than 128 bits".to_owned());
        }
        value = value << bits | u128::from(digit);
        mask = mask << bits | if letter == '*' { 0 } else { (1 << bits) - 1 };
        count += bits;
    }
    Ok((value, mask, Some(count)))
}

/// The match of a key, in the form of this engine's entries; None: any value.
fn matched(text: &str, key: &Key) -> Result<Option<String>, String> {
    if text == "*" {
        return Ok(None);
    }
    let all = ones(key.width);
    Ok(Some(match key.kind {
        MatchKind::Lpm => {
            let (value, length) = match text.split_once('/') {
                Some((value, length)) => {
                    (number(value)?.0, length.trim().parse().map_err(|_| format!("`{length}` is no length"))?)
                }
                None => {
                    let (value, mask, bits) = number(text)?;
                    // The digits in front of the first `*` are the prefix.
                    (value, bits.map_or(key.width, |_| mask.count_ones()))
                }
            };
            let length = u32::min(length, key.width);
            format!("0x{:x}/{length}", value & prefix(key.width, length))
        }
        MatchKind::Ternary => {
            let (value, mask) = match text.split_once("&&&") {
                Some((value, mask)) => (number(value.trim())?.0, number(mask.trim())?.0),
                // A digit that is not written matches anything.
                None => {
                    let (value, mask, _) = number(text)?;
                    (value, mask & all)
                }
            };
            format!("0x{:x}&&&0x{mask:x}", value & mask)
        }
        MatchKind::Range => text.replace("->", ".."),
        MatchKind::Exact | MatchKind::Optional => format!("0x{:x}", number(text)?.0),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: MatchKind, width: u32) -> Key {
        let name = "hdr.extra[0].h".to_owned();
        Key { name, field: 0, width, kind, annotations: Vec::new(), span: penstock_rmt_compiler::Span::default() }
    }

    #[test]
    fn values_depend_on_the_kind_of_their_key() {
        for (kind, text, is) in [
            (MatchKind::Exact, "10", "0xa"),
            (MatchKind::Lpm, "0x0a010000/16", "0xa010000/16"),
            (MatchKind::Lpm, "0x0a01****", "0xa010000/16"),
            (MatchKind::Lpm, "0x0a010203", "0xa010203/32"),
            (MatchKind::Ternary, "0x****0101", "0x101&&&0xffff"),
            (MatchKind::Ternary, "0x01", "0x1&&&0xff"),
            (MatchKind::Ternary, "0x1234&&&0xff00", "0x1200&&&0xff00"),
            (MatchKind::Ternary, "0b1*0", "0x4&&&0x5"),
            (MatchKind::Ternary, "7", "0x7&&&0xffffffff"),
            (MatchKind::Range, "1->3", "1..3"),
        ] {
            assert_eq!(matched(text, &of(kind, 32)).unwrap().as_deref(), Some(is), "{text}");
        }
        assert_eq!(matched("*", &of(MatchKind::Ternary, 8)).unwrap(), None);
        assert!(number("0xg*").unwrap_err().contains("`g` is no digit"));
        assert!(number("9*").unwrap_err().contains("begin with 0x"));
        assert!(number(&format!("0x{}", "1".repeat(33))).unwrap_err().contains("more than 128 bits"));
    }

    #[test]
    fn names_of_keys_have_many_forms() {
        let named = |name: &str| Key { name: name.to_owned(), ..of(MatchKind::Exact, 8) };
        let keys = [named("hdr.extra[0].h"), named("hdr.ipv4.isValid()"), named("hdr.ipv4.ttl")];
        for (written, index) in [
            ("hdr.extra[0].h", 0),
            ("extra$0.h", 0),
            ("hdr.ipv4.$valid$", 1),
            ("ipv4.valid", 1),
            ("hdr.ipv4.isValid()", 1),
            ("ttl", 2),
        ] {
            assert_eq!(key(&keys, written), Some(&keys[index]), "{written}");
        }
        assert_eq!(key(&keys, "tl"), None);
    }

    #[test]
    fn ends_of_names_are_enough() {
        let names = ["ingress.t", "egress.t", "ingress.last"];
        assert_eq!(find(&names, "last", "table"), Ok(2));
        assert_eq!(find(&names, "st", "table"), Ok(2));
        assert!(find(&names, "t", "table").unwrap_err().contains("several names"));
        assert!(find(&names, "x", "table").unwrap_err().contains("there is no table `x`"));
    }
}
