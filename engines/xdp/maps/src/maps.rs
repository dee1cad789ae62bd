// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! All maps of an engine, and the programs' operations on them.

use std::collections::BTreeMap;

use penstock_xdp_compiler::maps::{self as declared, Contents, MapError, MapKind, MapShape};

use crate::{Errno, Events, Hash, Index, Map, Memory, MemoryError, Prefixes, Ring, Store, Values};

/// Values of a map begin at a multiple of this: a line of a processor's cache.
const ALIGN: u64 = 64;
/// Behind the last address.
const END: u64 = 1 << 32;

/// A map of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MapId(u32);

impl MapId {
    /// The handle that programs hold for the map, and the value in maps of maps: never 0.
    pub fn handle(self) -> u32 {
        self.0 + 1
    }
}

/// Why a map was not made.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum CreateError {
    #[error("map {name}: {source}")]
    Shape { name: String, source: MapError },
    #[error("map {name}: {source}")]
    Memory { name: String, source: MemoryError },
    #[error("map {name}: its entry `{entry}` is not a map of the object, or was not made")]
    NoInner { name: String, entry: String },
    #[error("map {name}: what is to be in it at the start is not taken: {source}")]
    Contents { name: String, source: Errno },
}

/// The maps of an engine, and the memory of its programs.
#[derive(Debug)]
pub struct Maps {
    /// The memory, in which values of maps have addresses.
    pub memory: Memory,
    maps: Vec<Map>,
    cpus: u32,
    /// The place of the next values, of per-CPU kinds and of others.
    next: [u64; 2],
}

impl Maps {
    /// None yet; for that many processors.
    pub fn new(cpus: u32) -> Result<Maps, MemoryError> {
        let next = [Memory::UNIT_MAPS.into(), Memory::CARD_MAPS.into()];
        Ok(Maps { memory: Memory::new()?, maps: Vec::new(), cpus: cpus.max(1), next })
    }

    /// How many processors there are.
    pub fn cpus(&self) -> u32 {
        self.cpus
    }

    /// Makes the maps of an object, with their contents at the start; gives each map's number, or why it was not made.
    /// Programs in program arrays are the engine's to put there.
    pub fn add(&mut self, all: &[declared::Map]) -> Vec<Result<MapId, CreateError>> {
        let mut made: Vec<_> = all.iter().map(|map| self.add_one(map)).collect();
        let inner: BTreeMap<&str, MapId> =
            all.iter().zip(&made).filter_map(|(map, id)| Some((&*map.name, *id.as_ref().ok()?))).collect();
        for (map, made) in all.iter().zip(&mut made) {
            if let Ok(id) = *made
                && let Err(error) = self.fill(id, map, &inner)
            {
                *made = Err(error);
            }
        }
        made
    }

    /// Puts maps into a map of maps that begins with some.
    fn fill(&mut self, id: MapId, map: &declared::Map, inner: &BTreeMap<&str, MapId>) -> Result<(), CreateError> {
        let Contents::Names(names) = &map.contents else { return Ok(()) };
        if !self.map(id).kind.of_maps() {
            return Ok(());
        }
        for (index, entry) in names {
            let inner = inner
                .get(&**entry)
                .ok_or_else(|| CreateError::NoInner { name: map.name.clone(), entry: entry.clone() })?;
            self.set(id, &index.to_ne_bytes(), &inner.handle().to_ne_bytes(), Store::Any)
                .map_err(|source| CreateError::Contents { name: map.name.clone(), source })?;
        }
        Ok(())
    }

    /// Makes an empty map.
    pub fn create(&mut self, shape: &MapShape, inner: Option<&MapShape>) -> Result<MapId, CreateError> {
        self.add_one(&declared::Map {
            name: format!("number {}", self.maps.len()),
            section: String::new(),
            shape: shape.clone(),
            inner: inner.cloned(),
            key_type: None,
            value_type: None,
            contents: Contents::Empty,
        })
    }

    fn add_one(&mut self, map: &declared::Map) -> Result<MapId, CreateError> {
        let of_shape = |source| CreateError::Shape { name: map.name.clone(), source };
        map.check().map_err(of_shape)?;
        let kind = map.shape.kind().map_err(of_shape)?;
        let mut shape = map.shape.clone();
        if shape.max_entries == 0 {
            shape.max_entries = self.cpus;
        }
        let values =
            self.reserve(kind, &shape).map_err(|source| CreateError::Memory { name: map.name.clone(), source })?;
        let index = index(kind, &shape, values.base);
        let mut made = Map { shape, kind, inner: map.inner.clone(), frozen: false, values, index };
        if let Contents::Data { bytes, read_only } = &map.contents {
            made.put(&mut self.memory, 0, bytes)
                .map_err(|source| CreateError::Contents { name: map.name.clone(), source })?;
            made.frozen = *read_only;
        }
        self.maps.push(made);
        Ok(MapId(self.maps.len() as u32 - 1))
    }

