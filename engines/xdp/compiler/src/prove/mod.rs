// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Proves that rows do what the code before scheduling does (translation validation: Pnueli, Siegel, Singerman, TACAS
//! 1998).
//!
//! It reads the bits that the core reads and does not rely on the scheduler: which variable is in which register and
//! where blocks begin are claims, and the proof checks them. Every way through a block, from its beginning to where it
//! leaves, is carried out twice with unknown values, once node after node, once row after row as engines/xdp/core.md
//! says. Both must leave for the same place, with the same values in the variables that are read there, the same
//! memory, the same requests in the same order. The invariant that each variable is in its register at the start of
//! every block then holds throughout.

mod limits;
mod live;
mod memory;
mod nodes;
mod rows;
mod state;
mod value;

use std::ops::Range;

use live::Live;
use nodes::{Leaves, Walked};
use state::State;
use value::{Assumed, Values};

use crate::back::code::{Code, To};
use crate::rows::{DecodeError, Lanes, Register, Row, Target, decode};

/// The compiler's claims about its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// By variable, its register; None: nothing gives it a value.
    pub registers: Vec<Option<Register>>,
    /// The rows of each block; None: the block has no rows.
    pub rows: Vec<Option<Range<usize>>>,
}

/// Rows that are not proven: they are wrong, or do something that this proof does not understand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{why}", place(*block, *row))]
pub struct Unproven {
    /// The block of the nodes, if the fault has one.
    pub block: Option<usize>,
    /// The row, if the fault has one.
    pub row: Option<usize>,
    /// The fault.
    pub why: Why,
}

fn place(block: Option<usize>, row: Option<usize>) -> String {
    let named = |what: &str, number: Option<usize>| number.map_or_else(String::new, |n| format!("{what} {n}: "));
    named("block", block) + &named("row", row)
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum Why {
    #[error("{0}")]
    Decode(#[from] DecodeError),
    #[error("{0}")]
    Limit(#[from] limits::Limit),
    #[error("the rows of the block are not where they are said to be")]
    Place,
    #[error("it goes on behind the last row")]
    Behind,
    #[error("lane {0} leaves, or does not, by what the code does not ask here")]
    Asked(usize),
    #[error("lane {0} acts, or does not, by what the code does not ask here")]
    Acts(usize),
    #[error("lanes {0} and {1} may store the same byte")]
    TwoStores(usize, usize),
    #[error("lane {0} does what does not go together with what else the row does")]
    Together(usize),
    #[error("the rows leave for another place than the code, or before it, or behind it")]
    Leaves,
    #[error("the result differs")]
    Result,
    #[error("variable {0} has another value in its register than in the code")]
    Variable(u32),
    #[error("memory differs: stores are missing, others, or in another order")]
    Memory,
    #[error("requests, moves of the packet or redirections differ, or come in another order")]
    Outside,
    #[error("arguments of a request differ")]
    Arguments,
    #[error("the clock is read where it cannot be")]
    Clock,
}

/// Proves that rows, as their bits, do what the code does.
///
/// # Errors
/// The first difference.
pub fn prove(code: &Code, words: &[Vec<u32>], claims: &Claims, lanes: Lanes) -> Result<(), Unproven> {
    let at = |row, why| Unproven { block: None, row: Some(row), why };
    let mut rows = Vec::with_capacity(words.len());
    for (number, words) in words.iter().enumerate() {
        let row = decode(words, lanes).map_err(|error| at(number, error.into()))?;
        limits::within(&row, lanes).map_err(|limit| at(number, limit.into()))?;
        rows.push(row);
    }
    let begins = |range: &Option<Range<usize>>| range.as_ref().is_some_and(|range| range.start == 0);
    if !claims.rows.first().is_some_and(begins) {
        return Err(Unproven { block: Some(0), row: None, why: Why::Place });
    }
    let live = Live::of(code);
    for block in 0..code.blocks.len() {
        let Some(range) = claims.rows.get(block).cloned().flatten() else { continue };
        let mut proof = Proof { code, rows: &rows, claims, live: &live, block, range, values: Values::default() };
        proof.ways(&Assumed::default())?;
    }
    Ok(())
}

/// The proof of a block.
struct Proof<'a> {
    code: &'a Code,
    rows: &'a [Row],
    claims: &'a Claims,
    live: &'a Live,
    block: usize,
    range: Range<usize>,
    values: Values,
}

impl Proof<'_> {
    /// All ways through the block on which the comparisons have the assumed results.
    fn ways(&mut self, assumed: &Assumed) -> Result<(), Unproven> {
        let walked = self.nodes(assumed).map_err(|why| self.unproven(None, why))?;
        match walked {
            Walked::Open(test) => {
                for holds in [false, true] {
                    self.ways(&assumed.with(test, holds))?;
                }
                Ok(())
            }
            Walked::Left(way) => {
                let (row, leaves, registers, state) = self.follow(&way, assumed)?;
                let same = self.same(&way, leaves, &registers, &state);
                same.map_err(|why| self.unproven(Some(row), why))
            }
        }
    }

    fn unproven(&self, row: Option<usize>, why: Why) -> Unproven {
        Unproven { block: Some(self.block), row, why }
    }

    /// The symbol for a variable's value at the beginning of the block.
    fn at_beginning(&mut self, var: usize) -> value::Val {
        match self.claims.registers.get(var).copied().flatten() {
            _ if !self.live.contains(self.block, var) => self.values.lost(var),
            Some(register) => self.values.register(register),
            // Nothing in the whole program gives it a value.
            None => self.values.zero(),
        }
    }

    /// Whether both sides leave alike.
    fn same(
        &mut self,
        way: &nodes::Way,
        leaves: rows::Leaves,
        registers: &rows::Registers,
        state: &State,
    ) -> Result<(), Why> {
        let block = match (way.leaves, leaves) {
            (Leaves::Result(wanted), rows::Leaves::Result(found)) => {
                if wanted != found {
                    return Err(Why::Result);
                }
                None
            }
            (Leaves::To(To::Exit(wanted)), rows::Leaves::To(Target::Exit(found))) => {
                if wanted != found {
                    return Err(Why::Result);
                }
                None
            }
            (Leaves::To(To::Block(block)), rows::Leaves::To(Target::Row(row))) => {
                let range = self.claims.rows.get(block).and_then(Option::as_ref);
                if range.is_none_or(|range| range.start != usize::from(row)) {
                    return Err(Why::Leaves);
                }
                Some(block)
            }
            _ => return Err(Why::Leaves),
        };
        self.values.same_outside(&way.state, state, block.is_some())?;
        let Some(block) = block else { return Ok(()) };
        for var in self.live.at(block) {
            let wanted = way.vars[var];
            let found = match self.claims.registers.get(var).copied().flatten() {
                Some(register) => registers.get(&mut self.values, register),
                None => self.values.zero(),
            };
            if wanted != found {
                return Err(Why::Variable(var as u32));
            }
        }
        Ok(())
    }
}
