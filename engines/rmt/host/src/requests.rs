// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Requests about the tables, registers and counters of one program.

use penstock_rmt_compiler::ir::{MatchKind, Program};
use penstock_rmt_p4runtime::{Act, Atomic, Change, EntryState, Object, ObjectKind, Reason, Refusal};
use serde_json::{Value as Json, json};

use crate::answers::{
    ActionAbout, CopiesAbout, CounterAbout, KeyAbout, MeterAbout, ProfileAbout, RegisterAbout, StreamAbout, TableAbout,
    ValueSetAbout,
};
use crate::ask::NamedChange;
use crate::entry::{NamedEntry, find, hex, table};
use crate::error::RmtError;
use crate::item::{self, NamedItem, NamedValueSet};
use crate::running::{Running, change, one};
use crate::value;

/// The changes were meant for another program.
pub(crate) fn other_program() -> Refusal {
    Refusal::new(Reason::Precondition, "another program was loaded meanwhile; read it again")
}

/// The tables.
pub(crate) fn tables(running: &mut dyn Running) -> Result<Json, RmtError> {
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
            entries: running.size(at)?,
            size: table.size,
            is_const: table.const_entries,
            default: NamedEntry::of_default(&program, at, Some(&running.default(at)?)),
        });
    }
    Ok(json!(all))
}

/// The name of a kind of match.
pub(crate) fn word(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary => "ternary",
        MatchKind::Range => "range",
        MatchKind::Optional => "optional",
    }
}

/// Entries of a table and its default action.
pub(crate) fn entries(running: &mut dyn Running, name: &str) -> Result<Json, RmtError> {
    let program = running.program()?;
    let (at, about) = table(&program, name)?;
    let mut all = Vec::new();
    for (entry, count) in running.entries(at)? {
        let state = match about.meter.is_some() || about.idle_timeouts {
            true => running.entry_state(at, &entry)?,
            false => EntryState::default(),
        };
        all.push(NamedEntry {
            count: about.counter.map(|_| count),
            rates: state.rates.map(Some),
            idle_ns: about.idle_timeouts.then_some(state.idle_ns),
            ..NamedEntry::of_entry(&program, at, &entry)
        });
    }
    all.push(NamedEntry::of_default(&program, at, Some(&running.default(at)?)));
    Ok(json!(all))
}

/// Carries out one change.
pub(crate) fn apply(running: &mut dyn Running, act: Act, item: &NamedItem) -> Result<Json, RmtError> {
    let change = item.read(&*running.program()?, act)?;
    one(running, &change)?;
    Ok(Json::Null)
}

/// Carries out changes; gives the part of each that was refused.
pub(crate) fn write(running: &mut dyn Running, changes: &[NamedChange], atomic: Atomic) -> Result<Json, RmtError> {
    let program = running.program()?;
    let read: Vec<Result<Change, Refusal>> = changes.iter().map(|change| read(&program, change)).collect();
    let refused: Vec<Option<Refusal>> = match (atomic != Atomic::No, read.iter().any(Result::is_err)) {
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

/// The meaning of a change by names.
pub(crate) fn read(program: &Program, named: &NamedChange) -> Result<Change, Refusal> {
    match named {
        NamedChange::Insert(item) => item.read(program, Act::Insert),
        NamedChange::Modify(item) => item.read(program, Act::Modify),
        NamedChange::Delete(item) => item.read(program, Act::Delete),
        NamedChange::All(all) => Ok(Change::All(all.iter().map(|one| read(program, one)).collect::<Result<_, _>>()?)),
    }
}

/// A change by names.
pub(crate) fn named(program: &Program, change: &Change) -> NamedChange {
    let mut all: Vec<_> =
        NamedItem::of(program, change).into_iter().map(|(act, item)| NamedChange::of(act, item)).collect();
    match all.len() {
        1 => all.swap_remove(0),
        _ => NamedChange::All(all),
    }
}

/// Everything that controllers have set in a program, as changes that a new program begins with. An item comes before
/// the items that refer to it.
pub(crate) fn everything(running: &mut dyn Running) -> Result<Vec<NamedChange>, RmtError> {
    let program = running.program()?;
    let mut all = Vec::new();
    let profiles = 0..program.profiles.len();
    let kinds = [ObjectKind::Groups, ObjectKind::Sessions, ObjectKind::Digests].into_iter();
    let kinds = kinds.chain(profiles.clone().map(ObjectKind::Members)).chain(profiles.map(ObjectKind::MemberGroups));
    for kind in kinds {
        let objects = running.objects(kind)?.into_iter();
        all.extend(objects.map(|object| Change::Object(Act::Insert, object)));
    }
    for (at, table) in program.tables.iter().enumerate() {
        if !table.const_entries {
            for (entry, _) in running.entries(at)? {
                if table.entries.contains(&entry) {
                    continue;
                }
                let rates = running.entry_state(at, &entry)?.rates;
                all.push(Change::Insert(at, entry.clone()));
                all.extend(rates.map(|rates| Change::EntryMeter(at, entry, Some(rates))));
            }
        }
        let default = running.default(at)?;
        if default != table.default {
            all.push(Change::Default(at, Some(default)));
        }
    }
    for (at, _) in program.meters.iter().enumerate().filter(|(_, meter)| meter.size.is_some()) {
        let cells = (0..).zip(running.meter(at)?);
        all.extend(cells.filter_map(|(index, rates)| Some(Change::Meter(at, Some(index), Some(rates?)))));
    }
    for at in 0..program.value_sets.len() {
        let members = running.value_set(at)?;
        if !members.is_empty() {
            all.push(Change::ValueSet(at, members));
        }
    }
    for at in 0..program.registers.len() {
        let cells = (0..).zip(running.register(at)?).filter(|(_, value)| *value != 0);
        all.extend(cells.map(|(index, value)| Change::Register(at, Some(index), value)));
    }
    Ok(all.iter().map(|change| named(&program, change)).collect())
}

/// Indirect meters, with the rates of one if it is named.
pub(crate) fn meters(running: &mut dyn Running, name: Option<&str>) -> Result<Json, RmtError> {
    let program = running.program()?;
    let only = name.map(|name| item::meter(&program, name)).transpose()?;
    let mut all = Vec::new();
    for (at, meter) in program.meters.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at)) {
        let Some(size) = meter.size else { continue };
        let cells = only.map(|_| running.meter(at)).transpose()?;
        let unit = if meter.bytes { "bytes" } else { "frames" }.to_owned();
        all.push(MeterAbout { name: meter.name.clone(), unit, size, cells });
    }
    Ok(json!(all))
}

