// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Entities that are no entries of tables, between P4Runtime's numbers and the program's indices: multicast groups, clone sessions, members and groups of
//! action profiles, value sets, meters, digests.

use penstock_rmt_compiler::ir::{
    GroupMember, Match, MemberGroup, Profile, ProfileId, Program, Rates, Replica, Session, Table, ValueSet, ValueSetId,
};

use crate::bits;
use crate::entry;
use crate::proto::p4::v1::action_profile_group::{self, member::WatchKind};
use crate::proto::p4::v1::packet_replication_engine_entry::Type;
use crate::proto::p4::v1::replica::PortKind;
use crate::proto::p4::v1::{self as p4, digest_entry, entity::Entity};
use crate::refusal::Refusal;
use crate::switch::{Act, Change, DigestConfig, Object};

/// Highest port of v1model.
const PORTS: u32 = 511;
/// Most weight of a member or action.
const WEIGHT: i32 = 1024;

/// A port as a binary string.
pub(crate) fn port(bytes: &[u8]) -> Result<u16, Refusal> {
    Ok(bits::read(bytes, 9, "the port")? as u16)
}

/// The weight of a member or action.
pub(crate) fn weight(weight: i32) -> Result<u32, Refusal> {
    match weight {
        1..=WEIGHT => Ok(weight.unsigned_abs()),
        _ => Err(Refusal::argument(format!("a weight is 1 to {WEIGHT}, not {weight}"))),
    }
}

/// Whether an update asks for a multicast group, a clone session, a member, a group or a digest, and what it asks for.
pub(crate) fn read(program: &Program, act: Act, entity: &Entity) -> Result<Option<Change>, Refusal> {
    let object = match entity {
        Entity::PacketReplicationEngineEntry(entry) => match &entry.r#type {
            Some(Type::MulticastGroupEntry(group)) => multicast(group)?,
            Some(Type::CloneSessionEntry(session)) => clone(session)?,
            None => return Err(Refusal::argument("the entry is neither a multicast group nor a clone session")),
        },
        Entity::ActionProfileMember(member) => read_member(program, act, member)?,
        Entity::ActionProfileGroup(group) => read_group(program, group)?,
        Entity::DigestEntry(entry) => digest(program, act, entry)?,
        _ => return Ok(None),
    };
    Ok(Some(Change::Object(act, object)))
}

#[expect(deprecated, reason = "controllers may write ports in the old form")]
fn replicas(given: &[p4::Replica]) -> Result<Vec<Replica>, Refusal> {
    let mut copies: Vec<Replica> = Vec::new();
    for one in given {
        if !one.backup_replicas.is_empty() {
            return Err(Refusal::unsupported("backup replicas are not there: the links of a card are always up"));
        }
        let port = match &one.port_kind {
            Some(PortKind::EgressPort(port)) if *port <= PORTS => *port as u16,
            Some(PortKind::EgressPort(port)) => {
                return Err(Refusal::range(format!("ports are 0 to {PORTS}, not {port}")));
            }
            Some(PortKind::Port(bytes)) => self::port(bytes)?,
            None => return Err(Refusal::argument("a replica has no port")),
        };
        let instance = u16::try_from(one.instance)
            .map_err(|_| Refusal::range(format!("the instance {} has more than 16 bits", one.instance)))?;
        let copy = Replica { port, instance };
        if copies.contains(&copy) {
            return Err(Refusal::argument(format!("port {port} and instance {instance} stand in two replicas")));
        }
        copies.push(copy);
    }
    Ok(copies)
}

fn write_replicas(copies: &[Replica]) -> Vec<p4::Replica> {
    let one = |copy: &Replica| p4::Replica {
        instance: copy.instance.into(),
        port_kind: Some(PortKind::Port(bits::write(copy.port.into()))),
        ..p4::Replica::default()
    };
    copies.iter().map(one).collect()
}

