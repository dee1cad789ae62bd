// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Maps of a card at work, by name: what programs of xdp units count there and look up, for the host to read and fill.
//!
//! ```no_run
//! use penstock_device::{Design, Image, Root, Target, Value, maps, maps::Store, open};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let root = Root::find()?;
//! let design = Design::read(&root.join("designs/xdp.toml"))?;
//! let mut card = open(&root, &design, Target::Soft, &mut |_| {})?;
//! card.load(&Image::of(&root, &design)?)?;
//! let ports = maps::find(&*card, "ports")?;
//! let (key, value) = (ports.key(&Value::Int(0))?, ports.value(&Value::Int(2))?);
//! ports.set(&mut *card, &key, &value, Store::Any)?;
//! for (key, value) in ports.entries(&mut *card)? {
//!     println!("{:?}: {:?}", ports.shape_of_key.decode(&key), ports.decode(&value));
//! }
//! # Ok(()) }
//! ```

pub(crate) mod banks;
mod card;
pub mod json;
pub(crate) mod lines;
pub(crate) mod make;
mod records;
pub(crate) mod ring;
pub(crate) mod soft;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use card::CardAccess;
pub use penstock_xdp_compiler::btf::Shape;
use penstock_xdp_compiler::btf::{Value, ValueError};
use penstock_xdp_compiler::ir::CONTEXTS;
use penstock_xdp_compiler::maps::{Contents, MapKind};
pub use penstock_xdp_maps::Store;
pub use records::{Record, Records};

use crate::design::Group;
use crate::device::{Device, DeviceError};
use crate::xdp::XdpProgram;

/// A key and its value, as [`Map::get`] gives it.
pub type Entry = (Vec<u8>, Vec<u8>);

/// What a map does not give or take.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// No program has such a map.
    #[error("there is no map `{name}`; {there}")]
    NoMap {
        /// What was asked for.
        name: String,
        /// Those that are there, in words.
        there: String,
    },
    /// Several groups of units have it.
    #[error("several groups of units have a map {name}, so say whose: {there}")]
    Several {
        /// What was asked for.
        name: String,
        /// Their names.
        there: String,
    },
    /// A key or a value of another shape.
    #[error("{what} of {map}: {source}")]
    Shape {
        /// "key" or "value".
        what: &'static str,
        /// Its name.
        map: String,
        /// What is wrong.
        source: Box<ValueError>,
    },
    /// Values of another number of processors.
    #[error(
        "a value of {map} is a list of {wanted}, one for each processor (unit · 16 + context), or a single one for all; this list has {found}"
    )]
    Processors {
        /// Its name.
        map: String,
        /// Processors that have values.
        wanted: usize,
        /// Values that were given.
        found: usize,
    },
    /// A key or a value of another size.
    #[error("a {what} of {map} has {wanted} ({shape}), this one {found} B")]
    Size {
        /// "key" or "value".
        what: &'static str,
        /// Its name.
        map: String,
        /// Bytes that it has, in words.
        wanted: String,
        /// Its type.
        shape: String,
        /// Bytes that were given.
        found: usize,
    },
    /// There is none.
    #[error("{0} has no such entry")]
    NoEntry(String),
    /// It was to be a new one.
    #[error("{0} has such an entry already")]
    Exists(String),
    /// No room.
    #[error("{map} is full, it takes {entries} entries; delete some, or give it more max_entries")]
    Full {
        /// Its name.
        map: String,
        /// How many it takes.
        entries: u32,
    },
    /// The key is a number beyond the last.
    #[error("{map} has {entries} entries, the last is number {}", entries - 1)]
    Beyond {
        /// Its name.
        map: String,
        /// How many it has.
        entries: u32,
    },
    /// Constants.
    #[error("{0} holds constants, which the compiler has used already: they stay as the object has them")]
    Constant(String),
    /// Entries that are no data.
    #[error("entries of {map} name programs or maps: {} is filled by the object", a(kind))]
    Names {
        /// Its name.
        map: String,
        /// Of which type it is.
        kind: MapKind,
    },
    /// An entry with a program.
    #[error(
        "an entry of {map}, {}, has a program: no unit runs one behind a redirection, so let it be 0 or -1",
        a(kind)
    )]
    Behind {
        /// Its name.
        map: String,
        /// Of which type it is.
        kind: MapKind,
    },
    /// It has records.
    #[error("{map} has records and no entries: take those of {}", a(kind))]
    NoEntries {
        /// Its name.
        map: String,
        /// Of which type it is.
        kind: MapKind,
    },
    /// It has entries.
    #[error("{map} has entries and no records: it is {}", a(kind))]
    NoRecords {
        /// Its name.
        map: String,
        /// Of which type it is.
        kind: MapKind,
    },
    /// Linux has the same reasons.
    #[error("{map}, {}, refuses that: {why}", a(kind))]
    Refused {
        /// Its name.
        map: String,
        /// Of which type it is.
        kind: MapKind,
        /// Why.
        why: String,
    },
    /// Its program was replaced.
    #[error("the program of this {0} is not loaded any more; look for the map again")]
    Gone(String),
    /// No unit uses it, and the card has no place for it.
    #[error("{map} is not on the card: {why}; the program does not use it")]
    Nowhere {
        /// Its name.
        map: String,
        /// Why.
        why: String,
    },
    /// The card.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// A kind of map with its article: those that begin with an l are spelt out, as lru_hash is.
