// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From a list of prefixes to the words that the host writes into an `ip_prefix` table.

use std::{collections::HashMap, fs, io, net::Ipv4Addr, path::Path};

use crate::ip_prefix::{BELOW, CLASSES, INTERVALS, KEYS};

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum TableError {
    #[error("cannot read {path}: {source}")]
    Read { path: String, source: io::Error },
    #[error(
        "{path}:{line}: {what}; write `a.b.c.d/len` or `a.b.c.d`, optionally a class 0..15 after it, `#` before a comment"
    )]
    Line { path: String, line: usize, what: String },
    #[error("{path}: not a text file; give a block list, one prefix a line: `a.b.c.d/len` or `a.b.c.d`")]
    NotText { path: String },
    #[error(
        "{path}:{line}: {network} has class {class} here and class {before} in line {first}; drop one of the two lines"
    )]
    TwoClasses { path: String, line: usize, network: String, class: u8, before: u8, first: usize },
    #[error(
        "{path}: {prefixes} prefixes cut the address space into {intervals} intervals, but the table holds {INTERVALS}; merge prefixes or drop nested ones"
    )]
    TooMany { path: String, prefixes: usize, intervals: usize },
}

/// A prefix and its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Prefix {
    /// First address, first octet in the highest byte; the bits beyond `length` are 0.
    pub address: u32,
    /// Bits that count, 0..=32.
    pub length: u8,
    /// 1..=15; 0 exempts from a shorter prefix.
    pub class: u8,
}

impl Prefix {
    /// The bits beyond `length`.
    fn host_bits(&self) -> u32 {
        u32::MAX.checked_shr(u32::from(self.length)).unwrap_or(0)
    }

    /// Last address.
    fn last(&self) -> u32 {
        self.address | self.host_bits()
    }
}

/// Reads a block list: one prefix a line.
///
/// # Errors
/// File and line of the fault.
pub fn read(path: &Path) -> Result<Vec<Prefix>, TableError> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|source| TableError::Read { path: name.clone(), source })?;
    parse(&name, &String::from_utf8_lossy(&bytes))
}

/// Parses the text of a block list; `path` is for messages. A prefix may stand in several lines, with the same class in
/// all of them.
///
/// # Errors
/// File and line of the fault.
pub fn parse(path: &str, text: &str) -> Result<Vec<Prefix>, TableError> {
    if text.contains('\0') {
        return Err(TableError::NotText { path: path.to_owned() });
    }
    let mut prefixes = Vec::new();
    let mut lines: HashMap<(u32, u8), (u8, usize)> = HashMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        let content = text.split('#').next().unwrap_or("").trim();
        if content.is_empty() {
            continue;
        }
        let prefix = parse_line(content).map_err(|what| TableError::Line { path: path.to_owned(), line, what })?;
        let Prefix { address, length, class } = prefix;
        let (before, first) = *lines.entry((address, length)).or_insert((class, line));
        if before != class {
            let network = format!("{}/{length}", Ipv4Addr::from_bits(address));
            return Err(TableError::TwoClasses { path: path.to_owned(), line, network, class, before, first });
        }
        prefixes.push(prefix);
    }
    Ok(prefixes)
}

fn parse_line(content: &str) -> Result<Prefix, String> {
    let mut words = content.split_whitespace();
    let (network, class, rest) = (words.next().unwrap_or(""), words.next(), words.next());
    if let Some(rest) = rest {
        return Err(format!("{} after prefix and class", quoted(rest)));
    }
    let (address, length) = match network.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (network, None),
    };
    let address: Ipv4Addr = address.parse().map_err(|_| format!("{} is no IPv4 address", quoted(address)))?;
    let length = match length {
        Some(word) => decimal(word, 32).ok_or_else(|| format!("{} is no prefix length 0..32", quoted(word)))?,
        None => 32,
    };
    let class = match class {
        Some(word) => decimal(word, 15).ok_or_else(|| format!("{} is no class 0..15", quoted(word)))?,
        None => 1,
    };
    let prefix = Prefix { address: address.to_bits(), length, class };
    if prefix.address & prefix.host_bits() != 0 {
        let network = Ipv4Addr::from_bits(prefix.address & !prefix.host_bits());
        return Err(format!("{address}/{length} has bits set beyond its length (the network is {network}/{length})"));
    }
    Ok(prefix)
}

