// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Numbers as P4Runtime's binary strings: big endian, the shortest form leaves the card, any form enters it.

use crate::refusal::Refusal;

/// The number of a binary string, which must fit into `width` bits; `what` names it in messages.
pub(crate) fn read(bytes: &[u8], width: u32, what: &str) -> Result<u128, Refusal> {
    if bytes.is_empty() {
        return Err(Refusal::argument(format!("{what} has no bytes: 0 is one byte, 00")));
    }
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let digits = &bytes[first..];
    let value = digits.iter().take(17).fold(0u128, |value, byte| value << 8 | u128::from(*byte));
    if digits.len() > 16 || !fits(value, width) {
        let hex: String = digits.iter().map(|byte| format!("{byte:02x}")).collect();
        return Err(Refusal::range(format!("{what} has {width} bits, and 0x{hex} has more")));
    }
    Ok(value)
}

/// The shortest binary string of a number.
pub(crate) fn write(value: u128) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len() - 1);
    bytes[first..].to_vec()
}

/// Whether a number has no bits from `width` on.
pub(crate) fn fits(value: u128, width: u32) -> bool {
    width >= 128 || value >> width == 0
}

/// The mask of a prefix.
pub(crate) fn prefix_mask(width: u32, length: u32) -> u128 {
    let all = if width >= 128 { u128::MAX } else { (1 << width) - 1 };
    if length == 0 { 0 } else { all & all << (width - length) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Reason;

    #[test]
    fn numbers_are_read_in_any_form_and_written_in_the_shortest() {
        for (bytes, width, value, shortest) in [
            (&[0][..], 1, 0, &[0][..]),
            (&[0, 0, 1], 9, 1, &[1]),
            (&[1, 0xFF], 9, 0x1FF, &[1, 0xFF]),
            (&[10, 0, 0, 1], 32, 0x0A00_0001, &[10, 0, 0, 1]),
            (&[0xFF; 16], 128, u128::MAX, &[0xFF; 16]),
        ] {
            assert_eq!(read(bytes, width, "a").ok(), Some(value));
            assert_eq!(write(value), shortest);
        }
        let refused = |bytes: &[u8], width| read(bytes, width, "a").err().map(|refusal| refusal.reason);
        assert_eq!(refused(&[], 8), Some(Reason::Argument));
        assert_eq!(refused(&[2, 0], 9), Some(Reason::Range));
        assert_eq!(refused(&[1; 17], 128), Some(Reason::Range));
    }

    #[test]
    fn prefixes_are_masks() {
        assert_eq!(prefix_mask(32, 0), 0);
        assert_eq!(prefix_mask(32, 24), 0xFFFF_FF00);
        assert_eq!(prefix_mask(128, 128), u128::MAX);
    }
}