fn a(kind: &MapKind) -> String {
    let kind = kind.to_string();
    format!("{} {kind}", if kind.starts_with(['a', 'l', 'x']) { "an" } else { "a" })
}

/// A map of a program that is loaded.
#[derive(Debug, Clone)]
pub struct Map {
    /// Its name; of one that several groups of units have, GROUP.NAME. Global variables have that of their section.
    pub name: String,
    /// Its type.
    pub kind: MapKind,
    /// What a key looks like.
    pub shape_of_key: Shape,
    /// What a value looks like; of per-CPU kinds that of one processor.
    pub shape_of_value: Shape,
    /// Entries at most.
    pub max_entries: u32,
    /// Constants: the host does not change them.
    pub read_only: bool,
    /// Of per-CPU kinds, the processors (unit · 16 + context) that have values.
    pub processors: Option<Range<u32>>,
    /// Name of the group of units that runs the program; empty when the only one has none.
    pub group: String,
    pub(crate) units: Range<u32>,
    pub(crate) program: Arc<XdpProgram>,
    /// Index in its object.
    pub(crate) index: usize,
}

/// The maps of the programs that groups of units run, in the order of the objects.
pub(crate) fn list(groups: &[Group], programs: &[Option<Arc<XdpProgram>>]) -> Vec<Map> {
    let mut all: Vec<Map> = Vec::new();
    for (group, program) in groups.iter().zip(programs) {
        let Some(program) = program else { continue };
        all.extend((0..program.object().maps.len()).filter_map(|index| map_of(group, program, index)));
    }
    let names: Vec<String> = all.iter().map(|map| map.name.clone()).collect();
    for map in &mut all {
        if names.iter().filter(|name| **name == map.name).count() > 1 {
            map.name = map.in_group();
        }
    }
    all
}

/// The map of that name of the program that a group of units is to run.
pub(crate) fn of_group(group: &Group, program: &Arc<XdpProgram>, name: &str) -> Result<Map, MapError> {
    let maps: Vec<Map> = (0..program.object().maps.len()).filter_map(|index| map_of(group, program, index)).collect();
    let there = || match maps.is_empty() {
        true => "the program has none".to_owned(),
        false => format!("there are: {}", maps.iter().map(|map| map.name.as_str()).collect::<Vec<_>>().join(", ")),
    };
    let found = maps.iter().find(|map| map.name == name).cloned();
    found.ok_or_else(|| MapError::NoMap { name: name.to_owned(), there: there() })
}

/// Puts into maps of a card what they begin with.
pub(crate) fn begin<'a>(
    device: &mut impl Device,
    maps: impl IntoIterator<Item = &'a (Map, Vec<Entry>)>,
) -> Result<(), DeviceError> {
    for (map, entries) in maps {
        for (key, value) in entries {
            map.set(device, key, value, Store::Any).map_err(|error| match error {
                MapError::Device(error) => error,
                error => DeviceError::Map(Box::new(error)),
            })?;
        }
    }
    Ok(())
}