fn replicas_of(entity: &mut p4::Entity) -> &mut [p4::Replica] {
    match &mut entity.entity {
        Some(Entity::PacketReplicationEngineEntry(entry)) => match &mut entry.r#type {
            Some(Type::MulticastGroupEntry(group)) => &mut group.replicas,
            Some(Type::CloneSessionEntry(session)) => &mut session.replicas,
            None => &mut [],
        },
        _ => &mut [],
    }
}

/// Whether an entity has ports in the old form, as numbers; None if it has no ports.
#[expect(deprecated, reason = "controllers may write ports in the old form")]
pub(crate) fn has_old_ports(entity: &p4::Entity) -> Option<bool> {
    let Some(Entity::PacketReplicationEngineEntry(entry)) = &entity.entity else { return None };
    let replicas = match entry.r#type.as_ref()? {
        Type::MulticastGroupEntry(group) => &group.replicas,
        Type::CloneSessionEntry(session) => &session.replicas,
    };
    replicas.first().map(|one| matches!(one.port_kind, Some(PortKind::EgressPort(_))))
}

/// Writes the ports of an entity in the old form, for controllers that read this form alone.
#[expect(deprecated, reason = "controllers may read ports in the old form")]
pub(crate) fn set_old_ports(entity: &mut p4::Entity) {
    for one in replicas_of(entity) {
        if let Some(PortKind::Port(bytes)) = &one.port_kind {
            let port = bytes.iter().fold(0, |port, byte| port << 8 | u32::from(*byte));
            one.port_kind = Some(PortKind::EgressPort(port));
        }
    }
}

/// The number of a multicast group or clone session.
pub(crate) fn number(number: u32, what: &str) -> Result<u16, Refusal> {
    match u16::try_from(number) {
        Ok(0) => Err(Refusal::argument(format!("the number of a {what} is not 0"))),
        Ok(number) => Ok(number),
        Err(_) => Err(Refusal::range(format!("the number of a {what} has 16 bits, and {number} has more"))),
    }
}

fn multicast(group: &p4::MulticastGroupEntry) -> Result<Object, Refusal> {
    if !group.metadata.is_empty() {
        return Err(Refusal::unsupported("metadata of multicast groups is not kept"));
    }
    Ok(Object::Group(number(group.multicast_group_id, "multicast group")?, replicas(&group.replicas)?))
}

fn clone(session: &p4::CloneSessionEntry) -> Result<Object, Refusal> {
    let length = u32::try_from(session.packet_length_bytes)
        .map_err(|_| Refusal::argument("packet_length_bytes is not negative: 0 means all"))?;
    let copies = replicas(&session.replicas)?;
    let of = Session { copies, group: None, length, class: session.class_of_service };
    Ok(Object::Session(number(session.session_id, "clone session")?, of))
}

/// The action profile of this number.
pub(crate) fn profile(program: &Program, id: u32) -> Result<(ProfileId, &Profile), Refusal> {
    let found = program.profiles.iter().enumerate().find(|(_, profile)| profile.id == id);
    found.ok_or_else(|| Refusal::not_found(format!("the program {} has no action profile {id}", program.name)))
}

/// A table that takes its actions from a profile; all such tables have the same actions.
fn table_of(program: &Program, profile: ProfileId) -> Result<&Table, Refusal> {
    let found = program.tables.iter().find(|table| table.profile == Some(profile));
    found.ok_or_else(|| Refusal::argument(format!("no table uses {}", program.profiles[profile].name)))
}

fn read_member(program: &Program, act: Act, given: &p4::ActionProfileMember) -> Result<Object, Refusal> {
    let (at, about) = profile(program, given.action_profile_id)?;
    if given.member_id == 0 {
        return Err(Refusal::argument(format!("the number of a member of {} is not 0", about.name)));
    }
    let table = table_of(program, at)?;
    let call = match (&given.action, act) {
        (_, Act::Delete) => table.default.clone(),
        (Some(call), _) => entry::read_call(program, table, call, false)?,
        (None, _) => return Err(Refusal::argument(format!("a member of {} needs an action", about.name))),
    };
    Ok(Object::Member(at, given.member_id, call))
}

