// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! CRC-32 of Ethernet in native code: a byte at a time, by a table of 256 entries (Sarwate, 1988).

use crate::{
    accelerator::{Accelerator, range},
    regs,
};

/// The value that each value of a byte adds.
static TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut state, mut bit) = (byte as u32, 0);
        while bit < 8 {
            state = if state & 1 == 1 { 0xEDB8_8320 ^ (state >> 1) } else { state >> 1 };
            bit += 1;
        }
        table[byte] = state;
        byte += 1;
    }
    table
}

/// Returns the CRC of `bytes` that follow bytes whose CRC is `before`; `before` is 0 for the first bytes.
#[must_use]
pub fn crc(bytes: &[u8], before: u32) -> u32 {
    !bytes.iter().fold(!before, |state, byte| TABLE[usize::from(state as u8 ^ byte)] ^ (state >> 8))
}

/// A `crc32` accelerator.
#[derive(Default)]
pub struct Crc32 {
    address: u32,
    initial: u32,
    crc: u32,
}

impl Accelerator for Crc32 {
    fn read(&mut self, offset: u32) -> u32 {
        if offset == regs::CRC32_CRC { self.crc } else { 0 }
    }

    fn write(&mut self, offset: u32, value: u32, packets: &[u8]) -> bool {
        match offset {
            regs::CRC32_ADDR => self.address = value,
            regs::CRC32_INITIAL => self.initial = value,
            regs::CRC32_LENGTH => {
                let bytes = range(packets, self.address, value);
                self.crc = crc(bytes.unwrap_or_default(), self.initial);
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
    fn values_are_those_of_the_crc_catalogue() {
        assert_eq!((crc(b"123456789", 0), crc(b"", 0)), (0xCBF4_3926, 0));
        assert_eq!(crc(b"6789", crc(b"12345", 0)), 0xCBF4_3926);
    }

    #[test]
    fn registers_give_the_crc_of_a_range() {
        let mut crc32 = Crc32::default();
        let packets = *b"..123456789....";
        for (register, value) in [(regs::CRC32_INITIAL, 0), (regs::CRC32_ADDR, 0x0100_0002), (regs::CRC32_LENGTH, 9)] {
            assert!(crc32.write(register, value, &packets));
        }
        assert_eq!((crc32.read(regs::CRC32_CRC), crc32.read(regs::CRC32_ADDR)), (0xCBF4_3926, 0));
        crc32.write(regs::CRC32_INITIAL, 7, &packets);
        assert!(!crc32.write(regs::CRC32_LENGTH, 14, &packets));
        assert_eq!(crc32.read(regs::CRC32_CRC), 7);
    }
}
