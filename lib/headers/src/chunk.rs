// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Bits of frames that were found once and are read from many.

use crate::{headers::Headers, table::Layer};

/// Up to 64 bits that stand together in a layer. They are read with the eight bytes that end with theirs, whatever
/// their number is.
///
/// ```
/// use penstock_headers::{Field, Headers};
/// let frame = *b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x88\xb5";
/// let chunks: Vec<_> = Field::EthType.chunks().collect();
/// assert_eq!(chunks[0].read(&Headers::parse(&frame), &frame), Some(0x88b5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    layer: Layer,
    /// The first of the eight bytes, from the layer's.
    byte: i8,
    /// How far the lowest bit lies above theirs.
    shift: u8,
    bits: u8,
    ones: u64,
}

impl Chunk {
    /// `bits` bits from `first` on, counted from the layer's first byte in network order.
    pub(crate) const fn new(layer: Layer, first: u32, bits: u32) -> Chunk {
        // Checksums are over words of 16 bits, so the bytes end with one.
        let end = (first + bits).div_ceil(16) as i32 * 2;
        // No byte precedes the frame.
        let byte = if matches!(layer, Layer::Eth) && end < 8 { 0 } else { end - 8 };
        let shift = (byte + 8) as u32 * 8 - first - bits;
        Chunk { layer, byte: byte as i8, shift: shift as u8, bits: bits as u8, ones: u64::MAX >> (64 - bits) }
    }

    /// How many bits there are.
    pub fn bits(self) -> u32 {
        self.bits.into()
    }

    /// The bits, at the bottom, of a frame that has them: where the layer is not there, any others. None if that would
    /// be outside of the frame.
    #[inline]
    pub fn read(self, headers: &Headers, frame: &[u8]) -> Option<u64> {
        let bytes = frame.get(self.start(headers)..)?.first_chunk()?;
        Some(u64::from_be_bytes(*bytes) >> self.shift & self.ones)
    }

    /// Sets the bits; returns the amount that this adds to a sum over the frame. None if they are outside of it.
    #[inline]
    pub(crate) fn write(self, headers: &Headers, frame: &mut [u8], value: u64) -> Option<u32> {
        let bytes = frame.get_mut(self.start(headers)..)?.first_chunk_mut()?;
        let before = u64::from_be_bytes(*bytes);
        let after = before & !(self.ones << self.shift) | (value & self.ones) << self.shift;
        *bytes = after.to_be_bytes();
        // In one's complement, removing a word is the same as adding its inverse.
        Some(halfwords(after) + halfwords(!before))
    }

    #[inline]
    fn start(self, headers: &Headers) -> usize {
        headers.at(self.layer).wrapping_add_signed(self.byte.into())
    }

    /// Both as one, if the other one begins where this one ends and they have no more than 64 bits.
    pub fn join(self, next: Chunk) -> Option<Chunk> {
        let end = |chunk: Chunk| (i32::from(chunk.byte) + 8) * 8 - i32::from(chunk.shift);
        let bits = self.bits + next.bits;
        let joins = self.layer == next.layer && end(next) - i32::from(next.bits) == end(self);
        (joins && bits + next.shift <= 64).then(|| Chunk { bits, ones: u64::MAX >> (64 - bits), ..next })
    }
}

/// The sum of four words of 16 bits.
#[inline]
fn halfwords(word: u64) -> u32 {
    let pairs = (word & 0xFFFF_0000_FFFF) + (word >> 16 & 0xFFFF_0000_FFFF);
    (pairs + (pairs >> 32)) as u32
}