#[expect(deprecated, reason = "controllers may write ports in the old form")]
fn read_group(program: &Program, given: &p4::ActionProfileGroup) -> Result<Object, Refusal> {
    let (at, about) = profile(program, given.action_profile_id)?;
    if given.group_id == 0 {
        return Err(Refusal::argument(format!("the number of a group of {} is not 0", about.name)));
    }
    let max_size = u32::try_from(given.max_size).map_err(|_| Refusal::argument("max_size is not negative"))?;
    let member = |one: &action_profile_group::Member| {
        let watch = match &one.watch_kind {
            Some(WatchKind::Watch(port)) => Some(*port as u32),
            Some(WatchKind::WatchPort(bytes)) => Some(port(bytes)?.into()),
            None => None,
        };
        Ok(GroupMember { member: one.member_id, weight: weight(one.weight)?, watch })
    };
    let members = given.members.iter().map(member).collect::<Result<_, Refusal>>()?;
    Ok(Object::MemberGroup(at, given.group_id, MemberGroup { max_size, members }))
}

fn digest(program: &Program, act: Act, given: &p4::DigestEntry) -> Result<Object, Refusal> {
    let found = program.digests.iter().position(|digest| digest.id == given.digest_id);
    let at = found.ok_or_else(|| Refusal::not_found(format!("the program has no digest {}", given.digest_id)))?;
    let config = match (&given.config, act) {
        (Some(config), _) => *config,
        (None, Act::Delete) => digest_entry::Config::default(),
        (None, _) => return Err(Refusal::argument("a digest needs a config")),
    };
    let time = |ns: i64| u64::try_from(ns).map_err(|_| Refusal::argument("a timeout is not negative"));
    let max_list =
        u32::try_from(config.max_list_size).map_err(|_| Refusal::argument("max_list_size is not negative"))?;
    let config =
        DigestConfig { max_wait_ns: time(config.max_timeout_ns)?, max_list, ack_wait_ns: time(config.ack_timeout_ns)? };
    Ok(Object::Digest(at, config))
}

