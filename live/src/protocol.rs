// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What goes over the control socket of a card that is up: a stream socket, on which each line is a request in JSON and is answered by a
//! line in JSON.
//!
//! ```text
//! {"do":"read","address":8}                     {"ok":{"words":[2]}}
//! {"do":"mem_read","unit":3,"address":8388608,"count":2}  {"ok":{"words":[305419896,0]}}
//! {"do":"poke","unit":3}                        {"ok":{}}
//! {"do":"debug","unit":3}                       {"ok":{"debug":0}}
//! {"do":"reload","program":"/firmware/new.c"}    {"ok":{"reload":{"units":16,"lost":0,"messages":""}}}
//! {"do":"status"}                               {"ok":{"status":{"design":"firewall", ...}}}
//! {"do":"map_get","name":"flows","key":7}        {"ok":{"entries":[{"key":7,"value":{"frames":3}}]}}
//! {"do":"log"}                                  {"ok":{"log":{"lines":["hello"],"lost":0}}}
//! {"do":"flow","action":{"delete":{"element":"knock","key":"192.0.2.1"}}}  {"ok":{}}
//! {"do":"poke","unit":77}                       {"error":"there is no unit 77; the card has units 0..15"}
//! ```
//!
//! Addresses of `read` and `write` are those of the host address space (shell/regs/card.rdl); of `mem_read` and `mem_write` those of a
//! unit's window (docs/architecture.md, "RPU address map"). Files are named by absolute paths, as the card's process sees them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use penstock_device::{Counters, Vitals};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::Link;

/// Words that one request reads or writes at most.
pub const MAX_WORDS: u32 = 65_536;

/// What a client wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// How the card is.
    Status,
    /// All counters, 64 bits wide, since the card is up.
    Counters,
    /// Words of the host address space.
    Read {
        /// Address of the first one.
        address: u32,
        /// How many; one when not given.
        #[serde(default = "one")]
        count: u32,
    },
    /// A word of the host address space.
    Write {
        /// Its address.
        address: u32,
        /// What it becomes.
        value: u32,
    },
    /// Words of a unit's window.
    MemRead {
        /// The unit.
        unit: u32,
        /// Address of the first one.
        address: u32,
        /// How many; one when not given.
        #[serde(default = "one")]
        count: u32,
    },
    /// Words of a unit's window.
    MemWrite {
        /// The unit.
        unit: u32,
        /// Address of the first one.
        address: u32,
        /// What they become.
        values: Vec<u32>,
    },
    /// Loads a table of the accelerators from a file, between two frames.
    Table {
        /// Name of the table, `ip_prefix`.
        name: String,
        /// The file.
        file: PathBuf,
    },
    /// Raises a unit's poke interrupt.
    Poke {
        /// The unit.
        unit: u32,
    },
    /// Raises a unit's evict interrupt.
    Evict {
        /// The unit.
        unit: u32,
    },
    /// Gives a unit's debug word, after writing the one that its program reads, when there is a value.
    Debug {
        /// The unit.
        unit: u32,
        /// The word for its program.
        value: Option<u64>,
    },
    /// Gives a unit frames again.
    Enable {
        /// The unit.
        unit: u32,
    },
    /// Gives a unit no more frames.
    Disable {
        /// The unit.
        unit: u32,
    },
    /// Gives frames of ports and host to these groups of units from now on.
    Ingress {
        /// Their names.
        groups: Vec<String>,
    },
    /// Loads another program, unit by unit, while the others go on.
    Reload {
        /// The group of units that it is for; not needed when there is only one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        /// C source or ELF; those that run, compiled anew, when not given.
        program: Option<PathBuf>,
        /// Tables that change with it: name, or GROUP.TABLE, and file.
        #[serde(default)]
        tables: BTreeMap<String, PathBuf>,
    },
    /// What each group of units runs.
    Programs,
    /// Compiles and checks a program for a group of xdp units; it waits for `swap`.
    Load {
        /// The group; not needed when there is only one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        /// C source or an object.
        program: PathBuf,
    },
    /// Gives a group of xdp units another program between two frames.
    Swap {
        /// The group; not needed when there is only one, or only one has a program that waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        /// C source or an object; when not given the one that waits, else the one that runs, compiled anew.
        program: Option<PathBuf>,
    },
    /// The maps of the programs of xdp units.
    Maps,
    /// All entries of a map; of one that has records, those, each once.
    MapDump {
        /// Its name; when several groups of units have it, GROUP.NAME.
        name: String,
    },
    /// An entry of a map.
    MapGet {
        /// Its name.
        name: String,
        /// The key. Text is read by what the key is: a number, an address, bytes in hexadecimal.
        key: Value,
    },
    /// Sets an entry of a map, between two frames.
    MapSet {
        /// Its name.
        name: String,
        /// The key.
        key: Value,
        /// The value; of per-CPU kinds one for all processors, or a list of one for each.
        value: Value,
        /// Whether it may be a new entry, or must.
        #[serde(default)]
        store: Store,
    },
    /// Takes an entry out of a map.
    MapDelete {
        /// Its name.
        name: String,
        /// The key.
        key: Value,
    },
    /// The routes that programs of xdp units ask for.
    Routes,
    /// Others, between two frames.
    LoadRoutes {
        /// A JSON file of them.
        file: PathBuf,
    },
    /// Takes the lines that programs of xdp units have printed: each comes once.
    Log,
    /// Looks into the inline chain, or changes it between two frames.
    Flow {
        /// What to do.
        action: FlowAction,
    },
}

