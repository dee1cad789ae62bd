// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Write requests.

use penstock_rmt_compiler::ir::{Entry, Program, Table, TableId};

use crate::bits;
use crate::entry::{self, Target};
use crate::object;
use crate::proto::p4::v1::entity::Entity;
use crate::proto::p4::v1::update::Type;
use crate::proto::p4::v1::write_request::Atomicity;
use crate::proto::p4::v1::{
    CounterData, CounterEntry, DirectCounterEntry, DirectMeterEntry, Index, MeterEntry, RegisterEntry, TableEntry,
    Update, WriteRequest, p4_data,
};
use crate::refusal::{Reason, Refusal};
use crate::switch::{Act, Atomic, Change, Count, Switch};

/// Carries out a request, which comes from the primary controller; the result of each update.
///
/// # Errors
/// The request as a whole is refused.
pub fn write(
    switch: &dyn Switch,
    program: &Program,
    request: &WriteRequest,
) -> Result<Vec<Result<(), Refusal>>, Refusal> {
    let atomic = match request.atomicity() {
        Atomicity::ContinueOnError => Atomic::No,
        Atomicity::RollbackOnError => Atomic::Rollback,
        Atomicity::DataplaneAtomic => Atomic::Dataplane,
    };
    let read: Vec<_> = request.updates.iter().map(|update| change(program, update)).collect();
    if atomic != Atomic::No && read.iter().any(Result::is_err) {
        let aborted = || Refusal::new(Reason::Aborted, "another update of the batch was refused");
        return Ok(read.into_iter().map(|one| Err(one.err().unwrap_or_else(aborted))).collect());
    }
    let changes: Vec<Change> = read.iter().filter_map(|one| one.clone().ok()).collect();
    let mut results = match changes.is_empty() {
        true => Vec::new(),
        false => switch.write(request.device_id, &changes, atomic)?,
    }
    .into_iter();
    let missing = || Err(Refusal::new(Reason::Card, "the card did not say what became of the update"));
    Ok(read.into_iter().map(|one| one.and_then(|_| results.next().unwrap_or_else(missing))).collect())
}

fn change(program: &Program, update: &Update) -> Result<Change, Refusal> {
    let kind = update.r#type();
    let act = match kind {
        Type::Unspecified => return Err(Refusal::argument("the update has no type")),
        Type::Insert => Act::Insert,
        Type::Modify => Act::Modify,
        Type::Delete => Act::Delete,
    };
    let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
    match entity {
        Some(Entity::TableEntry(entry)) => of_entry(program, kind, entry),
        Some(Entity::RegisterEntry(entry)) => of_register(program, kind, entry),
        Some(Entity::CounterEntry(entry)) => of_counter(program, kind, entry),
        Some(Entity::DirectCounterEntry(entry)) => of_direct_counter(program, kind, entry),
        Some(Entity::MeterEntry(entry)) => of_meter(program, kind, entry),
        Some(Entity::DirectMeterEntry(entry)) => of_direct_meter(program, kind, entry),
        Some(Entity::ValueSetEntry(_)) if kind != Type::Modify => {
            Err(Refusal::argument("a value set can only be modified"))
        }
        Some(Entity::ValueSetEntry(entry)) => object::read_values(program, entry),
        Some(other) => object::read(program, act, other)?.ok_or_else(no_externs),
        None => Err(Refusal::argument("the update has no entity")),
    }
}

fn of_entry(program: &Program, kind: Type, given: &TableEntry) -> Result<Change, Refusal> {
    let (at, table) = entry::table(program, given.table_id)?;
    if given.is_default_action {
        if kind != Type::Modify {
            return Err(Refusal::argument("a default action can only be modified"));
        }
        if !given.r#match.is_empty() || given.priority != 0 {
            return Err(Refusal::argument("a default action has no match fields and no priority"));
        }
        if table.const_default {
            return Err(Refusal::new(Reason::Denied, format!("the default action of {} is const", table.name)));
        }
        let action = given.action.as_ref();
        let target = action.map(|action| entry::read_action(program, table, Some(action), true)).transpose()?;
        return Ok(Change::Default(at, target.map(|target| target.call)));
    }
    if table.const_entries {
        return Err(Refusal::new(Reason::Denied, format!("the entries of {} are const", table.name)));
    }
    if table.keys.is_empty() {
        return Err(Refusal::argument(format!("{} has no keys, only a default action", table.name)));
    }
    // The action of an entry that goes does not matter.
    let target = match kind {
        Type::Delete => Target::of(table.default.clone()),
        _ => entry::read_action(program, table, given.action.as_ref(), false)?,
    };
    let read = entry::read(table, given, target)?;
    let mut more = Vec::new();
    if kind != Type::Delete {
        if given.meter_counter_data.is_some() {
            return Err(Refusal::unsupported("meters have no counters"));
        }
        if let Some(data) = given.counter_data {
            more.push(Change::EntryCounter(at, read.clone(), counter_of(program, table, Some(data))?));
        }
        if let Some(config) = given.meter_config {
            check_meter(table)?;
            more.push(Change::EntryMeter(at, read.clone(), object::read_rates(Some(config))?));
        }
    }
    let change = match kind {
        Type::Delete => Change::Delete(at, read),
        Type::Modify => Change::Modify(at, read),
        _ => Change::Insert(at, read),
    };
    Ok(match more.is_empty() {
        true => change,
        false => Change::All([vec![change], more].concat()),
    })
}

