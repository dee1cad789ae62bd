// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Which unit it is.

/// The number of a unit, and its card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Its number, from 0.
    pub unit: u8,
    /// Units of the card.
    pub units: u8,
    /// Ethernet ports of the card.
    pub ports: u8,
}
