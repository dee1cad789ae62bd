// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card's time, where captures set it.

use penstock_engine::window::INLINE_WINDOW;
use penstock_engine::{Bus, regs};

use crate::error::L7Error;

/// Registers of the card's time (shell/regs/inline.rdl): its ns, low and high word, and whether it stands still. A
/// write to the low word sets both words.
const TIME_L: u32 = INLINE_WINDOW + regs::INLINE_TIME_L;
const TIME_H: u32 = INLINE_WINDOW + regs::INLINE_TIME_H;
const HOLD: u32 = INLINE_WINDOW + regs::INLINE_HOLD;
/// A block sweeps when the time has advanced by this part of the timeout.
const PART: u64 = 16;

/// The clock of a card.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// The time that was set last, in ns.
    time: u64,
    /// The clock is stopped.
    held: bool,
    /// The time at the last sweep, in ns.
    swept: u64,
}

impl Clock {
    /// Holds the clock at a time. If messages may have expired since the last sweep, the card gets the cycles to find
    /// them, `sweep`.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn hold(&mut self, bus: &mut dyn Bus, time: u64, timeout: u64, sweep: u64) -> Result<(), L7Error> {
        if !self.held {
            bus.write(HOLD, 1)?;
            self.held = true;
        }
        self.time = self.time.max(time);
        bus.write(TIME_H, (self.time >> 32) as u32)?;
        bus.write(TIME_L, self.time as u32)?;
        if self.time - self.swept >= timeout / PART {
            self.swept = self.time;
            bus.pass(sweep)?;
        }
        Ok(())
    }

    /// Lets the clock follow the card's cycles again.
    ///
    /// # Errors
    /// The card refuses.
    pub(crate) fn release(&mut self, bus: &mut dyn Bus) -> Result<(), L7Error> {
        if self.held {
            bus.write(HOLD, 0)?;
        }
        self.held = false;
        Ok(())
    }
}
