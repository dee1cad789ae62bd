// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Counters of units.

use serde::{Deserialize, Serialize};

/// Counters of one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnitCounters {
    /// Frames received.
    pub rx_frames: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Cycles in which the unit had no room for beats; 0 on `soft`.
    pub rx_stalls: u64,
    /// Frames sent.
    pub tx_frames: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Cycles in which a departing beat had to wait; 0 on `soft`.
    pub tx_stalls: u64,
    /// Frames that the program dropped.
    pub blocked: u64,
    /// Frames dropped because their descriptor was refused, or because their destination does not exist.
    pub refused: u64,
    /// Frames dropped because the program ended abnormally.
    pub aborted: u64,
    /// Requests of programs to addresses where nothing is; 0 on `soft`.
    pub wild: u64,
    /// Frames that the program made; `tx_frames` includes those that left.
    pub generated: u64,
    /// Error flags, bits as in the register UNIT_ERRORS.
    pub errors: u32,
}

impl UnitCounters {
    /// The unit's counts since `earlier` was read. Error flags keep their present values.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            rx_frames: diff(self.rx_frames, earlier.rx_frames),
            rx_bytes: diff(self.rx_bytes, earlier.rx_bytes),
            rx_stalls: diff(self.rx_stalls, earlier.rx_stalls),
            tx_frames: diff(self.tx_frames, earlier.tx_frames),
            tx_bytes: diff(self.tx_bytes, earlier.tx_bytes),
            tx_stalls: diff(self.tx_stalls, earlier.tx_stalls),
            blocked: diff(self.blocked, earlier.blocked),
            refused: diff(self.refused, earlier.refused),
            aborted: diff(self.aborted, earlier.aborted),
            wild: diff(self.wild, earlier.wild),
            generated: diff(self.generated, earlier.generated),
            errors: self.errors,
        }
    }
}

/// The count of a 32-bit counter of the card between the readings `then` and `now`.
#[must_use]
pub fn diff(now: u64, then: u64) -> u64 {
    now.wrapping_sub(then) & 0xFFFF_FFFF
}
