// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Tables of the filter (engines/ids/machine.md, section 1): bitmaps, and the exact table with its four places for a
//! key.

use std::collections::{HashMap, VecDeque};

use crate::rule::Key;

/// Entries of the bitmaps.
pub const BITMAPS: [usize; 3] = [1 << 15, 1 << 15, 1 << 16];
/// Ways of the exact table.
pub const WAYS: usize = 4;
/// Smallest and largest binary logarithm of the entries of a way.
pub const LOGS: std::ops::RangeInclusive<u32> = 11..=16;
/// Keys that a table of some size is expected to take, of a hundred places.
const LOAD: usize = 90;
/// Places that the search for an empty one checks.
const SEARCH: usize = 2_000;

/// CRC-32C of one byte.
const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut x, mut bit) = (byte as u32, 0);
        while bit < 8 {
            x = x >> 1 ^ if x & 1 == 1 { 0x82F6_3B78 } else { 0 };
            bit += 1;
        }
        table[byte] = x;
        byte += 1;
    }
    table
};

/// The function F of the machine: CRC-32C of a word, from 0 and without inversion.
#[must_use]
pub fn mix(mut word: u32) -> u32 {
    for _ in 0..4 {
        word = word >> 8 ^ CRC[(word & 0xFF) as usize];
    }
    word
}

/// Hashes of a window: h4 and h8.
#[must_use]
pub fn hashes(a: u32, b: u32) -> (u32, u32) {
    (mix(b), mix(mix(a) ^ b))
}

/// The value from which the places of a key of this length follow: of 8 bytes, of 4 to 7, of 3.
#[must_use]
pub fn group(length: usize, a: u32, b: u32) -> u32 {
    match length {
        8 => mix(mix(a) ^ b),
        3 => mix(b & 0xFFFF_FF00),
        _ => mix(b),
    }
}

/// An entry of the exact table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry {
    /// Bytes 0 to 3 of the window; bytes outside of the key are 0.
    pub a: u32,
    /// Bytes 4 to 7.
    pub b: u32,
    /// Length of the key; 0: the place is empty.
    pub length: u8,
    /// Number of the key.
    pub id: u16,
}

impl Entry {
    fn of(key: &Key, id: u16) -> Self {
        let bytes = key.bytes();
        let mut window = [0; 8];
        window[8 - bytes.len()..].copy_from_slice(bytes);
        let window = u64::from_le_bytes(window);
        Self { a: window as u32, b: (window >> 32) as u32, length: bytes.len() as u8, id }
    }

    /// Whether a window ends in the key.
    #[must_use]
    pub fn matches(&self, window: u64) -> bool {
        // The last bytes of the window are its upper ones.
        self.length > 0
            && (window ^ (u64::from(self.b) << 32 | u64::from(self.a))) >> (64 - 8 * u32::from(self.length)) == 0
    }
}

/// The filter's tables.
#[derive(Debug, Clone)]
pub struct Filter {
    /// Entries of the three bitmaps: bit 0 long, bit 1 short.
    pub bitmaps: [Vec<u8>; 3],
    /// Binary logarithm of the entries of a way.
    pub log: u32,
    /// The exact table: way w, index i is at `w << log | i`.
    pub exact: Vec<Entry>,
    ids: HashMap<Key, u16>,
}

impl Filter {
    /// Empty tables, with ways that have room for this many keys.
    #[must_use]
    pub fn for_keys(keys: usize) -> Self {
        let fits = |log: &u32| keys * 100 <= (WAYS << log) * LOAD;
        Self::new(LOGS.clone().find(fits).unwrap_or(*LOGS.end()))
    }

    /// Empty tables with ways of 2^`log` entries.
    #[must_use]
    pub fn new(log: u32) -> Self {
        Self {
            bitmaps: BITMAPS.map(|entries| vec![0; entries]),
            log,
            exact: vec![Entry::default(); WAYS << log],
            ids: HashMap::new(),
        }
    }

