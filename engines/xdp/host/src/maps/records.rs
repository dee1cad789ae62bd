// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Records that programs send to the host: of ring buffers and perf event arrays.

use penstock_xdp_compiler::maps::MapKind;

use super::{Map, MapError};
use crate::device::Device;

/// A record, or an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Of a perf event array, the processor (unit · 16 + context) that sent it.
    pub processor: Option<u32>,
    /// What was sent.
    pub bytes: Vec<u8>,
}

/// What a map had for the host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    /// Oldest first; of a perf event array on `soft`, those of each processor.
    pub records: Vec<Record>,
    /// How many found no room since the load, or were left behind by a program that was stopped.
    pub lost: u64,
}

impl Map {
    /// Whether it has records for the host in place of entries.
    pub fn has_records(&self) -> bool {
        self.kind.has_records()
    }

    /// Takes the records that programs have sent: each comes once.
    pub fn take(&self, device: &mut (impl Device + ?Sized)) -> Result<Records, MapError> {
        match self.has_records() {
            true => device.map_take(self),
            false => Err(MapError::NoRecords { map: self.name.clone(), kind: self.kind }),
        }
    }

    /// Whether it has entries.
    pub(super) fn with_entries(&self) -> Result<(), MapError> {
        match self.has_records() {
            true => Err(MapError::NoEntries { map: self.name.clone(), kind: self.kind }),
            false => Ok(()),
        }
    }

    /// Whether its records say who sent them.
    pub(super) fn names_processors(&self) -> bool {
        self.kind == MapKind::PerfEventArray
    }
}
