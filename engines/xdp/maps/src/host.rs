// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host's operations on maps, which Linux offers through bpf().

use penstock_xdp_compiler::maps::MapKind;

use crate::{Errno, Events, Index, MapId, Maps, Ring, Store, admit};

/// A key and its value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// Entries in a slice of a map, and places that are looked at for it, at most: one or two milliseconds of work between
/// two frames.
pub const SLICE: usize = 1024;
const SLICE_PLACES: u32 = 1 << 16;

impl Maps {
    /// The value of a key; of per-CPU kinds those of all processors, one after another, each rounded up to eight bytes.
    /// For a trie, it is the entry with the longest prefix.
    ///
    /// # Errors
    /// ENOENT; EINVAL if the key does not have the map's length.
    pub fn get(&mut self, id: MapId, key: &[u8]) -> Result<Vec<u8>, Errno> {
        self.key(id, key)?;
        let place = self.map_mut(id).find(key, false).ok_or(Errno::NoEntry)?;
        self.map(id).values.read(&self.memory, place)
    }

    /// Sets the value of a key, in the form that [`Maps::get`] returns. Values of maps of maps are handles
    /// ([`MapId::handle`]), those of program arrays the engine's numbers of programs, those of socket maps the sockets'
    /// queues, those of perf event arrays processors.
    ///
    /// # Errors
    /// Linux' for the map's kind.
    pub fn set(&mut self, id: MapId, key: &[u8], value: &[u8], store: Store) -> Result<(), Errno> {
        self.key(id, key)?;
        let map = self.map(id);
        if map.frozen {
            return Err(Errno::Perm);
        }
        if value.len() != map.values.host_bytes() {
            return Err(Errno::Invalid);
        }
        // Linux checks a value before its place in a hash table, and after it in an array.
        let first = matches!(map.index, Index::Hash(_));
        if first {
            self.admit(id, value)?;
        }
        let (place, _) = self.map_mut(id).claim(key, store)?;
        if !first {
            self.admit(id, value)?;
        }
        if self.map(id).kind == MapKind::Cpumap && place >= self.cpus() {
            return Err(Errno::NoDevice);
        }
        let (memory, map) = self.parts(id);
        map.put(memory, place, value)
    }

    /// Checks the objects that a value names.
    fn admit(&self, id: MapId, value: &[u8]) -> Result<(), Errno> {
        let map = self.map(id);
        if !map.kind.of_maps() {
            return admit(map.kind, value);
        }
        let handle = value.first_chunk().map_or(0, |handle| u32::from_ne_bytes(*handle));
        let inner = self.by_handle(handle.into()).ok_or(Errno::Invalid)?;
        if self.fits(id, inner) { Ok(()) } else { Err(Errno::Invalid) }
    }

    /// Takes an entry out.
    ///
    /// # Errors
    /// Linux' for the map's kind.
    pub fn delete(&mut self, id: MapId, key: &[u8]) -> Result<(), Errno> {
        self.key(id, key)?;
        if self.map(id).frozen {
            return Err(Errno::Perm);
        }
        self.map_mut(id).remove(key)
    }

    /// All keys: of arrays ascending, of tries each prefix after those that are part of it, of hash tables in no
    /// particular order.
    pub fn keys(&self, id: MapId) -> Vec<Vec<u8>> {
        self.map(id).keys()
    }

    /// All keys with their values.
    ///
    /// # Errors
    /// None that [`Maps::get`] would not have.
    pub fn dump(&mut self, id: MapId) -> Result<Vec<Entry>, Errno> {
        self.keys(id).into_iter().map(|key| self.get(id, &key).map(|value| (key, value))).collect()
    }

    /// The entries at places from `from` on, at most [`SLICE`] of [`SLICE_PLACES`] places, and the place at which the
    /// next slice begins, if there is one. An entry that is there from the first slice to the last is in exactly one.
    /// The order is that of [`Maps::keys`] in each slice.
    ///
    /// # Errors
    /// None that [`Maps::get`] would not have.
    pub fn slice(&mut self, id: MapId, from: u32) -> Result<(Vec<Entry>, Option<u32>), Errno> {
        let map = self.map(id);
        let (mut keys, mut place) = (Vec::new(), from);
        let end = map.places().min(from.saturating_add(SLICE_PLACES));
        while place < end && keys.len() < SLICE {
            keys.extend(map.key_at(place));
            place += 1;
        }
        if let Index::Prefixes(prefixes) = &map.index {
            prefixes.sort(&mut keys);
        }
        let next = (place < map.places()).then_some(place);
        let entries = keys.into_iter().map(|key| self.get(id, &key).map(|value| (key, value)));
        Ok((entries.collect::<Result<_, _>>()?, next))
    }

    /// Takes over what a map of other maps holds that has the same shape; that one is not used any more then. False,
    /// and nothing is taken, of maps of another shape, of constants, and of kinds whose entries say something only
    /// among their own maps and programs.
    pub fn take_over(&mut self, id: MapId, others: &mut Maps, theirs: MapId) -> bool {
        /// Bytes are compared before they are written: untouched pages then take no memory.
        const PAGE: usize = 4096;
        let (map, other) = (self.map(id), others.map(theirs));
        let outlasts = map.kind.outlasts(map.shape.value_bytes);
        if !outlasts || map.frozen || map.shape != other.shape || self.cpus() != others.cpus() {
            return false;
        }
        let (to, from) = (map.values, other.values);
        let bytes = match to.cpu_stride {
            0 => to.stride as usize * map.shape.max_entries as usize,
            stride => stride as usize * to.cpus as usize,
        };
        for offset in (0..bytes).step_by(PAGE) {
            let (at, count) = (offset as u64, PAGE.min(bytes - offset));
            let pages = (
                self.memory.bytes_mut(u64::from(to.base) + at, count),
                others.memory.bytes(u64::from(from.base) + at, count),
            );
            if let (Ok(to), Ok(from)) = pages
                && to != from
            {
                to.copy_from_slice(from);
            }
        }
        std::mem::swap(&mut self.map_mut(id).index, &mut others.map_mut(theirs).index);
        true
    }

    /// The oldest record of a ring buffer.
    pub fn take_record(&mut self, id: MapId) -> Option<Vec<u8>> {
        let (memory, map) = self.parts(id);
        match &mut map.index {
            Index::Ring(ring) => ring.take(memory),
            _ => None,
        }
    }

    /// A ring buffer's counts.
    pub fn ring(&mut self, id: MapId) -> Option<&mut Ring> {
        match &mut self.map_mut(id).index {
            Index::Ring(ring) => Some(ring),
            _ => None,
        }
    }

    /// A queue of a perf event array.
    pub fn events(&mut self, id: MapId, entry: u32) -> Option<&mut Events> {
        match &mut self.map_mut(id).index {
            Index::Perf(_, queues) => queues.get_mut(entry as usize),
            _ => None,
        }
    }

    fn key(&self, id: MapId, key: &[u8]) -> Result<(), Errno> {
        if key.len() == self.map(id).shape.key_bytes as usize { Ok(()) } else { Err(Errno::Invalid) }
    }
}
