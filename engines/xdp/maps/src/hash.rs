// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Keys by hash: chains of places.
//!
//! Tables that forget (the LRU kinds) do it by a clock, as hardware can: each place has a mark, which is set when a
//! program looks its entry up or anybody updates it. A new entry takes the first place, from the hand on, that is free
//! or has no mark; marks that the hand passes are cleared, and it stays behind the place it took. A table therefore
//! holds `max_entries` entries before it evicts any, and hardware can keep the marks as one vector and search its first
//! zero.

use std::hash::{BuildHasher, RandomState};

/// No place.
const NONE: u32 = u32::MAX;

/// A table of keys. Places are 0 to `capacity` − 1.
#[derive(Debug, Clone)]
pub struct Hash {
    /// Seeds of the hash, different for each table: an attacker cannot choose keys that share a chain.
    secrets: [u64; 2],
    key_bytes: usize,
    keys: Vec<u8>,
    /// The first place of each chain.
    heads: Vec<u32>,
    /// By place, the next of its chain; of free ones, of the list of free places.
    next: Vec<u32>,
    used: Vec<bool>,
    marks: Vec<bool>,
    forgets: bool,
    hand: u32,
    free: u32,
    /// Places from here on were never used.
    fresh: u32,
    len: u32,
}

impl Hash {
    /// An empty table. One that `forgets` is never full.
    pub fn new(key_bytes: u32, capacity: u32, forgets: bool) -> Hash {
        let places = capacity as usize;
        let state = RandomState::new();
        Hash {
            secrets: [state.hash_one(0), state.hash_one(1)],
            key_bytes: key_bytes as usize,
            keys: vec![0; places * key_bytes as usize],
            heads: vec![NONE; places.next_power_of_two()],
            next: vec![NONE; places],
            used: vec![false; places],
            marks: vec![false; places],
            forgets,
            hand: 0,
            free: NONE,
            fresh: 0,
            len: 0,
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place of a key.
    pub fn find(&self, key: &[u8]) -> Option<u32> {
        self.search(self.chain(key), key)
    }

    /// Says that an entry was used: a table that forgets keeps it longer.
    pub fn mark(&mut self, place: u32) {
        self.marks[place as usize] = true;
    }

    /// Gives a key that is not there a place; none when the table is full.
    pub fn insert(&mut self, key: &[u8]) -> Option<u32> {
        let place = if self.forgets { self.evict() } else { self.take()? };
        let chain = self.chain(key);
        let at = place as usize;
        self.keys[at * self.key_bytes..][..self.key_bytes].copy_from_slice(key);
        self.next[at] = self.heads[chain];
        self.heads[chain] = place;
        self.used[at] = true;
        self.marks[at] = false;
        self.len += 1;
        Some(place)
    }

    /// Takes a key out; gives the place it had.
    pub fn remove(&mut self, key: &[u8]) -> Option<u32> {
        let place = self.find(key)?;
        self.unlink(place);
        if !self.forgets {
            self.next[place as usize] = self.free;
            self.free = place;
        }
        Some(place)
    }

    /// All keys with their places, in the order of places.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        let keys = self.keys.chunks_exact(self.key_bytes).zip(0..);
        keys.zip(&self.used).filter(|(_, used)| **used).map(|(entry, _)| entry)
    }

    /// How many places there are.
    pub fn places(&self) -> u32 {
        self.used.len() as u32
    }

    /// The key at a place that is used.
    pub fn key_at(&self, place: u32) -> Option<&[u8]> {
        self.used.get(place as usize)?.then(|| self.key(place))
    }

    fn key(&self, place: u32) -> &[u8] {
        &self.keys[place as usize * self.key_bytes..][..self.key_bytes]
    }

    fn chain(&self, key: &[u8]) -> usize {
        hash(self.secrets, key) as usize & (self.heads.len() - 1)
    }

    fn search(&self, chain: usize, key: &[u8]) -> Option<u32> {
        let mut place = self.heads[chain];
        while place != NONE {
            if self.key(place) == key {
                return Some(place);
            }
            place = self.next[place as usize];
        }
        None
    }

    /// A free place.
    fn take(&mut self) -> Option<u32> {
        if self.free != NONE {
            let place = self.free;
            self.free = self.next[place as usize];
            return Some(place);
        }
        let place = self.fresh;
        ((place as usize) < self.used.len()).then(|| {
            self.fresh += 1;
            place
        })
    }

    /// The place that the clock reaches.
    fn evict(&mut self) -> u32 {
        loop {
            let place = self.hand;
            let at = place as usize;
            self.hand = if at + 1 == self.used.len() { 0 } else { place + 1 };
            if !self.used[at] {
                return place;
            }
            if !self.marks[at] {
                self.unlink(place);
                return place;
            }
            self.marks[at] = false;
        }
    }

    /// Takes a place out of its chain.
    fn unlink(&mut self, place: u32) {
        let chain = self.chain(self.key(place));
        let behind = self.next[place as usize];
        if self.heads[chain] == place {
            self.heads[chain] = behind;
        } else {
            let mut before = self.heads[chain];
            while self.next[before as usize] != place {
                before = self.next[before as usize];
            }
            self.next[before as usize] = behind;
        }
        self.used[place as usize] = false;
        self.len -= 1;
    }
}

/// Mixes a key: products of 128 bits, folded (as wyhash does). Each factor has a secret, so there is no word that makes
/// a product 0 whatever the others are.
fn hash(secrets: [u64; 2], key: &[u8]) -> u64 {
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let (pairs, rest) = key.as_chunks::<16>();
    let mut sum = key.len() as u64;
    for pair in pairs {
        let (a, b) = (u128::from_le_bytes(*pair) as u64, (u128::from_le_bytes(*pair) >> 64) as u64);
        sum = fold(sum ^ secrets[0] ^ a, secrets[1] ^ b);
    }
    let (a, b) = rest.split_at(rest.len().min(8));
    fold(sum ^ secrets[0] ^ word(a), secrets[1] ^ word(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knowing the chains of one table's keys does not reveal those of another's.
    #[test]
    fn chains_are_each_tables_own() {
        for key_bytes in [4, 8, 13, 40] {
            let [known, other] = [(); 2].map(|()| Hash::new(key_bytes, 1024, false));
            let key = |number: u32| [number.to_le_bytes(); 10].concat()[..key_bytes as usize].to_vec();
            let chosen: Vec<_> = (0..).map(key).filter(|key| known.chain(key) == 7).take(60).collect();
            let chains: std::collections::HashSet<_> = chosen.iter().map(|key| other.chain(key)).collect();
            // 60 keys of one chain among 1,024
            assert!(chains.len() > 30, "{key_bytes}: {}", chains.len());
        }
    }
}
