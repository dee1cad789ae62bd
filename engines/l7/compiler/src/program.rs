// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Checked programs: message types, and the rules of each application.

use std::collections::HashMap;

use crate::limits::{LONGEST_FIELD, LONGEST_ID, SEEN};
use crate::pattern::Condition;

/// Message types and applications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// In the order of the source.
    pub messages: Vec<MessageType>,
    /// In the order of the source: an application's index is its place in a block.
    pub applications: Vec<Application>,
}

/// How messages of an application look on the wire, behind UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// The engine's own: a header of 22 bytes, then fields.
    #[default]
    Qnp,
    /// DNS: queries.
    Dns,
    /// The text and binary protocols of memcached over UDP.
    Memcached,
    /// CoAP: requests.
    Coap,
    /// RADIUS.
    Radius,
    /// QUIC, by connection IDs.
    Quic,
}

impl Protocol {
    /// Protocols that a source can name, and their numbers in hardware.
    pub const NAMED: [(&'static str, Self, u8); 5] = [
        ("dns", Self::Dns, 1),
        ("memcached", Self::Memcached, 2),
        ("coap", Self::Coap, 3),
        ("radius", Self::Radius, 4),
        ("quic", Self::Quic, 5),
    ];

    /// Its number in hardware.
    #[must_use]
    pub fn number(self) -> u8 {
        Self::NAMED.iter().find(|(_, protocol, _)| *protocol == self).map_or(0, |(_, _, number)| *number)
    }

    /// The message types that a protocol has; those of QNP are in the source.
    #[must_use]
    pub fn messages(self) -> Vec<MessageType> {
        let field = |name: &str, number, kind| Field { name: name.to_owned(), number, kind, dispatch: true };
        let message =
            |name: &str, number, fields| MessageType { name: name.to_owned(), protocol: self, number, fields };
        let key = || vec![field("key", 1, Kind::Bytes), field("opcode", 2, Kind::Uint8)];
        let login = || vec![field("user", 1, Kind::Bytes), field("nas", 2, Kind::Bytes), field("realm", 3, Kind::Name)];
        let id = || field("id", 1, Kind::Bytes);
        match self {
            Self::Qnp => Vec::new(),
            Self::Dns => vec![message("query", 1, vec![field("name", 1, Kind::Name), field("type", 2, Kind::Uint16)])],
            Self::Memcached => vec![message("get", 1, key()), message("set", 2, key()), message("change", 3, key())],
            Self::Coap => {
                let fields = vec![
                    field("path", 1, Kind::Bytes),
                    field("method", 2, Kind::Uint8),
                    field("format", 3, Kind::Uint16),
                    field("host", 4, Kind::Bytes),
                ];
                vec![message("request", 1, fields)]
            }
            Self::Radius => {
                let other = [login(), vec![field("code", 4, Kind::Uint8)]].concat();
                vec![message("access", 1, login()), message("accounting", 2, login()), message("other", 3, other)]
            }
            Self::Quic => {
                vec![message("long", 1, vec![id(), field("version", 2, Kind::Uint32)]), message("short", 2, vec![id()])]
            }
        }
    }
}

/// A message type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageType {
    /// Its name.
    pub name: String,
    /// The protocol whose messages these are.
    pub protocol: Protocol,
    /// Its number in the header of messages.
    pub number: u8,
    /// By ascending numbers, dispatch fields first: their order on the wire.
    pub fields: Vec<Field>,
}

impl MessageType {
    /// Bytes of the longest value of a field that rules see. Walkers read fewer bytes of a message than some protocols
    /// allow for a field.
    #[must_use]
    pub fn longest(&self, field: &Field) -> usize {
        // A request of memcached has a header of 8 bytes, a command and a space in front of the key, and a byte behind it.
        let key = |command: &str| SEEN - 8 - command.len() - 1 - 1;
        match (self.protocol, self.number, field.number) {
            (Protocol::Memcached, 3, 1) => key("incr"),
            (Protocol::Memcached, _, 1) => key("get"),
            // A header of 4 bytes, and options within the first 255 bytes.
            (Protocol::Coap, _, 1) => SEEN - 1 - 4,
            // Its window also has the method and a path of one byte.
            (Protocol::Coap, _, 4) => SEEN - 3 - 3 - 2,
            // A header of 20 bytes, and the head of the attribute.
            (Protocol::Radius, _, 1 | 2) => SEEN - 20 - 2,
            (Protocol::Quic, _, 1) => LONGEST_ID,
            _ => LONGEST_FIELD,
        }
    }
}

/// A field of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its number on the wire, from 1.
    pub number: u8,
    /// Its type.
    pub kind: Kind,
    /// Rules may look at it.
    pub dispatch: bool,
}

