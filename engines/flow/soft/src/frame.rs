// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A frame on its way through the chain, and what programs read of it.

use penstock_headers::{Chunk, EditError, Field, Headers};

/// How a frame came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Ethernet port, as a design counts them.
    pub port: u8,
    /// Flow hash with which it entered the card.
    pub hash: u32,
    /// In µs. Programs see it modulo 2^32.
    pub time: u64,
}

/// Where a frame goes from the end of the chain.
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
    /// Without FCS. Edits change them.
    pub bytes: Vec<u8>,
    /// How it came.
    pub arrival: Arrival,
    /// Where it goes; what stands there before it has been through the chain means nothing.
    pub verdict: Verdict,
}

impl Frame {
    /// Fetches what the parser will look at first.
    #[inline]
    pub(crate) fn fetch(&self) {
        fetch(self.bytes.as_ptr());
        // Bytes of small frames lie where they happen to: mostly in two lines of the cache.
        fetch(self.bytes.as_ptr().wrapping_add(63));
    }
}

/// Has a line of memory fetched that will be wanted soon.
#[inline]
pub fn fetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which loads nothing that the program sees, and is ignored where there is no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// What the chain knows of a frame beside the frame itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known {
    pub headers: Headers,
    pub meta: [u32; 2],
    /// Number of the element that it gets to, or [`LEFT`].
    pub next: u8,
}

/// The frame has left the chain.
pub const LEFT: u8 = u8::MAX;

impl Known {
    /// Of a frame that enters the chain.
    #[inline]
    pub fn enter(&mut self, frame: &Frame) {
        self.headers.find(&frame.bytes);
        self.meta = [0; 2];
        self.next = 0;
    }

    /// A field of a frame that has it.
    pub fn get(&self, frame: &Frame, field: Field) -> u128 {
        match Word::beside(field) {
            Some(word) => word.read(frame, self).into(),
            None => self.headers.get(&frame.bytes, field).unwrap_or_default(),
        }
    }

    pub fn set(&mut self, frame: &mut Frame, field: Field, value: u128) -> Result<(), EditError> {
        match field {
            Field::Meta0 => self.meta[0] = value as u32,
            Field::Meta1 => self.meta[1] = value as u32,
            _ => return self.headers.set(&mut frame.bytes, field, value),
        }
        Ok(())
    }
}

/// Up to 64 bits of what a frame brings: where they stand was found when the program was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
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
    /// Those of a field, the uppermost first: fields of 128 bits have two.
    pub fn of(field: Field) -> Vec<Word> {
        match Word::beside(field) {
            Some(word) => vec![word],
            None => field.chunks().map(Word::Chunk).collect(),
        }
    }

    /// That of a field that does not stand in the frame.
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

    /// Both as one, if they stand in the frame and the other one begins where this one ends.
    pub fn join(self, next: Word) -> Option<Word> {
        let (Word::Chunk(chunk), Word::Chunk(next)) = (self, next) else { return None };
        chunk.join(next).map(Word::Chunk)
    }

    /// Its value in a frame that has it; in others any.
    #[inline]
    pub fn read(&self, frame: &Frame, known: &Known) -> u64 {
        match self {
            Word::Chunk(chunk) => chunk.read(&known.headers, &frame.bytes).unwrap_or_default(),
            _ => self.read_any(frame, known),
        }
    }

    /// Apart, so that the usual case is short.
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
