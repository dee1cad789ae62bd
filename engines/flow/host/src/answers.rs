// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Answers of the service `flow`. Addresses are text; other fields and registers are numbers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// An element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementAbout {
    /// Its name, BLOCK.ELEMENT if the design has several flow blocks.
    pub name: String,
    /// Fields of its key; None if it has no contexts.
    pub key: Option<Vec<String>>,
    /// Both directions of a flow have one context.
    pub biflow: bool,
    /// Names of its states. A flow without a context is in the first.
    pub states: Vec<String>,
    /// Names of the registers of a flow.
    pub flow: Vec<String>,
    /// Registers of the element, by name.
    pub registers: Map<String, Json>,
    /// Contexts in its table.
    pub contexts: usize,
    /// Contexts that its table holds at most; None without a key.
    pub of: Option<u32>,
}

/// A slice of the contexts of an element.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SliceAbout {
    /// The contexts, in any order.
    pub contexts: Vec<ContextAbout>,
    /// Where the next slice begins; not there in the last slice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
}

/// A context: `{"key": {"ip.src": "192.0.2.1"}, "state": "OPEN", "registers": {"count": 3}, "for": {"us": 59000000},
/// "idle": {"us": 300000000, "left": 299000000, "then": "CLOSED"}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextAbout {
    /// Fields of the key by name; with `biflow` the side that comes first is the source.
    pub key: Map<String, Json>,
    /// Name of its state; the number of a state that the program does not have.
    pub state: Json,
    /// Flow registers, by name.
    pub registers: Map<String, Json>,
    /// Its hard deadline.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    pub hard: Option<Hard>,
    /// Its idle deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
}

/// The hard deadline of a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hard {
    /// µs until the deadline.
    pub us: u64,
    /// State of the context afterwards; without it the context is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<Json>,
}

/// The idle deadline of a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idle {
    /// µs without frames after which the context ends.
    pub us: u32,
    /// µs that are left.
    pub left: u64,
    /// State of the context afterwards; without it the context is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<Json>,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventAbout {
    /// `expired`, `evicted`, `new`, `full` or `notified`.
    pub kind: String,
    /// Name of the element.
    pub element: String,
    /// Time in µs.
    pub time: u64,
    /// Key of the flow.
    pub key: Map<String, Json>,
    /// State of the context: before it expired or was evicted, else as the row left it.
    pub state: Json,
    /// Flow registers, by name.
    pub registers: Map<String, Json>,
}

/// Places and stash of an element's table in hardware.
///
/// A new context takes one of its places if one is empty, otherwise a slot of the stash. From there a mover takes it to
/// one of its places, in exchange for the context there, until the stash is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TableUse {
    /// Places, without the slots of the stash.
    pub places: u32,
    /// Contexts.
    pub contexts: u32,
    /// Times that a context moved out of the stash to a place.
    pub moved: u64,
    /// Contexts in the stash.
    pub stash: u32,
    /// Most contexts in the stash since the load or the last request that forgot it.
    pub most: u32,
}
