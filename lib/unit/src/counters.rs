// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The counters of a unit.

use crate::regs;

/// The counters of a unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames received.
    pub rx_frames: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Frames sent.
    pub tx_frames: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Frames that the program dropped.
    pub blocked: u64,
    /// Frames dropped because their descriptor was refused.
    pub refused: u64,
    /// Frames that the program made; the count of sent frames includes them.
    pub generated: u64,
}

impl Counters {
    /// The counter whose low word has this offset in the window of every unit (shell/regs/unit.rdl). Nothing ever
    /// stalls in native code.
    #[must_use]
    pub fn at(&self, offset: u32) -> Option<u64> {
        Some(match offset {
            regs::UNIT_RX_FRAMES => self.rx_frames,
            regs::UNIT_RX_BYTES => self.rx_bytes,
            regs::UNIT_TX_FRAMES => self.tx_frames,
            regs::UNIT_TX_BYTES => self.tx_bytes,
            regs::UNIT_RX_STALLS | regs::UNIT_TX_STALLS => 0,
            regs::UNIT_BLOCKED => self.blocked,
            regs::UNIT_REFUSED => self.refused,
            regs::UNIT_GENERATED => self.generated,
            _ => return None,
        })
    }
}
