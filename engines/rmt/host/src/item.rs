// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Everything that files, the service and tools can set, by the names of a program. The key of an item that no other kind has says what it is.

use penstock_rmt_compiler::ir::{
    ActionCall, GroupMember, Key, Match, MemberGroup, Program, Rates, Replica, Session, Table, ValueKey, ValueSet,
};
use penstock_rmt_p4runtime::{Act, Change, Count, DigestConfig, Object, Refusal};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value as Json};

use crate::entry::{Meant, NamedEntry, call_of, find};
use crate::value::{self, Format};

/// Highest port of v1model.
const PORTS: u16 = 511;
/// Most weight of a member or action.
pub(crate) const WEIGHT: u32 = 1024;

/// An item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "nearly all items are entries")]
pub enum NamedItem {
    /// An entry of a table or a default action: it has `table`.
    Entry(NamedEntry),
    /// A multicast group: it has `multicast`.
    Group(NamedGroup),
    /// A clone session: it has `clone`.
    Session(NamedSession),
    /// A member of an action profile: it has `profile` and `member`.
    Member(NamedMember),
    /// A group of members: it has `profile` and `group`.
    MemberGroup(NamedMemberGroup),
    /// How messages of a kind are sent to P4Runtime controllers: it has `digest`.
    Digest(NamedDigest),
    /// Rates of an indirect meter: it has `meter`.
    Meter(NamedMeter),
    /// Members of a value set: it has `value_set`.
    ValueSet(NamedValueSet),
    /// Cells of a register: it has `register`.
    Register(NamedRegister),
    /// Cells of an indirect counter: it has `counter`.
    Counter(NamedCounter),
}

/// A multicast group.
///
/// ```json
/// {"multicast": 1, "copies": [{"port": 0}, {"port": 1, "instance": 7}]}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedGroup {
    /// Its number: a value of `mcast_grp`, from 1 on.
    pub multicast: u16,
    /// Its copies.
    #[serde(default)]
    pub copies: Vec<Replica>,
}

/// A clone session.
///
/// ```json
/// {"clone": 5, "copies": [{"port": 1}], "length": 64}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedSession {
    /// Its number, from 1 on.
    pub clone: u16,
    /// Its copies.
    #[serde(default)]
    pub copies: Vec<Replica>,
    /// A multicast group whose copies the session makes as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u16>,
    /// Bytes that copies have at most; 0: all.
    #[serde(default)]
    pub length: u32,
    /// Class of service, which the card keeps and does not use.
    #[serde(default)]
    pub class: u32,
}

/// A member of an action profile.
///
/// ```json
/// {"profile": "hops", "member": 1, "action": "forward", "params": {"port": 1}}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedMember {
    /// The action profile or selector.
    pub profile: String,
    /// Its number, from 1 on.
    pub member: u32,
    /// Its action. A member that is to be deleted needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The action's parameters.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Json>,
}

/// A group of members of an action selector.
///
/// ```json
/// {"profile": "hops", "group": 1, "members": [{"member": 1}, {"member": 2, "weight": 3}]}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedMemberGroup {
    /// The action selector.
    pub profile: String,
    /// Its number, from 1 on.
    pub group: u32,
    /// Members that it holds at most; 0: as many as the selector.
    #[serde(default)]
    pub max_size: u32,
    /// Its members.
    #[serde(default)]
    pub members: Vec<GroupMember>,
}

/// How messages of a kind are sent to P4Runtime controllers.
///
/// ```json
/// {"digest": "learn_t", "max_list": 100, "max_wait_ns": 10000000, "ack_wait_ns": 1000000000}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedDigest {
    /// The digest.
    pub digest: String,
    /// Nanoseconds that a message waits for others at most.
    #[serde(default)]
    pub max_wait_ns: u64,
    /// Messages of one list at most; 0: any number.
    #[serde(default)]
    pub max_list: u32,
    /// Nanoseconds that a message is not sent again, unless its list is acknowledged before.
    #[serde(default)]
    pub ack_wait_ns: u64,
}

