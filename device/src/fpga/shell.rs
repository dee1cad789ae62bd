// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The shells that a card fits into.

use std::fmt;
use std::str::FromStr;

/// A project that brings what a board has around the card: MACs, PCIe and clocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shell {
    /// OpenNIC: the card is a plugin of box_322mhz.
    #[default]
    OpenNic,
    /// Corundum: the card is the application block.
    Corundum,
}

/// There is no such shell.
#[derive(Debug, thiserror::Error)]
#[error("there is no shell `{name}`: give {}", Shell::ALL.map(Shell::name).join(" or "))]
pub struct NoShell {
    /// What was given.
    name: String,
}

impl Shell {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::OpenNic, Self::Corundum];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenNic => "opennic",
            Self::Corundum => "corundum",
        }
    }

    /// The four letters that its cards report.
    pub(super) fn letters(self) -> [u8; 4] {
        match self {
            Self::OpenNic => *b"ONIC",
            Self::Corundum => *b"CORU",
        }
    }

    /// The PCI vendor and device of its cards, as Linux writes them, if the shell has its own.
    pub(super) fn pci_ids(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::OpenNic => None,
            Self::Corundum => Some(("0x1234", "0x1001")),
        }
    }

    /// The number of the BAR with the card's registers, and the byte where the card's region begins in it.
    pub(super) fn region(self) -> (u32, usize) {
        match self {
            Self::OpenNic => (2, 0x20_0000),
            Self::Corundum => (2, 0),
        }
    }
}

impl FromStr for Shell {
    type Err = NoShell;

    fn from_str(text: &str) -> Result<Self, NoShell> {
        Self::ALL.into_iter().find(|shell| shell.name() == text).ok_or_else(|| NoShell { name: text.to_owned() })
    }
}

impl fmt::Display for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
