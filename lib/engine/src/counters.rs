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
            rx_frames: self.rx_frames.saturating_sub(earlier.rx_frames),
            rx_bytes: self.rx_bytes.saturating_sub(earlier.rx_bytes),
            rx_stalls: self.rx_stalls.saturating_sub(earlier.rx_stalls),
            tx_frames: self.tx_frames.saturating_sub(earlier.tx_frames),
            tx_bytes: self.tx_bytes.saturating_sub(earlier.tx_bytes),
            tx_stalls: self.tx_stalls.saturating_sub(earlier.tx_stalls),
            blocked: self.blocked.saturating_sub(earlier.blocked),
            refused: self.refused.saturating_sub(earlier.refused),
            aborted: self.aborted.saturating_sub(earlier.aborted),
            wild: self.wild.saturating_sub(earlier.wild),
            generated: self.generated.saturating_sub(earlier.generated),
            errors: self.errors,
        }
    }
}
