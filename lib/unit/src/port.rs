// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Sources and destinations of frames, and their names in the port byte of a descriptor (docs/architecture.md,
//! contracts).

/// The source of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Ethernet port, from 0.
    Ethernet(u8),
    /// The host's queue.
    Host,
    /// Another unit.
    Loopback,
    /// Nowhere: this unit's program made it.
    Unit(u8),
    /// Nowhere: this inline block made it.
    Block(u8),
}

impl Source {
    /// The port byte of a frame from this source.
    #[must_use]
    pub fn byte(self) -> u8 {
        match self {
            Self::Ethernet(port @ 0..=1) => port,
            Self::Ethernet(port) => 8 + port,
            Self::Host => 2,
            Self::Loopback => 3,
            Self::Unit(unit) => 0x40 + unit,
            Self::Block(block) => 0x80 + block,
        }
    }
}

/// A unit's destination for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Destination {
    /// Ethernet port, from 0.
    Ethernet(u8),
    /// The host's queue.
    Host,
    /// A unit of the dispatcher's choice.
    Loopback,
    /// This unit.
    Unit(u8),
}

impl Destination {
    /// It is another unit.
    #[must_use]
    pub fn loops(self) -> bool {
        matches!(self, Self::Loopback | Self::Unit(_))
    }

    /// The destination of `byte` on a card with these numbers of Ethernet ports and units; None if it does not exist.
    #[must_use]
    pub fn from_byte(byte: u8, ports: u8, units: u8) -> Option<Self> {
        let ethernet = |port| (port < ports).then_some(Self::Ethernet(port));
        match byte {
            0 | 1 => ethernet(byte),
            2 => Some(Self::Host),
            3 => Some(Self::Loopback),
            8..=0x3F => ethernet(byte - 8),
            0x40.. if byte - 0x40 < units => Some(Self::Unit(byte - 0x40)),
            _ => None,
        }
    }
}
