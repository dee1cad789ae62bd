// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames that have left the card, kept in one piece of memory until the caller takes them.

use penstock_unit::Source;

use crate::card::Exit;

/// A frame that has left the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Where it left.
    pub destination: Exit,
    /// Where it had entered, or the unit whose program made it, or the inline block that did.
    pub source: Source,
    /// Which one it was of those pushed there, from 0, the dropped ones counted; of those that the unit's program or the block made, when one did.
    pub index: u64,
    /// Unit that sent it; none when the inline chain did.
    pub unit: Option<u8>,
    /// The mark that the inline blocks left, if the frame came to the host past the units; otherwise 0.
    pub mark: u32,
    /// Its bytes, without FCS.
    pub bytes: &'a [u8],
}

struct Record {
    destination: Exit,
    source: Source,
    index: u64,
    unit: Option<u8>,
    mark: u32,
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
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter { frames: self, next: 0, start: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.bytes.clear();
    }

    pub(crate) fn push(&mut self, frame: Frame<'_>) {
        self.bytes.extend_from_slice(frame.bytes);
        let Frame { destination, source, index, unit, mark, .. } = frame;
        self.records.push(Record { destination, source, index, unit, mark, end: self.bytes.len() });
    }
}

/// Walks over [`Frames`].
pub struct Iter<'a> {
    frames: &'a Frames,
    next: usize,
    /// First byte of the next frame.
    start: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Frame<'a>> {
        let &Record { destination, source, index, unit, mark, end } = self.frames.records.get(self.next)?;
        let bytes = &self.frames.bytes[self.start..end];
        self.next += 1;
        self.start = end;
        Some(Frame { destination, source, index, unit, mark, bytes })
    }
}

impl<'a> IntoIterator for &'a Frames {
    type Item = Frame<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}
