// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The data that travels with a frame into a unit and out of it.

use crate::port::Destination;

/// The data that comes with a frame into a unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Port byte of its source.
    pub port: u8,
    /// Flow hash.
    pub hash: u32,
    /// What RECV_TIME shows.
    pub time: u32,
    /// A value of the card, which it gets back when the frame leaves.
    pub tag: u64,
}

/// The data that goes with a frame out of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// The program's destination for it.
    pub destination: Destination,
    /// Its way into the unit.
    pub arrival: Arrival,
}

/// The card's answer to a frame that a unit sends.
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
