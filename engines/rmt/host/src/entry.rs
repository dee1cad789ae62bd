// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Entries by the names of a program, as files, the service and tools write them.

use penstock_rmt_compiler::ir::{ActionCall, Entry, Param, Program, Rates, Table, TableId, Via, Weighted};
use penstock_rmt_p4runtime::{Count, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::item::{self, named_call};
use crate::value;

/// An entry, or the default action of a table.
///
/// ```json
/// {"table": "ipv4_lpm", "match": {"hdr.ipv4.dst": "10.0.0.0/8"}, "action": "forward", "params": {"port": 1}}
/// {"table": "acl", "match": {"hdr.tcp.dport": "0x50&&&0xffff"}, "priority": 10, "action": "drop"}
/// {"table": "acl", "default": true, "action": "drop"}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedEntry {
    /// The table: its full name, or the end of it if that is unique.
    pub table: String,
    /// The values that each key matches; a key that is left out matches anything.
    #[serde(rename = "match", default, skip_serializing_if = "Map::is_empty")]
    pub keys: Map<String, Json>,
    /// If two entries match, the one with the larger number wins. For tables with ternary, range or optional keys.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: i32,
    /// The default action, not an entry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub default: bool,
    /// The action. An entry that is to be deleted needs none; a default action that is left out is the program's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Its parameters.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Json>,
    /// In place of an action, the number of a member of the table's action profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<u32>,
    /// In place of an action, the number of a group of the table's action selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// In place of an action, actions of which each frame chooses one, in tables with an action selector.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<NamedWeighted>,
    /// Nanoseconds without a frame after which P4Runtime controllers are told, in tables with `support_timeout`.
    #[serde(default, skip_serializing_if = "is_none")]
    pub idle_timeout_ns: u64,
    /// Bytes that a controller keeps with the entry, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub metadata: String,
    /// Value of its direct counter. A request that has it sets the counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<Count>,
    /// Rates of its direct meter; null: every frame is green. A request that has it sets the meter.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub rates: Option<Option<Rates>>,
    /// Nanoseconds since its last frame: in answers about tables with `support_timeout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ns: Option<u64>,
}

/// An action of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedWeighted {
    /// The action.
    pub action: String,
    /// Its parameters.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Json>,
    /// Its share, from 1 on.
    #[serde(default = "one")]
    pub weight: u32,
    /// Port whose link decides whether the action takes part. Links of a card are always up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<u32>,
}

fn one() -> u32 {
    1
}

fn is_none(number: &u64) -> bool {
    *number == 0
}

/// Tells a value that is null from one that is left out.
fn given<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<Rates>>, D::Error> {
    Option::deserialize(from).map(Some)
}

fn is_zero(number: &i32) -> bool {
    *number == 0
}

/// The meaning of a [`NamedEntry`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant {
    /// An entry of a table. Without an action, the entry's is the default one.
    Entry(TableId, Entry),
    /// The default action of a table; None for the program's own.
    Default(TableId, Option<ActionCall>),
}

/// The index of what is called `name`: a full name, or the end of a single one.
///
/// # Errors
/// There is none, or several.
pub(crate) fn find<'a>(names: impl Iterator<Item = &'a str> + Clone, name: &str, what: &str) -> Result<usize, Refusal> {
    if let Some(at) = names.clone().position(|one| one == name) {
        return Ok(at);
    }
    let end = format!(".{name}");
    let mut ends = names.clone().enumerate().filter(|(_, one)| one.ends_with(&end));
    match (ends.next(), ends.next()) {
        (Some((at, _)), None) => Ok(at),
        (Some((_, first)), Some((_, second))) => {
            Err(Refusal::argument(format!("`{name}` is the end of several names: {first}, {second}")))
        }
        _ => {
            let there: Vec<_> = names.collect();
            let there = if there.is_empty() { "there are none".to_owned() } else { there.join(", ") };
            Err(Refusal::not_found(format!("there is no {what} `{name}`; there are: {there}")))
        }
    }
}

/// The table of this name.
///
/// # Errors
/// As [`find`].
pub(crate) fn table<'a>(program: &'a Program, name: &str) -> Result<(TableId, &'a Table), Refusal> {
    let at = find(program.tables.iter().map(|table| table.name.as_str()), name, "table")?;
    Ok((at, &program.tables[at]))
}