/// Types of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    String,
    /// Any bytes.
    Bytes,
    /// A domain name: its labels from the last to the first, each with its length in front, in small letters.
    Name,
    /// An integer of a byte.
    Uint8,
    /// An integer of 2 bytes, most significant byte first.
    Uint16,
    /// An integer of 4 bytes, most significant byte first.
    Uint32,
    /// An integer of 8 bytes, most significant byte first.
    Uint64,
}

impl Kind {
    /// The type of this name that fields in a source can have.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "string" => Some(Self::String),
            "bytes" => Some(Self::Bytes),
            "uint32" => Some(Self::Uint32),
            "uint64" => Some(Self::Uint64),
            _ => None,
        }
    }

    /// Its name in a source.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Name => "name",
            Self::Uint8 => "uint8",
            Self::Uint16 => "uint16",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
        }
    }

    /// Bytes of an integer on the wire; None for fields of any length.
    #[must_use]
    pub fn width(self) -> Option<u8> {
        match self {
            Self::String | Self::Bytes | Self::Name => None,
            Self::Uint8 => Some(1),
            Self::Uint16 => Some(2),
            Self::Uint32 => Some(4),
            Self::Uint64 => Some(8),
        }
    }
}

/// An application: the messages to a UDP port, and their rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Its name.
    pub name: String,
    /// Its number in the header of messages.
    pub number: u8,
    /// How its messages look.
    pub protocol: Protocol,
    /// QUIC: bytes of the connection ID in a short header; otherwise 0.
    pub id_bytes: u8,
    /// The UDP port at which its messages arrive.
    pub port: u16,
    /// The tenant whose frames they are; 0 is the system.
    pub tenant: u8,
    /// The rules of each message type that it takes.
    pub types: Vec<TypeRules>,
    /// For messages of other types.
    pub others: Action,
}

/// The rules for one message type of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeRules {
    /// Index of the message type in [`Program::messages`].
    pub message: usize,
    /// Rules, the highest priority first. The first rule that matches a message wins.
    pub rules: Vec<Rule>,
    /// For messages that match no rule.
    pub default: Action,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// Its line in the source.
    pub line: u32,
    /// The highest wins.
    pub priority: Priority,
    /// The rule matches if one of its variants does.
    pub variants: Vec<Variant>,
    /// The action for a message whose first matching rule this is.
    pub action: Action,
}

/// Decides between rules that match a message: the number in the source first, and then the length of a pattern.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority {
    /// The number in the source.
    pub number: u64,
    /// Length of the pattern for the `longest` field.
    pub length: usize,
    /// Whether that pattern is exact.
    pub is_exact: bool,
}

/// Conditions that a message has to fulfil: numbers of fields, ascending, and what is asked of each.
pub type Variant = Vec<(u8, Condition)>;

/// The action for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// To the host, with the queue's number in the mark.
    Queue(u16),
    /// To one of 2^`bits` queues of the host from `first` on, by the hash of a field.
    QueuesBy {
        /// The lowest queue.
        first: u16,
        /// Binary logarithm of the number of queues.
        bits: u8,
        /// Number of the field.
        field: u8,
    },
    /// To 2^`bits` queues of the host from `first` on, one after the other.
    QueuesInTurn {
        /// The lowest queue.
        first: u16,
        /// Binary logarithm of the number of queues.
        bits: u8,
    },
    /// To this unit.
    Unit(u16),
    /// To the unit that the dispatcher's table names for the hash of this field.
    UnitsBy(u8),
    /// Out of this Ethernet port.
    Port(u16),
    /// Nowhere.
    Drop,
}

impl Action {
    /// The field whose hash is a part of the action.
    #[must_use]
    pub fn hashed(self) -> Option<u8> {
        match self {
            Self::QueuesBy { field, .. } | Self::UnitsBy(field) => Some(field),
            Self::Queue(_) | Self::QueuesInTurn { .. } | Self::Unit(_) | Self::Port(_) | Self::Drop => None,
        }
    }
}

impl TypeRules {
    /// The number of each rule's decision. Rules of one name are the parts of one rule of the source, and share its
    /// decision, so that it has one counter and its queues take turns.
    #[must_use]
    pub fn decisions(&self) -> Vec<usize> {
        let mut known = HashMap::new();
        let number = |rule: &Rule| {
            let next = known.len();
            *known.entry(rule.name.clone()).or_insert(next)
        };
        self.rules.iter().map(number).collect()
    }
}

impl Program {
    /// The message type of some rules.
    #[must_use]
    pub fn message(&self, rules: &TypeRules) -> &MessageType {
        &self.messages[rules.message]
    }
}

impl MessageType {
    /// The name of the field with this number.
    #[must_use]
    pub fn field_name(&self, number: u8) -> &str {
        self.fields.iter().find(|field| field.number == number).map_or("", |field| &field.name)
    }
}
