// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Answers of the service `rmt`.

use penstock_rmt_compiler::ir::Rates;
use penstock_rmt_p4runtime::Count;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::entry::NamedEntry;
use crate::item::{NamedDigest, NamedGroup, NamedMember, NamedMemberGroup, NamedSession};

/// A tenant with a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantAbout {
    /// Its name, BLOCK.TENANT if the design has several rmt blocks.
    pub name: String,
    /// Its number, which is also the number of its P4Runtime device.
    pub number: u8,
    /// File of its program.
    pub program: String,
    /// Entries in its tables.
    pub entries: usize,
    /// Programs that it was given since the card is up.
    pub loads: u64,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramAbout {
    /// Its file.
    pub file: String,
    /// A number that no other program of this card has.
    pub number: u64,
    /// The number that P4Runtime gave it; 0 if it was loaded in another way.
    pub cookie: u64,
    /// P4 source, unless it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A key of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyAbout {
    /// Its name.
    pub name: String,
    /// Its bits.
    pub width: u32,
    /// `exact`, `lpm`, `ternary`, `range` or `optional`.
    pub kind: String,
}

/// An action of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionAbout {
    /// Its name.
    pub name: String,
    /// Names of its parameters, with their bits.
    pub params: Vec<(String, u32)>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableAbout {
    /// Its name.
    pub name: String,
    /// Its keys.
    pub keys: Vec<KeyAbout>,
    /// Its actions.
    pub actions: Vec<ActionAbout>,
    /// Its entries.
    pub entries: usize,
    /// Entries that it holds at least.
    pub size: u32,
    /// Its entries cannot be changed.
    pub is_const: bool,
    /// Its default action.
    pub default: NamedEntry,
}

/// A register.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterAbout {
    /// Its name.
    pub name: String,
    /// Bits of a cell.
    pub width: u32,
    /// Cells.
    pub size: u32,
    /// Values of its cells, if it was asked for by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<Json>>,
}

/// Frames that a program sent to its controller, and frames that it could not carry on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EventsAbout {
    /// Messages since the program was loaded, those that were lost included.
    pub sent: u64,
    /// Frames that an `assert` dropped.
    pub asserted: u64,
    /// Copies of frames that were dropped, as their frame had too many.
    pub overruns: u64,
    /// Frames for P4Runtime controllers that were lost, as too many waited; on a card in hardware those of all tenants.
    #[serde(default)]
    pub lost_packets: u64,
    /// Frames of all tenants whose digests found no room in a block in hardware, since the program was loaded; their
    /// messages are not in `sent`.
    #[serde(default)]
    pub lost_digests: u64,
    /// Frames of all tenants whose clones found no room in a block in hardware, since the program was loaded.
    #[serde(default)]
    pub lost_clones: u64,
    /// Messages that nobody has taken yet: the digest's name, and its fields.
    pub messages: Vec<(String, serde_json::Map<String, serde_json::Value>)>,
}

/// An indirect meter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeterAbout {
    /// Its name.
    pub name: String,
    /// `bytes` or `frames`.
    pub unit: String,
    /// Cells.
    pub size: u32,
    /// Rates of its cells, if it was asked for by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<Option<Rates>>>,
}

/// Copies of frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiesAbout {
    /// Multicast groups.
    pub groups: Vec<NamedGroup>,
    /// Clone sessions.
    pub sessions: Vec<NamedSession>,
}

/// An action profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileAbout {
    /// Its name.
    pub name: String,
    /// Members that it holds.
    pub size: u32,
    /// It has groups.
    pub has_groups: bool,
    /// Its members.
    pub members: Vec<NamedMember>,
    /// Its groups.
    pub groups: Vec<NamedMemberGroup>,
}

/// A value set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueSetAbout {
    /// Its name.
    pub name: String,
    /// Members that it holds.
    pub size: u32,
    /// Its members, each with a match for each key.
    pub members: Vec<serde_json::Map<String, Json>>,
}

/// Frames, messages and notices of a program for P4Runtime controllers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamAbout {
    /// The program, [`ProgramAbout::number`].
    pub program: u64,
    /// Frames as hexadecimal digits, header `packet_in` included.
    pub packets: Vec<String>,
    /// For each kind of messages that is sent: how, and the values of messages in the order of its fields.
    pub digests: Vec<(NamedDigest, Vec<Vec<Json>>)>,
    /// Entries that have been idle for longer than they may.
    pub idle: Vec<NamedEntry>,
}

/// An indirect counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterAbout {
    /// Its name.
    pub name: String,
    /// Cells.
    pub size: u32,
    /// Values of its cells, if it was asked for by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<Count>>,
}
