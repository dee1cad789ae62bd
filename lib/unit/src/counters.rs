// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The counters of a unit.

/// The counters of a unit. The registers show the lower 32 bits.
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
