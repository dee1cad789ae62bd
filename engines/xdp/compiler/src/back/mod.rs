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
mod place;
mod registers;
mod rename;
mod reuse;
mod schedule;
mod spill;
mod tidy;

pub use link::{Linked, link};

use code::Code;
use place::Placed;

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
    let Placed { rows, claims, code, spilled } = place::place(&code, options.lanes, free)?;
    let words = words(&rows, options.lanes)?;
    prove(&code, &words, &claims, options.lanes)?;
    Ok(Compiled { rows, words, code, claims, spilled })
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

fn words(rows: &[Row], lanes: Lanes) -> Result<Vec<Vec<u32>>, BackError> {
    if rows.len() > isa::SIZE_ROWS as usize {
        return Err(BackError::TooLong { rows: rows.len() });
    }
    let encoded = |(row, it)| encode(it, lanes).map_err(|source| BackError::Encoding { row, source });
    rows.iter().enumerate().map(encoded).collect()
}
