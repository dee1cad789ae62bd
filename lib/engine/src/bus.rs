// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How drivers reach a card.

use penstock_unit::{AccessError, Block, Record, Unit};

/// A card that does not obey its host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    /// The card answered an access to the host address space with an error.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The card did not start, did not answer, or broke its own contract.
    #[error("{0}")]
    Broken(String),
}

/// The host's side of a card, the same on every target.
pub trait Bus {
    /// Reads a register of the host address space (shell/regs/card.rdl).
    ///
    /// # Errors
    /// No register can be read there, or the card broke.
    fn read(&mut self, address: u32) -> Result<u32, CardError>;

    /// Writes a register of the host address space.
    ///
    /// # Errors
    /// No register can be written there, or the card broke.
    fn write(&mut self, address: u32, value: u32) -> Result<(), CardError>;

    /// Lets the card work for about this many cycles.
    ///
    /// # Errors
    /// The card broke.
    fn pass(&mut self, cycles: u64) -> Result<(), CardError>;

    /// The units and blocks themselves, of a card in native code. None of a card in hardware, which is reached by its
    /// registers alone.
    fn native(&mut self) -> Option<&mut dyn Native>;
}

/// A card in native code. A driver finds its own units and blocks there by their types.
pub trait Native {
    /// A unit, by its number.
    fn unit(&mut self, unit: u32) -> Option<&mut dyn Unit>;

    /// An inline block, by its place in the design.
    fn block(&mut self, block: usize) -> Option<&mut dyn Block>;

    /// Puts a block into its place.
    fn set_block(&mut self, block: usize, to: Box<dyn Block>);

    /// Takes the oldest record of a block ([`crate::records::take`]).
    fn take_record(&mut self, block: usize) -> Option<Record> {
        self.block(block)?.take_record()
    }

    /// Gives a block a record ([`crate::records::give`]), and sends the frames on that it makes. A card without blocks
    /// keeps the default.
    fn give_record(&mut self, _block: usize, _record: &Record) {}
}
