// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Contexts by key: open addressing, with one cache line for a context whose key has up to 16 bytes and two for others.

use std::mem::MaybeUninit;

use penstock_flow_compiler::limits::REGISTERS;
use penstock_flow_compiler::program::Evict;

use crate::frame::fetch;

/// No deadline.
pub(crate) const NEVER: u64 = u64::MAX;
/// Instead of a state: the context is removed.
pub(crate) const GONE: u16 = u16::MAX;
/// Contexts in a slice of a table, and places that are looked at for it, at most: about a millisecond of work between two
/// frames.
const SLICE: usize = 1024;
const SLICE_PLACES: usize = 1 << 16;
/// Contexts that are compared if one must be evicted.
const CANDIDATES: usize = 4;

/// A key as words. Bytes after its last one are 0.
pub(crate) type Words<const K: usize> = [u64; K];

/// The state of a flow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    pub registers: [u32; REGISTERS],
    /// Its hard deadline, in µs.
    pub hard: u64,
    /// Its idle deadline, in µs.
    pub idle: u64,
    /// The idle time that it allows, in µs; 0: no limit.
    pub period: u32,
    /// The state after `hard`, or [`GONE`].
    pub hard_then: u16,
    pub idle_then: u16,
    pub state: u8,
    /// The place in the table has a context. The flag is here because the struct has room for it.
    pub used: bool,
}

/// The effect of time on a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    No,
    /// The context changed to another state.
    Moved,
    Gone,
}

impl State {
    /// The first state, without timeouts.
    pub(crate) fn new(registers: [u32; REGISTERS]) -> State {
        State { registers, hard: NEVER, idle: NEVER, period: 0, hard_then: GONE, idle_then: GONE, state: 0, used: true }
    }

    /// Whether a deadline has passed.
    #[inline]
    pub(crate) fn is_over(&self, time: u64) -> bool {
        time >= self.hard.min(self.idle)
    }

    /// Applies the deadlines. The earlier one counts; if they are equal, the hard one.
    pub(crate) fn expire(&mut self, time: u64) -> Due {
        if !self.is_over(time) {
            return Due::No;
        }
        let then = if self.hard <= self.idle { self.hard_then } else { self.idle_then };
        if then == GONE {
            return Due::Gone;
        }
        *self = State { state: then as u8, ..State::new(self.registers) };
        Due::Moved
    }
}

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Entry<const K: usize> {
    key: Words<K>,
    state: State,
}

const _: () = assert!(size_of::<Entry<2>>() == 64 && size_of::<Entry<5>>() == 128);

/// Contexts whose keys have up to 8·K bytes.
#[derive(Debug)]
pub(crate) struct Table<const K: usize> {
    entries: Box<[Entry<K>]>,
    secrets: [u64; 2],
    capacity: usize,
    count: usize,
    /// The next place of the walk.
    walk: usize,
}

