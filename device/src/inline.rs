// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The shell's counters of the inline blocks of a card in RTL (shell/regs/inline.rdl).

use penstock_engine::window::{INLINE_WINDOW, read_count};
use penstock_engine::{Bus, CardError};

use crate::counters::BlockCounters;
use crate::regs;

const COUNT_H: u32 = INLINE_WINDOW + regs::INLINE_COUNT_H;

/// The shell's counters of a block.
pub(crate) fn counters(bus: &mut dyn Bus, block: usize) -> Result<BlockCounters, CardError> {
    let counters = INLINE_WINDOW + regs::INLINE_BLOCK_BASE + regs::INLINE_BLOCK_STRIDE * block as u32;
    let mut read = |register| read_count(bus, counters + register, COUNT_H);
    Ok(BlockCounters {
        frames: read(regs::INLINE_BLOCK_FRAMES)?,
        made: read(regs::INLINE_BLOCK_MADE)?,
        absorbed: read(regs::INLINE_BLOCK_ABSORBED)?,
        blocked: read(regs::INLINE_BLOCK_BLOCKED)?,
        ..BlockCounters::default()
    })
}

/// Frames that blocks sent to ports or units that the card does not have.
pub(crate) fn refused(bus: &mut dyn Bus, blocks: usize) -> Result<u64, CardError> {
    let mut refused = read_count(bus, INLINE_WINDOW + regs::INLINE_REFUSED, COUNT_H)?;
    for block in 0..blocks as u32 {
        let counters = INLINE_WINDOW + regs::INLINE_BLOCK_BASE + regs::INLINE_BLOCK_STRIDE * block;
        refused += read_count(bus, counters + regs::INLINE_BLOCK_REFUSED, COUNT_H)?;
    }
    Ok(refused)
}

/// Whether a block has frames in it.
pub(crate) fn is_busy(bus: &mut dyn Bus) -> Result<bool, CardError> {
    Ok(bus.read(INLINE_WINDOW + regs::INLINE_BUSY)? != 0)
}
