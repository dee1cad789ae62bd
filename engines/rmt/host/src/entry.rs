// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Entries by the names of a program, as files, the service and tools write them.

use penstock_rmt_compiler::ir::{ActionCall, Entry, Param, Program, Table, TableId};
use penstock_rmt_p4runtime::{Count, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::value::{self, Format};

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
    /// What each key matches; a key that is left out matches anything.
    #[serde(rename = "match", default, skip_serializing_if = "Map::is_empty")]
    pub keys: Map<String, Json>,
    /// Of two entries that match, the one with the larger number wins. For tables with ternary, range or optional keys.
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
    /// What its direct counter counted: in answers; a request does not set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<Count>,
}

fn is_zero(number: &i32) -> bool {
    *number == 0
}

/// What a [`NamedEntry`] means.
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
pub fn find<'a>(names: impl Iterator<Item = &'a str> + Clone, name: &str, what: &str) -> Result<usize, Refusal> {
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
pub fn table<'a>(program: &'a Program, name: &str) -> Result<(TableId, &'a Table), Refusal> {
    let at = find(program.tables.iter().map(|table| table.name.as_str()), name, "table")?;
    Ok((at, &program.tables[at]))
}

impl NamedEntry {
    /// What the entry means in a program. `needs_action`: an entry without one is refused.
    ///
    /// # Errors
    /// The program does not have a name, or a value does not fit.
    pub fn read(&self, program: &Program, needs_action: bool) -> Result<Meant, Refusal> {
        let (at, table) = table(program, &self.table)?;
        let call = self.action.as_deref().map(|action| self.call(program, table, action)).transpose()?;
        if self.default {
            if !self.keys.is_empty() || self.priority != 0 {
                return Err(Refusal::argument("a default action has neither `match` nor `priority`"));
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
        let call = match call {
            Some(call) => call,
            None if needs_action => return Err(Refusal::argument("the entry has no `action`")),
            None => table.default.clone(),
        };
        Ok(Meant::Entry(at, Entry { keys, priority: self.priority, call }))
    }

    fn call(&self, program: &Program, table: &Table, action: &str) -> Result<ActionCall, Refusal> {
        let names = table.actions.iter().map(|one| program.actions[one.action].name.as_str());
        let reference = &table.actions[find(names, action, &format!("action of {}", table.name))?];
        let action = &program.actions[reference.action];
        match self.default {
            true if reference.table_only => {
                return Err(Refusal::argument(format!("{} is for entries only", action.name)));
            }
            false if reference.default_only => {
                return Err(Refusal::argument(format!("{} is for the default action only", action.name)));
            }
            _ => {}
        }
        let mut args = vec![None; action.params.len()];
        for (name, json) in &self.params {
            let names = action.params.iter().map(|param| param.name.as_str());
            let at = find(names, name, &format!("parameter of {}", action.name))?;
            let refused = |why| Refusal::argument(format!("{name} of {}: {why}", action.name));
            args[at] = Some(value::read(json, action.params[at].width).map_err(refused)?);
        }
        let missing =
            |param: &Param| Refusal::argument(format!("{} needs its parameter `{}`", action.name, param.name));
        let args = args.into_iter().zip(&action.params).map(|(arg, param)| arg.ok_or_else(|| missing(param)));
        Ok(ActionCall { action: reference.action, args: args.collect::<Result<_, _>>()? })
    }

    /// An entry of a table by names.
    #[must_use]
    pub fn of_entry(program: &Program, table: TableId, entry: &Entry) -> Self {
        let about = &program.tables[table];
        let keys = about.keys.iter().zip(&entry.keys);
        Self {
            keys: keys.filter_map(|(key, one)| Some((key.name.clone(), value::show_match(*one, key)?))).collect(),
            priority: entry.priority,
            ..Self::of_call(program, table, &entry.call)
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
        let action = &program.actions[call.action];
        let show = |(param, value): (&Param, &u128)| {
            (param.name.clone(), Format::of(param.width, &param.annotations).json(*value))
        };
        Self {
            table: program.tables[table].name.clone(),
            action: Some(action.name.clone()),
            params: action.params.iter().zip(&call.args).map(show).collect(),
            ..Self::default()
        }
    }
}
