// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What the server asks of a card.

use std::sync::Arc;

use penstock_rmt_compiler::ir::{ActionCall, CounterId, Entry, Program, RegisterId, TableId};
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// The program of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Its source: what P4Runtime calls the device config.
    pub source: String,
    /// The program.
    pub program: Program,
    /// The number that the controller gave the program when it loaded it; 0 if no controller did.
    pub cookie: u64,
}

/// A counter's value. A counter of packets has no bytes, and the other way round: 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Count {
    /// Frames.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A change of what a program works with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Adds an entry.
    Insert(TableId, Entry),
    /// Gives an entry another action.
    Modify(TableId, Entry),
    /// Removes an entry; its action does not matter.
    Delete(TableId, Entry),
    /// Sets the default action; None: the one of the source.
    Default(TableId, Option<ActionCall>),
    /// Writes a cell of a register; None: all cells.
    Register(RegisterId, Option<u32>, u128),
    /// Sets a cell of an indirect counter; None: all cells.
    Counter(CounterId, Option<u32>, Count),
}

/// A card with programs. P4Runtime's device N is the program of tenant N.
///
/// Indices are those of the program that [`Switch::loaded`] gave. If another one was loaded since, the request is refused.
pub trait Switch: Send + Sync + 'static {
    /// The program of a device; None if it has none.
    ///
    /// # Errors
    /// There is no such device.
    fn loaded(&self, device: u64) -> Result<Option<Arc<Loaded>>, Refusal>;

    /// Compiles a program, checks that it fits, and if `commit` gives it to the device, between two frames. Entries, registers and counters begin anew.
    ///
    /// # Errors
    /// The program has faults or does not fit, which the message explains.
    fn load(&self, device: u64, source: &str, cookie: u64, commit: bool) -> Result<Arc<Loaded>, Refusal>;

    /// Carries out changes in their order; the result of each. If `atomic`, either all are carried out or none.
    ///
    /// # Errors
    /// The request as a whole is refused.
    fn write(&self, device: u64, changes: &[Change], atomic: bool) -> Result<Vec<Result<(), Refusal>>, Refusal>;

    /// Entries of a table, those of the source included, each with its direct counter's value, and the default action.
    ///
    /// # Errors
    /// The card refuses.
    fn entries(&self, device: u64, table: TableId) -> Result<(Vec<(Entry, Count)>, ActionCall), Refusal>;

    /// Cells of a register.
    ///
    /// # Errors
    /// The card refuses.
    fn register(&self, device: u64, register: RegisterId) -> Result<Vec<u128>, Refusal>;

    /// Cells of an indirect counter.
    ///
    /// # Errors
    /// The card refuses.
    fn counter(&self, device: u64, counter: CounterId) -> Result<Vec<Count>, Refusal>;
}
