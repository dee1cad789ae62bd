// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The environment of a program in tests: maps as plain lists, and the helpers that need no machine.

use std::collections::BTreeMap;

use penstock_xdp_compiler::check::Helper;
use penstock_xdp_compiler::helpers::PROGRAM;
use penstock_xdp_compiler::ir::{Layout, Memory, Special, World, map_pointer};
use penstock_xdp_compiler::maps::{Contents, Map, MapKind};
use penstock_xdp_compiler::object::Object;

/// Values of hash tables and tries, one each 256 bytes.
const VALUES: u64 = 0xC000_0000;

/// Maps with their contents.
#[derive(Clone)]
pub(crate) struct Plain {
    maps: Vec<Map>,
    layout: Layout,
    memory: BTreeMap<u64, u8>,
    /// By map, keys and the address of their values.
    entries: Vec<Vec<(Vec<u8>, u64)>>,
    next: u64,
    reads: u64,
    /// The interface that bpf_redirect() has named.
    pub target: Option<u32>,
    /// The printed lines, and the packet bytes that went along with events.
    told: Vec<Vec<u8>>,
}

/// The effects of programs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// By map.
    keys: Vec<Vec<Vec<u8>>>,
    /// Those of values that are not 0, by address.
    bytes: BTreeMap<u64, u8>,
    told: Vec<Vec<u8>>,
}

/// The row with which the program of an entry begins.
pub(crate) fn row_of(map: u32, index: u32) -> u32 {
    map << 6 | index
}

/// The map that a pointer names.
pub(crate) fn map_of(pointer: u64) -> Option<u32> {
    (pointer >> 16 == 1).then_some(pointer as u32 & 0xffff)
}

fn not(number: i64) -> u64 {
    (-number).cast_unsigned()
}

impl Plain {
    pub(crate) fn new(object: &Object) -> Plain {
        let layout = Layout::plain(object);
        let entries = vec![vec![]; object.maps.len()];
        let mut plain = Plain {
            maps: object.maps.clone(),
            layout,
            memory: BTreeMap::new(),
            entries,
            next: VALUES,
            reads: 0,
            target: None,
            told: vec![],
        };
        for (index, map) in object.maps.iter().enumerate() {
            if let Contents::Data { bytes, .. } = &map.contents {
                let address = plain.layout.array(index as u32).unwrap().address;
                plain.put(address.into(), bytes);
            }
            if let (Contents::Names(names), Some(_)) = (&map.contents, &map.inner) {
                for (at, name) in names {
                    let pointer = (map_pointer(object.map(name).unwrap().0) as u32).to_le_bytes();
                    plain.set(index as u32, &at.to_le_bytes(), &pointer, 0);
                }
            }
            // Half of the places hold a program, identified by its first row.
            if let Ok(MapKind::ProgArray) = map.shape.kind() {
                let array = plain.layout.array(index as u32).unwrap();
                for at in (1..map.shape.max_entries).step_by(2) {
                    let address = array.address + array.stride * at;
                    plain.put(address.into(), &(PROGRAM | row_of(index as u32, at)).to_le_bytes());
                }
            }
        }
        plain
    }

    fn put(&mut self, address: u64, bytes: &[u8]) {
        self.memory.extend((address..).zip(bytes.iter().copied()));
    }

    fn bytes(&self, address: u64, count: u32) -> Vec<u8> {
        (address..).take(count as usize).map(|at| self.memory.get(&at).copied().unwrap_or(0)).collect()
    }

    fn memory_of(&self, memory: &Memory, address: u64, count: u32) -> Vec<u8> {
        memory.read(address, count).unwrap_or_else(|| self.bytes(address, count))
    }

