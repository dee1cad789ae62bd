// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rings of records to the host in the card's banks: for the code of helpers, which fills them, and the host, which
//! empties them.
//!
//! A ring is memory of one bank: counters, its bytes, and behind these room for what of a record that begins near their
//! end does not fit, so that none is cut. *Positions* count the bytes that were ever given out, and never go back. The
//! program that moves `written` from one position to the next owns the bytes between, a *header* and its record; there
//! is no lock that a stopped program could hold. A header names its position, so what the bytes held before is none.
//! The host takes records in order up to the first that is not done, and moves `taken` behind them. As in Linux a ring
//! is full when one of its bytes is left.

use super::bank::Bank;
use crate::ir::{Array, Ring};

/// Counters, 8 bytes each: the position after the programs' records, the position after the records that the host has
/// taken, and the number of records that found no room.
pub const WRITTEN: u32 = 0;
/// Offset of the position after the records that the host has taken.
pub const TAKEN: u32 = 8;
/// Offset of the number of records that found no room.
pub const LOST: u32 = 16;
/// The beginning of the bytes.
pub const DATA: u32 = 32;

/// Bytes of a header: length and state, position.
pub const HEADER: u32 = 8;
/// States, beside the length in a header's lower half: the record is the host's, and it is to pass over it.
pub const DONE: u32 = 1 << 31;
/// State: the program discarded the record.
pub const DISCARDED: u32 = 1 << 30;

/// The longest record with its header.
pub const LONGEST: u32 = 8192;

/// The upper half of the header at a position. That of the first one is no zero, which memory begins with.
pub fn mark(position: u64) -> u32 {
    !((position >> 3) as u32)
}

/// Bytes that a ring takes in a bank.
fn memory(bytes: u32) -> u64 {
    u64::from(DATA) + u64::from(bytes) + u64::from(bytes.min(LONGEST))
}

/// Reserves memory for rings of these sizes, each a power of two, beside each other in the banks; returns the
/// descriptor, and the rings.
pub(super) fn place(bank: &mut Bank, bytes: &[u32]) -> Result<([u32; 5], Vec<Ring>), String> {
    let longest = bytes.iter().copied().map(memory).max().unwrap_or_default();
    let longest = u32::try_from(longest).map_err(|_| "a bank of the card is smaller".to_owned())?;
    let (descriptor, array): ([u32; 5], Array) = bank.array(bytes.len() as u32, longest)?;
    let rings = (0..)
        .zip(bytes)
        .filter_map(|(index, bytes)| array.address_at(index).map(|address| Ring { address, bytes: *bytes }));
    Ok((descriptor, rings.collect()))
}