impl NamedEntry {
    /// The meaning of the entry in a program. `needs_action`: an entry without one is refused.
    ///
    /// # Errors
    /// The program does not have a name, or a value does not fit.
    pub fn read(&self, program: &Program, needs_action: bool) -> Result<Meant, Refusal> {
        let (at, table) = table(program, &self.table)?;
        let call = self.action.as_deref();
        let call = call.map(|action| call_of(program, table, action, &self.params, self.default)).transpose()?;
        if self.default {
            if !self.keys.is_empty() || self.priority != 0 {
                return Err(Refusal::argument("a default action has neither `match` nor `priority`"));
            }
            if self.via(program, table)?.is_some() || self.idle_timeout_ns != 0 || !self.metadata.is_empty() {
                let text = "a default action has no `member`, `group`, `actions`, `idle_timeout_ns` and `metadata`";
                return Err(Refusal::argument(text));
            }
            return Ok(Meant::Default(at, call));
        }
        let mut keys = vec![None; table.keys.len()];
        for (name, value) in &self.keys {
            let place = find(table.keys.iter().map(|key| key.name.as_str()), name, &format!("key of {}", table.name))?;
            if keys[place].replace(value).is_some() {
                return Err(Refusal::argument(format!("the key {} is given twice", table.keys[place].name)));
            }
        }
        let keys = table.keys.iter().zip(keys).map(|(key, json)| {
            let refused = |why| Refusal::argument(format!("{} of {}: {why}", key.name, table.name));
            value::read_match(json, key).map_err(refused)
        });
        let keys = keys.collect::<Result<_, _>>()?;
        match (table.has_priorities(), self.priority) {
            (true, ..=0) => {
                let text = format!("an entry of {} needs a `priority` from 1 on, as its keys may overlap", table.name);
                return Err(Refusal::argument(text));
            }
            (false, priority) if priority != 0 => {
                return Err(Refusal::argument(format!("entries of {} have no `priority`", table.name)));
            }
            _ => {}
        }
        let via = self.via(program, table)?;
        let call = match (call, &via) {
            (Some(_), Some(_)) => {
                return Err(Refusal::argument("an entry has one of `action`, `member`, `group` and `actions`"));
            }
            (Some(_), None) if table.profile.is_some() && needs_action => {
                let profile = table.profile.map_or("", |profile| program.profiles[profile].name.as_str());
                let text = format!("{} takes its actions from {profile}: write `member` or `group`", table.name);
                return Err(Refusal::argument(text));
            }
            (Some(call), None) => call,
            (None, None) if needs_action => return Err(Refusal::argument("the entry has no `action`")),
            (None, _) => table.default.clone(),
        };
        if self.idle_timeout_ns != 0 && !table.idle_timeouts {
            let text = format!("entries of {} have no idle timeouts: write `support_timeout = true` in it", table.name);
            return Err(Refusal::argument(text));
        }
        let metadata = unhex(&self.metadata)
            .ok_or_else(|| Refusal::argument("`metadata` is an even number of hexadecimal digits"))?;
        Ok(Meant::Entry(
            at,
            Entry { keys, priority: self.priority, call, via, idle_timeout: self.idle_timeout_ns, metadata },
        ))
    }

    /// The member, group or set of actions that the entry names in place of an action.
    fn via(&self, program: &Program, table: &Table) -> Result<Option<Via>, Refusal> {
        let one = |one: &NamedWeighted| {
            item::weight(one.weight)?;
            let call = call_of(program, table, &one.action, &one.params, false)?;
            Ok(Weighted { call, weight: one.weight, watch: one.watch })
        };
        let via = match (self.member, self.group, &self.actions[..]) {
            (None, None, []) => return Ok(None),
            (Some(member), None, []) => Via::Member(member),
            (None, Some(group), []) => Via::Group(group),
            (None, None, actions) => Via::Set(actions.iter().map(one).collect::<Result<_, Refusal>>()?),
            _ => return Err(Refusal::argument("an entry has one of `action`, `member`, `group` and `actions`")),
        };
        let Some(profile) = table.profile.map(|profile| &program.profiles[profile]) else {
            return Err(Refusal::argument(format!("{} has no action profile: write `action`", table.name)));
        };
        if profile.selector.is_none() && !matches!(via, Via::Member(_)) {
            return Err(Refusal::argument(format!("{} has no selector: write `member`", profile.name)));
        }
        Ok(Some(via))
    }

