// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rules that a test cannot check against the kernel: the clock of LRU tables, against a model of the kernel's text;
//! rings and queues by hand.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::HashSet;

use penstock_testing::Numbers;
use penstock_xdp_compiler::maps::{MapKind, MapShape};
use penstock_xdp_maps::{Errno, Events, Hash, Maps, Memory, SLICE, Store};

/// The clock, as its documentation describes it.
struct Clock {
    /// By place, the entry and its mark.
    places: Vec<Option<(u32, bool)>>,
    hand: usize,
}

impl Clock {
    fn find(&mut self, key: u32) -> Option<&mut (u32, bool)> {
        self.places.iter_mut().flatten().find(|(known, _)| *known == key)
    }

    fn insert(&mut self, key: u32) {
        loop {
            let at = self.hand;
            self.hand = (self.hand + 1) % self.places.len();
            match &mut self.places[at] {
                Some((_, mark @ true)) => *mark = false,
                place => {
                    *place = Some((key, false));
                    return;
                }
            }
        }
    }
}

/// An entry that is there all the time is in exactly one slice, whatever else comes and goes between the slices.
#[test]
fn slices() {
    const ENTRIES: u32 = 5000;
    let mut numbers = Numbers(0x2222_3333_4444_5555);
    for kind in [MapKind::Hash, MapKind::LpmTrie, MapKind::Array, MapKind::Xskmap] {
        let (key_bytes, flags) = if kind == MapKind::LpmTrie { (8, 1) } else { (4, 0) };
        let shape = MapShape { number: kind.number(), key_bytes, value_bytes: 4, max_entries: ENTRIES, flags };
        let mut maps = Maps::new(1).unwrap();
        let id = maps.create(&shape, None).unwrap();
        let key = |number: u32| match kind {
            MapKind::LpmTrie => [32u32.to_ne_bytes(), number.to_be_bytes()].concat(),
            _ => number.to_ne_bytes().to_vec(),
        };
        let stays = |number: u32| number.is_multiple_of(3);
        let has_all = kind == MapKind::Array;
        (0..ENTRIES).filter(|n| stays(*n)).for_each(|n| maps.set(id, &key(n), &[1; 4], Store::Any).unwrap());
        let (mut found, mut from, mut slices) = (Vec::new(), Some(0), 0);
        while let Some(place) = from {
            let (entries, next) = maps.slice(id, place).unwrap();
            assert!(entries.len() <= SLICE && next.is_none_or(|next| next > place), "{kind}");
            found.extend(entries.into_iter().map(|(key, _)| key));
            (from, slices) = (next, slices + 1);
            for _ in 0..500 {
                let number = numbers.below(ENTRIES as usize) as u32;
                if !stays(number) && !has_all {
                    let _ = match numbers.below(2) {
                        0 => maps.set(id, &key(number), &[2; 4], Store::Any),
                        _ => maps.delete(id, &key(number)),
                    };
                }
            }
        }
        for number in (0..ENTRIES).filter(|n| stays(*n) || has_all) {
            assert_eq!(found.iter().filter(|found| **found == key(number)).count(), 1, "{kind}: {number}");
        }
        assert!(slices > 1, "{kind}");
    }
}

#[test]
fn clock() {
    let mut numbers = Numbers(0x1111_2222_3333_4444);
    for capacity in [1, 2, 7, 64] {
        let mut hash = Hash::new(4, capacity, true);
        let mut clock = Clock { places: vec![None; capacity as usize], hand: 0 };
        for _ in 0..5000 {
            let key = numbers.below(capacity as usize * 2) as u32;
            let bytes = key.to_ne_bytes();
            match numbers.below(6) {
                0 => {
                    let known = clock.places.iter().position(|place| place.is_some_and(|(known, _)| known == key));
                    assert_eq!(hash.remove(&bytes), known.map(|place| place as u32));
                    if let Some(place) = known {
                        clock.places[place] = None;
                    }
                }
                1..=3 => match (hash.find(&bytes), clock.find(key)) {
                    (Some(place), Some((_, mark))) => {
                        hash.mark(place);
                        *mark = true;
                    }
                    (ours, theirs) => assert!(ours.is_none() && theirs.is_none(), "{key}"),
                },
                _ if hash.find(&bytes).is_none() => {
                    assert!(hash.insert(&bytes).is_some());
                    clock.insert(key);
                }
                _ => {}
            }
            let ours: HashSet<u32> = hash.iter().map(|(key, _)| u32::from_ne_bytes(key.try_into().unwrap())).collect();
            let theirs: HashSet<u32> = clock.places.iter().flatten().map(|(key, _)| *key).collect();
            assert_eq!(ours, theirs);
            assert_eq!(hash.len() as usize, ours.len());
        }
    }
}

/// The last byte that programs can name is theirs, and nothing behind it is reached.
#[test]
fn ends_of_memory() {
    let mut memory = Memory::new().unwrap();
    assert_eq!(memory.bytes(0xFFFF_FFFF, 1), Ok(&[0][..]));
    assert_eq!(memory.bytes(0xFFFF_FFFF, 2), Err(Errno::Fault));
    memory.bytes_mut(0x1_0000_0005, 1).unwrap()[0] = 9;
    assert_eq!(memory.bytes(5, 1), Ok(&[9][..]));
}