/// Rates of an indirect meter, in frames or bytes per second.
///
/// ```json
/// {"meter": "police", "index": 2, "rates": {"cir": 1000, "cbs": 10, "pir": 2000, "pbs": 20}}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedMeter {
    /// The meter.
    pub meter: String,
    /// The cell; all of them if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Its rates; if they are left out, every frame is green.
    #[serde(default)]
    pub rates: Option<Rates>,
}

/// The members of a value set.
///
/// ```json
/// {"value_set": "tunnels", "members": [{"type": "0x88f7"}, {"type": "0x9000"}]}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedValueSet {
    /// The value set.
    pub value_set: String,
    /// For each member, what each key of the set matches. The only key of a set without a struct is `value`.
    #[serde(default)]
    pub members: Vec<Map<String, Json>>,
}

/// Cells of a register.
///
/// ```json
/// {"register": "last", "index": 0, "value": 41}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedRegister {
    /// The register.
    pub register: String,
    /// The cell; all of them if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Its value.
    pub value: Json,
}

/// Cells of an indirect counter.
///
/// ```json
/// {"counter": "seen", "index": 3, "value": {"packets": 0, "bytes": 0}}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedCounter {
    /// The counter.
    pub counter: String,
    /// The cell; all of them if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Its value.
    pub value: Count,
}

impl<'de> Deserialize<'de> for NamedItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        Self::kind(&json).read(json).map_err(serde::de::Error::custom)
    }
}

/// Kinds of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Entry,
    Group,
    Session,
    Member,
    MemberGroup,
    Digest,
    Meter,
    ValueSet,
    Register,
    Counter,
}

impl Kind {
    /// Reads an item of this kind. A deserializer of text says in which line a fault is.
    pub fn read<'de, D: Deserializer<'de>>(self, from: D) -> Result<NamedItem, D::Error> {
        Ok(match self {
            Self::Entry => NamedItem::Entry(NamedEntry::deserialize(from)?),
            Self::Group => NamedItem::Group(NamedGroup::deserialize(from)?),
            Self::Session => NamedItem::Session(NamedSession::deserialize(from)?),
            Self::Member => NamedItem::Member(NamedMember::deserialize(from)?),
            Self::MemberGroup => NamedItem::MemberGroup(NamedMemberGroup::deserialize(from)?),
            Self::Digest => NamedItem::Digest(NamedDigest::deserialize(from)?),
            Self::Meter => NamedItem::Meter(NamedMeter::deserialize(from)?),
            Self::ValueSet => NamedItem::ValueSet(NamedValueSet::deserialize(from)?),
            Self::Register => NamedItem::Register(NamedRegister::deserialize(from)?),
            Self::Counter => NamedItem::Counter(NamedCounter::deserialize(from)?),
        })
    }
}

impl NamedItem {
    /// The kind of an item.
    pub fn kind(json: &Json) -> Kind {
        let has = |key: &str| json.get(key).is_some();
        match () {
            () if has("table") => Kind::Entry,
            () if has("multicast") => Kind::Group,
            () if has("clone") => Kind::Session,
            () if has("profile") && has("group") => Kind::MemberGroup,
            () if has("profile") => Kind::Member,
            () if has("digest") => Kind::Digest,
            () if has("meter") => Kind::Meter,
            () if has("value_set") => Kind::ValueSet,
            () if has("register") => Kind::Register,
            () if has("counter") => Kind::Counter,
            () => Kind::Entry,
        }
    }

