// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Statements of STF, the small language in which tests of P4 compilers are written.

/// A statement and its line in the file, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The line.
    pub number: usize,
    /// The statement.
    pub statement: Statement,
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
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
    /// `no_packet`: no frame leaves but those of `expect`. That holds without this statement, too.
    NoPacket,
    /// `wait`: the frames before have left. Each frame leaves before the next statement anyway.
    Wait,
    /// `remove all`: takes all entries away.
    RemoveAll,
    /// `add TABLE [PRIORITY] KEY:VALUE ... ACTION(NAME:VALUE, ...)`: adds an entry.
    Add {
        /// The table.
        table: String,
        /// The entry with the smallest number wins.
        priority: Option<u32>,
        /// Keys and what they match.
        keys: Vec<(String, String)>,
        /// What the entry does.
        action: Call,
    },
    /// `setdefault TABLE ACTION(...)`: sets the default action.
    SetDefault {
        /// The table.
        table: String,
        /// What it does.
        action: Call,
    },
    /// `check_counter NAME(INDEX) [packets|bytes] == VALUE`: compares a counter.
    CheckCounter {
        /// The counter.
        name: String,
        /// Which of its cells.
        index: u32,
        /// Bytes in place of packets.
        bytes: bool,
        /// What it must have counted.
        value: u64,
    },
    /// `register_write NAME INDEX VALUE`: writes a cell of a register.
    RegisterWrite {
        /// The register.
        name: String,
        /// Which of its cells.
        index: u32,
        /// What it holds then.
        value: String,
    },
    /// A statement that is known and not supported yet; its first word.
    Unsupported(String),
}

/// An action with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The action.
    pub name: String,
    /// Parameters and their values.
    pub arguments: Vec<(String, String)>,
}

/// The bytes that a frame must have, half a byte at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// Values; None matches any.
    pub digits: Vec<Option<u8>>,
    /// The frame ends where the pattern does: `$`.
    pub ends: bool,
}

impl Pattern {
    /// Whether a frame matches.
    #[must_use]
    pub fn matches(&self, frame: &[u8]) -> bool {
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