#[test]
fn ring() {
    let mut maps = Maps::new(1).unwrap();
    let shape = MapShape { number: 27, key_bytes: 0, value_bytes: 0, max_entries: 4096, flags: 0 };
    let ring = maps.create(&shape, None).unwrap();
    // A record takes 8 bytes and its own, rounded up to 8; one byte of the ring always stays free.
    assert!(maps.ring(ring).unwrap().reserve(4096 - 8).is_none());
    let mut numbers = Numbers(0x5555_1234_5678_9999);
    let mut expected = std::collections::VecDeque::new();
    let (mut used, mut lost) = (0usize, 1);
    for _ in 0..2000 {
        let length = [1, 8, 20, 1000, 3000][numbers.below(5)];
        let bytes = numbers.bytes(length);
        let whole = bytes.len().next_multiple_of(8) + 8;
        let record = maps.ring(ring).unwrap().reserve(bytes.len() as u64);
        assert_eq!(record.is_some(), used + whole < 4096);
        match record {
            Some(address) => {
                used += whole;
                maps.memory.bytes_mut(address, bytes.len()).unwrap().copy_from_slice(&bytes);
                let submit = numbers.below(4) > 0;
                maps.release_record(address, submit);
                expected.push_back((bytes, submit));
            }
            None => lost += 1,
        }
        while numbers.below(3) == 0 && !expected.is_empty() {
            while expected.front().is_some_and(|(_, submitted)| !submitted) {
                used -= expected.pop_front().unwrap().0.len().next_multiple_of(8) + 8;
            }
            let next = expected.pop_front();
            used -= next.as_ref().map_or(0, |(bytes, _)| bytes.len().next_multiple_of(8) + 8);
            assert_eq!(maps.take_record(ring), next.map(|(bytes, _)| bytes));
        }
        assert_eq!(maps.ring(ring).unwrap().query(0), used as u64);
    }
    assert!(lost > 10);
    assert_eq!(maps.ring(ring).unwrap().lost(), lost);
}

/// A program's new entry is 0 for the other processors, whatever the old entry held (Linux, kernel/bpf/hashtab.c,
/// `pcpu_init_value`); an existing entry keeps their values.
#[test]
fn new_entries_of_processors() {
    // The result for an address without a map.
    const KEY: u64 = 0xFFFF_FF00;
    const VALUE: u64 = 0xFFFF_FF08;
    for number in [5, 10] {
        let mut maps = Maps::new(3).unwrap();
        let shape = MapShape { number, key_bytes: 4, value_bytes: 8, max_entries: 1, flags: 0 };
        let map = maps.create(&shape, None).unwrap();
        let key = 7u32.to_ne_bytes();
        maps.memory.bytes_mut(KEY, 4).unwrap().copy_from_slice(&key);
        maps.memory.bytes_mut(VALUE, 8).unwrap().fill(9);
        let words = |of: [u8; 3]| of.map(|byte| [byte; 8]).concat();
        maps.set(map, &key, &words([1, 2, 3]), Store::Any).unwrap();
        maps.update(map.handle().into(), 1, KEY, VALUE, 0).unwrap();
        assert_eq!(maps.get(map, &key), Ok(words([1, 9, 3])), "map type {number}");
        maps.delete(map, &key).unwrap();
        maps.update(map.handle().into(), 2, KEY, VALUE, 0).unwrap();
        assert_eq!(maps.get(map, &key), Ok(words([0, 0, 9])), "map type {number}");
    }
}

/// A record that is not given back holds those behind it.
#[test]
fn reserved_record() {
    let mut maps = Maps::new(1).unwrap();
    let shape = MapShape { number: 27, key_bytes: 0, value_bytes: 0, max_entries: 4096, flags: 0 };
    let ring = maps.create(&shape, None).unwrap();
    let first = maps.ring(ring).unwrap().reserve(3).unwrap();
    let second = maps.ring(ring).unwrap().reserve(4).unwrap();
    maps.release_record(second, true);
    assert_eq!(maps.take_record(ring), None);
    maps.release_record(first, true);
    assert_eq!(maps.take_record(ring).map(|record| record.len()), Some(3));
    assert_eq!(maps.take_record(ring).map(|record| record.len()), Some(4));
}

/// Maps that do not fit into memory are refused, with the number of bytes.
#[test]
fn too_large() {
    let mut maps = Maps::new(64).unwrap();
    let kind = MapKind::PercpuArray.number();
    let shape = MapShape { number: kind, key_bytes: 4, value_bytes: 256, max_entries: 1 << 17, flags: 0 };
    let refused = maps.create(&shape, None).unwrap_err().to_string();
    assert!(refused.contains("fewer entries"), "{refused}");
    let small = maps.create(&MapShape { max_entries: 4, ..shape }, None).unwrap();
    assert_eq!(maps.set(small, &4u32.to_ne_bytes(), &[0; 64 * 256], Store::Any), Err(Errno::TooBig));
}

/// A queue that nobody reads takes a bounded number of events, even of empty ones, and has room again for each event
/// that is read.
#[test]
fn empty_events_fill_a_queue() {
    for bytes in [0, 1, 100] {
        let mut queue = Events::default();
        let room = (0..).take_while(|_| queue.put(vec![0; bytes]).is_ok()).take(1 << 20).count();
        // A perf buffer of 1 MiB: each event has a header of 8 bytes, its length in 4, and is padded to a multiple of
        // 8.
        assert_eq!(room, (1 << 20) / (12 + bytes).next_multiple_of(8), "{bytes}");
        assert_eq!(queue.lost(), 1);
        assert_eq!(queue.take(), Some(vec![0; bytes]));
        assert_eq!(queue.put(vec![0; bytes]), Ok(()));
        assert_eq!(queue.put(vec![0; bytes]), Err(Errno::NoSpace));
    }
}
