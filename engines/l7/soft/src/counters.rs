// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Counters of an application.

/// The counters of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Packets that were accepted.
    pub packets: u64,
    /// Packets dropped because a length or number in them is wrong.
    pub malformed: u64,
    /// Packets dropped because their number was there already.
    pub duplicates: u64,
    /// Packets dropped because their message became too long.
    pub oversize: u64,
    /// Packets dropped because there was no room for their message.
    pub refused: u64,
    /// Messages that were delivered.
    pub delivered: u64,
    /// Messages that a rule dropped.
    pub denied: u64,
    /// Messages that expired before they were whole.
    pub expired: u64,
}
