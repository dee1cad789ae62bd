// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Keys of flows.

use penstock_flow_compiler::program::Key;

use crate::table::Words;

/// Bytes of the longest key.
pub const LONGEST: usize = 40;

/// What to read of a frame, and how it becomes a key.
#[derive(Debug, Clone)]
pub struct Packing {
    pub key: Key,
    /// Bytes of each field.
    bytes: Vec<u8>,
}

impl Packing {
    pub fn new(key: &Key) -> Packing {
        let bytes = key.fields.iter().map(|field| field.bits().div_ceil(8) as u8).collect();
        Packing { key: key.clone(), bytes }
    }

    pub fn fields(&self) -> usize {
        self.key.fields.len()
    }

    /// Puts the sides of values into the order in which both directions have them.
    #[inline]
    pub fn order(&self, values: &mut [u128]) {
        for &(source, destination) in &self.key.pairs {
            if values[source] != values[destination] {
                if values[source] > values[destination] {
                    self.key.pairs.iter().for_each(|&(source, destination)| values.swap(source, destination));
                }
                return;
            }
        }
    }

    /// The key: fields one after the other, each from a byte on.
    #[inline]
    pub fn pack<const K: usize>(&self, values: &[u128]) -> Words<K> {
        let mut words = [0; K];
        if K == 2 {
            // A field of 16 bytes is alone, and pushes out nothing.
            let push =
                |all: u128, (bytes, value): (&u8, &u128)| all.checked_shl(8 * u32::from(*bytes)).unwrap_or(0) | value;
            let packed = self.bytes.iter().zip(values).fold(0, push);
            words[0] = (packed >> 64) as u64;
            words[1] = packed as u64;
            return words;
        }
        let mut bytes = [0; LONGEST];
        let mut at = 0;
        for (count, value) in self.bytes.iter().zip(values) {
            let count = usize::from(*count);
            bytes[at..at + count].copy_from_slice(&value.to_be_bytes()[16 - count..]);
            at += count;
        }
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_be_bytes(*bytes);
        }
        words
    }

    /// The fields' values back from a key.
    pub fn unpack<const K: usize>(&self, words: &Words<K>) -> Vec<u128> {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        if K == 2 {
            // Short keys stand at the end of their words.
            let length: usize = self.bytes.iter().map(|bytes| usize::from(*bytes)).sum();
            bytes.drain(..16 - length);
        }
        let mut values = Vec::new();
        let mut rest = bytes.as_slice();
        for count in &self.bytes {
            let (field, behind) = rest.split_at(usize::from(*count));
            values.push(field.iter().fold(0, |value, byte| value << 8 | u128::from(*byte)));
            rest = behind;
        }
        values
    }
}
