// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Maps: the kinds, and the limits of the engine.

use std::fmt::{self, Display, Formatter};

use crate::btf::Shape;

/// Longest key of a hash table or a trie, in bytes.
pub const MAX_KEY_BYTES: u32 = 64;
/// Longest value, in bytes.
pub const MAX_VALUE_BYTES: u32 = 256;
/// Longest section of global data, in bytes. It is one value that is never searched.
pub const MAX_DATA_BYTES: u32 = 65_536;

/// The kinds of map that the engine has. The kernel's numbers and names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MapKind {
    /// `BPF_MAP_TYPE_HASH`
    Hash,
    /// `BPF_MAP_TYPE_ARRAY`
    Array,
    /// `BPF_MAP_TYPE_PROG_ARRAY`: the targets of tail calls.
    ProgArray,
    /// `BPF_MAP_TYPE_PERF_EVENT_ARRAY`: records for the host, a queue for each processor.
    PerfEventArray,
    /// `BPF_MAP_TYPE_PERCPU_HASH`: a value for each processor.
    PercpuHash,
    /// `BPF_MAP_TYPE_PERCPU_ARRAY`: a value for each processor.
    PercpuArray,
    /// `BPF_MAP_TYPE_LRU_HASH`: a full map gives up an old entry.
    LruHash,
    /// `BPF_MAP_TYPE_LRU_PERCPU_HASH`: both.
    LruPercpuHash,
    /// `BPF_MAP_TYPE_LPM_TRIE`: the longest prefix decides.
    LpmTrie,
    /// `BPF_MAP_TYPE_ARRAY_OF_MAPS`
    ArrayOfMaps,
    /// `BPF_MAP_TYPE_HASH_OF_MAPS`
    HashOfMaps,
    /// `BPF_MAP_TYPE_DEVMAP`: interfaces to redirect to, by index.
    Devmap,
    /// `BPF_MAP_TYPE_CPUMAP`: processors to redirect to.
    Cpumap,
    /// `BPF_MAP_TYPE_XSKMAP`: AF_XDP sockets to redirect to.
    Xskmap,
    /// `BPF_MAP_TYPE_DEVMAP_HASH`: interfaces to redirect to, by key.
    DevmapHash,
    /// `BPF_MAP_TYPE_RINGBUF`: records for the host, one queue for all processors.
    Ringbuf,
}

/// All kinds with their numbers.
const KINDS: [(u32, MapKind, &str); 16] = [
    (1, MapKind::Hash, "hash"),
    (2, MapKind::Array, "array"),
    (3, MapKind::ProgArray, "prog_array"),
    (4, MapKind::PerfEventArray, "perf_event_array"),
    (5, MapKind::PercpuHash, "percpu_hash"),
    (6, MapKind::PercpuArray, "percpu_array"),
    (9, MapKind::LruHash, "lru_hash"),
    (10, MapKind::LruPercpuHash, "lru_percpu_hash"),
    (11, MapKind::LpmTrie, "lpm_trie"),
    (12, MapKind::ArrayOfMaps, "array_of_maps"),
    (13, MapKind::HashOfMaps, "hash_of_maps"),
    (14, MapKind::Devmap, "devmap"),
    (16, MapKind::Cpumap, "cpumap"),
    (17, MapKind::Xskmap, "xskmap"),
    (25, MapKind::DevmapHash, "devmap_hash"),
    (27, MapKind::Ringbuf, "ringbuf"),
];

/// Kinds that Linux has beyond those.
const FOREIGN: [(u32, &str); 17] = [
    (7, "stack_trace"),
    (8, "cgroup_array"),
    (15, "sockmap"),
    (18, "sockhash"),
    (19, "cgroup_storage"),
    (20, "reuseport_sockarray"),
    (21, "percpu_cgroup_storage"),
    (22, "queue"),
    (23, "stack"),
    (24, "sk_storage"),
    (26, "struct_ops"),
    (28, "inode_storage"),
    (29, "task_storage"),
    (30, "bloom_filter"),
    (31, "user_ringbuf"),
    (32, "cgrp_storage"),
    (33, "arena"),
];

impl MapKind {
    /// The kind of this number in Linux; None if the engine does not have it.
    pub fn from_number(number: u32) -> Option<MapKind> {
        KINDS.iter().find(|(n, _, _)| *n == number).map(|(_, kind, _)| *kind)
    }

    /// Its number in Linux.
    pub fn number(self) -> u32 {
        KINDS.iter().find(|(_, kind, _)| *kind == self).map_or(0, |(number, _, _)| *number)
    }

    /// Whether each processor, here each core, has its own values.
    pub fn per_cpu(self) -> bool {
        matches!(self, MapKind::PercpuHash | MapKind::PercpuArray | MapKind::LruPercpuHash)
    }

    /// Whether it has records for the host in place of entries.
    pub fn has_records(self) -> bool {
        matches!(self, MapKind::PerfEventArray | MapKind::Ringbuf)
    }

