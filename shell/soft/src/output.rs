// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames that have left the card, kept in one piece of memory until the caller takes them.

use penstock_rpu::port::Source;

use crate::card::Exit;

/// A frame that has left the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Where it left.
    pub destination: Exit,
    /// Where it had entered.
    pub source: Source,
    /// Which one it was of those pushed there, from 0, the dropped ones counted.
    pub index: u64,
    /// Unit that sent it.
    pub unit: u8,
    /// Its bytes, without FCS.
    pub bytes: &'a [u8],
}

struct Record {
    destination: Exit,
    source: Source,
    index: u64,
    unit: u8,
    end: usize,
}

/// Frames in the order in which they left.
#[derive(Default)]
pub struct Frames {
    records: Vec<Record>,
    bytes: Vec<u8>,
}

impl Frames {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// All of them, first left first.
    pub fn iter(&self) -> impl Iterator<Item = Frame<'_>> {
        let mut start = 0;
        self.records.iter().map(move |record| {
            let bytes = &self.bytes[start..record.end];
            start = record.end;
            let &Record {
                destination,
                source,
                index,
                unit,
                ..
            } = record;
            Frame {
                destination,
                source,
                index,
                unit,
                bytes,
            }
        })
    }

    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.bytes.clear();
    }

    pub(crate) fn push(&mut self, frame: Frame<'_>) {
        self.bytes.extend_from_slice(frame.bytes);
        let Frame {
            destination,
            source,
            index,
            unit,
            ..
        } = frame;
        self.records.push(Record {
            destination,
            source,
            index,
            unit,
            end: self.bytes.len(),
        });
    }
}
