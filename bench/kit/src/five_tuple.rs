// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames of a flow, and the random numbers that traffic is drawn from.

/// A five-tuple.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// TCP, otherwise UDP.
    pub tcp: bool,
    /// IPv4 source.
    pub source: u32,
    /// IPv4 destination.
    pub destination: u32,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

impl Flow {
    /// Appends a frame of `size` bytes, with right checksums; `index` fills the payload, so that no two are alike.
    pub fn write(&self, bytes: &mut Vec<u8>, size: usize, index: u64) {
        let start = bytes.len();
        bytes.extend([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00]);
        let protocol = if self.tcp { 6 } else { 17 };
        bytes.extend([0x45, 0]);
        bytes.extend(((size - 14) as u16).to_be_bytes());
        bytes.extend((index as u16).to_be_bytes());
        bytes.extend([0x40, 0, 64, protocol, 0, 0]);
        bytes.extend(self.source.to_be_bytes());
        bytes.extend(self.destination.to_be_bytes());
        let sum = checksum(&bytes[start + 14..start + 34], 0);
        bytes[start + 24..start + 26].copy_from_slice(&sum.to_be_bytes());
        bytes.extend(self.source_port.to_be_bytes());
        bytes.extend(self.destination_port.to_be_bytes());
        if self.tcp {
            bytes.extend((index as u32).to_be_bytes());
            bytes.extend([0, 0, 0, 0, 0x50, 0x10, 0xFF, 0xFF, 0, 0, 0, 0]);
        } else {
            bytes.extend(((size - 34) as u16).to_be_bytes());
            bytes.extend([0, 0]);
        }
        let payload = bytes.len();
        bytes.resize(start + size, 0);
        for (at, byte) in bytes[payload..].iter_mut().enumerate() {
            *byte = index.to_le_bytes()[at % 8].wrapping_add((at / 8) as u8);
        }
        let segment = start + 34;
        let pseudo = [self.source >> 16, self.source & 0xFFFF, self.destination >> 16, self.destination & 0xFFFF];
        let pseudo: u32 = pseudo.iter().sum::<u32>() + u32::from(protocol) + (size - 34) as u32;
        let sum = checksum(&bytes[segment..], pseudo);
        // UDP writes a sum of zero as all ones (RFC 768): zero means none.
        let (at, sum) = if self.tcp { (segment + 16, sum) } else { (segment + 6, if sum == 0 { 0xFFFF } else { sum }) };
        bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

/// The Internet checksum (RFC 1071) of `bytes`, started from `sum`.
#[must_use]
pub fn checksum(bytes: &[u8], mut sum: u32) -> u16 {
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !((sum & 0xFFFF) + (sum >> 16)) as u16
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
pub struct Random(/** The state; the seed at first. */ pub u64);

impl Random {
    /// The next 64 bits.
    // Not an iterator: it has no end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 up to 1, without 1.
    pub fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_of_the_rfc() {
        // RFC 1071, section 3: 0001 f203 f4f5 f6f7 sum to ddf2 before the complement.
        assert_eq!(checksum(&[0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7], 0), !0xDDF2);
    }

    #[test]
    fn splitmix_of_its_authors() {
        // First outputs for seed 1234567, as published with the reference implementation.
        let mut random = Random(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn frames_have_their_size() {
        let flow = Flow { tcp: false, source: 1, destination: 2, source_port: 3, destination_port: 4 };
        for size in [42, 60, 61, 1514, 9000] {
            let mut bytes = vec![7; 3];
            flow.write(&mut bytes, size, 5);
            assert_eq!(bytes.len(), 3 + size);
            assert_eq!(checksum(&bytes[17..37], 0), 0);
        }
    }
}