fn map_of(group: &Group, program: &Arc<XdpProgram>, index: usize) -> Option<Map> {
    let declared = program.object().maps.get(index)?;
    let shape = &declared.shape;
    // An object with a map of another kind has not been loaded.
    let kind = shape.kind().ok()?;
    let sized = |shape: &Option<Shape>, bytes: u32| {
        shape.clone().filter(|shape| shape.bytes() == u64::from(bytes)).unwrap_or(Shape::Bytes(bytes.into()))
    };
    let number = || Shape::Int { name: "__u32".into(), bytes: 4, signed: false };
    let mut shape_of_key = sized(&declared.key_type, shape.key_bytes);
    if shape_of_key == Shape::Bytes(4) && is_numbered(kind) {
        shape_of_key = number();
    }
    let mut shape_of_value = sized(&declared.value_type, shape.value_bytes);
    if shape_of_value == Shape::Bytes(4) && names(kind) {
        shape_of_value = number();
    }
    let contexts = |units: &Range<u32>| units.start * CONTEXTS..units.end * CONTEXTS;
    Some(Map {
        name: declared.name.clone(),
        kind,
        shape_of_key,
        shape_of_value,
        max_entries: shape.max_entries,
        read_only: matches!(declared.contents, Contents::Data { read_only: true, .. }),
        processors: kind.per_cpu().then(|| contexts(&group.units)),
        group: group.name.clone(),
        units: group.units.clone(),
        program: Arc::clone(program),
        index,
    })
}

/// Whether keys are numbers of entries.
fn is_numbered(kind: MapKind) -> bool {
    use MapKind::{Array, ArrayOfMaps, Cpumap, Devmap, PercpuArray, PerfEventArray, ProgArray, Xskmap};
    matches!(kind, Array | PercpuArray | ProgArray | PerfEventArray | ArrayOfMaps | Devmap | Cpumap | Xskmap)
}

/// What an entry of devices or processors has for a program: the number of an open one, where it has one.
fn program_of(value: &[u8]) -> i32 {
    value.get(4..8).and_then(<[u8]>::first_chunk).map_or(0, |number| i32::from_le_bytes(*number))
}

/// Whether values are numbers of devices, processors, sockets, programs or maps.
fn names(kind: MapKind) -> bool {
    is_numbered(kind) && !matches!(kind, MapKind::Array | MapKind::PercpuArray)
        || matches!(kind, MapKind::DevmapHash | MapKind::HashOfMaps)
}

/// The map of that name: NAME, or GROUP.NAME when several groups of units have it.
pub fn find(device: &(impl Device + ?Sized), name: &str) -> Result<Map, MapError> {
    let all = device.maps();
    let listed = |maps: &[&Map]| maps.iter().map(|map| map.name.clone()).collect::<Vec<_>>().join(", ");
    let is_meant = |map: &&Map| map.name == name || (!map.group.is_empty() && map.in_group() == name);
    if let Some(map) = all.iter().find(is_meant) {
        return Ok(map.clone());
    }
    let same: Vec<&Map> = all.iter().filter(|map| map.declared() == name).collect();
    if same.len() > 1 {
        return Err(MapError::Several { name: name.to_owned(), there: listed(&same) });
    }
    let there = match all.is_empty() {
        true => "no program with maps is loaded".to_owned(),
        false => format!("there are: {}", listed(&all.iter().collect::<Vec<_>>())),
    };
    Err(MapError::NoMap { name: name.to_owned(), there })
}

impl Map {
    /// The bytes of a key.
    pub fn key(&self, key: &Value) -> Result<Vec<u8>, MapError> {
        self.with_entries()?;
        self.shape_of_key.encode(key).map_err(|source| self.wrong("key", source))
    }

    /// The bytes of a value. Of per-CPU kinds a list of as many values as there are processors is those of each, another value that of all.
    pub fn value(&self, value: &Value) -> Result<Vec<u8>, MapError> {
        let wrong = |source| self.wrong("value", source);
        if let (Some(processors), Value::List(values)) = (&self.processors, value)
            && values.len() == processors.len()
            && !matches!(self.shape_of_value, Shape::Array { count, .. } if count as usize == values.len())
        {
            let each = values.iter().map(|value| self.shape_of_value.encode(value));
            return Ok(each.collect::<Result<Vec<_>, _>>().map_err(wrong)?.concat());
        }
        self.shape_of_value.encode(value).map_err(|source| match (&self.processors, value) {
            (Some(processors), Value::List(values))
                if values.iter().all(|value| self.shape_of_value.encode(value).is_ok()) =>
            {
                let (map, wanted, found) = (self.name.clone(), processors.len(), values.len());
                MapError::Processors { map, wanted, found }
            }
            _ => wrong(source),
        })
    }

