// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The Internet checksum (RFC 1071) of changes.

/// The checksum after an addition to its sum: RFC 1624, equation 3. The result is 0 and not its other form, 0xFFFF, but
/// an unchanged 0xFFFF stays.
pub(crate) fn repair(checksum: u16, added: u16) -> u16 {
    match !fold(u32::from(!checksum) + u32::from(added)) {
        0 if checksum == 0xFFFF => checksum,
        repaired => repaired,
    }
}

/// Adds the carries of a sum of 16-bit words back.
pub(crate) fn fold(sum: u32) -> u16 {
    let once = (sum & 0xFFFF) + (sum >> 16);
    (once + (once >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1624, section 4.
    #[test]
    fn rfc_1624() {
        assert_eq!(repair(0xDD2F, fold(0x3285 + 0xAAAA)), 0x0000);
    }

    #[test]
    fn both_forms_of_zero() {
        for nothing in [0, 0xFFFF] {
            for checksum in [0, 1, 0x1234, 0xFFFE, 0xFFFF] {
                assert_eq!(repair(checksum, nothing), checksum);
            }
        }
        assert_eq!(repair(0x1234, 0x1234), 0);
        assert_eq!(repair(0xFFFF, 0x1234), 0xEDCB);
    }

    /// In one's complement a sum is its remainder by 0xFFFF, where only the sum of nothing but zeros is 0.
    #[test]
    fn carries() {
        for high in 0..8 {
            for low in [0, 1, 2, 0x7FFF, 0xFFF8, 0xFFFE, 0xFFFF] {
                let sum: u32 = high << 16 | low;
                assert_eq!(u32::from(fold(sum)), if sum == 0 { 0 } else { (sum - 1) % 0xFFFF + 1 }, "{sum:#x}");
            }
        }
    }
}
