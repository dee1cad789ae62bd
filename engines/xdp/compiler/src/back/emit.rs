// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows out of a schedule and its registers.

use super::code::{At, Src, To};
use super::open_row::{Item, OpenRow};
use super::schedule::Schedule;
use crate::rows::{Guard, InWindow, Lane, Lanes, PacketWindow, Register, Row, Source, Target, Window, isa};

/// The rows, and where each block begins.
pub(super) fn emit(schedule: &Schedule, registers: &[Option<Register>], lanes: Lanes) -> Vec<Row> {
    let mut starts = vec![0u16; schedule.blocks.iter().map(|it| it.block + 1).max().unwrap_or(0)];
    let mut count = 0;
    for scheduled in &schedule.blocks {
        starts[scheduled.block] = count;
        count = count.saturating_add(scheduled.rows.len() as u16);
    }
    let emitter = Emitter { starts, registers, lanes };
    schedule.blocks.iter().flat_map(|it| &it.rows).map(|row| emitter.row(row)).collect()
}

struct Emitter<'a> {
    starts: Vec<u16>,
    registers: &'a [Option<Register>],
    lanes: Lanes,
}

impl Emitter<'_> {
    fn row(&self, open: &OpenRow) -> Row {
        let packet = open.packet_window();
        let stack = open.stack_window();
        let mut row = Row {
            packet: packet.map(|(base, word)| PacketWindow { base: self.source(base), offset: word as i16 }),
            stack: stack.map(|word| word as u8),
            lanes: vec![None; self.lanes.count()],
        };
        let unit = isa::SIZE_WINDOW_WORD.cast_signed();
        let first = |window: Window, at: At| {
            let word = if window == Window::Packet { packet.map(|(_, word)| word) } else { stack };
            InWindow((at.offset - word.unwrap_or(0) * unit) as u8)
        };
        for (item, lane) in open.items.iter().zip(&open.lanes) {
            row.lanes[usize::from(*lane)] = Some(Lane {
                op: item.op.map(|src| self.source(src), first, |to| self.target(to)),
                dst: item.dst.and_then(|dst| self.registers[dst.index()]).map_or(0, |register| register.index),
                guard: self.guard(open, item),
            });
        }
        row
    }

    fn guard(&self, open: &OpenRow, item: &Item) -> Option<Guard> {
        let (provider, wanted) = open.provider(item.guard?)?;
        Some(Guard { lane: open.lanes[provider], wanted })
    }

    /// A variable that is read though nothing gives it a value has no register; any will do.
    fn source(&self, src: Src) -> Source {
        match src {
            Src::Var(var) => self.registers[var.index()].map_or(Source::Zero, Source::Register),
            Src::Zero => Source::Zero,
            Src::Special(special) => Source::Special(special),
        }
    }

    fn target(&self, to: To) -> Target {
        match to {
            To::Block(block) => Target::Row(self.starts[block]),
            To::Exit(verdict) => Target::Exit(verdict),
        }
    }
}
