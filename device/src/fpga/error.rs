// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Why a card cannot be driven.

use super::bar::Place;

/// Major version of the BAR's registers that this driver knows.
pub(super) const MAJOR: u32 = 2;

/// Why a card cannot be driven.
#[derive(Debug, thiserror::Error)]
pub enum FpgaError {
    /// The card cannot be reached.
    #[error("{place}: {source}; {help}")]
    Unreachable {
        /// Where it should be.
        place: Place,
        /// Why.
        source: std::io::Error,
        /// What to do.
        help: &'static str,
    },
    /// Every read gives all ones.
    #[error(
        "{0}: reads give all ones: the card is not there any more, or its memory space is off; see `lspci`, and reset or program the card anew"
    )]
    AllOnes(Place),
    /// Something else is behind the BAR.
    #[error(
        "{place}: no Penstock card is there: its first word is 0x{found:08x} and not 0x504e4650; program the card with the project of `penstock fpga init`"
    )]
    NoCard {
        /// Where.
        place: Place,
        /// What was read.
        found: u32,
    },
    /// The BAR's registers are of another version.
    #[error(
        "{place}: the card's registers are of version {major}.{minor}, and this Penstock knows {}.x; write and build its project anew",
        MAJOR
    )]
    Version {
        /// Where.
        place: Place,
        /// The card's.
        major: u16,
        /// The card's.
        minor: u16,
    },
    /// A frame to the host has no header of the card.
    #[error(
        "{0}: a frame came to the host without the card's header; is the card's project of this version of Penstock?"
    )]
    Unmarked(Place),
    /// The card was built for another design.
    #[error(
        "{place}: the card has {found}, and the design {design} asks for {wanted}; build the card for this design (`penstock fpga init`), or open the design that it was built for"
    )]
    OtherDesign {
        /// Where.
        place: Place,
        /// The card's.
        found: String,
        /// Name of the design.
        design: String,
        /// Its hardware.
        wanted: String,
    },
    /// The design needs card memory, which the card does not have: the key of the design, and ways out.
    #[error("{0}")]
    NoMemory(String),
    /// The card does not leave its reset.
    #[error(
        "{0}: the card does not leave its reset: its clock does not run, or a memory that it uses is in reset or not calibrated; look at the shell's clocks and memories, or program the card anew"
    )]
    InReset(Place),
    /// Somebody else reset the card.
    #[error(
        "{0}: the card was reset under its driver, by the shell or another program: its programs, tables and counters are gone; load it again"
    )]
    WasReset(Place),
    /// A simulated card of one's own has no design yet.
    #[error("`sim` starts a simulated card for a design, and this command knows none: give sim:PATH or pci:ADDRESS")]
    NeedsDesign,
}
