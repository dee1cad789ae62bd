// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Records between an inline block and its host driver (`record_t` in lib/rtl/penstock_pkg.sv).

/// Bytes of a record.
pub const RECORD_BYTES: usize = 64;
/// Bytes of a record that are the engine's own.
pub const OWN_BYTES: usize = 40;

/// A record. The head has the same meaning for all engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The block of its origin; the card writes it.
    pub block: u8,
    /// The kind of the record, as the engine defines it.
    pub reason: u8,
    /// Tenant of the frame that it is about.
    pub tenant: u8,
    /// Ethernet port of that frame, from 0.
    pub port: u8,
    /// Queue, as the engine defines it.
    pub queue: u16,
    /// The card's time, in ns.
    pub time: u64,
    /// Mark of the frame.
    pub mark: u32,
    /// Flow hash of the frame.
    pub hash: u32,
    /// The engine's own.
    pub own: [u8; OWN_BYTES],
}

impl Default for Record {
    fn default() -> Self {
        Self::from_bytes(&[0; RECORD_BYTES])
    }
}

impl Record {
    /// The record in bytes; numbers are little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..4].copy_from_slice(&[self.block, self.reason, self.tenant, self.port]);
        bytes[4..6].copy_from_slice(&self.queue.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.time.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.mark.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.hash.to_le_bytes());
        bytes[24..].copy_from_slice(&self.own);
        bytes
    }

    /// The record that these bytes are.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Self {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let mut own = [0; OWN_BYTES];
        own.copy_from_slice(&bytes[24..]);
        Self {
            block: bytes[0],
            reason: bytes[1],
            tenant: bytes[2],
            port: bytes[3],
            queue: u16::from_le_bytes([bytes[4], bytes[5]]),
            time: u64::from(word(12)) << 32 | u64::from(word(8)),
            mark: word(16),
            hash: word(20),
            own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each byte has one place, but the two that nothing uses.
    #[test]
    fn a_record_has_64_bytes() {
        let mut bytes: [u8; RECORD_BYTES] = std::array::from_fn(|at| at as u8 + 1);
        let record = Record::from_bytes(&bytes);
        assert_eq!((record.block, record.reason, record.tenant, record.port, record.queue), (1, 2, 3, 4, 0x0605));
        assert_eq!((record.time, record.mark, record.hash), (0x100F_0E0D_0C0B_0A09, 0x1413_1211, 0x1817_1615));
        assert_eq!((record.own[0], record.own[39]), (25, 64));
        bytes[6..8].fill(0);
        assert_eq!(record.to_bytes(), bytes);
        assert_eq!(Record::default().to_bytes(), [0; RECORD_BYTES]);
    }
}
