// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Toeplitz hash in native code, bit by bit.

use crate::{accelerator::Accelerator, hash_key::MICROSOFT, regs};

/// Bytes of a key.
pub const KEY_BYTES: usize = 40;

/// A `flow_hash` accelerator.
pub struct FlowHash {
    key: [u8; KEY_BYTES],
    /// The key at the last CLEAR.
    used: [u8; KEY_BYTES],
    /// Bits that were pushed since.
    pushed: usize,
    hash: u32,
}

impl Default for FlowHash {
    fn default() -> Self {
        Self::new()
    }
}

impl FlowHash {
    /// With Microsoft's key.
    #[must_use]
    pub fn new() -> Self {
        Self { key: MICROSOFT, used: MICROSOFT, pushed: 0, hash: 0 }
    }

    /// The 32 bits of the key from bit `first` on; zeros follow the key.
    fn window(&self, first: usize) -> u32 {
        let byte = |index: usize| u64::from(self.used.get(index).copied().unwrap_or(0));
        let five = (0..5).fold(0, |bits, n| bits << 8 | byte(first / 8 + n));
        (five >> (8 - first % 8)) as u32
    }

    fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            for bit in (0..8).rev() {
                if byte >> bit & 1 == 1 {
                    self.hash ^= self.window(self.pushed);
                }
                // Far enough after the key nothing changes any more.
                self.pushed = (self.pushed + 1).min(16 * KEY_BYTES);
            }
        }
    }
}

impl Accelerator for FlowHash {
    fn read(&mut self, offset: u32) -> u32 {
        if offset == regs::FLOW_HASH_HASH { self.hash } else { 0 }
    }

    fn write(&mut self, offset: u32, value: u32, _packets: &[u8]) -> bool {
        let bytes = value.to_le_bytes();
        match offset {
            regs::FLOW_HASH_CLEAR => (self.used, self.pushed, self.hash) = (self.key, 0, 0),
            regs::FLOW_HASH_PUSH1 => self.push(&bytes[..1]),
            regs::FLOW_HASH_PUSH2 => self.push(&bytes[..2]),
            regs::FLOW_HASH_PUSH4 => self.push(&bytes),
            _ => {}
        }
        true
    }

    fn table(&self, offset: u32) -> u32 {
        let word = self.key.get(offset as usize..).and_then(|rest| rest.first_chunk());
        word.map_or(0, |word| u32::from_le_bytes(*word))
    }

    fn load(&mut self, offset: u32, value: u32) {
        if let Some(word) = self.key.get_mut(offset as usize..).and_then(|rest| rest.first_chunk_mut()) {
            *word = value.to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two of Microsoft's published vectors ("Verifying the RSS hash calculation").
    #[test]
    fn hashes_are_the_published_ones() {
        let mut hash = FlowHash::new();
        let mut push = |register, value| {
            assert!(hash.write(register, value, &[]));
            hash.read(regs::FLOW_HASH_HASH)
        };
        for (addresses, ports, of_addresses, of_all) in [
            ([66, 9, 149, 187, 161, 142, 100, 80], [2794u16, 1766], 0x323e_8fc2, 0x51cc_c178),
            ([199, 92, 111, 2, 65, 69, 140, 83], [14230, 4739], 0xd718_262a, 0xc626_b0ea),
        ] {
            assert_eq!(push(regs::FLOW_HASH_CLEAR, 1), 0);
            push(regs::FLOW_HASH_PUSH4, u32::from_le_bytes([addresses[0], addresses[1], addresses[2], addresses[3]]));
            let low = u32::from_le_bytes([addresses[4], addresses[5], addresses[6], addresses[7]]);
            assert_eq!(push(regs::FLOW_HASH_PUSH4, low), of_addresses);
            push(regs::FLOW_HASH_PUSH2, ports[0].swap_bytes().into());
            push(regs::FLOW_HASH_PUSH1, u32::from(ports[1] >> 8) | 0xAB00);
            assert_eq!(push(regs::FLOW_HASH_PUSH1, u32::from(ports[1])), of_all);
        }
    }

    #[test]
    fn behind_the_key_there_are_zeros_and_a_new_key_counts_from_the_next_clear_on() {
        let mut hash = FlowHash::new();
        for n in 0..200 {
            let before = hash.read(regs::FLOW_HASH_HASH);
            hash.write(regs::FLOW_HASH_PUSH4, u32::MAX, &[]);
            assert_eq!(hash.read(regs::FLOW_HASH_HASH) != before, n < 10, "word {n}");
        }
        hash.load(36, 0xDDCC_BBAA);
        assert_eq!((hash.table(36), hash.table(40), hash.key[36]), (0xDDCC_BBAA, 0, 0xAA));
        hash.load(0, 1 << 7);
        hash.write(regs::FLOW_HASH_CLEAR, 0, &[]);
        hash.write(regs::FLOW_HASH_PUSH1, 0x80, &[]);
        assert_eq!(hash.read(regs::FLOW_HASH_HASH), 0x8000_0000);
    }
}
