// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The interface between an accelerator and its unit, and the kinds of accelerators.

use crate::{
    checksum::Checksum,
    crc32::Crc32,
    flow_hash::FlowHash,
    hash_key::{self, KeyError},
    ip_prefix::IpPrefix,
    pattern_table::{self, PatternError},
    prefix_table,
    string_match::StringMatch,
    system::PMEM_BASE,
};

/// Bytes of registers that a kind has: kind k from k times as many on.
const PAGE: u32 = 0x100;
/// Bytes of table space that a kind has.
const WINDOW: u32 = 0x10_0000;

/// Registers that firmware reads and writes, and tables that the host does. A read that waits in hardware answers at
/// once here.
pub trait Accelerator: Send {
    /// Firmware reads the register at `offset` of the page, a multiple of 4.
    fn read(&mut self, offset: u32) -> u32;
    /// Firmware writes it, and packet memory is `packets`; false when that is an error of the firmware.
    fn write(&mut self, offset: u32, value: u32, packets: &[u8]) -> bool;
    /// The host reads the table word at `offset` of the window, a multiple of 4.
    fn table(&self, _offset: u32) -> u32 {
        0
    }
    /// The host writes it.
    fn load(&mut self, _offset: u32, _value: u32) {}
}

/// The `length` bytes from `address` on, if all of them are in packet memory.
#[must_use]
pub fn range(packets: &[u8], address: u32, length: u32) -> Option<&[u8]> {
    let start = address.checked_sub(PMEM_BASE).map(|start| start as usize).filter(|&start| start < packets.len())?;
    packets.get(start..start.checked_add(length as usize)?)
}

/// The accelerators that a unit can have; each value is a bit of the register ACCEL, a page of registers and a window
/// of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Longest prefix match.
    IpPrefix,
    /// Toeplitz hash.
    FlowHash,
    /// Internet checksum.
    Checksum,
    /// CRC-32 of Ethernet.
    Crc32,
    /// Search for patterns.
    StringMatch,
}

/// A text that is no table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The table of ip_prefix.
    #[error(transparent)]
    Prefixes(#[from] prefix_table::TableError),
    /// The table of flow_hash.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The table of string_match.
    #[error(transparent)]
    Patterns(#[from] PatternError),
}

impl Kind {
    /// All, in the order of their bits.
    pub const ALL: [Self; 5] = [Self::IpPrefix, Self::FlowHash, Self::Checksum, Self::Crc32, Self::StringMatch];

    /// The name in designs: its folder in engines/rpu/accelerators.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::IpPrefix => "ip_prefix",
            Self::FlowHash => "flow_hash",
            Self::Checksum => "checksum",
            Self::Crc32 => "crc32",
            Self::StringMatch => "string_match",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// A fresh one.
    #[must_use]
    pub fn build(self) -> Box<dyn Accelerator> {
        match self {
            Self::IpPrefix => Box::new(IpPrefix::new()),
            Self::FlowHash => Box::new(FlowHash::new()),
            Self::Checksum => Box::new(Checksum::default()),
            Self::Crc32 => Box::new(Crc32::default()),
            Self::StringMatch => Box::new(StringMatch::new()),
        }
    }

    /// The hint for a user who must give its table; None if it has no table.
    #[must_use]
    pub fn table_file(self) -> Option<&'static str> {
        match self {
            Self::IpPrefix => Some("give a block list, one prefix a line, for example designs/blocklist.txt"),
            Self::FlowHash => Some("give a key of 40 bytes in hexadecimal"),
            Self::StringMatch => Some("give a list of patterns, one a line, for example designs/patterns.txt"),
            Self::Checksum | Self::Crc32 => None,
        }
    }

    /// The host's writes that fill its table from a text, as offsets from the base of all tables and words; `path` is
    /// for messages. An empty text gives the table of one who wants none.
    ///
    /// # Errors
    /// File and line of the fault.
    pub fn table(self, path: &str, text: &str) -> Result<Vec<(u32, u32)>, TableError> {
        let words = match self {
            Self::IpPrefix => prefix_table::compile(path, &prefix_table::parse(path, text)?)?,
            Self::FlowHash => hash_key::compile(path, text)?,
            Self::StringMatch => pattern_table::compile(path, text)?,
            Self::Checksum | Self::Crc32 => Vec::new(),
        };
        Ok(words.into_iter().map(|(offset, word)| (WINDOW * self as u32 + offset, word)).collect())
    }
}

/// A set of kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds(u32);

impl Kinds {
    /// Value of the register ACCEL and of the RTL parameter Accel: bit k is the kind with value k.
    #[must_use]
    pub fn mask(self) -> u32 {
        self.0
    }

    /// Whether a kind is in it.
    #[must_use]
    pub fn has(self, kind: Kind) -> bool {
        self.0 >> kind as u32 & 1 == 1
    }

    /// The kinds in it.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |kind| self.has(*kind))
    }
}

impl FromIterator<Kind> for Kinds {
    fn from_iter<T: IntoIterator<Item = Kind>>(kinds: T) -> Self {
        Self(kinds.into_iter().fold(0, |mask, kind| mask | 1 << kind as u32))
    }
}

/// The accelerators of a unit.
pub(crate) struct Accelerators {
    kinds: Kinds,
    /// By page; None for a page without an accelerator.
    pages: [Option<Box<dyn Accelerator>>; Kind::ALL.len()],
}

impl Accelerators {
    pub(crate) fn new(kinds: Kinds) -> Self {
        Self { kinds, pages: Kind::ALL.map(|kind| kinds.has(kind).then(|| kind.build())) }
    }

    pub(crate) fn mask(&self) -> u32 {
        self.kinds.mask()
    }

    fn page(&mut self, offset: u32) -> Option<&mut Box<dyn Accelerator>> {
        self.pages.get_mut((offset / PAGE) as usize)?.as_mut()
    }

    /// Firmware reads the register at `offset` of the region; None for a page without an accelerator.
    pub(crate) fn read(&mut self, offset: u32) -> Option<u32> {
        self.page(offset).map(|accelerator| accelerator.read(offset % PAGE))
    }

    /// Firmware writes it; false for a page without an accelerator, or if the accelerator has an error.
    pub(crate) fn write(&mut self, offset: u32, value: u32, packets: &[u8]) -> bool {
        self.page(offset).is_some_and(|accelerator| accelerator.write(offset % PAGE, value, packets))
    }

    /// The host reads the table word at `offset` of the space.
    pub(crate) fn table(&self, offset: u32) -> u32 {
        let window = self.pages.get((offset / WINDOW) as usize).and_then(Option::as_ref);
        window.map_or(0, |accelerator| accelerator.table(offset % WINDOW))
    }

    /// The host writes it.
    pub(crate) fn load(&mut self, offset: u32, value: u32) {
        if let Some(accelerator) = self.pages.get_mut((offset / WINDOW) as usize).and_then(Option::as_mut) {
            accelerator.load(offset % WINDOW, value);
        }
    }
}
