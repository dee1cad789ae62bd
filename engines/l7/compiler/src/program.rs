// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Checked programs: message types, and the rules of each application.

use crate::pattern::Condition;

/// Message types and applications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// In the order of the source.
    pub messages: Vec<MessageType>,
    /// In the order of the source: an application's index is its place in a block.
    pub applications: Vec<Application>,
}

/// A message type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageType {
    /// Its name.
    pub name: String,
    /// Its number in the header of messages.
    pub number: u8,
    /// By ascending numbers, dispatch fields first: their order on the wire.
    pub fields: Vec<Field>,
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
    /// An integer of 4 bytes, most significant byte first.
    Uint32,
    /// An integer of 8 bytes, most significant byte first.
    Uint64,
}

impl Kind {
    /// The type of this name.
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
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
        }
    }

    /// Bytes of an integer on the wire; None for fields of any length.
    #[must_use]
    pub fn width(self) -> Option<u8> {
        match self {
            Self::String | Self::Bytes => None,
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
    pub priority: u64,
    /// The rule matches if one of its variants does.
    pub variants: Vec<Variant>,
    /// What happens to a message whose first matching rule this is.
    pub action: Action,
}

/// Conditions that a message has to fulfil: numbers of fields, ascending, and what is asked of each.
pub type Variant = Vec<(u8, Condition)>;

/// What happens to a message.
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
    /// To this unit.
    Unit(u16),
    /// To the unit that the dispatcher's table names for the hash of this field.
    UnitsBy(u8),
    /// Nowhere.
    Drop,
}

impl Action {
    /// The field whose hash is a part of the action.
    #[must_use]
    pub fn hashed(self) -> Option<u8> {
        match self {
            Self::QueuesBy { field, .. } | Self::UnitsBy(field) => Some(field),
            Self::Queue(_) | Self::Unit(_) | Self::Drop => None,
        }
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