/// The entry that a direct counter or meter belongs to.
fn owner<'p>(
    program: &'p Program,
    kind: Type,
    given: Option<&TableEntry>,
) -> Result<(TableId, &'p Table, Entry), Refusal> {
    if kind != Type::Modify {
        return Err(Refusal::argument("a direct counter or meter can only be modified"));
    }
    let given = given.ok_or_else(|| Refusal::argument("the entry of the direct counter or meter is missing"))?;
    let (at, table) = entry::table(program, given.table_id)?;
    if given.is_default_action {
        return Err(Refusal::unsupported("default actions have no direct counters and meters"));
    }
    Ok((at, table, entry::read(table, given, Target::of(table.default.clone()))?))
}

fn of_direct_counter(program: &Program, kind: Type, given: &DirectCounterEntry) -> Result<Change, Refusal> {
    let (at, table, entry) = owner(program, kind, given.table_entry.as_ref())?;
    Ok(Change::EntryCounter(at, entry, counter_of(program, table, given.data)?))
}

/// The value that a direct counter is set to.
fn counter_of(program: &Program, table: &Table, data: Option<CounterData>) -> Result<Count, Refusal> {
    match table.counter {
        Some(_) => count(data),
        None => Err(Refusal::argument(format!("{} has no direct counter in {}", table.name, program.name))),
    }
}

fn of_direct_meter(program: &Program, kind: Type, given: &DirectMeterEntry) -> Result<Change, Refusal> {
    let (at, table, entry) = owner(program, kind, given.table_entry.as_ref())?;
    check_meter(table)?;
    Ok(Change::EntryMeter(at, entry, object::read_rates(given.config)?))
}

fn check_meter(table: &Table) -> Result<(), Refusal> {
    match table.meter {
        Some(_) => Ok(()),
        None => Err(Refusal::argument(format!("{} has no direct meter", table.name))),
    }
}

fn of_meter(program: &Program, kind: Type, given: &MeterEntry) -> Result<Change, Refusal> {
    let found = program.meters.iter().enumerate().find(|(_, one)| one.id == given.meter_id);
    let Some((at, meter, size)) = found.and_then(|(at, meter)| Some((at, meter, meter.size?))) else {
        return Err(Refusal::not_found(format!("the program has no indirect meter {}", given.meter_id)));
    };
    if kind != Type::Modify {
        return Err(Refusal::argument("a meter can only be modified"));
    }
    Ok(Change::Meter(at, cell(given.index, size, &meter.name)?, object::read_rates(given.config)?))
}

/// The cell that an index names; None for all.
pub(crate) fn cell(index: Option<Index>, size: u32, name: &str) -> Result<Option<u32>, Refusal> {
    let Some(Index { index }) = index else { return Ok(None) };
    match u32::try_from(index).ok().filter(|index| *index < size) {
        Some(index) => Ok(Some(index)),
        None => Err(Refusal::range(format!("{name} has {size} cells, from 0, and not cell {index}"))),
    }
}

fn of_register(program: &Program, kind: Type, given: &RegisterEntry) -> Result<Change, Refusal> {
    let found = program.registers.iter().enumerate().find(|(_, one)| one.id == given.register_id);
    let Some((at, register)) = found else {
        return Err(Refusal::not_found(format!("the program has no register {}", given.register_id)));
    };
    if kind != Type::Modify {
        return Err(Refusal::argument("a register can only be modified"));
    }
    let index = cell(given.index, register.size, &register.name)?;
    match given.data.as_ref().and_then(|data| data.data.as_ref()) {
        Some(p4_data::Data::Bitstring(bytes)) => {
            Ok(Change::Register(at, index, bits::read(bytes, register.width, &register.name)?))
        }
        _ => Err(Refusal::argument(format!("{} takes a bitstring", register.name))),
    }
}

fn of_counter(program: &Program, kind: Type, given: &CounterEntry) -> Result<Change, Refusal> {
    let found = program.counters.iter().enumerate().find(|(_, one)| one.id == given.counter_id);
    let Some((at, counter, size)) = found.and_then(|(at, counter)| Some((at, counter, counter.size?))) else {
        return Err(Refusal::not_found(format!("the program has no indirect counter {}", given.counter_id)));
    };
    if kind != Type::Modify {
        return Err(Refusal::argument("a counter can only be modified"));
    }
    let index = cell(given.index, size, &counter.name)?;
    Ok(Change::Counter(at, index, count(given.data)?))
}

/// The value of a counter; 0 if it is left out.
fn count(data: Option<CounterData>) -> Result<Count, Refusal> {
    let data = data.unwrap_or_default();
    let number = |value: i64| u64::try_from(value).map_err(|_| Refusal::range("a counter is not negative"));
    Ok(Count { packets: number(data.packet_count)?, bytes: number(data.byte_count)? })
}

/// The refusal of externs that v1model does not have.
pub(crate) fn no_externs() -> Refusal {
    Refusal::unsupported("there are no externs but those of v1model")
}
