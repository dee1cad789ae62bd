// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From [`crate::ir`] to the rows of the core.
//!
//! `lower` chooses lane operations; `coalesce`, `tidy` and `absorb` make long runs of them, `reuse` removes duplicates
//! in such a run, and `schedule` packs operations into rows; `registers` gives each variable a register of the lane
//! that writes it, and `spill` moves variables to the stack if registers run out.

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

use std::fmt::{self, Display, Formatter};

pub use link::{Linked, link};

use code::Code;
use place::Placed;

use crate::ir::Program;
use crate::prove::{Claims, Unproven, prove};
use crate::rows::{EncodeError, Lanes, Row, encode, isa};

/// The target of a compilation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The lanes of the core.
    pub lanes: Lanes,
    /// Bytes of stack that the program uses, counted down from its end; the bytes below are free.
    pub stack: u32,
}

/// A program that has no rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum BackError {
    #[error(
        "the program needs {rows} rows; the core has {}: make it shorter, or divide it with tail calls{others}",
        isa::SIZE_ROWS
    )]
    TooLong { rows: usize, others: Others },
    #[error(
        "more values are wanted at once than registers and {free} bytes of unused stack can hold; use fewer variables \
         at a time{}{others}",
        less(*.stack)
    )]
    NoRoom { free: u32, stack: u32, others: Others },
    #[error(
        "instruction {slot} needs more values at once than a lane has registers, even with all other values on the \
         stack; divide the expression{others}"
    )]
    NoRegisters { slot: usize, others: Others },
    #[error("row {row} has no encoding: {source}")]
    Encoding { row: usize, source: EncodeError },
    #[error(
        "the compiler has made rows that it cannot prove to be right ({0}); that is its own fault: report it with the \
         program"
    )]
    Unproven(#[from] Unproven),
}

/// Other numbers of lanes at which a program does have rows: lanes, rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Others(Vec<(usize, usize)>);

impl Display for Others {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        for (at, (lanes, rows)) in self.0.iter().enumerate() {
            let before = if at == 0 { "; with" } else { ", with" };
            write!(f, "{before} {lanes} lanes it fits in {rows} rows")?;
        }
        Ok(())
    }
}

impl BackError {
    /// Reserves places for everything else, for errors that another number of lanes may not have.
    fn others(&mut self) -> Option<&mut Others> {
        match self {
            BackError::TooLong { others, .. }
            | BackError::NoRoom { others, .. }
            | BackError::NoRegisters { others, .. } => Some(others),
            BackError::Encoding { .. } | BackError::Unproven(_) => None,
        }
    }
}

/// A further way out for programs that use much stack.
fn less(stack: u32) -> String {
    if stack > 0 { format!(", or less than {stack} bytes of stack") } else { String::new() }
}

/// Rows, with their nodes.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The program as the core runs it.
    pub rows: Vec<Row>,
    /// The same as the core reads them: of each row the words of [`encode`].
    pub words: Vec<Vec<u32>>,
    /// The nodes that the rows carry out.
    pub code: Code,
    /// The claims that were proven of them.
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
    compile_at(program, *options).map_err(|mut error| {
        if let Some(others) = error.others() {
            let at = |lanes: Lanes| {
                let compiled = compile_at(program, Options { lanes, ..*options }).ok()?;
                Some((lanes.count(), compiled.rows.len()))
            };
            others.0 = Lanes::ALL.into_iter().filter(|lanes| *lanes != options.lanes).filter_map(at).collect();
        }
        error
    })
}

fn compile_at(program: &Program, options: Options) -> Result<Compiled, BackError> {
    let mut code = lower::lower(program);
    tidy::tidy(&mut code);
    coalesce::coalesce(&mut code, options.lanes);
    let free = isa::SIZE_STACK.saturating_sub(options.stack);
    let Placed { rows, claims, code, spilled } = place::place(&shapes(&code, options.lanes), options.lanes, free)?;
    let words = words(&rows, options.lanes)?;
    prove(&code, &words, &claims, options.lanes)?;
    Ok(Compiled { rows, words, code, claims, spilled })
}

/// A program in the shapes that suit this number of lanes and each smaller one: a row with room for many guarded
/// operations is not always a reason to have them. The one for all lanes is the first.
fn shapes(code: &Code, lanes: Lanes) -> Vec<(Code, Lanes)> {
    let mut shapes = Vec::new();
    for narrow in Lanes::ALL.into_iter().rev().filter(|it| it.count() <= lanes.count()) {
        let shape = shaped(code.clone(), narrow);
        shapes.push((shape.clone(), lanes));
        shapes.push((shape, narrow));
    }
    shapes
}

/// Long runs instead of many branches.
fn shaped(mut code: Code, lanes: Lanes) -> Code {
    loop {
        while tidy::tidy(&mut code) {}
        if !absorb::absorb(&mut code, lanes) {
            break;
        }
    }
    reuse::reuse(&mut code);
    code
}

fn words(rows: &[Row], lanes: Lanes) -> Result<Vec<Vec<u32>>, BackError> {
    if rows.len() > isa::SIZE_ROWS as usize {
        return Err(BackError::TooLong { rows: rows.len(), others: Others::default() });
    }
    let encoded = |(row, it)| encode(it, lanes).map_err(|source| BackError::Encoding { row, source });
    rows.iter().enumerate().map(encoded).collect()
}