    /// Whether its contents, with values of this many bytes, mean the same to another program: they must not refer to a
    /// program, map or queue of the old one.
    pub fn outlasts(self, value_bytes: u32) -> bool {
        use MapKind::{ArrayOfMaps, Cpumap, Devmap, DevmapHash, HashOfMaps, PerfEventArray, ProgArray, Ringbuf};
        match self {
            ProgArray | ArrayOfMaps | HashOfMaps | PerfEventArray | Ringbuf => false,
            // After the device or the queue there is a program.
            Devmap | DevmapHash | Cpumap => value_bytes == 4,
            _ => true,
        }
    }

    /// Whether its values are maps.
    pub fn of_maps(self) -> bool {
        matches!(self, MapKind::ArrayOfMaps | MapKind::HashOfMaps)
    }

    /// Whether keys are searched by hash or prefix, so that their length matters to the hardware.
    fn searched(self) -> bool {
        use MapKind::{DevmapHash, Hash, HashOfMaps, LpmTrie, LruHash, LruPercpuHash, PercpuHash};
        matches!(self, Hash | PercpuHash | LruHash | LruPercpuHash | LpmTrie | HashOfMaps | DevmapHash)
    }
}

impl Display for MapKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(KINDS.iter().find(|(_, kind, _)| kind == self).map_or("", |(_, _, name)| name))
    }
}

/// Sizes of a map, apart from its name; also the shape of a map inside another map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapShape {
    /// The kernel's number; [`MapShape::kind`] tells whether the engine supports it.
    pub number: u32,
    /// Bytes of a key.
    pub key_bytes: u32,
    /// Bytes of a value, of each processor in per-CPU maps.
    pub value_bytes: u32,
    /// The number of entries; of a ring buffer its bytes.
    pub max_entries: u32,
    /// The kernel's `map_flags`.
    pub flags: u32,
}

/// The contents of a map before the program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants' comments speak of their fields")]
pub enum Contents {
    /// Nothing.
    Empty,
    /// Global variables: the bytes of its only value.
    Data { bytes: Vec<u8>, read_only: bool },
    /// By index, the names of maps or programs.
    Names(Vec<(u32, String)>),
}

/// A map of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    /// The name that the source gives it.
    pub name: String,
    /// The section that declares it, or that it holds.
    pub section: String,
    /// The map's kind and sizes.
    pub shape: MapShape,
    /// The shape of the inner maps of a map of maps.
    pub inner: Option<MapShape>,
    /// The layout of a key, if the object's BTF has its type.
    pub key_type: Option<Shape>,
    /// The layout of a value, if the object's BTF has its type.
    pub value_type: Option<Shape>,
    /// The contents before the program runs.
    pub contents: Contents,
}

/// Why the engine does not take a map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum MapError {
    #[error("maps of the type {0} are not supported; those that are: {names}", names = supported())]
    Kind(String),
    #[error("its key has {bytes} bytes, the engine takes up to {MAX_KEY_BYTES}")]
    LongKey { bytes: u32 },
    #[error("its value has {bytes} bytes, the engine takes up to {limit}")]
    LongValue { bytes: u32, limit: u32 },
    #[error("a map of the type {kind} has keys of {allowed}, this one says {bytes} bytes")]
    Key { kind: MapKind, bytes: u32, allowed: &'static str },
    #[error("a map of the type {kind} has values of {allowed}, this one says {bytes} bytes")]
    Value { kind: MapKind, bytes: u32, allowed: &'static str },
    #[error(
        "it has no entries; give it max_entries, or say how many in [units.xdp.entries] of a design or by --entries"
    )]
    NoEntries,
    #[error("a ring buffer's max_entries are its bytes: a power of two and at least 4096, not {0}")]
    Ring(u32),
    #[error("a longest prefix trie needs the flag BPF_F_NO_PREALLOC in map_flags")]
    Prealloc,
    #[error("it does not say what its inner maps look like; declare them with __array(values, …)")]
    NoInner,
    #[error("its inner maps: {0}")]
    Inner(Box<MapError>),
    #[error("maps inside maps cannot hold maps themselves")]
    Nested,
}

fn supported() -> String {
    KINDS.map(|(_, _, name)| name).join(", ")
}

/// Flag of a map that allocates memory for each entry.
const NO_PREALLOC: u32 = 1;
/// An array whose entries may differ in number from map to map (`BPF_F_INNER_MAP`).
const INNER_MAP: u32 = 1 << 12;

impl MapShape {
    /// Its kind, if the engine has it.
    pub fn kind(&self) -> Result<MapKind, MapError> {
        MapKind::from_number(self.number).ok_or_else(|| MapError::Kind(self.kind_name()))
    }

    /// The name of its kind in Linux, also if the engine does not have it; a number if Linux has no name for it, either.
    pub fn kind_name(&self) -> String {
        let foreign = || FOREIGN.iter().find(|(number, _)| *number == self.number).map(|(_, name)| (*name).to_owned());
        let own = MapKind::from_number(self.number).map(|kind| kind.to_string());
        own.or_else(foreign).unwrap_or_else(|| format!("number {}", self.number))
    }