    /// The change that inserts, modifies or deletes the item. Meters, value sets, registers and counters always exist,
    /// so a deletion resets them.
    ///
    /// # Errors
    /// The program does not have a name, or a value does not fit.
    pub fn read(&self, program: &Program, act: Act) -> Result<Change, Refusal> {
        let gone = act == Act::Delete;
        match self {
            Self::Entry(entry) => of_entry(program, act, entry),
            Self::Group(of) => {
                let copies = copies(&of.copies)?;
                Ok(Change::Object(act, Object::Group(numbered(of.multicast, "multicast group")?, copies)))
            }
            Self::Session(of) => {
                let session =
                    Session { copies: copies(&of.copies)?, group: of.group, length: of.length, class: of.class };
                Ok(Change::Object(act, Object::Session(numbered(of.clone, "clone session")?, session)))
            }
            Self::Member(of) => {
                let profile = profile(program, &of.profile)?;
                let table = table_of(program, profile)?;
                let call = match &of.action {
                    Some(action) => call_of(program, table, action, &of.params, false)?,
                    None if gone => table.default.clone(),
                    None => return Err(Refusal::argument("the member has no `action`")),
                };
                Ok(Change::Object(act, Object::Member(profile, numbered(of.member, "member")?, call)))
            }
            Self::MemberGroup(of) => {
                let group = MemberGroup { max_size: of.max_size, members: of.members.clone() };
                of.members.iter().try_for_each(|one| weight(one.weight))?;
                let profile = profile(program, &of.profile)?;
                Ok(Change::Object(act, Object::MemberGroup(profile, numbered(of.group, "group")?, group)))
            }
            Self::Digest(of) => {
                let names = program.digests.iter().map(|digest| digest.name.as_str());
                let digest = find(names, &of.digest, "digest")?;
                let (max_wait_ns, max_list, ack_wait_ns) = (of.max_wait_ns, of.max_list, of.ack_wait_ns);
                let config = DigestConfig { max_wait_ns, max_list, ack_wait_ns };
                Ok(Change::Object(act, Object::Digest(digest, config)))
            }
            Self::Meter(of) => {
                let meter = meter(program, &of.meter)?;
                of.rates.as_ref().map_or(Ok(()), rates)?;
                Ok(Change::Meter(meter, of.index, of.rates.filter(|_| !gone)))
            }
            Self::ValueSet(of) => {
                let names = program.value_sets.iter().map(|set| set.name.as_str());
                let at = find(names, &of.value_set, "value set")?;
                let members = if gone { &[][..] } else { &of.members };
                let members = members.iter().map(|member| read_member(&program.value_sets[at], member));
                Ok(Change::ValueSet(at, members.collect::<Result<_, _>>()?))
            }
            Self::Register(of) => {
                let names = program.registers.iter().map(|register| register.name.as_str());
                let at = find(names, &of.register, "register")?;
                let refused = |why| Refusal::range(format!("{}: {why}", of.register));
                let value = value::read(&of.value, program.registers[at].width).map_err(refused)?;
                Ok(Change::Register(at, of.index, if gone { 0 } else { value }))
            }
            Self::Counter(of) => {
                let counter = counter(program, &of.counter)?;
                Ok(Change::Counter(counter, of.index, if gone { Count::default() } else { of.value }))
            }
        }
    }

    /// A change by names: the act and the item that it changes.
    pub fn of(program: &Program, change: &Change) -> Vec<(Act, Self)> {
        let entry = |act, entry: NamedEntry| vec![(act, Self::Entry(entry))];
        match change {
            Change::Insert(table, of) => entry(Act::Insert, NamedEntry::of_entry(program, *table, of)),
            Change::Modify(table, of) => entry(Act::Modify, NamedEntry::of_entry(program, *table, of)),
            Change::Delete(table, of) => entry(Act::Delete, NamedEntry::of_entry(program, *table, of).without_action()),
            Change::Default(table, call @ Some(_)) => {
                entry(Act::Modify, NamedEntry::of_default(program, *table, call.as_ref()))
            }
            Change::Default(table, None) => entry(Act::Delete, NamedEntry::of_default(program, *table, None)),
            Change::EntryCounter(table, of, count) => {
                let named = NamedEntry::of_entry(program, *table, of).without_action();
                entry(Act::Modify, NamedEntry { count: Some(*count), ..named })
            }
            Change::EntryMeter(table, of, rates) => {
                let named = NamedEntry::of_entry(program, *table, of).without_action();
                entry(Act::Modify, NamedEntry { rates: Some(*rates), ..named })
            }
            Change::Register(register, index, value) => {
                let (register, value) = (program.registers[*register].name.clone(), Format::Number.json(*value));
                vec![(Act::Modify, Self::Register(NamedRegister { register, index: *index, value }))]
            }
            Change::Counter(counter, index, value) => {
                let counter = program.counters[*counter].name.clone();
                vec![(Act::Modify, Self::Counter(NamedCounter { counter, index: *index, value: *value }))]
            }
            Change::Meter(meter, index, rates) => {
                let meter = program.meters[*meter].name.clone();
                vec![(Act::Modify, Self::Meter(NamedMeter { meter, index: *index, rates: *rates }))]
            }
            Change::ValueSet(set, members) => {
                vec![(Act::Modify, Self::ValueSet(NamedValueSet::of(&program.value_sets[*set], members)))]
            }
            Change::Object(act, object) => vec![(*act, Self::of_object(program, object))],
            Change::All(changes) => changes.iter().flat_map(|change| Self::of(program, change)).collect(),
        }
    }

