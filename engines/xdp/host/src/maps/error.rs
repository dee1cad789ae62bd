// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Requests that maps refuse.

use penstock_engine::{EngineError, ErrorKind};
use penstock_xdp_compiler::btf::ValueError;
use penstock_xdp_compiler::maps::MapKind;

use super::json::JsonError;
use crate::rows::RowsError;
use crate::services::map::SERVICE;

/// A request that a map refuses.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// No program has a map of this name.
    #[error("there is no map `{name}`; {there}")]
    NoMap {
        /// The name.
        name: String,
        /// Names of the maps that there are, in words.
        there: String,
    },
    /// Several groups of units have a map of this name.
    #[error("several groups of units have a map {name}, so say whose: {there}")]
    Several {
        /// The name.
        name: String,
        /// Their full names.
        there: String,
    },
    /// A key or a value of another shape.
    #[error("{what} of {map}: {source}")]
    Shape {
        /// "key" or "value".
        what: &'static str,
        /// Name of the map.
        map: String,
        /// What is wrong.
        source: Box<ValueError>,
    },
    /// A list of values for another number of processors.
    #[error(
        "a value of {map} is a list of {wanted}, one for each processor (unit · 16 + context), or a single one for all; \
         this list has {found}"
    )]
    Processors {
        /// Name of the map.
        map: String,
        /// Processors that have values.
        wanted: usize,
        /// Values that were given.
        found: usize,
    },
    /// A key or a value of another size.
    #[error("a {what} of {map} has {wanted} ({shape}), this one {found} B")]
    Size {
        /// "key" or "value".
        what: &'static str,
        /// Name of the map.
        map: String,
        /// Bytes that it has, in words.
        wanted: String,
        /// Its type.
        shape: String,
        /// Bytes that were given.
        found: usize,
    },
    /// There is no such entry.
    #[error("{0} has no such entry")]
    NoEntry(String),
    /// The entry must be a new one and is not.
    #[error("{0} has such an entry already")]
    Exists(String),
    /// The map is full.
    #[error("{map} is full, it takes {entries} entries; delete some, or give it more max_entries")]
    Full {
        /// Name of the map.
        map: String,
        /// How many it takes.
        entries: u32,
    },
    /// The key of an array is beyond its last entry.
    #[error("{map} has {entries} entries, the last is number {}", entries - 1)]
    Beyond {
        /// Name of the map.
        map: String,
        /// How many it has.
        entries: u32,
    },
    /// The map holds constants.
    #[error("{0} holds constants, which the compiler has used already: they stay as the object has them")]
    Constant(String),
    /// Entries that name programs or maps.
    #[error("entries of {map} name programs or maps: {} is filled by the object", a(kind))]
    Names {
        /// Name of the map.
        map: String,
        /// Its type.
        kind: MapKind,
    },
    /// An entry that names a program to run after a redirection.
    #[error(
        "an entry of {map}, {}, has a program: no unit runs one behind a redirection, so let it be 0 or -1",
        a(kind)
    )]
    Behind {
        /// Name of the map.
        map: String,
        /// Its type.
        kind: MapKind,
    },
    /// The map has records and no entries.
    #[error("{map} has records and no entries: take those of {}", a(kind))]
    NoEntries {
        /// Name of the map.
        map: String,
        /// Its type.
        kind: MapKind,
    },
    /// The map has entries and no records.
    #[error("{map} has entries and no records: it is {}", a(kind))]
    NoRecords {
        /// Name of the map.
        map: String,
        /// Its type.
        kind: MapKind,
    },
    /// The map refuses the request as Linux does.
    #[error("{map}, {}, refuses that: {why}", a(kind))]
    Refused {
        /// Name of the map.
        map: String,
        /// Its type.
        kind: MapKind,
        /// Why.
        why: String,
    },
    /// Another program has replaced its program.
    #[error("the program of this {0} is not loaded any more; look for the map again")]
    Gone(String),
    /// The program does not use the map, and the card has no place for it.
    #[error("{map} is not on the card: {why}; the program does not use it")]
    Nowhere {
        /// Name of the map.
        map: String,
        /// Why.
        why: String,
    },
    /// A key or value in JSON that is none.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The card refused an access, or broke.
    #[error(transparent)]
    Card(#[from] RowsError),
}

impl From<MapError> for EngineError {
    fn from(error: MapError) -> Self {
        match error {
            MapError::Card(error) => error.into(),
            error => Self::new(ErrorKind::Service(SERVICE), error),
        }
    }
}

/// A kind of map with its article. Kinds that begin with an l are spelt out: an lru_hash.
fn a(kind: &MapKind) -> String {
    let kind = kind.to_string();
    format!("{} {kind}", if kind.starts_with(['a', 'l', 'x']) { "an" } else { "a" })
}
