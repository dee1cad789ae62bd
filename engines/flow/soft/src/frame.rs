// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A frame on its way through the chain, and the values that programs read.

use penstock_headers::{Chunk, EditError, Field, Headers};

/// Metadata of a frame's arrival.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Ethernet port, as a design counts them.
    pub port: u8,
    /// Flow hash with which it entered the card.
    pub hash: u32,
    /// Time in µs. Programs see it modulo 2^32.
    pub time: u64,
}

/// The destination of a frame at the end of the chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verdict {
    /// On its way.
    #[default]
    Pass,
    /// Out of a port, which the card may not have.
    Port(u32),
    /// To the host.
    Host,
    /// Nowhere.
    Drop,
}

/// A frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// Its bytes without FCS. Edits change them.
    pub bytes: Vec<u8>,
    /// Its arrival.
    pub arrival: Arrival,
    /// Its verdict, which has no meaning before the frame has passed the chain.
    pub verdict: Verdict,
    /// The frame's mark on the card: `meta0` before the first element, and after the last.
    pub mark: u32,
}

impl Frame {
    /// Prefetches the bytes that the parser reads first.
    #[inline]
    pub(crate) fn fetch(&self) {
        fetch(self.bytes.as_ptr());
        // Small frames are not aligned; most lie on two cache lines.
        fetch(self.bytes.as_ptr().wrapping_add(63));
    }
}

/// Prefetches a cache line.
#[inline]
pub(crate) fn fetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint. It has no visible effect, and the processor ignores it for invalid addresses.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// A frame's state in the chain.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known {
    pub headers: Headers,
    pub meta: [u32; 2],
    /// Number of the next element, or [`LEFT`].
    pub next: u8,
}

/// The frame has left the chain.
pub(crate) const LEFT: u8 = u8::MAX;

impl Known {
    /// Initializes the state of a frame that enters the chain.
    #[inline]
    pub(crate) fn enter(&mut self, frame: &Frame) {
        self.headers.find(&frame.bytes);
        self.meta = [frame.mark, 0];
        self.next = 0;
    }

    /// The value of a field that the frame has.
    pub(crate) fn get(&self, frame: &Frame, field: Field) -> u128 {
        match Word::beside(field) {
            Some(word) => word.read(frame, self).into(),
            None => self.headers.get(&frame.bytes, field).unwrap_or_default(),
        }
    }

    pub(crate) fn set(&mut self, frame: &mut Frame, field: Field, value: u128) -> Result<(), EditError> {
        match field {
            Field::Meta0 => self.meta[0] = value as u32,
            Field::Meta1 => self.meta[1] = value as u32,
            _ => return self.headers.set(&mut frame.bytes, field, value),
        }
        Ok(())
    }
}

/// Up to 64 bits of a frame or its metadata. Their place is computed when the program is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Chunk(Chunk),
    Port,
    Len,
    Time,
    Hash,
    Meta0,
    Meta1,
    TcpLen,
}

impl Word {
    /// The words of a field, uppermost first. Fields of 128 bits have two.
    pub(crate) fn of(field: Field) -> Vec<Word> {
        match Word::beside(field) {
            Some(word) => vec![word],
            None => field.chunks().map(Word::Chunk).collect(),
        }
    }

    /// The word of a field that is not in the frame.
    fn beside(field: Field) -> Option<Word> {
        Some(match field {
            Field::Port => Word::Port,
            Field::Len => Word::Len,
            Field::Time => Word::Time,
            Field::Hash => Word::Hash,
            Field::Meta0 => Word::Meta0,
            Field::Meta1 => Word::Meta1,
            Field::TcpLen => Word::TcpLen,
            _ => return None,
        })
    }

    /// Both words as one, if they are in the frame and the other one begins where this one ends.
    pub(crate) fn join(self, next: Word) -> Option<Word> {
        let (Word::Chunk(chunk), Word::Chunk(next)) = (self, next) else { return None };
        chunk.join(next).map(Word::Chunk)
    }

    /// Its value in a frame that has it; undefined in other frames.
    #[inline]
    pub(crate) fn read(&self, frame: &Frame, known: &Known) -> u64 {
        match self {
            Word::Chunk(chunk) => chunk.read(&known.headers, &frame.bytes).unwrap_or_default(),
            _ => self.read_any(frame, known),
        }
    }

    /// A separate function, so that the usual case is short.
    fn read_any(&self, frame: &Frame, known: &Known) -> u64 {
        match self {
            Word::Chunk(chunk) => chunk.read(&known.headers, &frame.bytes).unwrap_or_default(),
            Word::Port => frame.arrival.port.into(),
            Word::Len => frame.bytes.len() as u64 & 0xFFFF,
            Word::Time => frame.arrival.time & 0xFFFF_FFFF,
            Word::Hash => frame.arrival.hash.into(),
            Word::Meta0 => known.meta[0].into(),
            Word::Meta1 => known.meta[1].into(),
            Word::TcpLen => known.headers.get(&frame.bytes, Field::TcpLen).unwrap_or_default() as u64,
        }
    }
}
