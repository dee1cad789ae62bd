// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Hashes of v1model, and random numbers.

use penstock_rmt_compiler::ir::HashAlgorithm;

use crate::bits;
use crate::machine::Part;
use crate::slots::Slot;

/// The seed of random numbers, so that each run has the same ones.
pub(crate) const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The next random number (xorshift64*, G. Marsaglia and S. Vigna).
pub(crate) fn random(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_F491_4F6C_DD1D)
}

/// The hash of bytes. For a random one, it is also that of the bytes: callers use [`random`] instead.
pub(crate) fn hash(algorithm: HashAlgorithm, data: &[u8]) -> u64 {
    let words = || data.chunks(2).map(|word| u64::from(word[0]) << 8 | u64::from(word.get(1).copied().unwrap_or(0)));
    match algorithm {
        HashAlgorithm::Crc32 | HashAlgorithm::Crc32Custom | HashAlgorithm::Random => {
            u64::from(!crc(data, 0xEDB8_8320, u32::MAX))
        }
        HashAlgorithm::Crc16 | HashAlgorithm::Crc16Custom => u64::from(crc(data, 0xA001, 0)),
        HashAlgorithm::Identity => data.iter().take(8).fold(0, |value, byte| value << 8 | u64::from(*byte)),
        HashAlgorithm::Csum16 => {
            let mut sum: u64 = words().sum();
            while sum > 0xFFFF {
                sum = (sum >> 16) + (sum & 0xFFFF);
            }
            sum ^ 0xFFFF
        }
        HashAlgorithm::Xor16 => words().fold(0, |all, word| all ^ word),
    }
}

/// A reflected CRC.
fn crc(data: &[u8], polynomial: u32, first: u32) -> u32 {
    data.iter().fold(first, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ polynomial } else { crc >> 1 })
    })
}

/// Values one after the other, with zeros up to a whole byte.
pub(crate) fn gather(slots: &[u64], parts: &[Part], bytes: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut taken = 0;
    let mut put = |value: u64, width: u32| {
        data.resize((taken + width as usize).div_ceil(8), 0);
        bits::write(&mut data, taken, width, value);
        taken += width as usize;
    };
    for part in parts {
        match part {
            Part::Value(place) => {
                let value = place.load(slots);
                let lower = place.width.min(64);
                if place.width > lower {
                    put((value >> 64) as u64, place.width - lower);
                }
                put(value as u64, lower);
            }
            Part::Varbit(slot, valid) => {
                varbit(slots, (*slot, *valid), bytes).iter().for_each(|byte| put((*byte).into(), 8));
            }
        }
    }
    data
}

/// The bytes of a varbit; none if its header, whose validity is the second slot, is not valid.
pub(crate) fn varbit<'b>(slots: &[u64], (slot, valid): (Slot, Slot), bytes: &'b [u8]) -> &'b [u8] {
    if slots[valid as usize] == 0 {
        return &[];
    }
    stretch(slots, slot, bytes)
}

/// The bytes whose place in the frame two slots hold.
pub(crate) fn stretch<'b>(slots: &[u64], slot: Slot, bytes: &'b [u8]) -> &'b [u8] {
    let (start, count) = (slots[slot as usize] as usize, slots[slot as usize + 1] as usize);
    &bytes[start..start + count]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of the CRC catalogue, which are those of "123456789".
    #[test]
    fn check_values() {
        let of = |algorithm| hash(algorithm, b"123456789");
        assert_eq!(of(HashAlgorithm::Crc32), 0xCBF4_3926);
        assert_eq!(of(HashAlgorithm::Crc16), 0xBB3D);
        assert_eq!(of(HashAlgorithm::Identity), 0x3132_3334_3536_3738);
        assert_eq!(of(HashAlgorithm::Xor16), 0x3132 ^ 0x3334 ^ 0x3536 ^ 0x3738 ^ 0x3900);
    }
}