    /// The address of the value under a key.
    fn lookup(&self, map: u32, key: &[u8]) -> Option<u64> {
        let shape = &self.maps[map as usize].shape;
        match shape.kind().unwrap() {
            MapKind::ProgArray => None,
            MapKind::Devmap => self.entry(map, key).filter(|address| self.bytes(*address, 4) != [0; 4]),
            MapKind::Array | MapKind::PercpuArray | MapKind::ArrayOfMaps => self.entry(map, key),
            MapKind::LpmTrie => {
                let bits = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
                let bit = |bytes: &[u8], at: usize| bytes[4 + at / 8] >> (7 - at % 8) & 1;
                let fits = |entry: &[u8]| {
                    bits(entry) <= bits(key) && (0..bits(entry)).all(|at| bit(entry, at) == bit(key, at))
                };
                let entries = self.entries[map as usize].iter().filter(|(entry, _)| fits(entry));
                entries.max_by_key(|(entry, _)| bits(entry)).map(|(_, address)| *address)
            }
            _ => self.entries[map as usize].iter().find(|(known, _)| known == key).map(|(_, address)| *address),
        }
    }

    /// The address of an array's element.
    fn entry(&self, map: u32, key: &[u8]) -> Option<u64> {
        let array = self.layout.array(map)?;
        let index = u32::from_le_bytes(key.try_into().unwrap());
        (index < array.entries).then(|| u64::from(array.address) + u64::from(array.stride) * u64::from(index))
    }

    /// Puts an entry into a map, as bpf_map_update_elem() does.
    pub(crate) fn set(&mut self, map: u32, key: &[u8], value: &[u8], flags: u64) -> u64 {
        let kind = self.maps[map as usize].shape.kind().unwrap();
        let array = matches!(kind, MapKind::Array | MapKind::PercpuArray);
        let known = match kind {
            MapKind::Devmap => self.entry(map, key),
            MapKind::LpmTrie => self.entries[map as usize].iter().find(|(known, _)| known == key).map(|(_, to)| *to),
            _ => self.lookup(map, key),
        };
        let address = match (known, flags) {
            (None, _) if array => return not(7),
            (_, 1) if array => return not(17),
            (Some(_), 1) => return not(17),
            (None, 2) => return not(2),
            (Some(address), _) => address,
            (None, _) if self.entries[map as usize].len() as u32 >= self.maps[map as usize].shape.max_entries => {
                return not(7);
            }
            (None, _) => {
                self.next += 256;
                self.entries[map as usize].push((key.to_vec(), self.next));
                self.next
            }
        };
        self.put(address, value);
        0
    }

    /// The value of a key in a map.
    pub(crate) fn get(&self, map: u32, key: &[u8]) -> Option<Vec<u8>> {
        let address = self.lookup(map, key)?;
        Some(self.bytes(address, self.maps[map as usize].shape.value_bytes))
    }

    /// The keys of a map that is searched.
    pub(crate) fn keys(&self, map: u32) -> Vec<Vec<u8>> {
        self.entries[map as usize].iter().map(|(key, _)| key.clone()).collect()
    }

    /// The contents of all maps, and the external effects.
    pub(crate) fn contents(&self) -> Left {
        Left {
            keys: (0..self.maps.len() as u32).map(|map| self.keys(map)).collect(),
            bytes: self.memory.iter().filter(|(_, byte)| **byte != 0).map(|(at, byte)| (*at, *byte)).collect(),
            told: self.told.clone(),
        }
    }
}

/// A one's complement sum of 32 bits, as Linux' csum_partial() gives it: 0 only of nothing but zeros.
fn sum(bytes: &[u8], seed: u64) -> u64 {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(4), 0);
    let words = padded.as_chunks::<4>().0.iter().map(|word| u64::from(u32::from_le_bytes(*word)));
    let sum = words.sum::<u64>() + seed;
    if sum == 0 { 0 } else { (sum - 1) % 0xffff_ffff + 1 }
}

