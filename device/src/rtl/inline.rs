// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Counters of the inline blocks of a card in RTL (shell/regs/inline.rdl).

use penstock_engine::{Bus, CardError};

use crate::regs;

/// Host address of the registers.
const INLINE: u32 = 0x4500_0000;

/// Frames that entered a block, and those that its program dropped.
pub fn frames(bus: &mut dyn Bus, block: usize) -> Result<(u64, u64), CardError> {
    let window = INLINE + 0x100_0000 * block as u32;
    let frames = bus.read(window + regs::INLINE_FRAMES)?;
    Ok((frames.into(), bus.read(window + regs::INLINE_BLOCKED)?.into()))
}

/// Frames that the blocks sent to ports that the card does not have.
pub fn refused(bus: &mut dyn Bus) -> Result<u64, CardError> {
    bus.read(INLINE + regs::INLINE_REFUSED).map(u64::from)
}
