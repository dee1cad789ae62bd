// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Write requests.

use penstock_rmt_compiler::ir::{ActionCall, Program};

use crate::bits;
use crate::entry;
use crate::proto::p4::v1::entity::Entity;
use crate::proto::p4::v1::update::Type;
use crate::proto::p4::v1::write_request::Atomicity;
use crate::proto::p4::v1::{CounterEntry, Index, RegisterEntry, TableEntry, Update, WriteRequest, p4_data};
use crate::refusal::{Reason, Refusal};
use crate::switch::{Change, Count, Switch};

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
        Atomicity::ContinueOnError => false,
        Atomicity::RollbackOnError => true,
        Atomicity::DataplaneAtomic => {
            let text = "frames may meet a part of a batch: use ROLLBACK_ON_ERROR or CONTINUE_ON_ERROR";
            return Err(Refusal::unsupported(text));
        }
    };
    let read: Vec<_> = request.updates.iter().map(|update| change(program, update)).collect();
    if atomic && read.iter().any(Result::is_err) {
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
    let kind = match update.r#type() {
        Type::Unspecified => return Err(Refusal::argument("the update has no type")),
        kind => kind,
    };
    let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
    match entity {
        Some(Entity::TableEntry(entry)) => of_entry(program, kind, entry),
        Some(Entity::RegisterEntry(entry)) => of_register(program, kind, entry),
        Some(Entity::CounterEntry(entry)) => of_counter(program, kind, entry),
        Some(other) => Err(unsupported(other)),
        None => Err(Refusal::argument("the update has no entity")),
    }
}

fn of_entry(program: &Program, kind: Type, given: &TableEntry) -> Result<Change, Refusal> {
    let (at, table) = entry::table(program, given.table_id)?;
    if given.counter_data.is_some() && kind != Type::Delete {
        return Err(Refusal::unsupported("direct counters can be read, and not be set yet"));
    }
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
        let call = action.map(|action| entry::read_action(program, table, Some(action), true)).transpose()?;
        return Ok(Change::Default(at, call));
    }
    if table.const_entries {
        return Err(Refusal::new(Reason::Denied, format!("the entries of {} are const", table.name)));
    }
    if table.keys.is_empty() {
        return Err(Refusal::argument(format!("{} has no keys, only a default action", table.name)));
    }
    // The action of an entry that goes does not matter.
    let call = match kind {
        Type::Delete => ActionCall { action: table.default.action, args: Vec::new() },
        _ => entry::read_action(program, table, given.action.as_ref(), false)?,
    };
    let read = entry::read(table, given, call)?;
    Ok(match kind {
        Type::Delete => Change::Delete(at, read),
        Type::Modify => Change::Modify(at, read),
        _ => Change::Insert(at, read),
    })
}

/// The cell that an index names; None for all.
pub fn cell(index: Option<Index>, size: u32, name: &str) -> Result<Option<u32>, Refusal> {
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
    let data = given.data.unwrap_or_default();
    let number = |value: i64| u64::try_from(value).map_err(|_| Refusal::range("a counter is not negative"));
    Ok(Change::Counter(at, index, Count { packets: number(data.packet_count)?, bytes: number(data.byte_count)? }))
}

/// What is not there yet.
pub fn unsupported(entity: &Entity) -> Refusal {
    Refusal::unsupported(match entity {
        Entity::ExternEntry(_) => "there are no externs but those of v1model",
        Entity::ActionProfileMember(_) | Entity::ActionProfileGroup(_) => {
            "action profiles and selectors are not there yet"
        }
        Entity::MeterEntry(_) | Entity::DirectMeterEntry(_) => "meters are not there yet",
        Entity::DirectCounterEntry(_) => "direct counters can be read, and not be set yet",
        Entity::PacketReplicationEngineEntry(_) => "multicast groups and clone sessions are not there yet",
        Entity::ValueSetEntry(_) => "value sets of parsers are not there yet",
        Entity::DigestEntry(_) => "digests are not there yet",
        Entity::TableEntry(_) | Entity::RegisterEntry(_) | Entity::CounterEntry(_) => "this cannot be changed",
    })
}
