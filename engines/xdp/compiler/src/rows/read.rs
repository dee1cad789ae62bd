// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Text as rows: what `Display` writes. Each line is a row; text after `#` and empty lines are ignored; a row may begin
//! with its number and a colon.

use super::op::{Asks, Bytes, Do, Key, Test, Window};
use super::tables::{ADJUSTS, ALU, ATOMICS, CONDITIONS, SOURCES, named};
use super::{Guard, InWindow, Lane, LaneOp, Lanes, PacketWindow, Register, Row, Second, Source, Target, isa};
use crate::insn::Width;

/// Text that is no row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{word}` where {expected} was expected")]
pub struct ReadError {
    /// The line, counted from 1.
    pub line: usize,
    /// The word that does not fit.
    pub word: String,
    /// The tokens that can stand there.
    pub expected: &'static str,
}

/// Rows of that many lanes.
///
/// # Errors
/// The first word without a meaning at its place.
pub fn read(text: &str, lanes: Lanes) -> Result<Vec<Row>, ReadError> {
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        let line =
            line.split_once(": ").filter(|(row, _)| row.bytes().all(|c| c.is_ascii_digit())).map_or(line, |it| it.1);
        if !line.is_empty() {
            rows.push(row(line.trim(), number + 1, lanes)?);
        }
    }
    Ok(rows)
}

/// The words of a lane or window that are still to be read.
struct Words<'a> {
    line: usize,
    words: std::iter::Peekable<std::vec::IntoIter<&'a str>>,
}

type Read<T> = Result<T, ReadError>;

impl<'a> Words<'a> {
    fn new(text: &'a str, line: usize) -> Words<'a> {
        let words: Vec<_> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        Words { line, words: words.into_iter().peekable() }
    }

    fn next(&mut self) -> &'a str {
        self.words.next().unwrap_or("")
    }

    fn wrong<T>(&self, word: &str, expected: &'static str) -> Read<T> {
        Err(ReadError { line: self.line, word: word.to_owned(), expected })
    }

    fn have(&mut self, word: &str) -> bool {
        self.words.next_if(|next| *next == word).is_some()
    }

    fn parse<T>(&mut self, expected: &'static str, by: impl Fn(&str) -> Option<T>) -> Read<T> {
        let word = self.next();
        by(word).map_or_else(|| self.wrong(word, expected), Ok)
    }

    fn number<T: std::str::FromStr>(&mut self) -> Read<T> {
        self.parse("a number", |word| word.parse().ok())
    }

    /// A map's number, if it has one here.
    fn map(&mut self) -> Read<Option<u16>> {
        if self.have("pointer") { Ok(None) } else { self.number().map(Some) }
    }

    fn source(&mut self) -> Read<Source> {
        self.parse("a register or a special source", source)
    }

    fn second(&mut self) -> Read<Second<Source>> {
        self.parse("a register, a special source or a number", |word| {
            word.parse().map(Second::Imm).ok().or_else(|| source(word).map(Second::Source))
        })
    }

    fn target(&mut self) -> Read<Target> {
        self.parse("@row or exit:verdict", |word| match word.strip_prefix('@') {
            Some(row) => row.parse().map(Target::Row).ok(),
            None => word.strip_prefix("exit:")?.parse().map(Target::Exit).ok(),
        })
    }

    fn in_window(&mut self) -> Read<(InWindow, u8)> {
        self.parse("first:count", |word| {
            let (first, count) = word.split_once(':')?;
            Some((InWindow(first.parse().ok()?), count.parse().ok()?))
        })
    }

    /// `signed` and `swap`, if present.
    fn flags(&mut self, count: u8) -> (bool, Bytes) {
        let signed = self.have("signed");
        (signed, Bytes { count, swap: self.have("swap") })
    }
}

fn source(word: &str) -> Option<Source> {
    register(word).map(Source::Register).or_else(|| named(&SOURCES, word))
}

fn register(word: &str) -> Option<Register> {
    let (lane, index) = word.strip_prefix('r')?.split_once('.')?;
    Some(Register { lane: lane.parse().ok()?, index: index.parse().ok()? })
}

fn row(line: &str, number: usize, lanes: Lanes) -> Read<Row> {
    let mut row = Row::default();
    let mut rest = line;
    while let Some((inside, behind)) = rest.strip_prefix('[').and_then(|text| text.split_once(']')) {
        window(&mut row, Words::new(inside, number))?;
        rest = behind.trim();
    }
    for (index, text) in rest.split('|').enumerate() {
        row.lanes.push(lane(index, Words::new(text, number))?);
    }
    if row.lanes.len() != lanes.count() {
        return Words::new("", number).wrong(rest, "an operation for each lane, with | between them,");
    }
    Ok(row)
}

fn window(row: &mut Row, mut words: Words<'_>) -> Read<()> {
    if words.have("s") {
        row.stack = Some(words.number()?);
        return Ok(());
    }
    if !words.have("p") {
        let word = words.next();
        return words.wrong(word, "p or s");
    }
    row.packet = Some(words.parse("a source and an offset, a multiple of 8,", |word| {
        let (base, offset) = word.split_at(word.find(['+', '-'])?);
        let offset: i16 = offset.parse().ok()?;
        let unit = isa::SIZE_WINDOW_WORD as i16;
        (offset % unit == 0).then_some(PacketWindow { base: source(base)?, offset: offset / unit })
    })?);
    Ok(())
}

fn width(word: &str) -> Option<(&str, Width)> {
    let wide = word.strip_suffix("64").map(|name| (name, Width::W64));
    wide.or_else(|| word.strip_suffix("32").map(|name| (name, Width::W32)))
}

