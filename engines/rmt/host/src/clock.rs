// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card's time, where captures set it for meters.

use penstock_engine::window::INLINE_WINDOW;
use penstock_engine::{Bus, CardError, regs};

/// Registers of the card's time (shell/regs/inline.rdl): its ns, low and high word, and whether it stands still. A
/// write to the low word sets both words.
const TIME_L: u32 = INLINE_WINDOW + regs::INLINE_TIME_L;
const TIME_H: u32 = INLINE_WINDOW + regs::INLINE_TIME_H;
const HOLD: u32 = INLINE_WINDOW + regs::INLINE_HOLD;

/// The clock of a card.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// The time that was set last, in ns.
    time: u64,
    /// The clock is stopped.
    held: bool,
}

impl Clock {
    /// Holds the clock at a time, or at a later one that was set before. Says whether that is half a year or more behind
    /// the time that was set before, which is further than meters see.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn hold(&mut self, bus: &mut dyn Bus, ns: u64) -> Result<bool, CardError> {
        let jumps = ns.saturating_sub(self.time) >> 54 != 0;
        if !self.held {
            bus.write(HOLD, 1)?;
            self.held = true;
        }
        self.time = self.time.max(ns);
        let time = self.time;
        bus.write(TIME_H, (time >> 32) as u32)?;
        bus.write(TIME_L, time as u32)?;
        Ok(jumps)
    }

    /// Lets the time go on from where it stands.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn release(&mut self, bus: &mut dyn Bus) -> Result<(), CardError> {
        if std::mem::take(&mut self.held) {
            bus.write(HOLD, 0)?;
        }
        Ok(())
    }
}
