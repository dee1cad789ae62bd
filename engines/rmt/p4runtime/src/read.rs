// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Read requests.

use penstock_rmt_compiler::ir::{CounterUnit, Entry, Profile, ProfileId, Program, Table, TableId};

use crate::bits;
use crate::entry::{self, Target};
use crate::object;
use crate::proto::p4::v1::entity::Entity;
use crate::proto::p4::v1::packet_replication_engine_entry::Type;
use crate::proto::p4::v1::{
    self as p4, CounterData, CounterEntry, DirectCounterEntry, DirectMeterEntry, Index, MeterEntry, P4Data,
    RegisterEntry, TableEntry, p4_data, table_entry,
};
use crate::refusal::Refusal;
use crate::switch::{Count, EntryState, Object, ObjectKind, Switch};
use crate::write::{cell, no_externs};

/// The request of an entity of a read. Number 0 means all tables, counters or registers; no index means all cells.
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
                let entries = self.entries(asked)?;
                entries.into_iter().map(|(entry, _)| Entity::TableEntry(entry)).collect()
            }
            Some(Entity::DirectCounterEntry(asked)) => self.direct_counters(asked)?,
            Some(Entity::CounterEntry(asked)) => self.counters(asked)?,
            Some(Entity::RegisterEntry(asked)) => self.registers(asked)?,
            Some(Entity::DirectMeterEntry(asked)) => self.direct_meters(asked)?,
            Some(Entity::MeterEntry(asked)) => self.meters(asked)?,
            Some(Entity::ValueSetEntry(asked)) => self.value_sets(asked.value_set_id)?,
            Some(Entity::PacketReplicationEngineEntry(asked)) => self.copies(asked.r#type.as_ref())?,
            Some(Entity::ActionProfileMember(asked)) => {
                self.members(asked.action_profile_id, asked.member_id, ObjectKind::Members)?
            }
            Some(Entity::ActionProfileGroup(asked)) => {
                self.members(asked.action_profile_id, asked.group_id, ObjectKind::MemberGroups)?
            }
            Some(Entity::DigestEntry(asked)) => self.digests(asked.digest_id)?,
            Some(Entity::ExternEntry(_)) => return Err(no_externs()),
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
    fn entries(&self, asked: &TableEntry) -> Result<Vec<(TableEntry, EntryState)>, Refusal> {
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
                found.push((entry, EntryState::default()));
                continue;
            }
            let wanted = self.wanted(table, asked)?;
            let (entries, _) = self.switch.entries(self.device, at)?;
            let before = found.len();
            for (one, state) in &entries {
                if wanted.as_ref().is_some_and(|wanted| (&one.keys, one.priority) != (&wanted.keys, wanted.priority)) {
                    continue;
                }
                let mut entry = entry::write(self.program, table, one);
                if asked.counter_data.is_some() {
                    entry.counter_data = self.counted(table, state);
                }
                if asked.meter_config.is_some() {
                    entry.meter_config = object::write_rates(state.rates);
                }
                if asked.time_since_last_hit.is_some() && table.idle_timeouts {
                    let elapsed_ns = i64::try_from(state.idle_ns).unwrap_or(i64::MAX);
                    entry.time_since_last_hit = Some(table_entry::IdleTimeout { elapsed_ns });
                }
                found.push((entry, *state));
            }
            if wanted.is_some() && found.len() == before {
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
        let asked = TableEntry { idle_timeout_ns: 0, metadata: Vec::new(), ..asked.clone() };
        entry::read(table, &asked, Target::of(table.default.clone())).map(Some)
    }

    /// Value of an entry's direct counter; None if its table has no counter.
    fn counted(&self, table: &Table, state: &EntryState) -> Option<CounterData> {
        table.counter.map(|counter| data(self.program.counters[counter].unit, state.count))
    }

    fn direct_meters(&self, asked: &DirectMeterEntry) -> Result<Vec<Entity>, Refusal> {
        let asked = asked.table_entry.clone().unwrap_or_default();
        let mut found = Vec::new();
        for (_, table) in self.tables(asked.table_id)? {
            if table.meter.is_none() {
                if asked.table_id != 0 {
                    return Err(Refusal::argument(format!("{} has no direct meter", table.name)));
                }
                continue;
            }
            for (entry, state) in self.entries(&TableEntry { table_id: table.id, ..asked.clone() })? {
                let table_entry = Some(TableEntry { action: None, ..entry });
                let config = object::write_rates(state.rates);
                found.push(Entity::DirectMeterEntry(DirectMeterEntry { table_entry, config, counter_data: None }));
            }
        }
        Ok(found)
    }

    fn meters(&self, asked: &MeterEntry) -> Result<Vec<Entity>, Refusal> {
        let mut found = Vec::new();
        let meters = self.program.meters.iter().enumerate();
        let indirect = meters.filter_map(|(at, meter)| Some((at, meter, meter.size?)));
        let asked_for: Vec<_> =
            indirect.filter(|(_, meter, _)| asked.meter_id == 0 || meter.id == asked.meter_id).collect();
        if asked_for.is_empty() && asked.meter_id != 0 {
            return Err(Refusal::not_found(format!("the program has no indirect meter {}", asked.meter_id)));
        }
        for (at, meter, size) in asked_for {
            let only = cell(asked.index, size, &meter.name)?;
            for (index, rates) in (0..).zip(self.switch.meter(self.device, at)?) {
                if only.is_none_or(|only| only == index) {
                    found.push(Entity::MeterEntry(MeterEntry {
                        meter_id: meter.id,
                        index: Some(Index { index: index.into() }),
                        config: object::write_rates(rates),
                        counter_data: None,
                    }));
                }
            }
        }
        Ok(found)
    }

    fn value_sets(&self, id: u32) -> Result<Vec<Entity>, Refusal> {
        let asked_for: Vec<_> = match id {
            0 => self.program.value_sets.iter().enumerate().collect(),
            id => vec![object::value_set(self.program, id)?],
        };
        let write = |(at, set)| Ok(object::write_values(set, &self.switch.value_set(self.device, at)?));
        asked_for.into_iter().map(write).collect()
    }

    /// Objects for the controller.
    fn objects(&self, kind: ObjectKind, wanted: impl Fn(&Object) -> bool) -> Result<Vec<Entity>, Refusal> {
        let found = self.switch.objects(self.device, kind)?;
        Ok(found.iter().filter(|one| wanted(one)).map(|one| object::write(self.program, one)).collect())
    }

    /// As [`Self::objects`], of which there must be one if it is asked for by its number.
    fn one(
        &self,
        kind: ObjectKind,
        number: u32,
        what: &str,
        wanted: impl Fn(&Object) -> bool,
    ) -> Result<Vec<Entity>, Refusal> {
        let found = self.objects(kind, |one| number == 0 || wanted(one))?;
        match number != 0 && found.is_empty() {
            true => Err(Refusal::not_found(format!("there is no {what} {number}"))),
            false => Ok(found),
        }
    }

    fn copies(&self, asked: Option<&Type>) -> Result<Vec<Entity>, Refusal> {
        let (groups, sessions) = match asked {
            None => (Some(0), Some(0)),
            Some(Type::MulticastGroupEntry(asked)) => (Some(asked.multicast_group_id), None),
            Some(Type::CloneSessionEntry(asked)) => (None, Some(asked.session_id)),
        };
        let mut found = Vec::new();
        if let Some(number) = groups {
            let of = |one: &Object| matches!(one, Object::Group(group, _) if u32::from(*group) == number);
            found.extend(self.one(ObjectKind::Groups, number, "multicast group", of)?);
        }
        if let Some(number) = sessions {
            let of = |one: &Object| matches!(one, Object::Session(session, _) if u32::from(*session) == number);
            found.extend(self.one(ObjectKind::Sessions, number, "clone session", of)?);
        }
        Ok(found)
    }

    fn members(
        &self,
        profile: u32,
        number: u32,
        kind: impl Fn(ProfileId) -> ObjectKind,
    ) -> Result<Vec<Entity>, Refusal> {
        let profiles: Vec<(ProfileId, &Profile)> = match profile {
            0 => self.program.profiles.iter().enumerate().collect(),
            id => vec![object::profile(self.program, id)?],
        };
        let wanted = |one: &Object| match one {
            Object::Member(_, member, _) => *member == number,
            Object::MemberGroup(_, group, _) => *group == number,
            _ => false,
        };
        let mut found = Vec::new();
        for (at, about) in profiles {
            let number = if profile == 0 { 0 } else { number };
            found.extend(self.one(
                kind(at),
                number,
                &format!("member or group of {} with number", about.name),
                wanted,
            )?);
        }
        Ok(found)
    }

    fn digests(&self, id: u32) -> Result<Vec<Entity>, Refusal> {
        let known = self.program.digests.iter().any(|digest| digest.id == id);
        if id != 0 && !known {
            return Err(Refusal::not_found(format!("the program has no digest {id}")));
        }
        let of = |one: &Object| matches!(one, Object::Digest(digest, _) if self.program.digests[*digest].id == id);
        self.one(ObjectKind::Digests, id, "config of the digest", of)
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
            for (entry, state) in self.entries(&of_table)? {
                let table_entry = Some(TableEntry { action: None, ..entry });
                let data = self.counted(table, &state);
                found.push(Entity::DirectCounterEntry(DirectCounterEntry { table_entry, data }));
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
