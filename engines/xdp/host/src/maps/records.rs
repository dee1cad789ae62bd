// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Records that programs send to the host through ring buffers and perf event arrays.

use penstock_xdp_compiler::maps::MapKind;

use super::{Map, MapError};

/// A record, or an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Processor (unit · 16 + context) that sent it; only perf event arrays have it.
    pub processor: Option<u32>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Records that were taken from a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    /// Oldest first; of a perf event array on `soft` by processor, each oldest first.
    pub records: Vec<Record>,
    /// Records since the load that found no room or that a stopped program never submitted.
    pub lost: u64,
}

impl Map {
    /// Whether it has records for the host in place of entries.
    pub fn has_records(&self) -> bool {
        self.kind.has_records()
    }

    /// Checks that it has entries.
    pub(super) fn with_entries(&self) -> Result<(), MapError> {
        match self.has_records() {
            true => Err(MapError::NoEntries { map: self.name.clone(), kind: self.kind }),
            false => Ok(()),
        }
    }

    /// Whether its records name the processor that sent them.
    pub(crate) fn names_processors(&self) -> bool {
        self.kind == MapKind::PerfEventArray
    }
}
