// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A source as it is written.

use crate::fault::Span;

/// A value and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub span: Span,
}

/// A whole source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// `message NAME { ... }`
    pub messages: Vec<Message>,
    /// `application NAME = NUMBER { ... }`
    pub applications: Vec<Application>,
}

/// `message NAME { option (type) = NUMBER; FIELDS }`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub name: At<String>,
    pub number: Option<At<u64>>,
    pub fields: Vec<Field>,
}

/// `KIND NAME = NUMBER [(dispatch) = true];`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub kind: At<String>,
    pub name: At<String>,
    pub number: At<u64>,
    pub dispatch: bool,
}

/// `application NAME = NUMBER { udp port PORT; protocol NAME id BYTES; tenant NUMBER; TYPES default => ACTION; }`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    pub name: At<String>,
    pub number: At<u64>,
    pub port: Option<At<u64>>,
    pub protocol: Option<At<String>>,
    /// Bytes of a connection ID in a short header of QUIC.
    pub id_bytes: Option<At<u64>>,
    pub tenant: Option<At<u64>>,
    pub types: Vec<On>,
    /// For messages of other types.
    pub others: Option<At<Action>>,
}

/// `on MESSAGE longest FIELD { RULES default => ACTION; }`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct On {
    pub message: At<String>,
    /// If rules have equal priority, the one with the longest pattern for this field wins.
    pub longest: Option<At<String>>,
    pub rules: Vec<Rule>,
    pub default: Option<At<Action>>,
}

/// `rule NAME priority NUMBER { CONDITIONS } => ACTION;`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub name: At<String>,
    pub priority: u64,
    pub conditions: Vec<Condition>,
    pub action: At<Action>,
}

/// `FIELD = PATTERN | PATTERN;`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub field: At<String>,
    pub alternatives: Vec<Vec<At<Piece>>>,
}

/// A piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// `"text"`: these bytes.
    Text(Vec<u8>),
    /// `skip N`: any bytes, this many.
    Skip(u64),
    /// `until "set"`: all bytes up to the first byte of the set, and that byte.
    Until(Vec<u8>),
    /// `zone "name"`: this domain name and all below it.
    Zone(Vec<u8>),
    /// `..`: the rest of the field, whatever it is.
    Rest,
    /// `LOW ..= HIGH`, or one number: integers from the first to the last.
    Range(u64, u64),
}

/// The action for a message. Names of fields are still text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Queue(At<u64>),
    /// `queues LOW ..= HIGH by FIELD`
    QueuesBy(At<u64>, At<u64>, At<String>),
    /// `queues LOW ..= HIGH in turn`
    QueuesInTurn(At<u64>, At<u64>),
    Unit(At<u64>),
    /// `units by FIELD`
    UnitsBy(At<String>),
    Port(At<u64>),
    Drop,
}
