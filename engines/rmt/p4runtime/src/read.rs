// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Read requests.

use penstock_rmt_compiler::ir::{ActionCall, CounterUnit, Entry, Program, Table, TableId};

use crate::bits;
use crate::entry;
use crate::proto::p4::v1::entity::Entity;
use crate::proto::p4::v1::{
    self as p4, CounterData, CounterEntry, DirectCounterEntry, Index, P4Data, RegisterEntry, TableEntry, p4_data,
};
use crate::refusal::Refusal;
use crate::switch::{Count, Switch};
use crate::write::{cell, unsupported};

/// What an entity of a read request asks for. Number 0 stands for all tables, counters or registers; no index, for all cells.
///
/// # Errors
/// The program does not have it, or it is not there yet.
pub fn read(
    switch: &dyn Switch,
    device: u64,
    program: &Program,
    asked: &p4::Entity,
) -> Result<Vec<p4::Entity>, Refusal> {
    Reader { switch, device, program }.read(asked)
}

/// A device whose program is read.
struct Reader<'a> {
    switch: &'a dyn Switch,
    device: u64,
    program: &'a Program,
}

impl Reader<'_> {
    fn read(&self, asked: &p4::Entity) -> Result<Vec<p4::Entity>, Refusal> {
        let found = match asked.entity.as_ref() {
            Some(Entity::TableEntry(asked)) => {
                let entries = self.entries(asked, asked.counter_data.is_some())?;
                entries.into_iter().map(|(entry, _)| Entity::TableEntry(entry)).collect()
            }
            Some(Entity::DirectCounterEntry(asked)) => self.direct_counters(asked)?,
            Some(Entity::CounterEntry(asked)) => self.counters(asked)?,
            Some(Entity::RegisterEntry(asked)) => self.registers(asked)?,
            // There can be none.
            Some(
                Entity::PacketReplicationEngineEntry(_)
                | Entity::ActionProfileMember(_)
                | Entity::ActionProfileGroup(_),
            ) => Vec::new(),
            Some(other) => return Err(unsupported(other)),
            None => return Err(Refusal::argument("the request has an empty entity")),
        };
        Ok(found.into_iter().map(|entity| p4::Entity { entity: Some(entity) }).collect())
    }

    fn tables(&self, id: u32) -> Result<Vec<(TableId, &Table)>, Refusal> {
        match id {
            0 => Ok(self.program.tables.iter().enumerate().collect()),
            id => Ok(vec![entry::table(self.program, id)?]),
        }
    }

    /// Entries, or default actions, with their counters.
    fn entries(&self, asked: &TableEntry, counted: bool) -> Result<Vec<(TableEntry, CounterData)>, Refusal> {
        let mut found = Vec::new();
        for (at, table) in self.tables(asked.table_id)? {
            if asked.is_default_action {
                let (_, default) = self.switch.entries(self.device, at)?;
                let action = Some(entry::write_action(self.program, &default));
                let entry = TableEntry {
                    table_id: table.id,
                    action,
                    is_default_action: true,
                    is_const: table.const_default,
                    ..TableEntry::default()
                };
                found.push((entry, CounterData::default()));
                continue;
            }
            let wanted = self.wanted(table, asked)?;
            let (entries, _) = self.switch.entries(self.device, at)?;
            for (one, count) in &entries {
                if wanted.as_ref().is_some_and(|wanted| (&one.keys, one.priority) != (&wanted.keys, wanted.priority)) {
                    continue;
                }
                let unit = table.counter.map(|counter| self.program.counters[counter].unit);
                let data = unit.map_or_else(CounterData::default, |unit| data(unit, *count));
                let mut entry = entry::write(self.program, table, one);
                entry.counter_data = (counted && unit.is_some()).then_some(data);
                found.push((entry, data));
            }
            if wanted.is_some() && found.is_empty() {
                return Err(Refusal::not_found(format!("{} has no such entry", table.name)));
            }
        }
        Ok(found)
    }

    /// The one entry that is asked for; None for all.
    fn wanted(&self, table: &Table, asked: &TableEntry) -> Result<Option<Entry>, Refusal> {
        if asked.table_id == 0 || (asked.r#match.is_empty() && asked.priority == 0) {
            return Ok(None);
        }
        let call = ActionCall { action: table.default.action, args: Vec::new() };
        entry::read(table, asked, call).map(Some)
    }

    fn direct_counters(&self, asked: &DirectCounterEntry) -> Result<Vec<Entity>, Refusal> {
        let asked = asked.table_entry.clone().unwrap_or_default();
        let mut found = Vec::new();
        for (_, table) in self.tables(asked.table_id)? {
            if table.counter.is_none() {
                if asked.table_id != 0 {
                    return Err(Refusal::argument(format!("{} has no direct counter", table.name)));
                }
                continue;
            }
            let of_table = TableEntry { table_id: table.id, ..asked.clone() };
            for (entry, data) in self.entries(&of_table, false)? {
                let table_entry = Some(TableEntry { action: None, ..entry });
                found.push(Entity::DirectCounterEntry(DirectCounterEntry { table_entry, data: Some(data) }));
            }
        }
        Ok(found)
    }

    fn counters(&self, asked: &CounterEntry) -> Result<Vec<Entity>, Refusal> {
        let mut found = Vec::new();
        let counters = self.program.counters.iter().enumerate();
        let indirect = counters.filter_map(|(at, counter)| Some((at, counter, counter.size?)));
        let asked_for: Vec<_> =
            indirect.filter(|(_, counter, _)| asked.counter_id == 0 || counter.id == asked.counter_id).collect();
        if asked_for.is_empty() && asked.counter_id != 0 {
            return Err(Refusal::not_found(format!("the program has no indirect counter {}", asked.counter_id)));
        }
        for (at, counter, size) in asked_for {
            let only = cell(asked.index, size, &counter.name)?;
            for (index, count) in (0..).zip(self.switch.counter(self.device, at)?) {
                if only.is_none_or(|only| only == index) {
                    found.push(Entity::CounterEntry(CounterEntry {
                        counter_id: counter.id,
                        index: Some(Index { index: index.into() }),
                        data: Some(data(counter.unit, count)),
                    }));
                }
            }
        }
        Ok(found)
    }

    fn registers(&self, asked: &RegisterEntry) -> Result<Vec<Entity>, Refusal> {
        let mut found = Vec::new();
        let registers = self.program.registers.iter().enumerate();
        let asked_for: Vec<_> =
            registers.filter(|(_, one)| asked.register_id == 0 || one.id == asked.register_id).collect();
        if asked_for.is_empty() && asked.register_id != 0 {
            return Err(Refusal::not_found(format!("the program has no register {}", asked.register_id)));
        }
        for (at, register) in asked_for {
            let only = cell(asked.index, register.size, &register.name)?;
            for (index, value) in (0..).zip(self.switch.register(self.device, at)?) {
                if only.is_none_or(|only| only == index) {
                    found.push(Entity::RegisterEntry(RegisterEntry {
                        register_id: register.id,
                        index: Some(Index { index: index.into() }),
                        data: Some(P4Data { data: Some(p4_data::Data::Bitstring(bits::write(value))) }),
                    }));
                }
            }
        }
        Ok(found)
    }
}

fn data(unit: CounterUnit, count: Count) -> CounterData {
    let (packets, bytes) = (count.packets as i64, count.bytes as i64);
    match unit {
        CounterUnit::Packets => CounterData { packet_count: packets, byte_count: 0 },
        CounterUnit::Bytes => CounterData { packet_count: 0, byte_count: bytes },
        CounterUnit::PacketsAndBytes => CounterData { packet_count: packets, byte_count: bytes },
    }
}
