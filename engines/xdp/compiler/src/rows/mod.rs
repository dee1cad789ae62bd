// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The rows of the xdp engine's core (engines/xdp/core.md): as data, as bits, as text, and carried out.

mod decode;
mod encode;
/// Numbers of the core, written by engines/xdp/isa/generate_isa.py.
#[path = "../../../isa/isa.rs"]
pub mod isa;
mod op;
mod print;
mod read;
pub mod rules;
pub mod run;
mod tables;

pub use decode::{DecodeError, decode};
pub use encode::{EncodeError, encode, words_of_row};
pub use op::{Alu, Asks, Bytes, Do, Key, REDIRECT, Test, Window};
pub use read::{ReadError, read};

use std::str::FromStr;

use crate::ir::Special;

/// The number of lanes of a core, and the properties that depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lanes(u8);

/// The text that is no number of [`Lanes`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a core has 1, 2, 3, 4 or 8 lanes, not {0}")]
pub struct ParseLanesError(String);

impl FromStr for Lanes {
    type Err = ParseLanesError;

    fn from_str(word: &str) -> Result<Self, ParseLanesError> {
        word.parse().ok().and_then(Lanes::new).ok_or_else(|| ParseLanesError(word.to_owned()))
    }
}

impl Lanes {
    /// Lanes that can store: 0 and 1.
    pub const STORING: usize = 2;

    /// All numbers of lanes that there are.
    pub const ALL: [Lanes; 5] = [Lanes(1), Lanes(2), Lanes(3), Lanes(4), Lanes(8)];
    /// The usual number.
    pub const FOUR: Lanes = Lanes(4);

    /// 1, 2, 3, 4 or 8.
    pub fn new(count: usize) -> Option<Lanes> {
        Lanes::ALL.into_iter().find(|lanes| lanes.count() == count)
    }

    /// How many.
    pub fn count(self) -> usize {
        self.0.into()
    }

    /// Registers in the bank of a lane.
    pub fn registers(self) -> usize {
        match self.0 {
            1 => 32,
            2 | 3 => 16,
            _ => 8,
        }
    }

    /// The lane that multiplies.
    pub fn multiplier(self) -> usize {
        self.count() - 1
    }
}

/// A register: a lane's bank, and a place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register {
    /// The lane that has the bank.
    pub lane: u8,
    /// The place in the bank.
    pub index: u8,
}

/// A source operand of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The register's value.
    Register(Register),
    /// The number 0.
    Zero,
    /// A source of the core that is no register.
    Special(Special),
}

/// A second operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Second<S> {
    /// The same operands as the first has.
    Source(S),
    /// Extended with its sign to 64 bits.
    Imm(i32),
}

/// The target of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// The row with this number, in the same program.
    Row(u16),
    /// The program ends with this verdict, 0 to 7.
    Exit(u8),
}

/// Bytes of a row's window: the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InWindow(pub u8);

/// When a lane acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Guard {
    /// Whose comparison decides.
    pub lane: u8,
    /// The outcome with which the lane acts.
    pub wanted: bool,
}

/// The operation of a lane.
pub type LaneOp = Do<Source, InWindow, Target>;

/// A lane of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// The operation.
    pub op: LaneOp,
    /// The register of this lane's bank that takes the result. 0 for operations without a result.
    pub dst: u8,
    /// The condition of the lane; None if it always acts.
    pub guard: Option<Guard>,
}

/// The part of the packet that a row reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketWindow {
    /// The address that the window's offset is added to.
    pub base: Source,
    /// Added to the base, in units of 8 bytes: -256 to 255.
    pub offset: i16,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// The part of the packet that the row reaches; None: no part.
    pub packet: Option<PacketWindow>,
    /// The first word of 8 bytes of the part of the stack that the row reaches.
    pub stack: Option<u8>,
    /// None: the lane does nothing.
    pub lanes: Vec<Option<Lane>>,
}