    /// An object by names.
    pub fn of_object(program: &Program, object: &Object) -> Self {
        match object {
            Object::Group(group, copies) => Self::Group(NamedGroup { multicast: *group, copies: copies.clone() }),
            Object::Session(clone, Session { copies, group, length, class }) => Self::Session(NamedSession {
                clone: *clone,
                copies: copies.clone(),
                group: *group,
                length: *length,
                class: *class,
            }),
            Object::Member(profile, member, call) => {
                let profile = program.profiles[*profile].name.clone();
                let (action, params) = named_call(program, call);
                Self::Member(NamedMember { profile, member: *member, action: Some(action), params })
            }
            Object::MemberGroup(profile, group, of) => {
                let profile = program.profiles[*profile].name.clone();
                let (max_size, members) = (of.max_size, of.members.clone());
                Self::MemberGroup(NamedMemberGroup { profile, group: *group, max_size, members })
            }
            Object::Digest(digest, config) => {
                let DigestConfig { max_wait_ns, max_list, ack_wait_ns } = *config;
                let digest = program.digests[*digest].name.clone();
                Self::Digest(NamedDigest { digest, max_wait_ns, max_list, ack_wait_ns })
            }
        }
    }
}

/// An action and its arguments by names.
pub(crate) fn named_call(program: &Program, call: &ActionCall) -> (String, Map<String, Json>) {
    let action = &program.actions[call.action];
    let params = action.params.iter().zip(&call.args);
    let params =
        params.map(|(param, value)| (param.name.clone(), Format::of(param.width, &param.annotations).json(*value)));
    (action.name.clone(), params.collect())
}

/// An entry, or only its direct counter or meter if it has no action.
fn of_entry(program: &Program, act: Act, entry: &NamedEntry) -> Result<Change, Refusal> {
    let only_state = act == Act::Modify && !entry.default && !entry.has_action() && entry.has_state();
    let (table, read) = match entry.read(program, act != Act::Delete && !only_state)? {
        Meant::Default(..) if entry.has_state() => {
            return Err(Refusal::argument("default actions have no direct counters and meters"));
        }
        Meant::Default(table, call) => return Ok(Change::Default(table, call.filter(|_| act != Act::Delete))),
        Meant::Entry(table, read) => (table, read),
    };
    let mut changes = match act {
        Act::Insert => vec![Change::Insert(table, read.clone())],
        Act::Modify if only_state => Vec::new(),
        Act::Modify => vec![Change::Modify(table, read.clone())],
        Act::Delete => return Ok(Change::Delete(table, read)),
    };
    let about = &program.tables[table];
    if let Some(count) = entry.count {
        if about.counter.is_none() {
            return Err(Refusal::argument(format!("{} has no direct counter", about.name)));
        }
        changes.push(Change::EntryCounter(table, read.clone(), count));
    }
    if let Some(of) = entry.rates {
        if about.meter.is_none() {
            return Err(Refusal::argument(format!("{} has no direct meter", about.name)));
        }
        of.as_ref().map_or(Ok(()), rates)?;
        changes.push(Change::EntryMeter(table, read, of));
    }
    match changes.len() {
        1 => Ok(changes.swap_remove(0)),
        _ => Ok(Change::All(changes)),
    }
}

