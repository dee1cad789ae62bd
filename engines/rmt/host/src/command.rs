// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The command line of the service `rmt`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use penstock_engine::files;
use serde_json::{Map, Value as Json};

use crate::ask::Ask;
use crate::entry::NamedEntry;
use crate::item::{NamedItem, NamedRegister};

/// Whose program a request means.
#[derive(Debug, Args)]
pub(crate) struct Whose {
    /// The tenant; it can be left out if there is only one program.
    #[arg(long, short, value_name = "NAME")]
    tenant: Option<String>,
}

/// An entry on the command line.
#[derive(Debug, Args)]
pub(crate) struct EntryWords {
    #[command(flatten)]
    whose: Whose,
    /// The table.
    table: String,
    /// The values of the keys, KEY=VALUE, then an action with its parameters: `hdr.ipv4.dst=10.0.0.0/8 forward port=1`. A ternary value is VALUE&&&MASK, a
    /// range LOW..HIGH. A key that is left out matches anything.
    #[arg(value_name = "KEY=VALUE | ACTION | PARAMETER=VALUE")]
    words: Vec<String>,
    /// If two entries match, the one with the larger number wins.
    #[arg(long, default_value_t = 0)]
    priority: i32,
    /// The default action, not an entry.
    #[arg(long)]
    default: bool,
    /// In place of an action, a member of the table's action profile.
    #[arg(long, value_name = "NUMBER")]
    member: Option<u32>,
    /// In place of an action, a group of the table's action selector.
    #[arg(long, value_name = "NUMBER")]
    group: Option<u32>,
    /// Milliseconds without a frame after which P4Runtime controllers are told.
    #[arg(long, value_name = "MS")]
    idle_timeout: Option<u64>,
}

/// An item on the command line.
#[derive(Debug, Args)]
pub(crate) struct ItemWords {
    #[command(flatten)]
    whose: Whose,
    /// The item as JSON, as files of entries have it: `{"multicast": 1, "copies": [{"port": 0}, {"port": 1}]}`.
    item: String,
}

impl ItemWords {
    fn item(self) -> Result<(Option<String>, NamedItem), String> {
        let item = serde_json::from_str(&self.item);
        let wrong =
            |error| format!("{error}; an item is for example {{\"multicast\": 1, \"copies\": [{{\"port\": 0}}]}}");
        Ok((self.whose.tenant, item.map_err(wrong)?))
    }
}

impl EntryWords {
    fn entry(self) -> (Option<String>, NamedItem) {
        let pair =
            |word: &String| word.split_once('=').map(|(name, value)| (name.to_owned(), Json::String(value.to_owned())));
        let action = self.words.iter().position(|word| !word.contains('='));
        let (keys, rest) = self.words.split_at(action.unwrap_or(self.words.len()));
        let entry = NamedEntry {
            table: self.table,
            keys: keys.iter().filter_map(pair).collect::<Map<_, _>>(),
            priority: self.priority,
            default: self.default,
            action: rest.first().cloned(),
            params: rest.iter().skip(1).filter_map(pair).collect(),
            member: self.member,
            group: self.group,
            idle_timeout_ns: self.idle_timeout.unwrap_or(0).saturating_mul(1_000_000),
            ..NamedEntry::default()
        };
        (self.whose.tenant, NamedItem::Entry(entry))
    }
}