    /// What a value's bytes say; of per-CPU kinds a list of what those of each processor say.
    pub fn decode(&self, value: &[u8]) -> Value {
        match &self.processors {
            Some(_) => {
                let each = value.chunks(self.value_bytes().max(1));
                Value::List(each.map(|value| self.shape_of_value.decode(value)).collect())
            }
            None => self.shape_of_value.decode(value),
        }
    }

    /// The value of a key; of per-CPU kinds those of all [`Map::processors`], one after the other. None: there is no such entry. Of a trie it is that
    /// of the longest prefix.
    pub fn get(&self, device: &mut (impl Device + ?Sized), key: &[u8]) -> Result<Option<Vec<u8>>, MapError> {
        self.check("key", key, &[self.key_bytes()])?;
        device.map_get(self, key)
    }

    /// Sets the value of a key; of per-CPU kinds a single value becomes that of all processors.
    pub fn set(
        &self,
        device: &mut (impl Device + ?Sized),
        key: &[u8],
        value: &[u8],
        store: Store,
    ) -> Result<(), MapError> {
        self.check("key", key, &[self.key_bytes()])?;
        let processors = self.processors.as_ref().map_or(1, |processors| processors.len());
        let all = processors * self.value_bytes();
        self.check("value", value, &[self.value_bytes(), all])?;
        let number = key.first_chunk().map_or(0, |number| u32::from_le_bytes(*number));
        match self.kind {
            _ if self.read_only => return Err(MapError::Constant(self.name.clone())),
            MapKind::ProgArray | MapKind::ArrayOfMaps | MapKind::HashOfMaps => {
                return Err(MapError::Names { map: self.name.clone(), kind: self.kind });
            }
            MapKind::Devmap | MapKind::DevmapHash | MapKind::Cpumap if program_of(value) > 0 => {
                return Err(MapError::Behind { map: self.name.clone(), kind: self.kind });
            }
            kind if is_numbered(kind) && number >= self.max_entries => {
                return Err(MapError::Beyond { map: self.name.clone(), entries: self.max_entries });
            }
            _ => {}
        }
        if value.len() == all {
            device.map_set(self, key, value, store)
        } else {
            device.map_set(self, key, &value.repeat(processors), store)
        }
    }

    /// Takes an entry out.
    pub fn delete(&self, device: &mut (impl Device + ?Sized), key: &[u8]) -> Result<(), MapError> {
        self.check("key", key, &[self.key_bytes()])?;
        device.map_delete(self, key)
    }

    /// All entries: of arrays in order, of others in none to rely on. What a program changes meanwhile may be there or not; each
    /// entry is what it was at some time.
    pub fn entries(&self, device: &mut (impl Device + ?Sized)) -> Result<Vec<Entry>, MapError> {
        self.with_entries()?;
        device.map_entries(self)
    }

    /// Its name in its object.
    pub(crate) fn declared(&self) -> &str {
        &self.program.object().maps[self.index].name
    }

    fn in_group(&self) -> String {
        format!("{}.{}", self.group, self.declared())
    }

    pub(crate) fn key_bytes(&self) -> usize {
        self.shape_of_key.bytes() as usize
    }

    /// Bytes of a value, of one processor.
    pub(crate) fn value_bytes(&self) -> usize {
        self.shape_of_value.bytes() as usize
    }

    fn check(&self, what: &'static str, given: &[u8], wanted: &[usize]) -> Result<(), MapError> {
        self.with_entries()?;
        if wanted.contains(&given.len()) {
            return Ok(());
        }
        let mut words: Vec<String> = wanted.iter().map(|bytes| format!("{bytes} B")).collect();
        words.dedup();
        let shape = if what == "key" { &self.shape_of_key } else { &self.shape_of_value };
        let (map, wanted, shape) = (self.name.clone(), words.join(", for all processors "), shape.to_string());
        Err(MapError::Size { what, map, wanted, shape, found: given.len() })
    }

    fn wrong(&self, what: &'static str, source: ValueError) -> MapError {
        MapError::Shape { what, map: self.name.clone(), source: Box::new(source) }
    }

    /// What an error number of Linux means here.
    pub(crate) fn refused(&self, number: i64, why: impl fmt::Display) -> MapError {
        let (map, kind) = (self.name.clone(), self.kind);
        match number {
            2 => MapError::NoEntry(map),
            17 => MapError::Exists(map),
            7 | 28 => MapError::Full { map, entries: self.max_entries },
            _ => MapError::Refused { map, kind, why: why.to_string() },
        }
    }
}