    /// Bytes of memory for keys and values when it is full; each is rounded up to eight. Per-CPU kinds need them for
    /// each context of a unit.
    pub fn memory(&self) -> u64 {
        if self.kind() == Ok(MapKind::Ringbuf) {
            return self.max_entries.into();
        }
        let round = |bytes: u32| u64::from(bytes).next_multiple_of(8);
        let key = if self.kind().is_ok_and(MapKind::searched) { round(self.key_bytes) } else { 0 };
        (key + round(self.value_bytes)) * u64::from(self.max_entries)
    }

    /// Whether a map of that shape may be where maps of this one are, as Linux compares them.
    pub fn takes(&self, found: &MapShape) -> bool {
        let entries =
            found.kind() != Ok(MapKind::Array) || self.flags & INNER_MAP != 0 || self.max_entries == found.max_entries;
        entries
            && (self.number, self.key_bytes, self.value_bytes, self.flags)
                == (found.number, found.key_bytes, found.value_bytes, found.flags)
    }

    /// Whether the engine takes it, and Linux would.
    fn check(&self, data: bool) -> Result<(), MapError> {
        use MapKind::{
            Array, ArrayOfMaps, Cpumap, Devmap, DevmapHash, HashOfMaps, LpmTrie, PercpuArray, PerfEventArray,
            ProgArray, Ringbuf, Xskmap,
        };
        let kind = self.kind()?;
        let key = |allowed: &'static str, fits: bool| {
            if fits { Ok(()) } else { Err(MapError::Key { kind, bytes: self.key_bytes, allowed }) }
        };
        let value = |allowed: &'static str, fits: bool| {
            if fits { Ok(()) } else { Err(MapError::Value { kind, bytes: self.value_bytes, allowed }) }
        };
        match kind {
            Ringbuf => {
                key("0 bytes", self.key_bytes == 0)?;
                value("0 bytes", self.value_bytes == 0)?;
                let fits = self.max_entries.is_power_of_two() && self.max_entries >= 4096;
                return if fits { Ok(()) } else { Err(MapError::Ring(self.max_entries)) };
            }
            Array | PercpuArray | ProgArray | PerfEventArray | ArrayOfMaps | Devmap | DevmapHash | Cpumap | Xskmap => {
                key("4 bytes", self.key_bytes == 4)?;
            }
            LpmTrie => {
                key("a prefix length of 4 bytes and at least one byte more", self.key_bytes >= 5)?;
                if self.flags & NO_PREALLOC == 0 {
                    return Err(MapError::Prealloc);
                }
            }
            _ => key("at least 1 byte", self.key_bytes > 0)?,
        }
        match kind {
            ProgArray | PerfEventArray | ArrayOfMaps | HashOfMaps | Xskmap => value("4 bytes", self.value_bytes == 4)?,
            Devmap | DevmapHash | Cpumap => value("4 or 8 bytes", matches!(self.value_bytes, 4 | 8))?,
            _ => value("at least 1 byte", self.value_bytes > 0)?,
        }
        if self.key_bytes > MAX_KEY_BYTES {
            return Err(MapError::LongKey { bytes: self.key_bytes });
        }
        let limit = if data { MAX_DATA_BYTES } else { MAX_VALUE_BYTES };
        if self.value_bytes > limit {
            return Err(MapError::LongValue { bytes: self.value_bytes, limit });
        }
        // A perf event array may leave its size to the loader, which takes the number of processors.
        if self.max_entries == 0 && kind != PerfEventArray { Err(MapError::NoEntries) } else { Ok(()) }
    }
}

impl Map {
    /// Whether the engine takes it.
    pub fn check(&self) -> Result<(), MapError> {
        self.shape.check(matches!(self.contents, Contents::Data { .. }))?;
        if !self.shape.kind()?.of_maps() {
            return Ok(());
        }
        let inner = self.inner.as_ref().ok_or(MapError::NoInner)?;
        if inner.kind().is_ok_and(MapKind::of_maps) {
            return Err(MapError::Nested);
        }
        inner.check(false).map_err(|source| MapError::Inner(Box::new(source)))
    }

    /// Whether it can take over the contents of a map of another object: one of the same name, types and sizes.
    pub fn goes_on(&self, before: &Map) -> bool {
        let same = (&self.name, &self.shape, &self.key_type, &self.value_type)
            == (&before.name, &before.shape, &before.key_type, &before.value_type);
        let outlasts = self.shape.kind().is_ok_and(|kind| kind.outlasts(self.shape.value_bytes));
        same && outlasts && self.constants().is_none()
    }

    /// The bytes of a global constant, if it holds such.
    pub fn constants(&self) -> Option<&[u8]> {
        match &self.contents {
            Contents::Data { bytes, read_only: true } => Some(bytes),
            _ => None,
        }
    }
}