    /// Keys in the tables.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.ids.len()
    }

    /// The four places of keys of this group, as indices of [`Filter::exact`].
    #[must_use]
    pub fn places(&self, group: u32) -> [usize; WAYS] {
        let (log, again) = (self.log, mix(group));
        let low = |word: u32| (word & ((1 << log) - 1)) as usize;
        let high = |word: u32| (word >> (32 - log)) as usize;
        let way = |way: usize, index: usize| way << log | index;
        [way(0, low(group)), way(1, high(group)), way(2, low(again)), way(3, high(again))]
    }

    /// Adds a key, unless it exists; returns its number. None: it has no place, and nothing changes.
    pub fn add(&mut self, key: &Key) -> Option<u16> {
        if let Some(id) = self.ids.get(key) {
            return Some(*id);
        }
        let id = u16::try_from(self.ids.len()).ok()?;
        let entry = Entry::of(key, id);
        self.place(entry)?;
        self.ids.insert(key.clone(), id);
        self.mark(entry);
        Some(id)
    }

    /// Writes an entry into one of its places; others move if necessary.
    fn place(&mut self, entry: Entry) -> Option<()> {
        let places = |entry: &Entry| self.places(group(entry.length.into(), entry.a, entry.b));
        // Places that were reached, with the one from which: an entry there would move on.
        let mut reached: HashMap<usize, Option<usize>> = HashMap::new();
        let mut queue = VecDeque::new();
        for place in places(&entry) {
            reached.insert(place, None);
            queue.push_back(place);
        }
        let mut empty = None;
        while let Some(place) = queue.pop_front() {
            let there = self.exact[place];
            if there.length == 0 {
                empty = Some(place);
                break;
            }
            if reached.len() < SEARCH {
                for next in places(&there) {
                    reached.entry(next).or_insert_with(|| {
                        queue.push_back(next);
                        Some(place)
                    });
                }
            }
        }
        let mut place = empty?;
        while let Some(Some(from)) = reached.get(&place) {
            self.exact[place] = self.exact[*from];
            place = *from;
        }
        self.exact[place] = entry;
        Some(())
    }

    /// Sets the bits of a key in the bitmaps.
    fn mark(&mut self, Entry { a, b, length, .. }: Entry) {
        let mut set = |b: u32, bits: u8| {
            let (h4, h8) = hashes(a, b);
            self.bitmaps[0][(h4 & 0x7FFF) as usize] |= bits;
            self.bitmaps[1][(h4 >> 15 & 0x7FFF) as usize] |= bits;
            if bits == 1 {
                self.bitmaps[2][(h8 & 0xFFFF) as usize] |= 1;
            }
        };
        match length {
            8 => set(b, 1),
            // The byte before the key is not known.
            3 => (0..256).for_each(|before| set(b | before, 2)),
            _ => set(b, 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of machine.md.
    #[test]
    fn hashes_are_those_of_the_machine() {
        assert_eq!(mix(1), 0xDD45_AAB8);
        let window = u64::from_le_bytes(*b"abcdefgh");
        assert_eq!(hashes(window as u32, (window >> 32) as u32), (0x3C9A_7A13, 0x86BC_933D));
    }

    /// Every key that has a place is found in one of its places, also when the table is nearly full.
    #[test]
    fn keys_keep_their_places() {
        let mut filter = Filter::new(*LOGS.start());
        let mut added = Vec::new();
        for number in 0..8_000_u32 {
            let key = Key::of(&format!("{:08x}", mix(number)).as_bytes()[..3 + number as usize % 6]).unwrap();
            added.extend(filter.add(&key).map(|id| (key, id)));
        }
        assert!(added.len() > 7_000, "{}", added.len());
        for (key, id) in &added {
            let entry = Entry::of(key, *id);
            let places = filter.places(group(key.bytes().len(), entry.a, entry.b));
            assert!(places.iter().any(|place| filter.exact[*place] == entry), "{key:?}");
            assert_eq!(filter.add(key), Some(*id));
        }
        assert_eq!(filter.exact.iter().filter(|entry| entry.length > 0).count(), filter.keys());
    }

    #[test]
    fn a_key_without_a_place_changes_nothing() {
        let mut filter = Filter::new(*LOGS.start());
        // Keys of 4 to 7 bytes that end in the same 4 bytes share four places.
        let keys = ["abcd", "1abcd", "22abcd", "333abcd", "3abcd"].map(|text| Key::of(text.as_bytes()).unwrap());
        let ids: Vec<_> = keys.iter().map(|key| filter.add(key)).collect();
        assert_eq!((ids, filter.keys()), (vec![Some(0), Some(1), Some(2), Some(3), None], 4));
    }
}