/// What to do with the inline chain. Contexts are written as `penstock_device::flow` says, keys as objects by the fields' names, as lists, or, of one
/// field, as its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FlowAction {
    /// The elements, their registers, and how many contexts they have.
    List,
    /// All contexts of an element.
    Dump {
        /// Its name; of several inline blocks BLOCK.NAME.
        element: String,
    },
    /// The context of a flow.
    Get {
        /// The element.
        element: String,
        /// The flow.
        key: Value,
    },
    /// Adds a context, or replaces that of the same flow.
    Insert {
        /// The element.
        element: String,
        /// The flow.
        key: Value,
        /// What is not given is as of a flow without a context.
        #[serde(default)]
        context: Value,
    },
    /// Removes the context of a flow.
    Delete {
        /// The element.
        element: String,
        /// The flow.
        key: Value,
    },
    /// Removes all contexts of an element.
    Clear {
        /// The element.
        element: String,
    },
    /// Sets registers of an element.
    Set {
        /// The element.
        element: String,
        /// Numbers by the registers' names.
        registers: Value,
    },
    /// Takes the events that wait.
    Events,
    /// Has only events of some kinds kept from now on.
    Tell {
        /// The element.
        element: String,
        /// Their names.
        kinds: Vec<String>,
    },
    /// Other rows for an inline block.
    Rows {
        /// Its name; not needed when there is only one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        block: Option<String>,
        /// The program; the one that runs, compiled anew, when not given.
        program: Option<PathBuf>,
    },
}

/// Whether an entry that is set may be a new one, or must.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Store {
    /// Either.
    #[default]
    Any,
    /// It must be a new one.
    NoExist,
    /// It must be there.
    Exist,
}

fn one() -> u32 {
    1
}

/// What the card says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is done.
    Ok(Box<Reply>),
    /// It is not, and this is why.
    Error(String),
}

/// What was asked for; each request fills one of them or none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Of `status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Of `counters`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// Of `read` and `mem_read`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<u32>>,
    /// Of `debug`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug: Option<u64>,
    /// Of `reload`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reload: Option<Reloaded>,
    /// Of `programs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs: Option<Vec<ProgramAbout>>,
    /// Of `programs`: those that wait for `swap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Vec<ProgramAbout>>,
    /// Of `load`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Loaded>,
    /// Of `swap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap: Option<Swapped>,
    /// Of `maps` all; of what is done with one, that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maps: Option<Vec<MapAbout>>,
    /// Of `map_dump` and `map_get`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<Value>,
    /// Of `map_dump` of a map that has records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Records>,
    /// Of `routes`, as a file of routes has them (`penstock_device::routes`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<Value>,
    /// Of `log`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Log>,
    /// Of `flow`: elements, contexts, or events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Value>,
}

/// Records that programs sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    /// Oldest first: text, of perf event arrays `{"cpu": 0, "data": text}`.
    pub records: Value,
    /// How many were lost since the load.
    pub lost: u64,
}

/// Lines that programs have printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    /// Of each program the oldest first.
    pub lines: Vec<String>,
    /// How many were lost since the card is up, because nobody took those before.
    pub lost: u64,
}

/// What a group of units runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramAbout {
    /// The group, if it has a name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Its first unit, and the one behind its last.
    pub units: (u32, u32),
    /// What it was loaded from.
    pub file: PathBuf,
    /// Of an XDP program, its name in the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Names of its maps.
    pub maps: Vec<String>,
}

