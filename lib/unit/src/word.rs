// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Words that units broadcast to each other.

/// A word that a unit stored in its region, on its way to all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Its number in the region.
    pub index: u16,
    /// Its bytes.
    pub bytes: [u8; 4],
    /// Which of them were stored: bit n is byte n.
    pub stored: u8,
}
