// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Internet checksums (RFC 1071).

use penstock_rmt_compiler::ir::HashAlgorithm;

use crate::machine::{Part, Sum};
use crate::{bits, hash};

impl Sum {
    /// The checksum of the parts, and of the frame's bytes from `payload` on if it has a payload.
    pub(crate) fn compute(&self, slots: &[u64], bytes: &[u8], payload: usize) -> u64 {
        let payload = if self.payload { &bytes[payload..] } else { &[] };
        if self.algorithm != HashAlgorithm::Csum16 {
            let mut data = hash::gather(slots, &self.parts, bytes);
            data.extend_from_slice(payload);
            return hash::hash(self.algorithm, &data) & bits::mask(self.width);
        }
        let mut total = Total::default();
        for part in &self.parts {
            match part {
                Part::Value(place) => {
                    let value = place.load(slots);
                    if place.is_wide() {
                        total.value((value >> 64) as u64, place.width - 64);
                    }
                    total.value(value as u64, place.width.min(64));
                }
                Part::Varbit(slot, valid) => total.bytes(hash::varbit(slots, (*slot, *valid), bytes)),
            }
        }
        total.bytes(payload);
        total.complement()
    }
}

/// A sum of 16-bit words that begin anywhere. As 2^16 is 1 in ones' complement, a value of any length counts as itself,
/// shifted by its place in its last word.
#[derive(Default)]
struct Total {
    sum: u64,
    /// Bits of the last word that are taken.
    bits: u32,
}

impl Total {
    #[inline]
    fn value(&mut self, value: u64, width: u32) {
        if width > 48 {
            self.value(value >> 32, width - 32);
            return self.value(value & 0xFFFF_FFFF, 32);
        }
        self.bits = (self.bits + width) % 16;
        let placed = value << ((16 - self.bits) % 16);
        // 2^32 is also 1.
        self.sum += (placed >> 32) + (placed & 0xFFFF_FFFF);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.value(chunk.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)), 64);
        }
        for byte in chunks.remainder() {
            self.value(u64::from(*byte), 8);
        }
    }

    fn complement(self) -> u64 {
        let mut sum = self.sum;
        while sum > 0xFFFF {
            sum = (sum >> 16) + (sum & 0xFFFF);
        }
        sum ^ 0xFFFF
    }
}

#[cfg(test)]
mod tests {
    use super::Total;

    /// The example of RFC 1071, section 3.
    #[test]
    fn the_sum_is_that_of_the_rfc() {
        let mut total = Total::default();
        total.bytes(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(total.complement(), 0xddf2 ^ 0xFFFF);
    }

    #[test]
    fn parts_may_begin_anywhere() {
        let mut total = Total::default();
        for (value, width) in [(0x0, 4), (0x001, 12), (0xf203f, 20), (0x4f5f6f7, 28)] {
            total.value(value, width);
        }
        assert_eq!(total.complement(), 0xddf2 ^ 0xFFFF);
        let mut odd = Total::default();
        odd.bytes(&[1, 2, 3]);
        assert_eq!(odd.complement(), 0x0402 ^ 0xFFFF);
    }
}
