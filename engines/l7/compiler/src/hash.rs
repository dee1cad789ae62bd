// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The hash of the machine.

use crate::limits::WINDOW;

/// CRC-16 with the polynomial 0x1021, the initial value 0 and the most significant bit first, of the first 32 bytes,
/// with zeros behind shorter ones.
#[must_use]
pub fn crc16(bytes: &[u8]) -> u16 {
    let padded = bytes.iter().copied().chain(std::iter::repeat(0)).take(WINDOW);
    padded.fold(0, |crc, byte| crc << 8 ^ OF_BYTE[usize::from((crc >> 8) as u8 ^ byte)])
}

/// The hash of each byte alone.
const OF_BYTE: [u16; 256] = {
    let mut of_byte = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 };
            bit += 1;
        }
        of_byte[byte] = crc;
        byte += 1;
    }
    of_byte
};

#[cfg(test)]
mod tests {
    use super::*;

    /// 0x31C3 is the published check value of this CRC for "123456789".
    #[test]
    fn the_hash_is_the_crc_of_32_bytes() {
        let mut bytes = [0; 32];
        bytes[23..].copy_from_slice(b"123456789");
        assert_eq!(crc16(&bytes), 0x31C3);
        assert_eq!(crc16(b"ab"), crc16(&[b"ab".as_slice(), &[0; 30], b"zz"].concat()));
    }
}