/// Multicast groups and clone sessions.
pub(crate) fn copies(running: &mut dyn Running) -> Result<Json, RmtError> {
    let program = running.program()?;
    let (mut groups, mut sessions) = (Vec::new(), Vec::new());
    for kind in [ObjectKind::Groups, ObjectKind::Sessions] {
        for object in running.objects(kind)? {
            match NamedItem::of_object(&program, &object) {
                NamedItem::Group(group) => groups.push(group),
                NamedItem::Session(session) => sessions.push(session),
                _ => {}
            }
        }
    }
    Ok(json!(CopiesAbout { groups, sessions }))
}

/// Action profiles with their members and groups.
pub(crate) fn profiles(running: &mut dyn Running) -> Result<Json, RmtError> {
    let program = running.program()?;
    let mut all = Vec::new();
    for (at, profile) in program.profiles.iter().enumerate() {
        let (mut members, mut groups) = (Vec::new(), Vec::new());
        for kind in [ObjectKind::Members(at), ObjectKind::MemberGroups(at)] {
            for object in running.objects(kind)? {
                match NamedItem::of_object(&program, &object) {
                    NamedItem::Member(member) => members.push(member),
                    NamedItem::MemberGroup(group) => groups.push(group),
                    _ => {}
                }
            }
        }
        let (size, has_groups) = (profile.size, profile.selector.is_some());
        all.push(ProfileAbout { name: profile.name.clone(), size, has_groups, members, groups });
    }
    Ok(json!(all))
}

/// Value sets with their members.
pub(crate) fn value_sets(running: &mut dyn Running) -> Result<Json, RmtError> {
    let program = running.program()?;
    let mut all = Vec::new();
    for (at, set) in program.value_sets.iter().enumerate() {
        let members = NamedValueSet::of(set, &running.value_set(at)?).members;
        all.push(ValueSetAbout { name: set.name.clone(), size: set.size, members });
    }
    Ok(json!(all))
}

/// Kinds of messages that are sent to controllers.
pub(crate) fn digests(running: &mut dyn Running) -> Result<Json, RmtError> {
    let program = running.program()?;
    let all = running.objects(ObjectKind::Digests)?;
    Ok(json!(all.iter().map(|object| NamedItem::of_object(&program, object)).collect::<Vec<_>>()))
}

/// Takes what the program of this number has for controllers.
pub(crate) fn stream(running: &mut dyn Running, number: u64) -> Result<Json, RmtError> {
    let program = running.program()?;
    let streamed = running.stream()?;
    let mut digests = Vec::new();
    for (digest, config, messages) in streamed.digests {
        let values = |values: Vec<u128>| values.into_iter().map(|value| value::Format::Number.json(value)).collect();
        let messages: Vec<Vec<Json>> = messages.into_iter().map(values).collect();
        if let NamedItem::Digest(named) = NamedItem::of_object(&program, &Object::Digest(digest, config)) {
            digests.push((named, messages));
        }
    }
    let idle = streamed.idle.iter().map(|(table, entry)| NamedEntry::of_entry(&program, *table, entry));
    let packets = streamed.packets.iter().map(|frame| hex(frame)).collect();
    Ok(json!(StreamAbout { program: number, packets, digests, idle: idle.collect() }))
}

/// Registers, with the cells of one if it is named.
pub(crate) fn registers(running: &mut dyn Running, name: Option<&str>) -> Result<Json, RmtError> {
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
pub(crate) fn counters(running: &mut dyn Running, name: Option<&str>) -> Result<Json, RmtError> {
    let program = running.program()?;
    let only = name.map(|name| item::counter(&program, name)).transpose()?;
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
