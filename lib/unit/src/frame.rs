// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What goes with a frame into a unit and out of it.

use crate::port::Destination;

/// What comes with a frame into a unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Port byte of where it comes from.
    pub port: u8,
    /// Flow hash.
    pub hash: u32,
    /// What RECV_TIME shows.
    pub time: u32,
    /// Whatever the card wants to find again when the frame leaves.
    pub tag: u64,
}

/// What goes with a frame out of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// Where the program sends it.
    pub destination: Destination,
    /// How it came.
    pub arrival: Arrival,
}

/// What the card says to a frame that a unit sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It has taken it.
    Taken,
    /// It has dropped and counted it.
    Dropped,
    /// Its destination over loopback is full: it stays in the unit, until [`Unit::resume`](crate::Unit::resume) offers
    /// it again.
    Full,
}
