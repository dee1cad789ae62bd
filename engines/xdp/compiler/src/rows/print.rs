// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows as text, a line each: windows in brackets, then the lanes with `|` between them.
//!
//! ```text
//! [p data+8] [s 60] ldp r0.1, 4:2 swap | unless 2 br.ne32 r1.0, 17, exit:2 | cmp.eq32 r1.0, 6 | -
//! ```

use std::fmt::{self, Display, Formatter};

use super::op::{Asks, Bytes, Do, Test, Window};
use super::tables::{ADJUSTS, ALU, ATOMICS, CONDITIONS, SOURCES, entry};
use super::{InWindow, Lane, Register, Row, Second, Source, Target, isa};
use crate::insn::Width;

impl Display for Register {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "r{}.{}", self.lane, self.index)
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Source::Register(register) => register.fmt(f),
            special => f.write_str(entry(&SOURCES, *special).1),
        }
    }
}

impl Display for Second<Source> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Second::Source(source) => source.fmt(f),
            Second::Imm(imm) => imm.fmt(f),
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Target::Row(row) => write!(f, "@{row}"),
            Target::Exit(verdict) => write!(f, "exit:{verdict}"),
        }
    }
}

pub(super) fn bits(width: Width) -> u8 {
    if width == Width::W32 { 32 } else { 64 }
}

pub(super) fn window(window: Window) -> &'static str {
    if window == Window::Packet { "packet" } else { "stack" }
}

struct Operands<'a>(&'a Test<Source>);

impl Display for Operands<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.0.a, self.0.b)
    }
}

fn test(test: &Test<Source>) -> String {
    format!("{}{}", entry(&CONDITIONS, test.cond).1, bits(test.width))
}

fn flags(signed: bool, bytes: Bytes) -> &'static str {
    match (signed, bytes.swap) {
        (false, false) => "",
        (true, false) => " signed",
        (false, true) => " swap",
        (true, true) => " signed swap",
    }
}

/// An operation in a lane.
struct InLane<'a>(usize, &'a Lane);

impl Display for InLane<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let InLane(index, lane) = self;
        if let Some(guard) = lane.guard {
            write!(f, "{} {} ", if guard.wanted { "if" } else { "unless" }, guard.lane)?;
        }
        let dst = Register { lane: *index as u8, index: lane.dst };
        match &lane.op {
            Do::Alu { op, width, a, b } => write!(f, "{}{} {dst}, {a}, {b}", entry(&ALU, *op).1, bits(*width)),
            Do::Move { width, from } => write!(f, "mov{} {dst}, {from}", bits(*width)),
            Do::MoveHigh { a, imm } => write!(f, "movhi {dst}, {a}, {imm}"),
            Do::Extend { bits: from, width, a } => write!(f, "sext{from}_{} {dst}, {a}", bits(*width)),
            Do::Swap { bytes, a } => write!(f, "swap{} {dst}, {a}", bytes * 8),
            Do::Field { shift, bits, left, a } => write!(f, "field {dst}, {a}, {shift}, {bits}, {left}"),
            Do::Set(it) => write!(f, "set.{} {dst}, {}", test(it), Operands(it)),
            Do::Compare(it) => write!(f, "cmp.{} {}", test(it), Operands(it)),
            Do::Branch(it, to) => write!(f, "br.{} {}, {to}", test(it), Operands(it)),
            Do::Jump(to) => write!(f, "jmp {to}"),
            Do::Exit(a) => write!(f, "exit {a}"),
            Do::Load { window, place: InWindow(first), bytes, signed } => {
                let name = if *window == Window::Packet { "ldp" } else { "lds" };
                write!(f, "{name} {dst}, {first}:{}{}", bytes.count, flags(*signed, *bytes))
            }
            Do::Store { window, place: InWindow(first), bytes, value } => {
                let name = if *window == Window::Packet { "stp" } else { "sts" };
                write!(f, "{name} {value}, {first}:{}{}", bytes.count, flags(false, *bytes))
            }
            Do::Adjust { what, by } => write!(f, "{} {dst}, {by}", entry(&ADJUSTS, *what).1),
            Do::Redirect { to } => write!(f, "redir {dst}, {to}"),
            Do::Args { k, a, b } => write!(f, "arg {k}, {a}, {b}"),
            Do::Request { asks, answer, a, b } => {
                let of = |map: &Option<u16>| map.map_or_else(|| "pointer".into(), |map| map.to_string());
                let name = match asks {
                    Asks::Load { bytes, signed } => format!("load {}{}", bytes.count, flags(*signed, *bytes)),
                    Asks::Store { bytes } => format!("store {}{}", bytes.count, flags(false, *bytes)),
                    Asks::Atomic { op, count } => format!("atomic {} {count}", entry(&ATOMICS, *op).1),
                    Asks::Divide { signed, remainder, width } => {
                        let (sign, name) = (if *signed { "s" } else { "" }, if *remainder { "mod" } else { "div" });
                        format!("{sign}{name}{}", bits(*width))
                    }
                    Asks::Helper { number } => format!("helper {number}"),
                    Asks::Lookup { map, .. } => format!("lookup {}", of(map)),
                    Asks::Update { map, .. } => format!("update {}", of(map)),
                    Asks::Delete { map, .. } => format!("delete {}", of(map)),
                    Asks::TailCall => "tail_call".into(),
                };
                if *answer {
                    write!(f, "ext {dst}, {name}, {a}, {b}")?
                } else {
                    write!(f, "ext silent, {name}, {a}, {b}")?
                }
                match asks.key() {
                    Some(key) => write!(f, ", key {} {}", window(key.window), key.place.0),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(window) = self.packet {
            write!(f, "[p {}{:+}] ", window.base, i32::from(window.offset) * isa::SIZE_WINDOW_WORD.cast_signed())?;
        }
        if let Some(word) = self.stack {
            write!(f, "[s {word}] ")?;
        }
        for (index, lane) in self.lanes.iter().enumerate() {
            let between = if index == 0 { "" } else { " | " };
            match lane {
                Some(lane) => write!(f, "{between}{}", InLane(index, lane))?,
                None => write!(f, "{between}-")?,
            }
        }
        Ok(())
    }
}
