// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program at work, whether as native code or on a card in hardware, and the changes that it takes.

use std::sync::Arc;

use penstock_rmt_compiler::ir::{
    ActionCall, CounterId, Entry, Match, MeterId, Program, Rates, RegisterId, TableId, ValueSetId,
};
use penstock_rmt_p4runtime::{Act, Atomic, Change, Count, EntryState, Object, ObjectKind, Reason, Refusal, Streamed};

use crate::answers::EventsAbout;
use crate::error::RmtError;
use crate::objects;

/// The program of a tenant at work.
pub(crate) trait Running {
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

    /// How many entries a table has.
    fn size(&mut self, table: TableId) -> Result<usize, RmtError> {
        Ok(self.entries(table)?.len())
    }

    /// Counter, rates and idle time of an entry.
    fn entry_state(&mut self, table: TableId, like: &Entry) -> Result<EntryState, RmtError>;

    /// Sets the direct counter of an entry that is there.
    fn set_entry_counter(&mut self, table: TableId, like: &Entry, value: Count) -> Result<(), RmtError>;

    /// Sets the rates of the direct meter of an entry that is there.
    fn set_entry_meter(&mut self, table: TableId, like: &Entry, rates: Option<Rates>) -> Result<(), RmtError>;

    /// Rates of the cells of an indirect meter.
    fn meter(&mut self, meter: MeterId) -> Result<Vec<Option<Rates>>, RmtError>;

    /// Sets the rates of a cell of an indirect meter.
    fn set_meter(&mut self, meter: MeterId, index: u32, rates: Option<Rates>) -> Result<(), RmtError>;

    /// Members of a value set.
    fn value_set(&mut self, _set: ValueSetId) -> Result<Vec<Vec<Match>>, RmtError> {
        soft_only("there are no value sets")
    }

    /// Gives a value set other members.
    fn set_value_set(&mut self, _set: ValueSetId, _members: &[Vec<Match>]) -> Result<(), RmtError> {
        soft_only("there are no value sets")
    }

    /// Objects of a kind, by their numbers.
    fn objects(&mut self, _kind: ObjectKind) -> Result<Vec<Object>, RmtError> {
        Ok(Vec::new())
    }

    /// The object of the same kind and number.
    fn object(&mut self, like: &Object) -> Result<Option<Object>, RmtError> {
        Ok(self.objects(objects::kind(like))?.into_iter().find(|one| objects::is_same(one, like)))
    }

    /// Sets an object as it is given, or takes it away.
    fn put(&mut self, object: &Object, is_there: bool) -> Result<(), RmtError>;

    /// The messages of the program to its controller since the last call.
    fn events(&mut self) -> Result<EventsAbout, RmtError>;

    /// Takes what the program has for P4Runtime controllers.
    fn stream(&mut self) -> Result<Streamed, RmtError>;

    /// Takes a frame of a controller, which enters the program next.
    fn send(&mut self, frame: Vec<u8>) -> Result<(), RmtError>;

    /// No frame meets a part of a batch.
    fn is_atomic(&self) -> bool {
        false
    }
}

/// Refuses what only native code has.
///
/// # Errors
/// Always.
pub(crate) fn soft_only<T>(what: &str) -> Result<T, RmtError> {
    Err(RmtError::Unsupported(format!("{what} on the card in hardware yet; use target soft")))
}

