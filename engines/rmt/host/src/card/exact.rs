// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Places of entries in the four ways of an exact table: each entry has one bucket in each way, by a hash of its key.
//! An entry that finds all four taken moves others out of its way.

use std::collections::{HashMap, VecDeque};

/// Ways of a table.
pub(super) const WAYS: usize = 4;
/// Buckets that are checked for a free one before the table counts as full.
const LOOKS: usize = 4096;

/// The four words of a key.
pub(super) type Words = [u32; 4];

/// A way and a bucket in the tenant's partition.
pub(super) type Place = (usize, u32);

/// CRC-64/ECMA-182 of the words, each with its highest byte first.
pub(super) fn hash(key: &Words) -> u64 {
    let bytes = key.iter().flat_map(|word| word.to_be_bytes());
    bytes.fold(0, |crc: u64, byte| {
        (0..8).fold(crc ^ u64::from(byte) << 56, |crc, _| {
            if crc >> 63 == 1 { crc << 1 ^ 0x42F0_E1EB_A9EA_3693 } else { crc << 1 }
        })
    })
}

/// The entries of a tenant's partition.
#[derive(Debug, Clone)]
pub(super) struct Exact {
    /// Buckets in each way, a power of two.
    buckets: u32,
    slots: Vec<Option<Words>>,
    places: HashMap<Words, Place>,
}

/// How an entry gets its place: first these moves, in their order, then the entry itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// Key of an entry that moves, from where, to where.
    pub moves: Vec<(Words, Place, Place)>,
    /// Place of the new entry.
    pub place: Place,
}

impl Exact {
    /// An empty partition.
    pub(super) fn new(buckets: u32) -> Self {
        Self { buckets, slots: vec![None; WAYS * buckets as usize], places: HashMap::new() }
    }

    /// Buckets in each way.
    pub(super) fn buckets(&self) -> u32 {
        self.buckets
    }

    fn slot(&self, (way, bucket): Place) -> usize {
        way * self.buckets as usize + bucket as usize
    }

    /// The bucket of a key in a way.
    fn bucket(&self, key: &Words, way: usize) -> u32 {
        (hash(key) >> (16 * way)) as u32 & 0xFFFF & (self.buckets - 1)
    }

    /// The place of a key's entry.
    pub(super) fn place(&self, key: &Words) -> Option<Place> {
        self.places.get(key).copied()
    }

    /// A way to place a new entry that moves as few others as possible; None if the table is full.
    pub(super) fn plan(&self, key: &Words) -> Option<Plan> {
        // Places in the order in which they are reached, each with the index of the place whose entry would move there.
        let mut seen: Vec<(Place, Option<usize>)> = Vec::new();
        let mut queue = VecDeque::new();
        for way in 0..WAYS {
            seen.push(((way, self.bucket(key, way)), None));
            queue.push_back(seen.len() - 1);
        }
        while let Some(at) = queue.pop_front() {
            let (place, _) = seen[at];
            let Some(there) = self.slots[self.slot(place)] else { return Some(self.path(&seen, at)) };
            for way in (0..WAYS).filter(|way| *way != place.0) {
                let next = (way, self.bucket(&there, way));
                if seen.len() < LOOKS && !seen.iter().any(|(known, _)| *known == next) {
                    seen.push((next, Some(at)));
                    queue.push_back(seen.len() - 1);
                }
            }
        }
        None
    }

    /// The moves that free the first place on the way to an empty one.
    fn path(&self, seen: &[(Place, Option<usize>)], empty: usize) -> Plan {
        let mut moves = Vec::new();
        let mut at = empty;
        while let (to, Some(before)) = seen[at] {
            let from = seen[before].0;
            // Places on the way are taken.
            moves.extend(self.slots[self.slot(from)].map(|key| (key, from, to)));
            at = before;
        }
        Plan { moves, place: seen[at].0 }
    }

    /// Notes an entry that was placed by a plan, with its moves.
    pub(super) fn insert(&mut self, key: Words, plan: &Plan) {
        for (moved, from, to) in &plan.moves {
            let (from, at) = (self.slot(*from), self.slot(*to));
            self.slots[from] = None;
            self.slots[at] = Some(*moved);
            self.places.insert(*moved, *to);
        }
        let at = self.slot(plan.place);
        self.slots[at] = Some(key);
        self.places.insert(key, plan.place);
    }

    /// Forgets an entry; where it was.
    pub(super) fn remove(&mut self, key: &Words) -> Option<Place> {
        let place = self.places.remove(key)?;
        let at = self.slot(place);
        self.slots[at] = None;
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-64/ECMA-182 is that of "123456789"; padded with zeros in front it is the same, for the
    /// CRC begins with 0.
    #[test]
    fn the_hash_is_the_catalogued_crc() {
        let mut bytes = [0; 16];
        bytes[7..].copy_from_slice(b"123456789");
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(hash(&[word(0), word(4), word(8), word(12)]), 0x6C40_DF5F_0B49_7347);
    }

    #[test]
    fn tables_fill_up_to_more_than_nine_tenths_and_every_entry_has_a_place_of_its_own() {
        let mut table = Exact::new(64);
        let mut shadow: HashMap<Place, Words> = HashMap::new();
        let mut placed = 0;
        for number in 0..256u32 {
            let key = [number.wrapping_mul(0x9E37_79B9), 0, number, 7];
            let Some(plan) = table.plan(&key) else { break };
            for (moved, from, to) in &plan.moves {
                assert_eq!(shadow.remove(from), Some(*moved));
                assert_eq!(shadow.insert(*to, *moved), None);
            }
            assert_eq!(shadow.insert(plan.place, key), None);
            table.insert(key, &plan);
            placed += 1;
        }
        assert!(placed > 230, "{placed}");
        for (place, key) in &shadow {
            assert_eq!(table.place(key), Some(*place));
            assert_eq!(table.bucket(key, place.0), place.1);
        }
        let (place, key) = shadow.iter().next().unwrap();
        assert_eq!((table.remove(key), table.remove(key)), (Some(*place), None));
        assert_eq!(table.plan(key).unwrap().moves, []);
    }
}