fn lane(index: usize, mut words: Words<'_>) -> Read<Option<Lane>> {
    let guard = if words.have("if") {
        Some(Guard { wanted: true, lane: words.number()? })
    } else if words.have("unless") {
        Some(Guard { wanted: false, lane: words.number()? })
    } else {
        None
    };
    let name = words.next();
    if name == "-" {
        return Ok(None);
    }
    let mut dst = 0;
    let silent = name == "ext" && words.have("silent");
    let none = ["cmp.", "br.", "jmp", "exit", "stp", "sts", "arg"].iter().any(|prefix| name.starts_with(prefix));
    if !none && !silent {
        dst = words
            .parse("a register of this lane", |word| register(word).filter(|r| usize::from(r.lane) == index))?
            .index;
    }
    let op = if name == "ext" { request(&mut words, !silent)? } else { operation(name, &mut words)? };
    match words.next() {
        "" => Ok(Some(Lane { op, dst, guard })),
        word => words.wrong(word, "the lane's end"),
    }
}

fn operation(name: &str, words: &mut Words<'_>) -> Read<LaneOp> {
    let with_window = |window, words: &mut Words<'_>| {
        let (place, count) = words.in_window()?;
        let (signed, bytes) = words.flags(count);
        Ok((window, place, bytes, signed))
    };
    Ok(match name {
        "movhi" => Do::MoveHigh { a: words.source()?, imm: words.number()? },
        "swap16" | "swap32" | "swap64" => {
            let bytes = if name == "swap16" {
                2
            } else if name == "swap32" {
                4
            } else {
                8
            };
            Do::Swap { bytes, a: words.source()? }
        }
        "field" => {
            let a = words.source()?;
            Do::Field { a, shift: words.number()?, bits: words.number()?, left: words.number()? }
        }
        "jmp" => Do::Jump(words.target()?),
        "exit" => Do::Exit(words.source()?),
        "redir" => Do::Redirect { to: words.source()? },
        "ldp" | "lds" => {
            let window = if name == "ldp" { Window::Packet } else { Window::Stack };
            let (window, place, bytes, signed) = with_window(window, words)?;
            Do::Load { window, place, bytes, signed }
        }
        "stp" | "sts" => {
            let value = words.second()?;
            let window = if name == "stp" { Window::Packet } else { Window::Stack };
            let (window, place, bytes, _) = with_window(window, words)?;
            Do::Store { window, place, bytes, value }
        }
        "arg" => Do::Args { k: words.number()?, a: words.source()?, b: words.second()? },
        _ => {
            if let Some(what) = named(&ADJUSTS, name) {
                return Ok(Do::Adjust { what, by: words.source()? });
            }
            sized(name, words)?
        }
    })
}

/// Operations whose name ends in a width.
fn sized(name: &str, words: &mut Words<'_>) -> Read<LaneOp> {
    let Some((stem, width)) = width(name) else { return words.wrong(name, "an operation") };
    if let Some(op) = named(&ALU, stem) {
        return Ok(Do::Alu { op, width, a: words.source()?, b: words.second()? });
    }
    let from = stem.strip_prefix("sext").and_then(|it| it.strip_suffix('_')).and_then(|it| it.parse().ok());
    match (stem, from, stem.split_once('.')) {
        ("mov", ..) => Ok(Do::Move { width, from: words.second()? }),
        (_, Some(bits @ (8 | 16 | 32)), _) => Ok(Do::Extend { bits, width, a: words.source()? }),
        (_, _, Some((what, cond))) => {
            let Some(cond) = named(&CONDITIONS, cond) else { return words.wrong(name, "a condition") };
            let test = Test { cond, width, a: words.source()?, b: words.second()? };
            match what {
                "set" => Ok(Do::Set(test)),
                "cmp" => Ok(Do::Compare(test)),
                "br" => Ok(Do::Branch(test, words.target()?)),
                _ => words.wrong(name, "an operation"),
            }
        }
        _ => words.wrong(name, "an operation"),
    }
}

fn request(words: &mut Words<'_>, answer: bool) -> Read<LaneOp> {
    let name = words.next();
    let mut asks = match name {
        "load" => {
            let count = words.number()?;
            let (signed, bytes) = words.flags(count);
            Asks::Load { bytes, signed }
        }
        "store" => {
            let count = words.number()?;
            Asks::Store { bytes: words.flags(count).1 }
        }
        "atomic" => {
            let op = words.parse("an atomic operation", |word| named(&ATOMICS, word))?;
            Asks::Atomic { op, count: words.number()? }
        }
        "helper" => Asks::Helper { number: words.number()? },
        "lookup" => Asks::Lookup { map: words.map()?, key: None },
        "update" => Asks::Update { map: words.map()?, key: None },
        "delete" => Asks::Delete { map: words.map()?, key: None },
        "tail_call" => Asks::TailCall,
        _ => {
            let Some((stem, width)) = width(name) else { return words.wrong(name, "a request") };
            let (signed, remainder) = match stem {
                "div" => (false, false),
                "sdiv" => (true, false),
                "mod" => (false, true),
                "smod" => (true, true),
                _ => return words.wrong(name, "a request"),
            };
            Asks::Divide { signed, remainder, width }
        }
    };
    let (a, b) = (words.source()?, words.source()?);
    if words.have("key") {
        let window = if words.have("packet") { Window::Packet } else { Window::Stack };
        words.have("stack");
        let at = Some(Key { window, place: InWindow(words.number()?) });
        match &mut asks {
            Asks::Lookup { key, .. } | Asks::Update { key, .. } | Asks::Delete { key, .. } => *key = at,
            _ => return words.wrong("key", "the lane's end"),
        }
    }
    Ok(Do::Request { asks, answer, a, b })
}
