// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The protocol of the control socket of a live card: a stream socket, on which each line is a request in JSON and is
//! answered by a line in JSON.
//!
//! ```text
//! {"do":"read","address":8}                     {"ok":{"words":[2]}}
//! {"do":"mem_read","unit":3,"address":8388608,"count":2}  {"ok":{"words":[305419896,0]}}
//! {"do":"poke","unit":3}                        {"ok":{}}
//! {"do":"debug","unit":3}                       {"ok":{"debug":0}}
//! {"do":"reload","program":"/firmware/new.c"}    {"ok":{"reload":{"units":16,"lost":0,"messages":""}}}
//! {"do":"status"}                               {"ok":{"status":{"design":"firewall", ...}}}
//! {"do":"log"}                                  {"ok":{"log":{"lines":["hello"],"lost":0}}}
//! {"do":"call","service":"echo","ask":{"word":7}}  {"ok":{"answer":{"word":7}}}
//! {"do":"capture","port":"0","filter":"tcp","count":1}  {"ok":{}}
//! {"do":"poke","unit":77}                       {"error":"there is no unit 77; the card has units 0..15"}
//! ```
//!
//! `call` is a request to a service of one of the design's engines; the engines define requests and answers.
//!
//! Addresses of `read` and `write` are those of the host address space (shell/regs/card.rdl); of `mem_read` and
//! `mem_write` those of a unit's window (shell/regs/unit.rdl). Files have absolute paths, as the
//! card's process sees them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use penstock_device::{Counters, Vitals};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::Link;

/// Words that one request reads or writes at most.
pub const MAX_WORDS: u32 = 65_536;

/// A client's request.
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
    /// Fills a table of a program from a file, between two frames.
    Table {
        /// Name of the table; when several groups of units have it, GROUP.TABLE.
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
    /// Returns a unit's debug word; with a value, first writes the word that its program reads.
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
        /// C source or ELF; if omitted, the running programs, compiled again.
        program: Option<PathBuf>,
        /// Tables that change with it: name, or GROUP.TABLE, and file.
        #[serde(default)]
        tables: BTreeMap<String, PathBuf>,
    },
    /// Lists the program of each group of units.
    Programs,
    /// Compiles and checks a program for a group of units or an inline block; it waits for `swap`.
    Load {
        /// Name of the group or block; not needed when only one part can run the program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        /// The program's file.
        program: PathBuf,
    },
    /// Gives a group of units or an inline block another program between two frames.
    Swap {
        /// Name of the group or block; not needed when there is only one, or only one has a program that waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        /// The program's file; if omitted, the waiting one, else the running one, compiled again.
        program: Option<PathBuf>,
    },
    /// Takes the lines that programs have printed, each once.
    Log,
    /// Copies frames at a port. Behind the answer the card writes a pcapng capture, until a limit, or until the client
    /// closes its direction of the socket.
    Capture {
        /// `0`, `1`, ... or `host`.
        port: String,
        /// Frames that go this way only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        way: Option<Way>,
        /// Frames that pass this filter only ([`crate::Filter`]).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filter: Option<String>,
        /// First bytes of each frame that are copied.
        #[serde(default = "all_bytes")]
        snap: u32,
        /// Frames after which the capture ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<u64>,
        /// Time after which the capture ends, ms.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ms: Option<u64>,
    },
    /// Carries out a request of a service.
    Call(penstock_device::Request),
}

/// The direction of a frame at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// From the interface into the card.
    In,
    /// Out of the card.
    Out,
}

/// More bytes than a frame has.
pub fn all_bytes() -> u32 {
    1 << 18
}

fn one() -> u32 {
    1
}

/// The card's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is done.
    Ok(Box<Reply>),
    /// It is not, and this is why.
    Error(String),
}

/// The data of the answer; each request fills at most one field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The answer to `status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The answer to `counters`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// The answer to `read` and `mem_read`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<u32>>,
    /// The answer to `debug`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug: Option<u64>,
    /// The answer to `reload`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reload: Option<Reloaded>,
    /// The answer to `programs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs: Option<Vec<ProgramAbout>>,
    /// The answer to `programs`: those that wait for `swap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Vec<ProgramAbout>>,
    /// The answer to `load`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Loaded>,
    /// The answer to `swap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap: Option<Swapped>,
    /// The answer to `log`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Log>,
    /// The answer to `call`, as the service defines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
}

/// Lines that programs have printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    /// For each program, the oldest first.
    pub lines: Vec<String>,
    /// Number of lines that were lost since the card is up, because earlier ones were not taken.
    pub lost: u64,
}

/// The program of a group of units or an inline block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramAbout {
    /// The group or block, if it has a name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Its engine.
    pub engine: String,
    /// First unit of a group, and the one after its last; None for a block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<(u32, u32)>,
    /// The file that it was loaded from.
    pub file: PathBuf,
    /// The program's name in its file, if the file holds several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Names of the tables that the program declares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
}

/// A program that was loaded, and waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// What it is.
    pub program: ProgramAbout,
    /// Warnings of the compiler.
    pub messages: String,
}

/// The effect of a swap on the program's tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swapped {
    /// Tables that keep their contents.
    pub kept: Vec<String>,
    /// Tables that begin empty: the old program had no table of this name, types and sizes, or the contents only have a
    /// meaning for that program.
    pub anew: Vec<String>,
    /// Warnings of the compiler.
    pub messages: String,
}

/// The effect of a reload.
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
    /// The programs of the units, group by group.
    pub programs: Vec<PathBuf>,
    /// The drivers of frames.
    pub driver: String,
    /// Process of the card.
    pub process: u32,
    /// How long it is up, s.
    pub seconds: f64,
    /// Ethernet ports, and the host last.
    pub ports: Vec<PortStatus>,
    /// Units.
    pub units: Vec<UnitStatus>,
    /// Frames that did not leave, by reason, without reasons that did not occur (docs/architecture.md, "Drop reasons").
    pub drops: BTreeMap<String, u64>,
    /// Faults, in sentences, the newest last.
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
    /// Frames that arrived at it and were dropped before a unit had them, and `unsent`: those that left and that its
    /// interface did not take.
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
    /// Frames that its program made; the count of sent frames includes them.
    pub generated: u64,
    /// Error flags, bits as in INTERRUPT_FLAGS.
    pub errors: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the documentation are valid requests and answers.
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
