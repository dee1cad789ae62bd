// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From [`crate::ir`] to the rows of the core.
//!
//! `lower` chooses lane operations; `coalesce`, `tidy` and `absorb` make long runs of them, `reuse` takes out what such a run has twice, and `schedule`
//! finds what can go into a row together; `registers` gives each variable a register of the lane it is made in, and `spill` moves one to the stack when there is none.

pub mod absorb;
mod coalesce;
pub mod code;
mod depend;
mod emit;
mod link;
mod live;
mod lower;
mod open_row;
mod registers;
mod rename;
mod reuse;
mod schedule;
mod spill;
mod tidy;

use std::ops::Range;

pub use link::{Linked, link};

use code::Code;
use registers::Short;
use schedule::{Reach, Schedule};

use crate::ir::Program;
use crate::prove::{Claims, Unproven, prove};
use crate::rows::{EncodeError, Lanes, Row, encode, isa};

/// What rows are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    pub lanes: Lanes,
    /// Bytes of the stack that the program uses, from its end down; what is below is free.
    pub stack: u32,
}

/// A program that has no rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackError {
    #[error(
        "the program needs {rows} rows; the core has {}: make it shorter, or divide it with tail calls",
        isa::SIZE_ROWS
    )]
    TooLong { rows: usize },
    #[error(
        "more values are wanted at once than registers and {free} bytes of unused stack can hold; use fewer variables at a time{}",
        less(*.stack)
    )]
    NoRoom { free: u32, stack: u32 },
    #[error(
        "instruction {slot}: a lane has not the registers that are wanted at once here, wherever all other values are; divide the expression, \
         or compile for another number of lanes"
    )]
    NoRegisters { slot: usize },
    #[error("row {row} has no encoding: {source}")]
    Encoding { row: usize, source: EncodeError },
    #[error(
        "the compiler has made rows that it cannot prove to be right ({0}); that is its own fault: report it with the program"
    )]
    Unproven(#[from] Unproven),
}

/// What else would help where a program uses so much of the stack.
fn less(stack: u32) -> String {
    if stack > 0 { format!(", or less than {stack} bytes of stack") } else { String::new() }
}

/// Rows, and what they were made of.
#[derive(Debug, Clone)]
pub struct Compiled {
    pub rows: Vec<Row>,
    /// The same as the core reads them: of each row the words of [`encode`].
    pub words: Vec<Vec<u32>>,
    pub code: Code,
    /// What was proven of them.
    pub claims: Claims,
    /// Variables that live on the stack.
    pub spilled: usize,
}

impl Compiled {
    /// Operations in all rows.
    pub fn operations(&self) -> usize {
        self.rows.iter().map(|row| row.lanes.iter().flatten().count()).sum()
    }
}

/// Makes rows of a program, and proves that they do what the code before scheduling does.
///
/// # Errors
/// It is too long, or needs more room for its values than there is.
pub fn compile(program: &Program, options: &Options) -> Result<Compiled, BackError> {
    let mut code = lower::lower(program);
    tidy::tidy(&mut code);
    coalesce::coalesce(&mut code, options.lanes);
    shape(&mut code, options.lanes);
    reuse::reuse(&mut code);
    let free = isa::SIZE_STACK.saturating_sub(options.stack);
    let mut fixed = Vec::new();
    for spilled in 0.. {
        let short = match place(&code, options.lanes, &fixed) {
            Ok((rows, claims)) => {
                let words = words(&rows, options.lanes)?;
                prove(&code, &words, &claims, options.lanes)?;
                return Ok(Compiled { rows, words, code, claims, spilled });
            }
            Err(short) => short,
        };
        // A variable that was made to spill another is as short-lived as can be.
        if fixed.contains(&short.0) {
            return Err(BackError::NoRegisters { slot: slot(&code, short.0) });
        }
        let offset = spilled as u32 * spill::SLOT_BYTES;
        if offset + spill::SLOT_BYTES > free {
            break;
        }
        fixed.extend(spill::spill(&mut code, short.0, offset));
    }
    Err(BackError::NoRoom { free, stack: options.stack })
}

/// Long runs instead of many branches.
fn shape(code: &mut Code, lanes: Lanes) {
    loop {
        while tidy::tidy(code) {}
        if !absorb::absorb(code, lanes) {
            break;
        }
    }
}

/// Rows and registers, looking less far ahead when registers are short.
fn place(code: &Code, lanes: Lanes, fixed: &[code::Var]) -> Result<(Vec<Row>, Claims), Short> {
    let order = order(code);
    let mut result = Err(Short(code::Var(0)));
    for reach in [usize::MAX, 8 * lanes.count(), 2 * lanes.count(), 1] {
        let schedule = schedule::schedule(code, &order, lanes, Reach(reach));
        match registers::registers(code, &schedule, lanes, fixed) {
            Ok(registers) => {
                let rows = emit::emit(&schedule, &registers, lanes);
                return Ok((rows, Claims { registers, rows: places(code, &schedule) }));
            }
            Err(short) => result = Err(short),
        }
    }
    result
}

/// Where the rows of each block stand.
fn places(code: &Code, schedule: &Schedule) -> Vec<Option<Range<usize>>> {
    let mut places = vec![None; code.blocks.len()];
    let mut at = 0;
    for scheduled in &schedule.blocks {
        places[scheduled.block] = Some(at..at + scheduled.rows.len());
        at += scheduled.rows.len();
    }
    places
}

/// The order in which blocks stand: behind each the one to which it leads at its end, where that stands nowhere yet.
fn order(code: &Code) -> Vec<usize> {
    let mut order = Vec::new();
    let mut placed = vec![false; code.blocks.len()];
    let mut open = vec![0];
    while let Some(mut block) = open.pop() {
        while !std::mem::replace(&mut placed[block], true) {
            order.push(block);
            let mut next: Vec<usize> = code.blocks[block].next().collect();
            let last = code.blocks[block].nodes.last().and_then(code::Node::next);
            next.reverse();
            open.extend(&next);
            match last {
                Some(last) => block = last,
                None => break,
            }
        }
    }
    order
}

/// Where in the checked program a variable is first named.
fn slot(code: &Code, var: code::Var) -> usize {
    let names = |node: &&code::Node| node.dst == Some(var) || node.uses().any(|used| used == var);
    code.blocks.iter().flat_map(|block| &block.nodes).find(names).map_or(0, |node| node.slot)
}

fn words(rows: &[Row], lanes: Lanes) -> Result<Vec<Vec<u32>>, BackError> {
    if rows.len() > isa::SIZE_ROWS as usize {
        return Err(BackError::TooLong { rows: rows.len() });
    }
    let encoded = |(row, it)| encode(it, lanes).map_err(|source| BackError::Encoding { row, source });
    rows.iter().enumerate().map(encoded).collect()
}
