// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Random operations on our maps and on those of this machine's kernel: results, error numbers and contents are the
//! same. If bpf() is not allowed, the test still checks that our maps hold their entries.
#![allow(clippy::unwrap_used)]

mod common;

use common::{KernelMap, allowed, processors};
use penstock_testing::Numbers;
use penstock_xdp_compiler::maps::{MapKind, MapShape};
use penstock_xdp_maps::{Errno, MapId, Maps, Store};

/// A map here and there.
struct Pair {
    maps: Maps,
    ours: MapId,
    /// None: bpf() is not allowed.
    theirs: Option<KernelMap>,
    shape: MapShape,
}

impl Pair {
    fn new(kind: MapKind, key_bytes: u32, value_bytes: u32, max_entries: u32) -> Pair {
        let flags = u32::from(kind == MapKind::LpmTrie);
        let shape = MapShape { number: kind.number(), key_bytes, value_bytes, max_entries, flags };
        let mut maps = Maps::new(processors()).unwrap();
        let ours = maps.create(&shape, None).unwrap();
        let theirs = allowed().then(|| KernelMap::new(&shape, None).unwrap());
        Pair { maps, ours, theirs, shape }
    }

    fn value(&self, numbers: &mut Numbers) -> Vec<u8> {
        numbers.bytes(self.maps.map(self.ours).values.host_bytes())
    }

    /// The same keys and values, and the same order if the kind has one. The comparison ignores the padding of per-CPU
    /// values.
    fn same(&mut self, context: &str) {
        let Some(kernel) = &self.theirs else { return };
        let (mut ours, mut theirs) = (self.maps.keys(self.ours), kernel.keys());
        let kind = self.shape.kind().unwrap();
        // Linux lists all places of arrays of entries.
        theirs.retain(|key| kernel.get(key).is_ok());
        if matches!(self.maps.map(self.ours).index, penstock_xdp_maps::Index::Hash(_)) {
            ours.sort();
            theirs.sort();
        }
        assert_eq!(ours, theirs, "{kind}: keys after {context}");
        for key in ours {
            let (our, their) = (self.maps.get(self.ours, &key).unwrap(), kernel.get(&key).unwrap());
            let bytes = self.shape.value_bytes as usize;
            let stride = if kind.per_cpu() { bytes.next_multiple_of(8) } else { bytes };
            for (our, their) in our.chunks(stride).zip(their.chunks(stride)) {
                assert_eq!(our[..bytes], their[..bytes], "{kind}: {key:?} after {context}");
            }
        }
    }

    /// Random operations with keys that `key` makes and values that `value` makes.
    fn operate(
        &mut self,
        rounds: usize,
        numbers: &mut Numbers,
        key: impl Fn(&mut Numbers) -> Vec<u8>,
        value: impl Fn(&Pair, &mut Numbers) -> Vec<u8>,
    ) {
        let kind = self.shape.kind().unwrap();
        let number = |error: Errno| error.number();
        for round in 0..rounds {
            let key = key(numbers);
            let context = match numbers.below(8) {
                0..=3 => {
                    let (value, flags) = (value(self, numbers), [0, 0, 1, 2, 3, 99][numbers.below(6)]);
                    let ours = Store::from_flags(flags)
                        .and_then(|store| self.maps.set(self.ours, &key, &value, store))
                        .map_err(number);
                    let context = format!("{kind}, round {round}: set {key:?} to {value:?} with {flags}");
                    // No device and no place in a queue is no entry.
                    let there = value.iter().any(|byte| *byte != 0) && ours.is_ok();
                    assert!(!there || self.maps.get(self.ours, &key).is_ok(), "{context}");
                    if let Some(theirs) = &self.theirs {
                        assert_eq!(ours, theirs.set(&key, &value, flags), "{context}");
                    }
                    "an update"
                }
                4 | 5 => {
                    let ours = self.maps.delete(self.ours, &key).map_err(number);
                    if let Some(theirs) = &self.theirs {
                        assert_eq!(ours, theirs.delete(&key), "{kind}, round {round}: delete {key:?}");
                    }
                    "a deletion"
                }
                _ => {
                    let ours = self.maps.get(self.ours, &key).is_ok();
                    if let Some(theirs) = &self.theirs {
                        assert_eq!(ours, theirs.get(&key).is_ok(), "{kind}, round {round}: get {key:?}");
                    }
                    "a lookup"
                }
            };
            if round % 16 == 0 {
                self.same(context);
            }
        }
        self.same("all");
    }
}

fn any_value(pair: &Pair, numbers: &mut Numbers) -> Vec<u8> {
    pair.value(numbers)
}

#[test]
fn arrays() {
    let mut numbers = Numbers(0x1357_9BDF_0246_8ACE);
    for kind in [MapKind::Array, MapKind::PercpuArray] {
        for (value, entries) in [(1, 1), (4, 7), (12, 16), (256, 3)] {
            let key = |numbers: &mut Numbers| (numbers.below(entries as usize + 3) as u32).to_ne_bytes().to_vec();
            Pair::new(kind, 4, value, entries).operate(400, &mut numbers, key, any_value);
        }
    }
}

#[test]
fn hashes() {
    let mut numbers = Numbers(0x1234_5678_9ABC_DEF0);
    for kind in [MapKind::Hash, MapKind::PercpuHash] {
        for (key_bytes, value, entries) in [(1, 3, 5), (4, 4, 16), (13, 8, 64), (64, 256, 33)] {
            let key = |numbers: &mut Numbers| {
                let mut key = vec![7; key_bytes];
                key[key_bytes / 2] = numbers.below(entries as usize * 5 / 4) as u8;
                key
            };
            Pair::new(kind, key_bytes as u32, value, entries).operate(1000, &mut numbers, key, any_value);
        }
    }
}

