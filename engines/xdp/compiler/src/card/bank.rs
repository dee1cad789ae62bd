// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows of the card's banks: each map takes the same rows of every bank.

use std::ops::Range;

use super::space::Space;
use crate::ir::{Array, Banks};
use crate::maps::{MapKind, MapShape};

/// The beginning of the card's memory for programs.
pub const CARD: u32 = 0x8000_0000;
/// Banks.
pub const BANKS: u32 = 16;
/// Rows of a bank that are on the chip, and bytes of a row.
pub const ROWS: u32 = 1 << 14;
const ROW_BYTES: u32 = 16;
/// Rows that descriptors can name.
const MOST_ROWS: u32 = u16::MAX as u32;
/// Buckets whose heads are in a row.
const BUCKETS_A_ROW: u32 = 8;
/// Longest value that an update stores.
const LONGEST_UPDATE: u32 = 256;

/// Rows in use in each bank.
#[derive(Debug, Clone)]
pub(super) struct Bank {
    rows: Space,
    /// From an address in a bank to that of the same row in the next one.
    bytes: u32,
}

impl Bank {
    /// A bank of this many rows. Row 0 belongs to no map.
    pub(super) fn new(rows: u32) -> Self {
        let mut space = Space::new(rows.min(MOST_ROWS));
        space.keep(0..1);
        Self { rows: space, bytes: rows * ROW_BYTES }
    }

    /// Its rows.
    pub(super) fn rows(&self) -> u32 {
        self.bytes / ROW_BYTES
    }

    /// Rows of an array: its descriptor, and where its elements are.
    pub(super) fn array(&mut self, entries: u32, value_bytes: u32) -> Result<([u32; 5], Array), String> {
        let stride = value_bytes.div_ceil(ROW_BYTES);
        let Range { start: first, end } = self.take(u64::from(entries.div_ceil(BANKS)) * u64::from(stride))?;
        let updates = if value_bytes > LONGEST_UPDATE { 0 } else { value_bytes };
        let descriptor = [1 | 4 << 8 | updates << 16, entries, first, first | end << 16, stride << 16];
        let banks = Some(Banks { count: BANKS, bytes: self.bytes });
        let address = CARD + first * ROW_BYTES;
        Ok((descriptor, Array { address, stride: stride * ROW_BYTES, entries, per_context: 0, banks }))
    }

    /// Rows of a map with keys, in which each of the given processors has its own value if the kind requires it: its
    /// descriptor.
    pub(super) fn keys(&mut self, kind: MapKind, shape: &MapShape, processors: u32) -> Result<[u32; 5], String> {
        let number = match kind {
            MapKind::LruHash | MapKind::LruPercpuHash => 3,
            MapKind::LpmTrie => 4,
            _ => 2,
        };
        let rows = shape.value_bytes.div_ceil(ROW_BYTES);
        let (step, values) = match kind.per_cpu() {
            false => (0, rows),
            true if shape.value_bytes <= ROW_BYTES / 2 => (1, processors.div_ceil(2)),
            true => (2 * rows, processors * rows),
        };
        let stride = 1 + shape.key_bytes.div_ceil(ROW_BYTES) + values;
        let share = share(shape.max_entries);
        let buckets = share.next_power_of_two().max(BUCKETS_A_ROW);
        let rows = u64::from(buckets / BUCKETS_A_ROW) + u64::from(share) * u64::from(stride);
        let Range { start: first, end } = self.take(rows)?;
        Ok([
            number | shape.key_bytes << 8 | shape.value_bytes << 16,
            shape.max_entries,
            first | buckets.ilog2() << 16,
            (first + buckets / BUCKETS_A_ROW) | end << 16,
            step | stride << 16,
        ])
    }

    /// Takes rows that another part already has.
    pub(super) fn keep(&mut self, rows: Range<u32>) {
        self.rows.keep(rows);
    }

    /// Takes this many rows.
    fn take(&mut self, rows: u64) -> Result<Range<u32>, String> {
        self.rows.take(rows, 1).map_err(|left| {
            format!(
                "it takes {rows} rows of each of the card's banks, {left} are left; give it fewer entries \
                 ([units.xdp.entries]), or the card more \
                 memory for maps (xdp.map_mib in [card], up to 16)"
            )
        })
    }
}

/// Entries that a bank has room for, so that it is not full before its map is: keys spread over the banks by chance.
fn share(entries: u32) -> u32 {
    let mean = f64::from(entries) / f64::from(BANKS);
    entries.min((mean + 6.0 * mean.sqrt()).ceil() as u32 + 8)
}