/// A program that was loaded, and waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// What it is.
    pub program: ProgramAbout,
    /// Warnings of the compiler.
    pub messages: String,
}

/// What a swap did with maps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swapped {
    /// Maps that keep what they held.
    pub kept: Vec<String>,
    /// Maps that begin anew: the program before had none of the name with these types and sizes, or they hold what only means something to it.
    pub anew: Vec<String>,
    /// Warnings of the compiler.
    pub messages: String,
}

/// A map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapAbout {
    /// Its name; when several groups of units have it, GROUP.NAME.
    pub name: String,
    /// Its type: `hash`, `percpu_array`, ...
    pub kind: String,
    /// Type of its keys, and their bytes.
    pub key: String,
    /// See `key`.
    pub key_bytes: u64,
    /// Type of its values, and their bytes.
    pub value: String,
    /// See `value`.
    pub value_bytes: u64,
    /// Entries at most.
    pub max_entries: u32,
    /// Constants, which stay as they are.
    pub read_only: bool,
    /// Of per-CPU kinds, the number of the first processor that has values, and of the one behind the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<(u32, u32)>,
}

/// What a reload did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloaded {
    /// Units loaded.
    pub units: u32,
    /// Frames that units did not give up before they were loaded.
    pub lost: u64,
    /// Warnings of the compiler.
    pub messages: String,
}

/// How a card is that is up. Counts are since it is up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Name of the design.
    pub design: String,
    /// Its manifest.
    pub manifest: PathBuf,
    /// What the units run, group by group.
    pub programs: Vec<PathBuf>,
    /// How frames come and go.
    pub driver: String,
    /// Process of the card.
    pub process: u32,
    /// How long it is up, s.
    pub seconds: f64,
    /// Ethernet ports, and the host last.
    pub ports: Vec<PortStatus>,
    /// Units.
    pub units: Vec<UnitStatus>,
    /// Frames that did not come out, by reason, those that did not happen left out (docs/architecture.md, "Drop reasons").
    pub drops: BTreeMap<String, u64>,
    /// What went wrong, in sentences, the newest last.
    pub faults: Vec<String>,
}

/// A port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortStatus {
    /// `port0`, `port1`, ... or `host`.
    pub port: String,
    /// Its interface, if it has one.
    pub interface: Option<String>,
    /// How that is.
    pub link: Option<Link>,
    /// Frames that entered whole.
    pub rx_frames: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Frames that left.
    pub tx_frames: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Frames that arrived at it and were dropped before a unit had them, and `unsent`: those that left and that its interface did not take.
    pub drops: BTreeMap<String, u64>,
}

/// A unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitStatus {
    /// Its number.
    pub unit: u32,
    /// Its group, if that has a name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// State, slots, and place of its program.
    #[serde(flatten)]
    pub vitals: Vitals,
    /// Frames received.
    pub rx_frames: u64,
    /// Frames sent.
    pub tx_frames: u64,
    /// Frames that its program dropped.
    pub blocked: u64,
    /// Frames dropped because their descriptor was refused.
    pub refused: u64,
    /// Frames that its program made; those sent count them, too.
    pub generated: u64,
    /// Error flags, bits as in INTERRUPT_FLAGS.
    pub errors: u32,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The lines of the documentation are what is understood and said.
    #[test]
    fn the_examples_are_right() {
        let examples = include_str!("protocol.rs").lines().filter_map(|line| line.strip_prefix("//! {\"do\":"));
        let mut count = 0;
        for line in examples {
            let (request, answer) = line.split_once("  ").unwrap();
            let request = format!("{{\"do\":{request}");
            let parsed: Request = serde_json::from_str(&request).unwrap();
            let said = serde_json::to_string(&parsed).unwrap();
            assert_eq!(serde_json::from_str::<Request>(&said).unwrap(), parsed);
            let answer = answer.trim();
            if !answer.contains("...") {
                let parsed: Answer = serde_json::from_str(answer).unwrap();
                assert_eq!(serde_json::to_string(&parsed).unwrap(), answer);
            }
            count += 1;
        }
        assert_eq!(count, 10);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for text in
            [r#"{"do":"fly"}"#, r#"{"do":"poke"}"#, r#"{"do":"poke","unit":1,"slot":2}"#, r#"{"do":"poke","unit":-1}"#]
        {
            assert!(serde_json::from_str::<Request>(text).is_err(), "{text}");
        }
    }
}
