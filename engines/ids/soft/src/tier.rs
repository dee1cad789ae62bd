// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The first look at bytes: whether a piece of a key may begin at some of their positions.
//!
//! A tier knows pieces of the keys as bits of a hash. It looks at every STRIDE-th position only: of each key it has one
//! piece for every place that the key may have between two such positions.

/// Bits of the table for each piece, of which a piece sets two: of the pieces that belong to no key, fewer than one in a
/// hundred pass.
const SPARSE: usize = 32;
/// Binary logarithm of the bits of a table.
const LOGS: std::ops::RangeInclusive<u32> = 13..=22;
/// Odd numbers that spread the bits of a piece over the upper bits of a product.
const FACTORS: [u32; 2] = [0x9E37_79B1, 0x85EB_CA77];
/// Positions that are looked at together.
pub(crate) const LANES: usize = 8;
/// Bytes from the first position on that a look at eight positions may read.
pub(crate) const READS: usize = 36;

/// Pieces of GRAM bytes, 4 or 5, at every STRIDE-th position, 2 or 4.
#[derive(Debug, Clone)]
pub(crate) struct Tier<const GRAM: usize, const STRIDE: usize> {
    /// The bits. There are none if there is no key.
    words: Vec<u32>,
    /// The upper bits of the hash name a word; the number of the other ones.
    shift: u32,
}

impl<const GRAM: usize, const STRIDE: usize> Tier<GRAM, STRIDE> {
    /// A tier with these pieces.
    pub(crate) fn new(pieces: &[[u8; GRAM]]) -> Self {
        let fits = |log: &u32| pieces.len() * SPARSE <= 1 << log;
        let log = LOGS.clone().find(fits).unwrap_or(*LOGS.end());
        let count = if pieces.is_empty() { 0 } else { 1 << (log - 5) };
        let mut tier = Self { words: vec![0; count], shift: 32 + 5 - log };
        for piece in pieces {
            let mut bytes = [0; 5];
            bytes[..GRAM].copy_from_slice(piece);
            let (word, bits) = tier.bits(bytes);
            tier.words[word] |= bits;
        }
        tier
    }

    /// Whether there is no key.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Bytes of the table.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// The word of the piece that begins here, and its two bits in it.
    #[inline(always)]
    fn bits(&self, [a, b, c, d, e]: [u8; 5]) -> (usize, u32) {
        let mut hash = u32::from_le_bytes([a, b, c, d]).wrapping_mul(FACTORS[0]);
        if GRAM == 5 {
            hash = hash.wrapping_add(u32::from_le_bytes([b, c, d, e]).wrapping_mul(FACTORS[1]));
        }
        let word = hash >> self.shift;
        (word as usize, 1 << (hash >> (self.shift - 5) & 31) | 1 << (hash >> (self.shift - 10) & 31))
    }

    /// Whether pieces begin at the first eight positions, a bit each.
    #[inline(always)]
    pub(crate) fn mask(&self, bytes: &[u8; READS]) -> u32 {
        let mut mask = 0;
        for lane in 0..LANES {
            let Some(piece) = bytes.get(lane * STRIDE..).and_then(<[u8]>::first_chunk) else { continue };
            let (word, bits) = self.bits(*piece);
            mask |= u32::from(self.words[word] & bits == bits) << lane;
        }
        mask
    }

    /// The same, all eight at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn mask_avx2(&self, bytes: &[u8; READS]) -> u32 {
        use std::arch::x86_64::*;
        let first = |at: usize| {
            let from = bytes[at..].as_ptr();
            if STRIDE == 4 {
                // SAFETY: READS bytes are there, of which this reads 32 from the first or second one on.
                return unsafe { _mm256_loadu_si256(from.cast()) };
            }
            // SAFETY: as before; both halves together are 24 bytes.
            let halves = unsafe { _mm256_loadu2_m128i(from.add(8).cast(), from.cast()) };
            let twos = _mm_setr_epi8(0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7, 8, 9);
            _mm256_shuffle_epi8(halves, _mm256_broadcastsi128_si256(twos))
        };
        let times = |words, factor: u32| _mm256_mullo_epi32(words, _mm256_set1_epi32(factor.cast_signed()));
        let mut hash = times(first(0), FACTORS[0]);
        if GRAM == 5 {
            hash = _mm256_add_epi32(hash, times(first(1), FACTORS[1]));
        }
        let from = |shift: u32| _mm256_srl_epi32(hash, _mm_cvtsi32_si128(shift.cast_signed()));
        // SAFETY: the table has as many words as the upper bits of a hash name.
        let words = unsafe { _mm256_i32gather_epi32::<4>(self.words.as_ptr().cast(), from(self.shift)) };
        // A bit of each word becomes its top one.
        let top = |bits| _mm256_sllv_epi32(words, _mm256_andnot_si256(bits, _mm256_set1_epi32(31)));
        let both = _mm256_and_si256(top(from(self.shift - 5)), top(from(self.shift - 10)));
        _mm256_movemask_ps(_mm256_castsi256_ps(both)).cast_unsigned()
    }
}