/// An object for the controller.
pub(crate) fn write(program: &Program, object: &Object) -> Entity {
    let copies = |of| Entity::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry { r#type: Some(of) });
    let nanoseconds = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    match object {
        Object::Group(group, of) => copies(Type::MulticastGroupEntry(p4::MulticastGroupEntry {
            multicast_group_id: (*group).into(),
            replicas: write_replicas(of),
            ..p4::MulticastGroupEntry::default()
        })),
        Object::Session(session, of) => copies(Type::CloneSessionEntry(p4::CloneSessionEntry {
            session_id: (*session).into(),
            replicas: write_replicas(&of.copies),
            class_of_service: of.class,
            packet_length_bytes: i32::try_from(of.length).unwrap_or(i32::MAX),
        })),
        Object::Member(profile, member_id, call) => Entity::ActionProfileMember(p4::ActionProfileMember {
            action_profile_id: program.profiles[*profile].id,
            member_id: *member_id,
            action: Some(entry::write_call(program, call)),
        }),
        Object::MemberGroup(profile, group_id, group) => {
            let member = |one: &GroupMember| action_profile_group::Member {
                member_id: one.member,
                weight: one.weight as i32,
                watch_kind: one.watch.map(|port| WatchKind::WatchPort(bits::write(port.into()))),
            };
            Entity::ActionProfileGroup(p4::ActionProfileGroup {
                action_profile_id: program.profiles[*profile].id,
                group_id: *group_id,
                members: group.members.iter().map(member).collect(),
                max_size: i32::try_from(group.max_size).unwrap_or(i32::MAX),
            })
        }
        Object::Digest(digest, config) => Entity::DigestEntry(p4::DigestEntry {
            digest_id: program.digests[*digest].id,
            config: Some(digest_entry::Config {
                max_timeout_ns: nanoseconds(config.max_wait_ns),
                max_list_size: i32::try_from(config.max_list).unwrap_or(i32::MAX),
                ack_timeout_ns: nanoseconds(config.ack_wait_ns),
            }),
        }),
    }
}

/// Rates of a meter; None, which a request leaves out, means that every frame is green.
pub(crate) fn read_rates(config: Option<p4::MeterConfig>) -> Result<Option<Rates>, Refusal> {
    let Some(config) = config else { return Ok(None) };
    let number =
        |value: i64, what: &str| u64::try_from(value).map_err(|_| Refusal::argument(format!("{what} is not negative")));
    if config.eburst != 0 {
        return Err(Refusal::argument("eburst is for single-rate meters, and v1model's have two rates: leave it 0"));
    }
    let (cir, cbs) = (number(config.cir, "cir")?, number(config.cburst, "cburst")?);
    let (pir, pbs) = (number(config.pir, "pir")?, number(config.pburst, "pburst")?);
    if cir > pir {
        return Err(Refusal::argument(format!("cir is at most pir, and {cir} is more than {pir}")));
    }
    Ok(Some(Rates { cir, cbs, pir, pbs }))
}

/// Rates for the controller.
pub(crate) fn write_rates(rates: Option<Rates>) -> Option<p4::MeterConfig> {
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let config = |of: Rates| p4::MeterConfig {
        cir: number(of.cir),
        cburst: number(of.cbs),
        pir: number(of.pir),
        pburst: number(of.pbs),
        eburst: 0,
    };
    rates.map(config)
}

/// The value set of this number.
pub(crate) fn value_set(program: &Program, id: u32) -> Result<(ValueSetId, &ValueSet), Refusal> {
    let found = program.value_sets.iter().enumerate().find(|(_, set)| set.id == id);
    found.ok_or_else(|| Refusal::not_found(format!("the program {} has no value set {id}", program.name)))
}

/// The members of a value set.
pub(crate) fn read_values(program: &Program, given: &p4::ValueSetEntry) -> Result<Change, Refusal> {
    let (at, set) = value_set(program, given.value_set_id)?;
    let mut members: Vec<Vec<Match>> = Vec::new();
    for one in &given.members {
        let mut fields = vec![None; set.keys.len()];
        for field in &one.r#match {
            let place = (field.field_id as usize).checked_sub(1).and_then(|at| fields.get_mut(at));
            let place = place
                .ok_or_else(|| Refusal::argument(format!("{} has no match field {}", set.name, field.field_id)))?;
            if place.replace(field.field_match_type.as_ref()).is_some() {
                return Err(Refusal::argument(format!("match field {} is given twice", field.field_id)));
            }
        }
        let name = |key: &str| if key.is_empty() { set.name.clone() } else { format!("{key} of {}", set.name) };
        let keys = set.keys.iter().zip(fields);
        let keys = keys.map(|(key, field)| entry::read_match(&name(&key.name), (key.kind, key.width), field.flatten()));
        let keys: Vec<Match> = keys.collect::<Result<_, _>>()?;
        if members.contains(&keys) {
            return Err(Refusal::argument(format!("{} is given a member twice", set.name)));
        }
        members.push(keys);
    }
    Ok(Change::ValueSet(at, members))
}

/// The members of a value set for the controller.
pub(crate) fn write_values(set: &ValueSet, members: &[Vec<Match>]) -> Entity {
    let member = |keys: &Vec<Match>| {
        let fields = (1..).zip(set.keys.iter().zip(keys));
        let fields = fields.filter_map(|(id, (key, value))| entry::write_match(id, (key.kind, key.width), *value));
        p4::ValueSetMember { r#match: fields.collect() }
    };
    Entity::ValueSetEntry(p4::ValueSetEntry { value_set_id: set.id, members: members.iter().map(member).collect() })
}
