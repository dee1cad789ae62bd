// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Errors of cards in hardware that are asked for maps, routes and programs.

use penstock_engine::{CardError, EngineError, ErrorKind};

/// A card in hardware that does not obey its driver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowsError {
    /// The card refused an access, or broke.
    #[error(transparent)]
    Card(#[from] CardError),
    /// A request for a map was never answered.
    #[error("the card's maps do not answer the host; load the card again")]
    NoAnswer,
    /// Card memory, in which rows of maps are, has answered with errors.
    #[error(
        "card memory has answered {0} times with an error, so entries of maps are lost; load the card again, and look at \
         its memory if this comes back"
    )]
    Memory(u32),
    /// A map refuses an entry that the object declares.
    #[error("map {map} refuses an entry that its object begins with: error {errno}")]
    Initial {
        /// Its number on the card.
        map: u32,
        /// Linux' number of the error.
        errno: i64,
    },
    /// The tables of routes refuse an entry.
    #[error("the card's table of routes refuses an entry: error {errno}")]
    Route {
        /// Linux' number of the error.
        errno: i64,
    },
    /// A context still runs the program before.
    #[error("unit {unit} has worked for {cycles} cycles on a frame of the program before; reload it")]
    StillWorks {
        /// The unit.
        unit: u32,
        /// How long the driver has waited.
        cycles: u64,
    },
}

impl From<RowsError> for EngineError {
    fn from(error: RowsError) -> Self {
        Self::new(ErrorKind::Card, error)
    }
}
