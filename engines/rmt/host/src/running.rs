// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program at work, whether as native code or on a card in hardware, and the changes that it takes.

use std::sync::Arc;

use penstock_rmt_compiler::ir::{ActionCall, CounterId, Entry, Program, RegisterId, TableId};
use penstock_rmt_p4runtime::{Change, Count, Reason, Refusal};

use crate::answers::EventsAbout;
use crate::error::RmtError;

/// The program of a tenant at work.
pub trait Running {
    /// The program.
    fn program(&mut self) -> Result<Arc<Program>, RmtError>;

    /// The entry of a table with the same keys and priority.
    fn find(&mut self, table: TableId, like: &Entry) -> Result<Option<Entry>, RmtError>;

    /// Entries of a table, each with its direct counter's value.
    fn entries(&mut self, table: TableId) -> Result<Vec<(Entry, Count)>, RmtError>;

    /// Adds an entry that is not there yet.
    fn insert(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError>;

    /// Gives an entry that is there another action.
    fn modify(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError>;

    /// Removes an entry that is there.
    fn delete(&mut self, table: TableId, entry: &Entry) -> Result<(), RmtError>;

    /// The default action.
    fn default(&mut self, table: TableId) -> Result<ActionCall, RmtError>;

    /// Sets the default action.
    fn set_default(&mut self, table: TableId, call: &ActionCall) -> Result<(), RmtError>;

    /// Cells of a register.
    fn register(&mut self, register: RegisterId) -> Result<Vec<u128>, RmtError>;

    /// Writes a cell of a register.
    fn set_register(&mut self, register: RegisterId, index: u32, value: u128) -> Result<(), RmtError>;

    /// Cells of an indirect counter.
    fn counter(&mut self, counter: CounterId) -> Result<Vec<Count>, RmtError>;

    /// Sets a cell of an indirect counter.
    fn set_counter(&mut self, counter: CounterId, index: u32, value: Count) -> Result<(), RmtError>;

    /// What the program sent to its controller since the last time. Programs on a card in hardware send nothing.
    fn events(&mut self) -> Result<EventsAbout, RmtError> {
        Ok(EventsAbout::default())
    }
}

/// Carries out changes in their order; the result of each. If `atomic`, either all are carried out or none.
///
/// # Errors
/// The card broke.
pub fn change(
    running: &mut dyn Running,
    changes: &[Change],
    atomic: bool,
) -> Result<Vec<Result<(), Refusal>>, RmtError> {
    let mut results = Vec::new();
    let mut undo = Vec::new();
    for change in changes {
        let result = match one(running, change) {
            Ok(back) => {
                undo.extend(back);
                Ok(())
            }
            Err(error @ (RmtError::Card(_) | RmtError::Differs { .. })) => return Err(error),
            Err(error) => Err(error.refusal()),
        };
        let failed = result.is_err();
        results.push(result);
        if failed && atomic {
            for back in undo.iter().rev() {
                one(running, back)?;
            }
            let refused = results.len() - 1;
            let aborted = Err(Refusal::new(Reason::Aborted, "another change of the batch was refused"));
            let result = |at: usize| if at == refused { results[at].clone() } else { aborted.clone() };
            return Ok((0..changes.len()).map(result).collect());
        }
    }
    Ok(results)
}

/// Carries out one change; gives what undoes it.
///
/// # Errors
/// It is refused; then nothing has changed.
pub fn one(running: &mut dyn Running, change: &Change) -> Result<Vec<Change>, RmtError> {
    let program = running.program()?;
    let free = |table: TableId| match program.tables[table].const_entries {
        true => Err(Refusal::new(Reason::Denied, format!("the entries of {} are const", program.tables[table].name))),
        false => Ok(()),
    };
    let name = |table: TableId| &program.tables[table].name;
    match change {
        Change::Insert(table, entry) => {
            free(*table)?;
            if running.find(*table, entry)?.is_some() {
                return Err(Refusal::new(Reason::Exists, format!("{} has this entry already", name(*table))).into());
            }
            running.insert(*table, entry)?;
            Ok(vec![Change::Delete(*table, entry.clone())])
        }
        Change::Modify(table, entry) => {
            free(*table)?;
            let before = there(running, *table, entry, name(*table))?;
            running.modify(*table, entry)?;
            Ok(vec![Change::Modify(*table, before)])
        }
        Change::Delete(table, entry) => {
            free(*table)?;
            let before = there(running, *table, entry, name(*table))?;
            running.delete(*table, entry)?;
            Ok(vec![Change::Insert(*table, before)])
        }
        Change::Default(table, call) => {
            let about = &program.tables[*table];
            if about.const_default {
                let text = format!("the default action of {} is const", about.name);
                return Err(Refusal::new(Reason::Denied, text).into());
            }
            let before = running.default(*table)?;
            running.set_default(*table, call.as_ref().unwrap_or(&about.default))?;
            Ok(vec![Change::Default(*table, Some(before))])
        }
        Change::Register(register, index, value) => {
            let size = program.registers[*register].size;
            let mut undo = Vec::new();
            let before = running.register(*register)?;
            for cell in cells(*index, size, &program.registers[*register].name)? {
                running.set_register(*register, cell, *value)?;
                undo.extend(before.get(cell as usize).map(|value| Change::Register(*register, Some(cell), *value)));
            }
            Ok(undo)
        }
        Change::Counter(counter, index, value) => {
            let size = program.counters[*counter].size.unwrap_or(0);
            let mut undo = Vec::new();
            let before = running.counter(*counter)?;
            for cell in cells(*index, size, &program.counters[*counter].name)? {
                running.set_counter(*counter, cell, *value)?;
                undo.extend(before.get(cell as usize).map(|value| Change::Counter(*counter, Some(cell), *value)));
            }
            Ok(undo)
        }
    }
}

fn there(running: &mut dyn Running, table: TableId, like: &Entry, name: &str) -> Result<Entry, RmtError> {
    let none = || Refusal::not_found(format!("{name} has no such entry")).into();
    running.find(table, like)?.ok_or_else(none)
}

/// The cells that an index names: one, or all.
fn cells(index: Option<u32>, size: u32, name: &str) -> Result<std::ops::Range<u32>, Refusal> {
    match index {
        None => Ok(0..size),
        Some(index) if index < size => Ok(index..index + 1),
        Some(index) => Err(Refusal::range(format!("{name} has {size} cells, from 0, and not cell {index}"))),
    }
}