/// A request.
#[derive(Debug, Subcommand)]
pub(crate) enum Rmt {
    /// Lists the tenants and their programs.
    Tenants,
    /// Gives a tenant another program between two frames. Its entries, registers and counters begin anew.
    Swap {
        /// The tenant.
        tenant: String,
        /// P4 source.
        file: PathBuf,
        /// Only check that the program compiles and fits.
        #[arg(long)]
        check: bool,
        /// Begin with the entries and other items of the program before.
        #[arg(long)]
        keep: bool,
    },
    /// Gives a tenant of the design that has no program one.
    Add {
        /// The tenant.
        tenant: String,
        /// P4 source.
        file: PathBuf,
    },
    /// Takes a tenant's program away: its frames pass unchanged.
    Remove {
        /// The tenant.
        tenant: String,
    },
    /// Lists the tables of a program.
    Tables {
        #[command(flatten)]
        whose: Whose,
    },
    /// Lists the entries of a table and its default action.
    Entries {
        #[command(flatten)]
        whose: Whose,
        /// The table.
        table: String,
    },
    /// Adds an entry, or sets a default action.
    Insert(EntryWords),
    /// Gives an entry another action.
    Modify(EntryWords),
    /// Removes an entry, or resets a default action.
    Delete(EntryWords),
    /// Lists the registers of a program, or the cells of one.
    Registers {
        #[command(flatten)]
        whose: Whose,
        /// The register.
        register: Option<String>,
        /// Writes a cell before.
        #[arg(long, value_name = "INDEX=VALUE", requires = "register", value_parser = cell)]
        set: Option<(u32, String)>,
    },
    /// Lists the counters of a program, or the cells of one.
    Counters {
        #[command(flatten)]
        whose: Whose,
        /// The counter.
        counter: Option<String>,
    },
    /// Adds a multicast group, clone session, member, group of members or digest; or sets a meter, value set,
    /// register or counter.
    AddItem(ItemWords),
    /// As `add-item`, of an item that is there.
    SetItem(ItemWords),
    /// Removes an item, or resets it.
    DropItem(ItemWords),
    /// Lists the multicast groups and clone sessions of a program.
    Copies {
        #[command(flatten)]
        whose: Whose,
    },
    /// Lists the action profiles of a program, with members and groups.
    Profiles {
        #[command(flatten)]
        whose: Whose,
    },
    /// Lists the value sets of a program, with their members.
    ValueSets {
        #[command(flatten)]
        whose: Whose,
    },
    /// Lists the meters of a program, or the rates of one.
    Meters {
        #[command(flatten)]
        whose: Whose,
        /// The meter.
        meter: Option<String>,
    },
    /// Lists the kinds of messages that are sent to P4Runtime controllers.
    Digests {
        #[command(flatten)]
        whose: Whose,
    },
    /// Takes the messages that a program sent by `digest`.
    Events {
        #[command(flatten)]
        whose: Whose,
    },
}

impl Rmt {
    /// The request.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn ask(self) -> Result<Ask, String> {
        Ok(match self {
            Self::Tenants => Ask::Tenants,
            Self::Add { tenant, file } => {
                let source = files::read(&file, "give a P4 program").map_err(|error| error.to_string())?;
                Ask::Add { tenant, file: file.display().to_string(), source }
            }
            Self::Remove { tenant } => Ask::Remove { tenant },
            Self::AddItem(words) => {
                let (tenant, entry) = words.item()?;
                Ask::Insert { tenant, entry }
            }
            Self::SetItem(words) => {
                let (tenant, entry) = words.item()?;
                Ask::Modify { tenant, entry }
            }
            Self::DropItem(words) => {
                let (tenant, entry) = words.item()?;
                Ask::Delete { tenant, entry }
            }
            Self::Copies { whose } => Ask::Copies { tenant: whose.tenant },
            Self::Profiles { whose } => Ask::Profiles { tenant: whose.tenant },
            Self::ValueSets { whose } => Ask::ValueSets { tenant: whose.tenant },
            Self::Meters { whose, meter } => Ask::Meters { tenant: whose.tenant, meter },
            Self::Digests { whose } => Ask::Digests { tenant: whose.tenant },
            Self::Swap { tenant, file, check, keep } => {
                let text = files::read(&file, "give a P4 program").map_err(|error| error.to_string())?;
                let file = file.display().to_string();
                Ask::Swap { tenant: Some(tenant), file, source: text, cookie: 0, check, keep }
            }
            Self::Tables { whose } => Ask::Tables { tenant: whose.tenant },
            Self::Entries { whose, table } => Ask::Entries { tenant: whose.tenant, table },
            Self::Insert(words) => {
                let (tenant, entry) = words.entry();
                Ask::Insert { tenant, entry }
            }
            Self::Modify(words) => {
                let (tenant, entry) = words.entry();
                Ask::Modify { tenant, entry }
            }
            Self::Delete(words) => {
                let (tenant, entry) = words.entry();
                Ask::Delete { tenant, entry }
            }
            Self::Registers { whose, register: Some(name), set: Some((index, value)) } => {
                let entry =
                    NamedItem::Register(NamedRegister { register: name, index: Some(index), value: value.into() });
                Ask::Modify { tenant: whose.tenant, entry }
            }
            Self::Registers { whose, register, .. } => Ask::Registers { tenant: whose.tenant, register },
            Self::Events { whose } => Ask::Events { tenant: whose.tenant },
            Self::Counters { whose, counter } => Ask::Counters { tenant: whose.tenant, counter },
        })
    }
}