/// Below their size, tables that forget do not: Linux' share it out to its processors, so much below.
#[test]
fn tables_that_forget() {
    let mut numbers = Numbers(0xFEDC_BA98_7654_3210);
    for kind in [MapKind::LruHash, MapKind::LruPercpuHash] {
        let key = |numbers: &mut Numbers| (numbers.below(20) as u32).to_ne_bytes().to_vec();
        Pair::new(kind, 4, 8, 4096).operate(1000, &mut numbers, key, any_value);
    }
}

#[test]
fn tries() {
    let mut numbers = Numbers(0x0F1E_2D3C_4B5A_6978);
    for (key_bytes, entries) in [(5, 20), (8, 12), (8, 300), (20, 40)] {
        let bits = (key_bytes - 4) * 8;
        let key = move |numbers: &mut Numbers| {
            let len = numbers.below(bits + 2) as u32;
            let mut key = len.to_ne_bytes().to_vec();
            // Few values for each byte, so that prefixes nest.
            key.extend((4..key_bytes).map(|_| [0, 0x80, 0xC0, 0xFF][numbers.below(4)]));
            key
        };
        let mut pair = Pair::new(MapKind::LpmTrie, key_bytes as u32, 8, entries);
        pair.operate(1500, &mut numbers, key, any_value);
        for _ in 0..500 {
            let key = key(&mut numbers);
            let ours = pair.maps.get(pair.ours, &key).map_err(Errno::number);
            if let Some(theirs) = &pair.theirs {
                assert_eq!(ours, theirs.get(&key), "{key:?}");
            }
        }
    }
}

/// The loopback device, number 1, always exists.
#[test]
fn devices() {
    let mut numbers = Numbers(0x0123_4567_89AB_CDEF);
    for kind in [MapKind::Devmap, MapKind::DevmapHash] {
        for bytes in [4, 8] {
            let key = |numbers: &mut Numbers| (numbers.below(12) as u32).to_ne_bytes().to_vec();
            let value = |_: &Pair, numbers: &mut Numbers| {
                let mut value = (numbers.below(3).min(1) as u32).to_ne_bytes().to_vec();
                value.resize(bytes as usize, 0);
                value
            };
            Pair::new(kind, 4, bytes, 8).operate(500, &mut numbers, key, value);
        }
    }
}

#[test]
fn processors_of_a_map() {
    let mut numbers = Numbers(0x0123_4567_89AB_CDEF);
    for bytes in [4, 8] {
        let key = |numbers: &mut Numbers| (numbers.below(6) as u32).to_ne_bytes().to_vec();
        let value = |_: &Pair, numbers: &mut Numbers| {
            let mut value = [0u32, 1, 64, 20_000][numbers.below(4)].to_ne_bytes().to_vec();
            value.resize(bytes as usize, 0);
            value
        };
        Pair::new(MapKind::Cpumap, 4, bytes, 4.min(processors())).operate(100, &mut numbers, key, value);
    }
}

/// Maps in maps: which maps fit, and the map of an entry.
#[test]
fn maps_in_maps() {
    // Here only Linux decides what fits.
    if !allowed() {
        return;
    }
    let array = |entries| MapShape { number: 2, key_bytes: 4, value_bytes: 8, max_entries: entries, flags: 0 };
    let hash = |entries| MapShape { number: 1, ..array(entries) };
    let mut numbers = Numbers(0x7777_1234_5678_1111);
    for (number, inner) in [(12, array(4)), (13, array(4)), (12, hash(4)), (13, hash(4))] {
        let mut maps = Maps::new(1).unwrap();
        let shape = MapShape { number, key_bytes: 4, value_bytes: 4, max_entries: 3, flags: 0 };
        let candidates = [
            array(4),
            array(5),
            hash(4),
            hash(5),
            MapShape { flags: 1, ..hash(4) },
            MapShape { value_bytes: 4, ..array(4) },
        ];
        let outer = maps.create(&shape, Some(&inner)).unwrap();
        let ours: Vec<_> = candidates.iter().map(|shape| maps.create(shape, None).unwrap()).collect();
        let template = KernelMap::new(&inner, None).unwrap();
        let their_outer = KernelMap::new(&shape, Some(&template)).unwrap();
        let theirs: Vec<_> = candidates.iter().map(|shape| KernelMap::new(shape, None).unwrap()).collect();
        for round in 0..200 {
            let key = (numbers.below(5) as u32).to_ne_bytes();
            let context = format!("{number} of {inner:?}, round {round}, key {key:?}");
            if numbers.below(3) == 0 {
                let deleted = maps.delete(outer, &key).map_err(Errno::number);
                assert_eq!(deleted, their_outer.delete(&key), "{context}");
                continue;
            }
            let (which, flags) = (numbers.below(candidates.len()), [0, 0, 0, 1, 2][numbers.below(5)]);
            let store = Store::from_flags(flags).unwrap();
            let set = maps.set(outer, &key, &ours[which].handle().to_ne_bytes(), store).map_err(Errno::number);
            let fd = std::os::fd::AsRawFd::as_raw_fd(&theirs[which].fd);
            assert_eq!(set, their_outer.set(&key, &fd.to_ne_bytes(), flags), "{context}, {which}, flags {flags}");
        }
        let (mut ours, mut theirs) = (maps.keys(outer), their_outer.keys());
        theirs.retain(|key| their_outer.get(key).is_ok());
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs);
    }
}
