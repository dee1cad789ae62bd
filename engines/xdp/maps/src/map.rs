// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! One map: its index, its values, and Linux' result for each operation on a map of its kind.

use penstock_xdp_compiler::maps::{MapKind, MapShape};

use crate::{Errno, Events, Hash, Memory, Prefixes, Ring, Values};

/// Whether an update may make a new entry, or must.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// Either.
    Any,
    /// Only a new one.
    New,
    /// Only an existing entry.
    Existing,
}

impl Store {
    /// From the flags of `bpf_map_update_elem`.
    ///
    /// # Errors
    /// EINVAL: there are no others, for no map has locks.
    pub fn from_flags(flags: u64) -> Result<Store, Errno> {
        match flags {
            0 => Ok(Store::Any),
            1 => Ok(Store::New),
            2 => Ok(Store::Existing),
            _ => Err(Errno::Invalid),
        }
    }
}

/// The index from keys to places.
#[derive(Debug)]
pub enum Index {
    /// The key is the place, and all places have entries.
    Array,
    /// Hash tables of all kinds.
    Hash(Hash),
    /// Prefixes; the longest that matches has the place.
    Prefixes(Prefixes),
    /// The key is the place; by place, whether it has an entry.
    Entries(Vec<bool>),
    /// The same, with the queues to the host.
    Perf(Vec<bool>, Vec<Events>),
    /// The positions of a ring buffer.
    Ring(Ring),
}

/// A map.
#[derive(Debug)]
pub struct Map {
    /// Its sizes.
    pub shape: MapShape,
    /// Its kind.
    pub kind: MapKind,
    /// For maps of maps, the shape of the inner maps.
    pub inner: Option<MapShape>,
    /// Nobody writes it any more.
    pub frozen: bool,
    /// The memory of the values.
    pub values: Values,
    /// The places of the keys.
    pub index: Index,
}

impl Map {
    /// The place of a key. A program's lookup in a table that forgets marks the entry.
    pub fn find(&mut self, key: &[u8], program: bool) -> Option<u32> {
        let entry = number(key);
        match &mut self.index {
            Index::Array => Some(entry).filter(|entry| *entry < self.shape.max_entries),
            Index::Hash(hash) => {
                let place = hash.find(key)?;
                if program {
                    hash.mark(place);
                }
                Some(place)
            }
            Index::Prefixes(prefixes) => prefixes.longest(key),
            Index::Entries(there) | Index::Perf(there, _) => {
                there.get(entry as usize).is_some_and(|there| *there).then_some(entry)
            }
            Index::Ring(_) => None,
        }
    }

    /// The place where an update puts its value, and whether it is a new one.
    ///
    /// # Errors
    /// Linux' for this kind.
    pub fn claim(&mut self, key: &[u8], store: Store) -> Result<(u32, bool), Errno> {
        use MapKind::{ArrayOfMaps, DevmapHash, PerfEventArray, ProgArray, Xskmap};
        let entry = number(key);
        let in_range = if entry < self.shape.max_entries { Ok(()) } else { Err(Errno::TooBig) };
        match &mut self.index {
            Index::Array => {
                in_range?;
                if store == Store::New { Err(Errno::Exists) } else { Ok((entry, false)) }
            }
            Index::Hash(hash) => match hash.find(key) {
                Some(_) if store == Store::New => Err(Errno::Exists),
                // Linux does not ask here whether a device was there.
                None if store == Store::Existing && self.kind != DevmapHash => Err(Errno::NoEntry),
                Some(place) => {
                    hash.mark(place);
                    Ok((place, false))
                }
                None => hash.insert(key).map(|place| (place, true)).ok_or(Errno::TooBig),
            },
            Index::Prefixes(prefixes) => match prefixes.find(key)? {
                Some(_) if store == Store::New => Err(Errno::Exists),
                None if store == Store::Existing => Err(Errno::NoEntry),
                Some(place) => {
                    prefixes.write_down(place, key);
                    Ok((place, false))
                }
                None => prefixes.insert(key).map(|place| (place, true)),
            },
            Index::Entries(there) | Index::Perf(there, _) => {
                if matches!(self.kind, ProgArray | PerfEventArray | ArrayOfMaps) && store != Store::Any {
                    return Err(Errno::Invalid);
                }
                in_range?;
                let known = there[entry as usize];
                match (self.kind, store) {
                    (Xskmap, Store::Existing) if !known => return Err(Errno::NoEntry),
                    // For devices and processors, Linux does not check whether the entry existed.
                    (Xskmap, Store::New) if !known => {}
                    (_, Store::New) => return Err(Errno::Exists),
                    _ => {}
                }
                Ok((entry, !known))
            }
            Index::Ring(_) => Err(Errno::Invalid),
        }
    }

