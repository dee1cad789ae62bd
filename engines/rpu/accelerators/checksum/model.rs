// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Internet checksum in native code.

use crate::{
    accelerator::{Accelerator, range},
    regs,
};

/// A `checksum` accelerator.
#[derive(Default)]
pub struct Checksum {
    address: u32,
    initial: u32,
    sum: u16,
}

/// Ones' complement sum of `initial` and the 16-bit words of `bytes`, in their byte order (RFC 1071); an odd last byte
/// as if a zero followed.
#[must_use]
pub fn sum(bytes: &[u8], initial: u32) -> u16 {
    let (words, rest) = bytes.as_chunks::<2>();
    let words: u64 = words.iter().map(|word| u64::from(u16::from_le_bytes(*word))).sum();
    let mut total = u64::from(initial) + words + u64::from(rest.first().copied().unwrap_or(0));
    while total > 0xFFFF {
        total = (total & 0xFFFF) + (total >> 16);
    }
    total as u16
}

impl Accelerator for Checksum {
    fn read(&mut self, offset: u32) -> u32 {
        if offset == regs::CHECKSUM_SUM { u32::from(self.sum) } else { 0 }
    }

    fn write(&mut self, offset: u32, value: u32, packets: &[u8]) -> bool {
        match offset {
            regs::CHECKSUM_ADDR => self.address = value,
            regs::CHECKSUM_INITIAL => self.initial = value,
            regs::CHECKSUM_LENGTH => {
                let bytes = range(packets, self.address, value);
                self.sum = sum(bytes.unwrap_or_default(), self.initial);
                return bytes.is_some();
            }
            _ => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_rfc_1071() {
        // Section 3 of the RFC: 00 01 f2 03 f4 f5 f6 f7 sum up to ddf2.
        let example = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(sum(&example, 0), u16::from_le_bytes([0xdd, 0xf2]));
        assert_eq!(
            (sum(&[], 0), sum(&[], 0x1_0000), sum(&[0xFF, 0xFF], 0), sum(&[1, 2, 3], 0xFFFF)),
            (0, 1, 0xFFFF, 0x0204)
        );
        assert_eq!(sum(&vec![0xFF; 1 << 20], u32::MAX), 0xFFFF);
    }

    #[test]
    fn bytes_outside_packet_memory_are_an_error() {
        let packets = [1; 128];
        let mut checksum = Checksum::default();
        let mut start = |address, length| {
            checksum.write(regs::CHECKSUM_INITIAL, 5, &packets);
            checksum.write(regs::CHECKSUM_ADDR, address, &packets);
            (checksum.write(regs::CHECKSUM_LENGTH, length, &packets), checksum.read(regs::CHECKSUM_SUM))
        };
        assert_eq!(start(0x0100_007F, 1), (true, 6));
        assert_eq!(start(0x0100_0000, 0), (true, 5));
        for (address, length) in [(0x0100_0080, 0), (0x0100_007F, 2), (0x00FF_FFFF, 1), (0x0100_0001, u32::MAX)] {
            assert_eq!(start(address, length), (false, 5));
        }
    }
}
