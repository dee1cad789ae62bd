// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program as the machine takes it.

use penstock_rmt_compiler::ir::{ActionId, TableId};

use crate::error::RmtError;
use crate::image::Source;

/// What the machine is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lower {
    /// Stages.
    pub stages: usize,
    /// Depths of the parser.
    pub depths: usize,
}

/// Bits of a value in a word of a key or of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Which value: key of the table, or parameter of the action.
    pub value: usize,
    /// Its lowest bit that is taken, and how many.
    pub low: u32,
    pub width: u32,
    /// The word, and the lowest bit there.
    pub word: usize,
    pub shift: u32,
}

/// The words that pieces of values make.
pub fn words(pieces: &[Piece], values: &[u128]) -> [u32; 4] {
    let mut words = [0; 4];
    for piece in pieces {
        let value = values.get(piece.value).copied().unwrap_or(0) >> piece.low;
        let mask = if piece.width >= 32 { u32::MAX } else { (1 << piece.width) - 1 };
        words[piece.word] |= (value as u32 & mask) << piece.shift;
    }
    words
}

/// How the entries of a table are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// By a hash of the key.
    Exact,
    /// In a tree of prefixes.
    Prefix,
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    pub stage: usize,
    pub kind: Kind,
    pub key: Vec<Piece>,
    /// Number of each action in its stage, and where its parameters go.
    pub actions: Vec<(ActionId, u32, Vec<Piece>)>,
}

/// A stage.
#[derive(Debug, Clone)]
pub struct Stage {
    /// The row of KEY, without partition and default action.
    pub key: [u32; 12],
    pub actions: Vec<[u32; 27]>,
    pub table: Option<TableId>,
    /// Registers that the program needs there.
    pub registers: u32,
}

/// Where a register's cells are.
#[derive(Debug, Clone, Copy)]
pub struct Register {
    pub stage: usize,
    /// First cell in the tenant's segment.
    pub offset: u32,
}

/// A program as the machine takes it.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// Rows of the parser: depths, states.
    pub parser: Vec<Vec<[u32; 12]>>,
    pub check: [u32; 4],
    pub exit: [u32; 4],
    pub stages: Vec<Stage>,
    pub tables: Vec<Table>,
    pub registers: Vec<Register>,
}

impl Lowered {
    /// Lowers a program.
    ///
    /// # Errors
    /// It does not fit.
    pub fn of(_: &Source, _: &Lower) -> Result<Self, RmtError> {
        Err(RmtError::Unsupported("rmt blocks run on soft only yet; use target soft".to_owned()))
    }

    /// Whether the program has registers.
    pub fn is_stateful(&self) -> bool {
        self.stages.iter().any(|stage| stage.registers > 0)
    }
}
