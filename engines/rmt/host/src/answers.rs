// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Answers of the service `rmt`.

use penstock_rmt_p4runtime::Count;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::entry::NamedEntry;

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

/// What a program sent to its controller, and which frames it could not carry on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EventsAbout {
    /// Messages since the program was loaded, those that were lost included.
    pub sent: u64,
    /// Frames that an `assert` dropped.
    pub asserted: u64,
    /// Copies of frames that were dropped, as their frame had too many.
    pub overruns: u64,
    /// Messages that nobody has taken yet: the digest's name, and its fields.
    pub messages: Vec<(String, serde_json::Map<String, serde_json::Value>)>,
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