    /// It says what frames do.
    pub fn has_action(&self) -> bool {
        self.action.is_some() || self.member.is_some() || self.group.is_some() || !self.actions.is_empty()
    }

    /// It sets a direct counter or meter.
    pub fn has_state(&self) -> bool {
        self.count.is_some() || self.rates.is_some()
    }

    /// Only what it matches.
    #[must_use]
    pub fn without_action(self) -> Self {
        Self { table: self.table, keys: self.keys, priority: self.priority, ..Self::default() }
    }

    /// An entry of a table by names.
    #[must_use]
    pub fn of_entry(program: &Program, table: TableId, entry: &Entry) -> Self {
        let about = &program.tables[table];
        let keys = about.keys.iter().zip(&entry.keys);
        Self {
            keys: keys.filter_map(|(key, one)| Some((key.name.clone(), value::show_match(*one, key)?))).collect(),
            priority: entry.priority,
            idle_timeout_ns: entry.idle_timeout,
            metadata: hex(&entry.metadata),
            ..Self::of_target(program, table, entry)
        }
    }

    fn of_target(program: &Program, table: TableId, entry: &Entry) -> Self {
        let none = Self { table: program.tables[table].name.clone(), ..Self::default() };
        let one = |one: &Weighted| {
            let (action, params) = named_call(program, &one.call);
            NamedWeighted { action, params, weight: one.weight, watch: one.watch }
        };
        match &entry.via {
            None => Self::of_call(program, table, &entry.call),
            Some(Via::Member(member)) => Self { member: Some(*member), ..none },
            Some(Via::Group(group)) => Self { group: Some(*group), ..none },
            Some(Via::Set(set)) => Self { actions: set.iter().map(one).collect(), ..none },
        }
    }

    /// A default action by names.
    #[must_use]
    pub fn of_default(program: &Program, table: TableId, call: Option<&ActionCall>) -> Self {
        match call {
            Some(call) => Self { default: true, ..Self::of_call(program, table, call) },
            None => Self { default: true, table: program.tables[table].name.clone(), ..Self::default() },
        }
    }

    fn of_call(program: &Program, table: TableId, call: &ActionCall) -> Self {
        let (action, params) = named_call(program, call);
        Self { table: program.tables[table].name.clone(), action: Some(action), params, ..Self::default() }
    }
}

/// An action of a table with its parameters, by names.
///
/// # Errors
/// The table does not have it, or its parameters do not fit.
pub(crate) fn call_of(
    program: &Program,
    table: &Table,
    action: &str,
    params: &Map<String, Json>,
    is_default: bool,
) -> Result<ActionCall, Refusal> {
    let names = table.actions.iter().map(|one| program.actions[one.action].name.as_str());
    let reference = &table.actions[find(names, action, &format!("action of {}", table.name))?];
    let action = &program.actions[reference.action];
    match is_default {
        true if reference.table_only => {
            return Err(Refusal::argument(format!("{} is for entries only", action.name)));
        }
        false if reference.default_only => {
            return Err(Refusal::argument(format!("{} is for the default action only", action.name)));
        }
        _ => {}
    }
    let mut args = vec![None; action.params.len()];
    for (name, json) in params {
        let names = action.params.iter().map(|param| param.name.as_str());
        let at = find(names, name, &format!("parameter of {}", action.name))?;
        let refused = |why| Refusal::argument(format!("{name} of {}: {why}", action.name));
        args[at] = Some(value::read(json, action.params[at].width).map_err(refused)?);
    }
    let missing = |param: &Param| Refusal::argument(format!("{} needs its parameter `{}`", action.name, param.name));
    let args = args.into_iter().zip(&action.params).map(|(arg, param)| arg.ok_or_else(|| missing(param)));
    Ok(ActionCall { action: reference.action, args: args.collect::<Result<_, _>>()? })
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes of hexadecimal digits.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(byte).collect()
}
