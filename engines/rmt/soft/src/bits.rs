// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Bits of bytes in network order.

/// Writes `width` bits, at most 64, from bit `offset` on.
#[inline]
pub(crate) fn write(bytes: &mut [u8], offset: usize, width: u32, value: u64) {
    let (byte, bit) = (offset / 8, (offset % 8) as u32);
    if bit == 0 && width.is_multiple_of(8) {
        let count = width as usize / 8;
        bytes[byte..byte + count].copy_from_slice(&value.to_be_bytes()[8 - count..]);
        return;
    }
    let count = ((bit + width) as usize).div_ceil(8);
    let shift = count as u32 * 8 - bit - width;
    let (mut keep, mut put) = (!(u128::from(mask(width)) << shift), u128::from(value & mask(width)) << shift);
    for byte in bytes[byte..byte + count].iter_mut().rev() {
        *byte = *byte & keep as u8 | put as u8;
        (keep, put) = (keep >> 8, put >> 8);
    }
}

/// All bits of a width of at most 64 set.
#[inline]
pub(crate) fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits one by one.
    fn read(bytes: &[u8], offset: usize, width: u32) -> u64 {
        let bit = |at: usize| u64::from(bytes[at / 8] >> (7 - at % 8) & 1);
        (offset..offset + width as usize).fold(0, |value, at| value << 1 | bit(at))
    }

    #[test]
    fn every_place_is_written() {
        let bytes: Vec<u8> = (0..24u32).map(|index| (index * 73 + 41) as u8).collect();
        for width in 1..=64 {
            for offset in 0..bytes.len() * 8 - width as usize {
                let value = read(&bytes, offset, width);
                let mut other = vec![0x5A; bytes.len()];
                write(&mut other, offset, width, value);
                assert_eq!(read(&other, offset, width), value, "{width} bits from {offset}");
                for at in (0..offset).chain(offset + width as usize..other.len() * 8) {
                    assert_eq!(read(&other, at, 1), read(&[0x5A], at % 8, 1));
                }
            }
        }
    }
}