/// A word of the list as a message shows it: no longer than a line, and nothing in it that a terminal obeys.
fn quoted(word: &str) -> String {
    const MOST: usize = 40;
    let rest = if word.chars().nth(MOST).is_some() { "..." } else { "" };
    format!("`{}{rest}`", word.chars().take(MOST).collect::<String>().escape_debug())
}

/// Plain digits only: no sign, no blanks.
fn decimal(word: &str, most: u8) -> Option<u8> {
    let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| word.parse().ok())?.filter(|&number| number <= most)
}

/// A part of the address space in which all addresses have the same longest prefix: from `start` to the next one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Interval {
    start: u32,
    class: u8,
}

/// Cuts the address space at the ends of the prefixes. If prefixes are equal, the last one counts.
fn intervals(prefixes: &[Prefix]) -> Vec<Interval> {
    let mut sorted: Vec<&Prefix> = prefixes.iter().collect();
    sorted.sort_by_key(|p| (p.address, p.length));
    let mut cuts: Vec<Interval> = Vec::new();
    // Prefixes around the present address, outermost first: they nest, never cross.
    let mut open: Vec<&Prefix> = Vec::new();
    let close_before = |open: &mut Vec<&Prefix>, cuts: &mut Vec<Interval>, limit: Option<u32>| {
        while let Some(&inner) = open.last().filter(|p| limit.is_none_or(|limit| p.last() < limit)) {
            open.pop();
            if let Some(start) = inner.last().checked_add(1) {
                cuts.push(Interval { start, class: open.last().map_or(0, |outer| outer.class) });
            }
        }
    };
    for prefix in sorted {
        close_before(&mut open, &mut cuts, Some(prefix.address));
        cuts.push(Interval { start: prefix.address, class: prefix.class });
        open.push(prefix);
    }
    close_before(&mut open, &mut cuts, None);

    let mut merged: Vec<Interval> = Vec::new();
    for cut in cuts {
        // A later cut at the same address replaces the earlier one; a cut that changes no class is dropped.
        if merged.last().is_some_and(|last| last.start == cut.start) {
            merged.pop();
        }
        if merged.last().map_or(0, |last| last.class) != cut.class {
            merged.push(cut);
        }
    }
    merged
}

/// The host's writes, as offsets from the accelerator's table base and words, that load `prefixes`; they replace all
/// that was there. `path` is for messages.
///
/// # Errors
/// When the table is too small.
pub fn compile(path: &str, prefixes: &[Prefix]) -> Result<Vec<(u32, u32)>, TableError> {
    let intervals = intervals(prefixes);
    // The class below the first start is apart, so an interval from address 0 on needs no start.
    let (below, intervals) = match intervals.split_first() {
        Some((first, rest)) if first.start == 0 => (first.class, rest),
        _ => (0, &intervals[..]),
    };
    if intervals.len() > INTERVALS {
        return Err(TableError::TooMany {
            path: path.to_owned(),
            prefixes: prefixes.len(),
            intervals: intervals.len(),
        });
    }
    let unused = Interval { start: u32::MAX, class: intervals.last().map_or(below, |last| last.class) };
    let all = || intervals.iter().copied().chain(std::iter::repeat(unused)).take(INTERVALS).zip(0u32..);
    let keys = all().map(|(interval, i)| (KEYS + 4 * i, interval.start));
    let classes = all().map(|(interval, i)| (CLASSES + 4 * i, u32::from(interval.class)));
    Ok(keys.chain(classes).chain([(BELOW, u32::from(below))]).collect())
}