/// Asks the kernel for large pages: contexts are spread over a table, and a page walk for small pages takes longer than
/// fetching a context.
fn ask_for_large_pages<T>(room: &mut [MaybeUninit<T>]) {
    #[cfg(target_os = "linux")]
    {
        /// The size of the smallest pages.
        const PAGE: usize = 4096;
        let first = room.as_mut_ptr().cast::<u8>();
        let skipped = first.align_offset(PAGE);
        if let Some(bytes) = size_of_val(room).checked_sub(skipped) {
            // SAFETY: the advice is about whole pages of `room` and does not change them. It affects only speed.
            unsafe { libc::madvise(first.add(skipped).cast(), bytes / PAGE * PAGE, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = room;
}

/// Two independent numbers (SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014).
fn secrets(seed: u64) -> [u64; 2] {
    [1, 2].map(|step| {
        let mut mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15u64.wrapping_mul(step));
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    })
}

impl<const K: usize> Table<K> {
    pub(crate) fn new(capacity: usize, seed: u64) -> Table<K> {
        let empty = Entry { key: [0; K], state: State { used: false, ..State::new([0; REGISTERS]) } };
        // At most two thirds full, so that searches are short.
        let places = (capacity + capacity / 2 + 2).next_power_of_two();
        let mut entries = Vec::with_capacity(places);
        ask_for_large_pages(entries.spare_capacity_mut());
        entries.resize(places, empty);
        Table { entries: entries.into_boxed_slice(), secrets: secrets(seed), capacity, count: 0, walk: 0 }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn places(&self) -> usize {
        self.entries.len()
    }

    /// The place where a search for the key begins: products of 128 bits, folded (as in wyhash). Each factor has a
    /// secret. Otherwise a word that makes one factor 0 would give all keys with this word the same place.
    #[inline]
    pub(crate) fn home(&self, key: &Words<K>) -> usize {
        let fold = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            product as u64 ^ (product >> 64) as u64
        };
        let mut hash = 0;
        for pair in key.chunks(2) {
            let second = pair.get(1).copied().unwrap_or_default();
            hash = fold(pair[0] ^ self.secrets[0] ^ hash, second ^ self.secrets[1]);
        }
        fold(hash, 0x8EBC_6AF0_9C88_C6E3) as usize & (self.entries.len() - 1)
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.entries.len() - 1)
    }

    /// Prefetches the lines that a search from this place reads. The second line is the rest of a long entry, or the
    /// next short entry, which many searches reach.
    #[inline]
    pub(crate) fn fetch(&self, home: usize) {
        let entry = std::ptr::from_ref(&self.entries[home]).cast::<u8>();
        fetch(entry);
        fetch(entry.wrapping_add(64));
    }

    /// The place of a key's context.
    #[inline]
    pub(crate) fn find(&self, key: &Words<K>, home: usize) -> Option<usize> {
        let mut place = home;
        loop {
            let entry = &self.entries[place];
            if !entry.state.used {
                return None;
            }
            if entry.key == *key {
                return Some(place);
            }
            place = self.after(place);
        }
    }

    #[inline]
    pub(crate) fn state(&mut self, place: usize) -> &mut State {
        &mut self.entries[place].state
    }

    /// The context in a place, if it has one.
    pub(crate) fn get(&self, place: usize) -> Option<(&Words<K>, &State)> {
        self.entries.get(place).filter(|entry| entry.state.used).map(|entry| (&entry.key, &entry.state))
    }

    /// A slice of the contexts, and the `from` of the next slice; None after the last slice. The first slice begins at 0.
    ///
    /// A slice has the contexts whose search begins between `from` and its end. A context may move, but its search
    /// always begins at the same place. Therefore a context that is there from the first slice to the last is in exactly
    /// one slice.
    pub(crate) fn slice(&self, from: usize) -> (Vec<(&Words<K>, &State)>, Option<usize>) {
        let places = self.entries.len();
        let from = from.min(places);
        let (mut end, mut seen) = (from, 0);
        while end < places && end - from < SLICE_PLACES && seen < SLICE {
            seen += usize::from(self.entries[end].state.used);
            end += 1;
        }
        let mut found = Vec::with_capacity(seen);
        // Searches that begin in the slice may go on behind its end, and behind the last place at the first one.
        let mut at = from;
        while at < end || self.entries[at & (places - 1)].state.used {
            let entry = &self.entries[at & (places - 1)];
            let displaced = at.wrapping_sub(self.home(&entry.key)) & (places - 1);
            if entry.state.used && at.checked_sub(displaced).is_some_and(|home| (from..end).contains(&home)) {
                found.push((&entry.key, &entry.state));
            }
            at += 1;
        }
        (found, (end < places).then_some(end))
    }

    /// Adds a context for a key without one and gives its place; None: the table is full.
    pub(crate) fn insert(&mut self, key: Words<K>, home: usize, state: State) -> Option<usize> {
        if self.count == self.capacity {
            return None;
        }
        let mut place = home;
        while self.entries[place].state.used {
            place = self.after(place);
        }
        self.entries[place] = Entry { key, state };
        self.count += 1;
        Some(place)
    }

    /// Removes the context in a place. Later contexts that a collision pushed back move up.
    pub(crate) fn remove(&mut self, mut place: usize) {
        let mask = self.entries.len() - 1;
        let mut next = self.after(place);
        while self.entries[next].state.used {
            let home = self.home(&self.entries[next].key);
            // It may not move before its home.
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(place) & mask {
                self.entries[place] = self.entries[next];
                place = next;
            }
            next = self.after(next);
        }
        self.entries[place].state.used = false;
        self.count -= 1;
    }

    /// The context that is evicted for a new one: among the first four from the new one's home on, the one with the
    /// lowest or highest first register; the first if several are equal. None if the table is empty.
    pub(crate) fn candidate(&self, home: usize, evict: Evict) -> Option<usize> {
        let places = (0..self.entries.len()).map(|step| (home + step) & (self.entries.len() - 1));
        let used = places.filter(|place| self.entries[*place].state.used).take(CANDIDATES);
        let value = |place: &usize| match evict {
            Evict::Lowest => self.entries[*place].state.registers[0],
            Evict::Highest => !self.entries[*place].state.registers[0],
        };
        used.min_by_key(value)
    }

    /// Walks to the next place with an expired context, over a number of places at most; gives the number that is left,
    /// and the place.
    pub(crate) fn walk(&mut self, places: &mut usize, time: u64) -> Option<usize> {
        while *places > 0 {
            let place = self.walk;
            let entry = &self.entries[place];
            if entry.state.used && entry.state.is_over(time) {
                return Some(place);
            }
            *places -= 1;
            self.walk = self.after(place);
        }
        None
    }

    /// Removes all contexts.
    pub(crate) fn clear(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.state.used = false);
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn who_knows_one_secret_does_not_know_the_next() {
        let homes = |table: &Table<2>, key: &dyn Fn(u64) -> Words<2>| -> usize {
            (0..1000).map(|at| table.home(&key(at))).collect::<HashSet<_>>().len()
        };
        let (known, other) = (Table::<2>::new(10_000, 1), Table::<2>::new(10_000, 2));
        for secret in [0, 1] {
            // Keys that all have one home under the seed for which they were made.
            let key = |at: u64| {
                let mut key = [at; 2];
                key[secret] = known.secrets[secret];
                key
            };
            assert_eq!(homes(&known, &key), 1);
            assert!(homes(&other, &key) > 900, "{}", homes(&other, &key));
        }
    }

    /// Reads a table in slices while half of its contexts change between two of them, and checks the other half.
    fn read_while_it_changes(seed: u64) {
        let mut table = Table::<2>::new(10_900, seed);
        let new = State::new([0; REGISTERS]);
        let key = |number: u64| [number, !number];
        let add = |table: &mut Table<2>, number| table.insert(key(number), table.home(&key(number)), new);
        for number in 0..10_000 {
            assert!(add(&mut table, number).is_some());
        }
        // Three searches begin at the last place, so two of them end at the first places.
        let last = table.places() - 1;
        let behind: Vec<u64> = (100_000..).filter(|number| table.home(&key(*number)) == last).take(3).collect();
        behind.iter().for_each(|number| assert!(add(&mut table, *number).is_some()));
        // Even numbers and these stay; between two slices the others go, which moves contexts, and new ones come.
        let (mut others, mut fresh): (Vec<u64>, _) = ((1..10_000).step_by(2).collect(), 10_000..);
        let (mut times, mut slices, mut from) = (HashMap::<u64, usize>::new(), 0, Some(0));
        while let Some(begin) = from {
            let (found, next) = table.slice(begin);
            assert!(found.len() <= SLICE + 100, "{}", found.len());
            found.iter().for_each(|(key, _)| *times.entry(key[0]).or_default() += 1);
            (slices, from) = (slices + 1, next);
            for gone in others.drain(..) {
                let place = table.find(&key(gone), table.home(&key(gone))).unwrap();
                table.remove(place);
            }
            others.extend(fresh.by_ref().take(5_000));
            others.iter().for_each(|number| assert!(add(&mut table, *number).is_some()));
        }
        assert!(slices >= 10, "{slices}");
        assert!((0..10_000).step_by(2).chain(behind).all(|number| times.get(&number) == Some(&1)));
        assert!(times.values().all(|count| *count == 1));
    }

    #[test]
    fn a_context_that_stays_is_in_one_slice() {
        (0..10).for_each(read_while_it_changes);
        let table = Table::<2>::new(10, 7);
        assert_eq!((table.slice(usize::MAX).0.len(), table.slice(usize::MAX).1), (0, None));
    }

    #[test]
    fn all_words_of_a_long_key_count() {
        let table = Table::<5>::new(10_000, 1);
        for word in 0..5 {
            let key = |at: u64| {
                let mut key = [7; 5];
                key[word] = at;
                key
            };
            let homes: HashSet<_> = (0..1000).map(|at| table.home(&key(at))).collect();
            assert!(homes.len() > 900, "{} of word {word}", homes.len());
        }
    }
}