    /// Takes memory for a map's values.
    fn reserve(&mut self, kind: MapKind, shape: &MapShape) -> Result<Values, MemoryError> {
        let stride = shape.value_bytes.next_multiple_of(8);
        let (places, cpus) = (u64::from(shape.max_entries), if kind.per_cpu() { self.cpus } else { 1 });
        let each = match kind {
            MapKind::Ringbuf => 2 * places,
            _ => u64::from(stride) * places,
        };
        let each = each.next_multiple_of(ALIGN);
        let needed = each.saturating_mul(cpus.into());
        let (next, end) = if kind.per_cpu() { (0, Memory::CARD_MAPS.into()) } else { (1, END) };
        let base = self.next[next];
        if needed > end - base {
            return Err(MemoryError::Full { bytes: needed - (end - base) });
        }
        self.next[next] += needed;
        let cpu_stride = if kind.per_cpu() { each as u32 } else { 0 };
        Ok(Values { base: base as u32, bytes: shape.value_bytes, stride, cpu_stride, cpus })
    }

    /// A map.
    pub fn map(&self, id: MapId) -> &Map {
        &self.maps[id.0 as usize]
    }

    /// A map, to be changed.
    pub fn map_mut(&mut self, id: MapId) -> &mut Map {
        &mut self.maps[id.0 as usize]
    }

    /// A map and the memory its values are in.
    pub(crate) fn parts(&mut self, id: MapId) -> (&mut Memory, &mut Map) {
        (&mut self.memory, &mut self.maps[id.0 as usize])
    }

    /// The map that a program names.
    pub fn by_handle(&self, handle: u64) -> Option<MapId> {
        let number = u32::try_from(handle).ok()?.checked_sub(1)?;
        ((number as usize) < self.maps.len()).then_some(MapId(number))
    }

    /// Whether a map may be put into a map of maps.
    pub(crate) fn fits(&self, outer: MapId, inner: MapId) -> bool {
        self.map(outer).inner.as_ref().is_some_and(|wanted| wanted.takes(&self.map(inner).shape))
    }

    /// A program's lookup: the address of the value, or the handle in a map of maps; 0 if the key is missing.
    pub fn lookup(&mut self, handle: u64, cpu: u32, key: u64) -> u64 {
        let Some(id) = self.by_handle(handle) else { return 0 };
        let map = &mut self.maps[id.0 as usize];
        let Ok(key) = self.memory.bytes(key, map.shape.key_bytes as usize) else { return 0 };
        let Some(place) = map.find(key, true) else { return 0 };
        let address = map.values.address(place, cpu);
        if map.kind.of_maps() { self.word(address) } else { address }
    }

    /// A program's update.
    ///
    /// # Errors
    /// Linux' for the map's kind.
    pub fn update(&mut self, handle: u64, cpu: u32, key: u64, value: u64, flags: u64) -> Result<(), Errno> {
        let id = self.by_handle(handle).ok_or(Errno::Invalid)?;
        let store = Store::from_flags(flags)?;
        let map = &mut self.maps[id.0 as usize];
        let key = self.memory.bytes(key, map.shape.key_bytes as usize)?;
        let (place, new) = map.claim(key, store)?;
        map.values.store(&mut self.memory, place, cpu, value, new)
    }

    /// A program's deletion.
    ///
    /// # Errors
    /// Linux' for the map's kind.
    pub fn remove(&mut self, handle: u64, key: u64) -> Result<(), Errno> {
        let id = self.by_handle(handle).ok_or(Errno::Invalid)?;
        let map = &mut self.maps[id.0 as usize];
        map.remove(self.memory.bytes(key, map.shape.key_bytes as usize)?)
    }

    /// Gives a reserved record of a ring buffer to the host, or back.
    pub fn release_record(&mut self, address: u64, submit: bool) {
        let rings = self.maps.iter_mut().filter_map(|map| match &mut map.index {
            Index::Ring(ring) => Some(ring),
            _ => None,
        });
        for ring in rings {
            if ring.release(address, submit) {
                return;
            }
        }
    }

    /// The value of an entry that is a number, by a key that is one: programs, sockets, processors.
    pub fn entry(&mut self, id: MapId, key: u32) -> Option<u32> {
        let map = &mut self.maps[id.0 as usize];
        let place = map.find(&key.to_ne_bytes(), false)?;
        let address = map.values.address(place, 0);
        Some(self.word(address) as u32)
    }

    fn word(&self, address: u64) -> u64 {
        let bytes = self.memory.bytes(address, 4).ok().and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u32::from_ne_bytes(*bytes).into())
    }
}

/// The empty index of a map.
fn index(kind: MapKind, shape: &MapShape, base: u32) -> Index {
    use MapKind::{
        Array, ArrayOfMaps, Cpumap, Devmap, DevmapHash, Hash as Plain, HashOfMaps, LpmTrie, LruHash, LruPercpuHash,
        PercpuArray, PercpuHash, PerfEventArray, ProgArray, Ringbuf, Xskmap,
    };
    let entries = shape.max_entries;
    match kind {
        Array | PercpuArray => Index::Array,
        Plain | PercpuHash | HashOfMaps | DevmapHash => Index::Hash(Hash::new(shape.key_bytes, entries, false)),
        LruHash | LruPercpuHash => Index::Hash(Hash::new(shape.key_bytes, entries, true)),
        LpmTrie => Index::Prefixes(Prefixes::new(shape.key_bytes, entries)),
        ProgArray | ArrayOfMaps | Devmap | Cpumap | Xskmap => Index::Entries(vec![false; entries as usize]),
        PerfEventArray => Index::Perf(vec![false; entries as usize], vec![Events::default(); entries as usize]),
        Ringbuf => Index::Ring(Ring::new(base, entries)),
    }
}