/// Parses INDEX=VALUE.
fn cell(text: &str) -> Result<(u32, String), String> {
    let parsed = text.split_once('=').and_then(|(index, value)| Some((index.parse().ok()?, value.to_owned())));
    parsed.ok_or_else(|| format!("`{text}` is no cell: write INDEX=VALUE, for example 0=17"))
}

#[cfg(test)]
mod tests {
    use penstock_engine::Engine;
    use serde_json::json;

    use crate::engine::RMT;

    /// The requests of a command line, or what is wrong with it.
    fn asked(line: &[&str]) -> Result<Vec<serde_json::Value>, String> {
        let service = RMT.services()[0];
        let words = [service.name].into_iter().chain(line.iter().copied());
        let matches = (service.command)().try_get_matches_from(words).map_err(|error| error.to_string())?;
        (service.ask)(&matches)
    }

    #[test]
    fn command_lines_are_requests() {
        let route =
            json!({"table": "routes", "match": {"dst": "10.0.0.0/8"}, "action": "forward", "params": {"port": "1"}});
        let rule = json!({"table": "acl", "match": {"a": "1&&&3", "b": "4..5"}, "priority": 7, "action": "drop"});
        for (line, ask) in [
            (&["tenants"][..], json!("tenants")),
            (&["tables", "-t", "bob"], json!({"tables": {"tenant": "bob"}})),
            (&["entries", "routes"], json!({"entries": {"tenant": null, "table": "routes"}})),
            (
                &["insert", "routes", "dst=10.0.0.0/8", "forward", "port=1"],
                json!({"insert": {"tenant": null, "entry": route}}),
            ),
            (
                &["modify", "--tenant", "eve", "acl", "a=1&&&3", "b=4..5", "drop", "--priority", "7"],
                json!({"modify": {"tenant": "eve", "entry": rule}}),
            ),
            (
                &["delete", "routes", "dst=10.0.0.0/8"],
                json!({"delete": {"tenant": null, "entry": {"table": "routes", "match": {"dst": "10.0.0.0/8"}}}}),
            ),
            (
                &["insert", "routes", "--default", "drop"],
                json!({"insert": {"tenant": null, "entry": {"table": "routes", "default": true, "action": "drop"}}}),
            ),
            (&["registers"], json!({"registers": {"tenant": null, "register": null}})),
            (
                &["registers", "last", "--set", "3=0x10"],
                json!({"modify": {"tenant": null, "entry": {"register": "last", "index": 3, "value": "0x10"}}}),
            ),
            (
                &["add-item", "-t", "bob", r#"{"multicast": 1, "copies": [{"port": 3}]}"#],
                json!({"insert": {"tenant": "bob", "entry": {"multicast": 1, "copies": [{"port": 3, "instance": 0}]}}}),
            ),
            (
                &["insert", "hops", "dst=10.0.0.0/8", "--group", "7"],
                json!({"insert": {
                    "tenant": null, "entry": {"table": "hops", "match": {"dst": "10.0.0.0/8"}, "group": 7}}}),
            ),
            (&["counters", "seen"], json!({"counters": {"tenant": null, "counter": "seen"}})),
        ] {
            assert_eq!(asked(line), Ok(vec![ask]), "{line:?}");
        }
        assert!(asked(&["add-item", "{}"]).unwrap_err().contains("missing field `table`"));
        assert!(asked(&["swap", "bob", "no/such.p4"]).unwrap_err().starts_with("no/such.p4: "));
        assert!(asked(&["registers", "last", "--set", "x"]).unwrap_err().contains("INDEX=VALUE"));
    }
}
