// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Requests about the tables, registers and counters of one program.

use penstock_rmt_compiler::ir::{MatchKind, Program};
use penstock_rmt_p4runtime::{Change, Count, Reason, Refusal};
use serde_json::{Value as Json, json};

use crate::answers::{ActionAbout, CounterAbout, KeyAbout, RegisterAbout, TableAbout};
use crate::ask::NamedChange;
use crate::entry::{Meant, NamedEntry, find, table};
use crate::error::RmtError;
use crate::running::{Running, change, one};
use crate::value;

/// The changes were meant for another program.
pub fn other_program() -> Refusal {
    Refusal::new(Reason::Precondition, "another program was loaded meanwhile; read it again")
}

/// The tables.
pub fn tables(running: &mut dyn Running) -> Result<Json, RmtError> {
    let program = running.program()?;
    let mut all = Vec::new();
    for (at, table) in program.tables.iter().enumerate() {
        let key = |key: &penstock_rmt_compiler::ir::Key| KeyAbout {
            name: key.name.clone(),
            width: key.width,
            kind: word(key.kind).to_owned(),
        };
        let action = |one: &penstock_rmt_compiler::ir::ActionRef| {
            let action = &program.actions[one.action];
            let params = action.params.iter().map(|param| (param.name.clone(), param.width)).collect();
            ActionAbout { name: action.name.clone(), params }
        };
        all.push(TableAbout {
            name: table.name.clone(),
            keys: table.keys.iter().map(key).collect(),
            actions: table.actions.iter().map(action).collect(),
            entries: running.entries(at)?.len(),
            size: table.size,
            is_const: table.const_entries,
            default: NamedEntry::of_default(&program, at, Some(&running.default(at)?)),
        });
    }
    Ok(json!(all))
}

/// The name of a kind of match.
pub fn word(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary => "ternary",
        MatchKind::Range => "range",
        MatchKind::Optional => "optional",
    }
}

/// Entries of a table and its default action.
pub fn entries(running: &mut dyn Running, name: &str) -> Result<Json, RmtError> {
    let program = running.program()?;
    let (at, about) = table(&program, name)?;
    let counted = about.counter.is_some();
    let named = |(entry, count): &(_, Count)| NamedEntry {
        count: counted.then_some(*count),
        ..NamedEntry::of_entry(&program, at, entry)
    };
    let mut all: Vec<_> = running.entries(at)?.iter().map(named).collect();
    all.push(NamedEntry::of_default(&program, at, Some(&running.default(at)?)));
    Ok(json!(all))
}

/// Adds an entry, or sets a default action.
pub fn insert(running: &mut dyn Running, entry: &NamedEntry) -> Result<Json, RmtError> {
    apply(running, &NamedChange::Insert(entry.clone()))
}

/// Gives an entry another action.
pub fn modify(running: &mut dyn Running, entry: &NamedEntry) -> Result<Json, RmtError> {
    apply(running, &NamedChange::Modify(entry.clone()))
}

/// Removes an entry.
pub fn delete(running: &mut dyn Running, entry: &NamedEntry) -> Result<Json, RmtError> {
    apply(running, &NamedChange::Delete(entry.clone()))
}

fn apply(running: &mut dyn Running, named: &NamedChange) -> Result<Json, RmtError> {
    let change = read(&*running.program()?, named)?;
    one(running, &change)?;
    Ok(Json::Null)
}

/// Carries out changes; what was refused of each.
pub fn write(running: &mut dyn Running, changes: &[NamedChange], atomic: bool) -> Result<Json, RmtError> {
    let program = running.program()?;
    let read: Vec<Result<Change, Refusal>> = changes.iter().map(|change| read(&program, change)).collect();
    let refused: Vec<Option<Refusal>> = match (atomic, read.iter().any(Result::is_err)) {
        (true, true) => {
            let aborted = || Refusal::new(Reason::Aborted, "another change of the batch was refused");
            read.into_iter().map(|one| Some(one.err().unwrap_or_else(aborted))).collect()
        }
        _ => {
            let good: Vec<Change> = read.iter().filter_map(|one| one.clone().ok()).collect();
            let mut results = change(running, &good, atomic)?.into_iter();
            let result = |one: Result<Change, Refusal>| one.and_then(|_| results.next().unwrap_or(Ok(()))).err();
            read.into_iter().map(result).collect()
        }
    };
    Ok(json!(refused))
}

/// What a change by names means.
pub fn read(program: &Program, named: &NamedChange) -> Result<Change, Refusal> {
    match named {
        NamedChange::Insert(entry) => Ok(match entry.read(program, true)? {
            Meant::Entry(table, entry) => Change::Insert(table, entry),
            Meant::Default(table, call) => Change::Default(table, call),
        }),
        NamedChange::Modify(entry) => Ok(match entry.read(program, true)? {
            Meant::Entry(table, entry) => Change::Modify(table, entry),
            Meant::Default(table, call) => Change::Default(table, call),
        }),
        NamedChange::Delete(entry) => Ok(match entry.read(program, false)? {
            Meant::Entry(table, entry) => Change::Delete(table, entry),
            Meant::Default(table, _) => Change::Default(table, None),
        }),
        NamedChange::Register { name, index, value } => {
            let at = find(program.registers.iter().map(|one| one.name.as_str()), name, "register")?;
            let refused = |why| Refusal::range(format!("{name}: {why}"));
            let value = value::read(value, program.registers[at].width).map_err(refused)?;
            Ok(Change::Register(at, *index, value))
        }
        NamedChange::Counter { name, index, value } => {
            Ok(Change::Counter(find_counter(program, name)?, *index, *value))
        }
    }
}

fn find_counter(program: &Program, name: &str) -> Result<usize, Refusal> {
    let at = find(program.counters.iter().map(|one| one.name.as_str()), name, "counter")?;
    match program.counters[at].size {
        Some(_) => Ok(at),
        None => {
            Err(Refusal::argument(format!("{} counts entries of a table: look at these", program.counters[at].name)))
        }
    }
}

/// Registers, with the cells of one if it is named.
pub fn registers(running: &mut dyn Running, name: Option<&str>) -> Result<Json, RmtError> {
    let program = running.program()?;
    let names = || program.registers.iter().map(|one| one.name.as_str());
    let only = name.map(|name| find(names(), name, "register")).transpose()?;
    let mut all = Vec::new();
    for (at, register) in program.registers.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at)) {
        let format = value::Format::of(register.width, &register.annotations);
        let cells = match only {
            Some(_) => Some(running.register(at)?.into_iter().map(|cell| format.json(cell)).collect()),
            None => None,
        };
        let (width, size) = (register.width, register.size);
        all.push(RegisterAbout { name: register.name.clone(), width, size, cells });
    }
    Ok(json!(all))
}

/// Indirect counters, with the cells of one if it is named.
pub fn counters(running: &mut dyn Running, name: Option<&str>) -> Result<Json, RmtError> {
    let program = running.program()?;
    let only = name.map(|name| find_counter(&program, name)).transpose()?;
    let mut all = Vec::new();
    for (at, counter) in program.counters.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at)) {
        let Some(size) = counter.size else { continue };
        let cells = match only {
            Some(_) => Some(running.counter(at)?),
            None => None,
        };
        all.push(CounterAbout { name: counter.name.clone(), size, cells });
    }
    Ok(json!(all))
}
