// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The unit window of the host address space: registers, memories and tables of units (docs/architecture.md, "Address
//! maps").

use crate::bus::{Bus, CardError};
use crate::regs;

/// Host address of the unit window. A write goes to all units of UNIT_WRITE_MASK, a read to the unit of UNIT_READ.
pub const UNIT_WINDOW: u32 = 0x4000_0000;

/// Host address of the registers of the inline chain (shell/regs/inline.rdl).
pub const INLINE_WINDOW: u32 = 0x4400_1000;

/// Host address of the window of an inline block, by its place in the design.
#[must_use]
pub const fn block_window(block: usize) -> u32 {
    0x4500_0000 + ((block as u32) << 24)
}

/// Reads a word of one unit's window.
///
/// # Errors
/// The card has no such unit, or nothing can be read there.
pub fn read_unit(bus: &mut dyn Bus, unit: u32, offset: u32) -> Result<u32, CardError> {
    bus.write(regs::CARD_UNIT_READ, unit)?;
    bus.read(UNIT_WINDOW.wrapping_add(offset))
}

/// Reads a counter of 64 bits. A read of its low word, at `low`, latches the high word in the register at `high`.
///
/// # Errors
/// Nothing can be read there.
pub fn read_count(bus: &mut dyn Bus, low: u32, high: u32) -> Result<u64, CardError> {
    let count = u64::from(bus.read(low)?);
    Ok(count | u64::from(bus.read(high)?) << 32)
}

/// Reads a counter of one unit, whose low word is at `offset` of the unit's window.
///
/// # Errors
/// The card has no such unit, or nothing can be read there.
pub fn count_unit(bus: &mut dyn Bus, unit: u32, offset: u32) -> Result<u64, CardError> {
    bus.write(regs::CARD_UNIT_READ, unit)?;
    read_count(bus, UNIT_WINDOW.wrapping_add(offset), UNIT_WINDOW + regs::UNIT_COUNT_H)
}

/// Up to four bytes as a word, followed by zeros.
#[must_use]
pub fn word_of(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// Units as a mask, a bit each.
#[must_use]
pub fn mask_of(units: &std::ops::Range<u32>) -> u32 {
    units.clone().fold(0, |mask, unit| mask | 1 << unit)
}

/// Numbers of the units of a mask.
pub fn units_of(mask: u32) -> impl Iterator<Item = u32> {
    (0..u32::BITS).filter(move |unit| mask >> unit & 1 == 1)
}