/// Carries out changes in their order; the result of each.
///
/// # Errors
/// The card broke.
pub(crate) fn change(
    running: &mut dyn Running,
    changes: &[Change],
    atomic: Atomic,
) -> Result<Vec<Result<(), Refusal>>, RmtError> {
    if atomic == Atomic::Dataplane && !running.is_atomic() {
        return soft_only("a batch is not atomic for frames");
    }
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
        if failed && atomic != Atomic::No {
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
pub(crate) fn one(running: &mut dyn Running, change: &Change) -> Result<Vec<Change>, RmtError> {
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
            check_via(running, &program, *table, entry)?;
            running.insert(*table, entry)?;
            Ok(vec![Change::Delete(*table, entry.clone())])
        }
        Change::Modify(table, entry) => {
            free(*table)?;
            let before = there(running, *table, entry, name(*table))?;
            check_via(running, &program, *table, entry)?;
            running.modify(*table, entry)?;
            Ok(vec![Change::Modify(*table, before)])
        }
        Change::Delete(table, entry) => {
            free(*table)?;
            let before = there(running, *table, entry, name(*table))?;
            let state = running.entry_state(*table, entry)?;
            running.delete(*table, entry)?;
            let mut undo = vec![Change::Insert(*table, before)];
            if program.tables[*table].counter.is_some() {
                undo.push(Change::EntryCounter(*table, entry.clone(), state.count));
            }
            if state.rates.is_some() {
                undo.push(Change::EntryMeter(*table, entry.clone(), state.rates));
            }
            Ok(vec![Change::All(undo)])
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
        Change::EntryCounter(table, entry, value) => {
            there(running, *table, entry, name(*table))?;
            let before = running.entry_state(*table, entry)?.count;
            running.set_entry_counter(*table, entry, *value)?;
            Ok(vec![Change::EntryCounter(*table, entry.clone(), before)])
        }
        Change::EntryMeter(table, entry, rates) => {
            there(running, *table, entry, name(*table))?;
            let before = running.entry_state(*table, entry)?.rates;
            running.set_entry_meter(*table, entry, *rates)?;
            Ok(vec![Change::EntryMeter(*table, entry.clone(), before)])
        }
        Change::Meter(meter, index, rates) => {
            let size = program.meters[*meter].size.unwrap_or(0);
            let mut undo = Vec::new();
            let before = running.meter(*meter)?;
            for cell in cells(*index, size, &program.meters[*meter].name)? {
                running.set_meter(*meter, cell, *rates)?;
                undo.extend(before.get(cell as usize).map(|rates| Change::Meter(*meter, Some(cell), *rates)));
            }
            Ok(undo)
        }
        Change::ValueSet(set, members) => {
            let about = &program.value_sets[*set];
            if members.len() > about.size as usize {
                let text = format!("{} holds {} members, not {}", about.name, about.size, members.len());
                return Err(Refusal::new(Reason::Full, text).into());
            }
            let before = running.value_set(*set)?;
            running.set_value_set(*set, members)?;
            Ok(vec![Change::ValueSet(*set, before)])
        }
        Change::Object(act, object) => {
            let before = running.object(object)?;
            match (act, &before) {
                (Act::Insert, Some(_)) => {
                    let text = format!("{} is there already: modify it", objects::name(&program, object));
                    return Err(Refusal::new(Reason::Exists, text).into());
                }
                (Act::Modify | Act::Delete, None) => {
                    return Err(Refusal::not_found(format!("there is no {}", objects::name(&program, object))).into());
                }
                _ => {}
            }
            match act {
                Act::Delete => objects::check_unused(running, &program, object)?,
                _ => objects::check(running, &program, object)?,
            }
            running.put(object, *act != Act::Delete)?;
            Ok(vec![match (act, before) {
                (Act::Delete, Some(before)) => Change::Object(Act::Insert, before),
                (_, Some(before)) => Change::Object(Act::Modify, before),
                (_, None) => Change::Object(Act::Delete, object.clone()),
            }])
        }
        Change::All(changes) => {
            let mut undo = Vec::new();
            for change in changes {
                match one(running, change) {
                    Ok(back) => undo.extend(back),
                    Err(error) => {
                        for back in undo.iter().rev() {
                            one(running, back)?;
                        }
                        return Err(error);
                    }
                }
            }
            undo.reverse();
            Ok(vec![Change::All(undo)])
        }
    }
}

/// Checks that what an entry leads to is there.
fn check_via(running: &mut dyn Running, program: &Program, table: TableId, entry: &Entry) -> Result<(), RmtError> {
    let Some(profile) = program.tables[table].profile else { return Ok(()) };
    objects::check_via(running, program, profile, entry)
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
