// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Statements of STF, the small language in which tests of P4 compilers are written.

/// A statement and its line in the file, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// The line.
    pub number: usize,
    /// The statement.
    pub statement: Statement,
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Statement {
    /// `packet PORT DATA`: a frame enters.
    Packet {
        /// Where.
        port: u32,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// `expect PORT [DATA]`: a frame leaves at this port, as the next one there.
    Expect {
        /// Where.
        port: u32,
        /// How it begins; None: any frame.
        pattern: Option<Pattern>,
    },
    /// `no_packet`: no frame leaves except those of `expect`. This also holds without the statement.
    NoPacket,
    /// `wait`: the frames before have left. Each frame leaves before the next statement anyway.
    Wait,
    /// `remove all`: takes all entries away.
    RemoveAll,
    /// `add TABLE [PRIORITY] KEY:VALUE ... ACTION(NAME:VALUE, ...)`: adds an entry.
    Add {
        /// The table.
        table: String,
        /// The entry with the largest number wins.
        priority: Option<u32>,
        /// Keys and their matches, as written.
        keys: Vec<(String, String)>,
        /// The entry's action.
        action: Call,
        /// Name by which `check_counter` refers to the entry: `= ID`.
        id: Option<String>,
    },
    /// `setdefault TABLE ACTION(...)`: sets the default action.
    SetDefault {
        /// The table.
        table: String,
        /// What it does.
        action: Call,
    },
    /// `check_counter NAME(INDEX) [[packets|bytes] == VALUE]`: compares a counter.
    CheckCounter {
        /// The counter.
        name: String,
        /// Which of its cells.
        cell: Cell,
        /// Bytes in place of packets.
        bytes: bool,
        /// The expected count; None: any.
        value: Option<(Comparison, u64)>,
    },
    /// `register_read NAME INDEX [VALUE]`: compares a cell of a register, if there is a value.
    RegisterRead {
        /// The register.
        name: String,
        /// Which of its cells.
        index: u32,
        /// The expected value.
        value: Option<String>,
    },
    /// `counter_read NAME INDEX` and the like, which only print in other testers.
    Look,
    /// A change of the switch that has no entry.
    Change(Change),
    /// `register_write NAME INDEX VALUE`: writes a cell of a register.
    RegisterWrite {
        /// The register.
        name: String,
        /// Which of its cells.
        index: u32,
        /// The new value.
        value: String,
    },
}

/// A cell of a counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    /// The index of an indirect counter.
    Index(u32),
    /// For a direct counter, the entry that `add` gave this name.
    Entry(String),
}

/// How a counter is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Differs,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

impl Comparison {
    /// All of them with their operators, the longer ones first.
    pub(super) const ALL: [(&'static str, Self); 7] = [
        ("==", Self::Equal),
        ("!=", Self::Differs),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("<", Self::Less),
        (">", Self::More),
        ("=", Self::Equal),
    ];

    /// Whether the comparison holds.
    #[must_use]
    pub(super) fn holds(self, is: u64, value: u64) -> bool {
        match self {
            Self::Equal => is == value,
            Self::Differs => is != value,
            Self::Less => is < value,
            Self::AtMost => is <= value,
            Self::More => is > value,
            Self::AtLeast => is >= value,
        }
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(Self::ALL.iter().find(|(_, of)| of == self).map_or("", |(operator, _)| operator))
    }
}

/// A change of the switch that has no entry. Multicast groups consist of nodes: a node has a number for its copies, and
/// ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// `mc_mgrp_create GROUP`
    Group(u16),
    /// `mc_node_create NUMBER PORT ...`: nodes are counted from 0 on.
    Node(u16, Vec<u16>),
    /// `mc_node_associate GROUP NODE`
    Associate(u16, usize),
    /// `mirroring_add SESSION PORT`
    Mirror(u16, u16),
    /// `mirroring_add_mc SESSION GROUP`
    MirrorGroup(u16, u16),
    /// `mirroring_delete SESSION`
    MirrorDelete(u16),
    /// `counter_write NAME INDEX PACKETS BYTES`
    Counter(String, u32, u64, u64),
    /// `counter_reset NAME`
    CounterReset(String),
    /// `register_reset NAME`
    RegisterReset(String),
    /// `meter_set_rates NAME INDEX CIR:CBS PIR:PBS`; without an index, `meter_array_set_rates`. Rates in frames or
    /// bytes per second.
    Meter(String, Option<u32>, [(u64, u64); 2]),
}

/// An action with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// The action.
    pub name: String,
    /// Parameters and their values.
    pub arguments: Vec<(String, String)>,
}

/// The bytes that a frame must have, half a byte at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Values; None matches any.
    pub digits: Vec<Option<u8>>,
    /// The frame ends where the pattern does: `$`.
    pub ends: bool,
}

impl Pattern {
    /// Whether a frame matches.
    #[must_use]
    pub(super) fn matches(&self, frame: &[u8]) -> bool {
        let digits = frame.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let length = frame.len() * 2;
        let long_enough = if self.ends { length == self.digits.len() } else { length >= self.digits.len() };
        long_enough && self.digits.iter().zip(digits).all(|(wanted, is)| wanted.is_none_or(|wanted| wanted == is))
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for digit in &self.digits {
            match digit {
                Some(digit) => write!(f, "{digit:x}")?,
                None => f.write_str("*")?,
            }
        }
        f.write_str(if self.ends { "$" } else { "" })
    }
}