impl World for Plain {
    fn read(&mut self, address: u64, bytes: u32) -> Option<Vec<u8>> {
        (0x4000_0000..0x1_0000_0000).contains(&address).then(|| self.bytes(address, bytes))
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Option<()> {
        (0x4000_0000..0x1_0000_0000).contains(&address).then(|| self.put(address, bytes))
    }

    fn call(&mut self, memory: &mut Memory, helper: &Helper, map: Option<u32>, args: &[u64]) -> Option<u64> {
        let pointed = || map_of(args[0]).filter(|_| helper.name.starts_with("map_"));
        let map = map.or_else(pointed);
        let shape = map.map(|map| self.maps[map as usize].shape.clone());
        if let Some(map) = map {
            // After the context, if there is one.
            assert_eq!(args[usize::from(helper.name == "perf_event_output")], map_pointer(map));
        }
        let key = |plain: &Plain| plain.memory_of(memory, args[1], shape.as_ref().map_or(0, |shape| shape.key_bytes));
        Some(match helper.name {
            "map_lookup_elem" => self.lookup(map?, &key(self)).unwrap_or(0),
            "map_update_elem" => {
                let value = self.memory_of(memory, args[2], shape.as_ref()?.value_bytes);
                self.set(map?, &key(self), &value, args[3])
            }
            "map_delete_elem" => {
                let key = key(self);
                let entries = &mut self.entries[map? as usize];
                match entries.iter().position(|(known, _)| *known == key) {
                    Some(at) => {
                        entries.remove(at);
                        0
                    }
                    None => not(2),
                }
            }
            "redirect" => {
                if args[1] == 0 {
                    self.target = Some(args[0] as u32);
                    4
                } else {
                    0
                }
            }
            // `%s`, of a number that may be an address.
            "trace_printk" => {
                let bytes = (args[2]..).map_while(|at| memory.read(at, 1)).flatten().take_while(|byte| *byte != 0);
                self.told.push(bytes.collect());
                0
            }
            "perf_event_output" => {
                let packet = memory.packet();
                let bytes = (args[2] >> 32 & 0xF_FFFF) as usize;
                self.told.push(packet[..bytes.min(packet.len())].to_vec());
                0
            }
            "redirect_map" => {
                let devices = matches!(shape?.kind(), Ok(MapKind::Devmap | MapKind::DevmapHash));
                if args[2] & !(if devices { 0x1b } else { 3 }) != 0 {
                    return Some(0);
                }
                let found = self.lookup(map?, &args[1].to_le_bytes()[..4]).filter(|_| devices);
                self.target = Some(found.map_or(0, |at| u32::from_le_bytes(self.bytes(at, 4).try_into().unwrap())));
                if found.is_some() { 4 } else { args[2] & 3 }
            }
            "xdp_load_bytes" | "xdp_store_bytes" => {
                let (offset, bytes) = (args[1] as u32, args[3] as u32);
                if offset > 0xffff || bytes > 0xffff {
                    return Some(not(14));
                }
                if (offset + bytes) as usize > memory.packet().len() {
                    return Some(not(22));
                }
                let packet = memory.special(Special::Data)? + u64::from(offset);
                let (from, to) = if helper.name == "xdp_load_bytes" { (packet, args[2]) } else { (args[2], packet) };
                let copied = self.memory_of(memory, from, bytes);
                if memory.write(to, &copied).is_none() {
                    self.put(to, &copied);
                }
                0
            }
            "csum_diff" => {
                let from = self.memory_of(memory, args[0], args[1] as u32);
                let to = self.memory_of(memory, args[2], args[3] as u32);
                let (seed, minus) = (args[4] & 0xffff_ffff, |sum: u64| !sum & 0xffff_ffff);
                let all = match (from.is_empty(), to.is_empty()) {
                    (true, _) => sum(&to, seed),
                    (false, true) => minus(sum(&from, minus(seed))),
                    (false, false) => sum(&[], sum(&to, seed) + minus(sum(&from, 0))),
                };
                if all == 0 { 0 } else { (all - 1) % 0xffff + 1 }
            }
            _ => return None,
        })
    }

    fn special(&mut self, special: Special) -> u64 {
        match special {
            Special::Ifindex => 1,
            Special::Time | Special::Random => {
                self.reads += 1;
                self.reads.wrapping_mul(0x9E37_79B9) & 0xffff_ffff
            }
            _ => 0,
        }
    }

    fn tail_call(&mut self, map: u32, index: u32) -> bool {
        index % 2 == 1 && index < self.maps[map as usize].shape.max_entries
    }
}