    /// Takes an entry out.
    ///
    /// # Errors
    /// Linux' for this kind.
    pub fn remove(&mut self, key: &[u8]) -> Result<(), Errno> {
        let entry = number(key) as usize;
        match &mut self.index {
            Index::Array | Index::Ring(_) => Err(Errno::Invalid),
            Index::Hash(hash) => hash.remove(key).map(drop).ok_or(Errno::NoEntry),
            Index::Prefixes(prefixes) => prefixes.remove(key),
            Index::Entries(there) | Index::Perf(there, _) => {
                let fd_array = matches!(self.kind, MapKind::ProgArray | MapKind::PerfEventArray | MapKind::ArrayOfMaps);
                let outside = if fd_array { Errno::TooBig } else { Errno::Invalid };
                let known = there.get_mut(entry).ok_or(outside)?;
                if fd_array && !*known {
                    return Err(Errno::NoEntry);
                }
                *known = false;
                Ok(())
            }
        }
    }

    /// All keys, in the order of Linux where it has one.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        let numbered = |number: u32| number.to_ne_bytes().to_vec();
        match &self.index {
            Index::Array => (0..self.shape.max_entries).map(numbered).collect(),
            Index::Hash(hash) => hash.iter().map(|(key, _)| key.to_vec()).collect(),
            Index::Prefixes(prefixes) => prefixes.keys(),
            Index::Entries(there) | Index::Perf(there, _) => {
                there.iter().zip(0..).filter(|(there, _)| **there).map(|(_, entry)| numbered(entry)).collect()
            }
            Index::Ring(_) => Vec::new(),
        }
    }

    /// How many places there are for entries; an entry keeps its place as long as it is there.
    pub fn places(&self) -> u32 {
        match &self.index {
            Index::Array => self.shape.max_entries,
            Index::Hash(hash) => hash.places(),
            Index::Prefixes(prefixes) => prefixes.places(),
            Index::Entries(there) | Index::Perf(there, _) => there.len() as u32,
            Index::Ring(_) => 0,
        }
    }

    /// The key at a place, if an entry is there.
    pub fn key_at(&self, place: u32) -> Option<Vec<u8>> {
        let numbered = || place.to_ne_bytes().to_vec();
        match &self.index {
            Index::Array => (place < self.shape.max_entries).then(numbered),
            Index::Hash(hash) => hash.key_at(place).map(<[u8]>::to_vec),
            Index::Prefixes(prefixes) => prefixes.key_at(place).map(<[u8]>::to_vec),
            Index::Entries(there) | Index::Perf(there, _) => there.get(place as usize)?.then(numbered),
            Index::Ring(_) => None,
        }
    }

    /// Writes the host's value into a claimed place.
    ///
    /// # Errors
    /// EINVAL: the value does not have the map's length.
    pub fn put(&mut self, memory: &mut Memory, place: u32, value: &[u8]) -> Result<(), Errno> {
        self.values.write(memory, place, value)?;
        if let Index::Entries(there) | Index::Perf(there, _) = &mut self.index {
            // A device 0, or a processor without a queue, is an entry that is taken out.
            let none = matches!(self.kind, MapKind::Devmap | MapKind::Cpumap) && number(value) == 0;
            there[place as usize] = !none;
        }
        Ok(())
    }
}

/// Checks the value of an entry of devices, processors or sockets before it is put into a map of that kind.
///
/// # Errors
/// Linux' for this kind.
pub fn admit(kind: MapKind, value: &[u8]) -> Result<(), Errno> {
    /// The longest queue of a processor.
    const MAX_QUEUE: u32 = 16_384;
    let program = value.get(4..8).map_or(0, |program| number(program).cast_signed());
    match kind {
        MapKind::DevmapHash if number(value) == 0 => Err(Errno::Invalid),
        MapKind::Devmap if number(value) == 0 && program > 0 => Err(Errno::Invalid),
        MapKind::Cpumap if number(value) > MAX_QUEUE => Err(Errno::Overflow),
        _ => Ok(()),
    }
}

/// A key that is a number.
fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(u32::MAX, |bytes| u32::from_ne_bytes(*bytes))
}