fn rates(of: &Rates) -> Result<(), Refusal> {
    match of.cir <= of.pir {
        true => Ok(()),
        false => Err(Refusal::argument(format!("`cir` is at most `pir`, and {} is more than {}", of.cir, of.pir))),
    }
}

/// Checks the weight of a member or action.
pub(crate) fn weight(weight: u32) -> Result<(), Refusal> {
    match weight {
        1..=WEIGHT => Ok(()),
        _ => Err(Refusal::argument(format!("a weight is 1 to {WEIGHT}, not {weight}"))),
    }
}

fn numbered<T: Default + PartialEq>(number: T, what: &str) -> Result<T, Refusal> {
    match number == T::default() {
        true => Err(Refusal::argument(format!("the number of a {what} is not 0"))),
        false => Ok(number),
    }
}

fn copies(given: &[Replica]) -> Result<Vec<Replica>, Refusal> {
    for (index, copy) in given.iter().enumerate() {
        if copy.port > PORTS {
            return Err(Refusal::range(format!("ports are 0 to {PORTS}, not {}", copy.port)));
        }
        if given[..index].contains(copy) {
            let text = format!("port {} and instance {} stand in two copies", copy.port, copy.instance);
            return Err(Refusal::argument(text));
        }
    }
    Ok(given.to_vec())
}

fn profile(program: &Program, name: &str) -> Result<usize, Refusal> {
    find(program.profiles.iter().map(|profile| profile.name.as_str()), name, "action profile")
}

/// A table that takes its actions from a profile; all such tables have the same actions.
fn table_of(program: &Program, profile: usize) -> Result<&Table, Refusal> {
    let found = program.tables.iter().find(|table| table.profile == Some(profile));
    found.ok_or_else(|| Refusal::argument(format!("no table uses {}", program.profiles[profile].name)))
}

/// The indirect meter of this name.
pub(crate) fn meter(program: &Program, name: &str) -> Result<usize, Refusal> {
    let at = find(program.meters.iter().map(|meter| meter.name.as_str()), name, "meter")?;
    match program.meters[at].size {
        Some(_) => Ok(at),
        None => {
            Err(Refusal::argument(format!("{} meters entries of a table: give these `rates`", program.meters[at].name)))
        }
    }
}

/// The indirect counter of this name.
pub(crate) fn counter(program: &Program, name: &str) -> Result<usize, Refusal> {
    let at = find(program.counters.iter().map(|one| one.name.as_str()), name, "counter")?;
    match program.counters[at].size {
        Some(_) => Ok(at),
        None => {
            Err(Refusal::argument(format!("{} counts entries of a table: look at these", program.counters[at].name)))
        }
    }
}

/// A key of a value set as one of a table. The only one of a set without a struct is called `value`.
fn key(set: &ValueSet, of: &ValueKey) -> Key {
    let name = if of.name.is_empty() { "value".to_owned() } else { of.name.clone() };
    Key { name, field: 0, width: of.width, kind: of.kind, annotations: Vec::new(), span: set.span }
}

fn read_member(set: &ValueSet, member: &Map<String, Json>) -> Result<Vec<Match>, Refusal> {
    let keys: Vec<Key> = set.keys.iter().map(|of| key(set, of)).collect();
    let mut given = vec![None; keys.len()];
    for (name, value) in member {
        let at = find(keys.iter().map(|key| key.name.as_str()), name, &format!("key of {}", set.name))?;
        given[at] = Some(value);
    }
    let read = |(key, json): (&Key, Option<&Json>)| {
        value::read_match(json, key).map_err(|why| Refusal::argument(format!("{} of {}: {why}", key.name, set.name)))
    };
    keys.iter().zip(given).map(read).collect()
}

impl NamedValueSet {
    /// The members of a value set by names.
    pub fn of(set: &ValueSet, members: &[Vec<Match>]) -> Self {
        let member = |member: &Vec<Match>| {
            let keys = set.keys.iter().map(|of| key(set, of)).zip(member);
            keys.filter_map(|(key, value)| Some((key.name.clone(), value::show_match(*value, &key)?))).collect()
        };
        Self { value_set: set.name.clone(), members: members.iter().map(member).collect() }
    }
}
