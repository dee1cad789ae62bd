// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Maps of programs that units run, by name: programs count in them and look up in them, the host reads and fills them.
//!
//! A [`Map`] describes a map; [`Maps`] reads and changes the maps of a card at work. The service `map` does the same in
//! JSON.

mod access;
mod error;
mod json;
mod records;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use access::MapAccess;
pub use access::{Maps, Slice};
pub use error::MapError;
pub use json::{EntriesError, JsonError, entries, entries_in, entries_of, of, parse, read, records, typed};
use penstock_xdp_compiler::btf::{Shape, Value, ValueError};
use penstock_xdp_compiler::ir::CONTEXTS;
use penstock_xdp_compiler::maps::{Contents, MapKind};
pub use penstock_xdp_maps::Store;
pub use records::{Record, Records};

use crate::program::XdpProgram;

/// A key and its value, as [`Maps::get`] gives it.
pub type Entry = (Vec<u8>, Vec<u8>);

/// A map of a program.
#[derive(Debug, Clone)]
pub struct Map {
    /// Its name, or GROUP.NAME if several groups of units have a map of that name. Global variables are in a map named
    /// after their section.
    pub name: String,
    /// Its type.
    pub kind: MapKind,
    /// Type of its keys.
    pub shape_of_key: Shape,
    /// Type of its values; of per-CPU kinds of the value of one processor.
    pub shape_of_value: Shape,
    /// Most entries that it holds.
    pub max_entries: u32,
    /// It holds constants, which the host cannot change.
    pub read_only: bool,
    /// For per-CPU kinds, the processors (unit · 16 + context) that have values.
    pub processors: Option<Range<u32>>,
    /// Name of the group of units that runs the program; empty if the only group has no name.
    pub group: String,
    pub(crate) units: Range<u32>,
    pub(crate) program: Arc<XdpProgram>,
    /// Index in its object.
    pub(crate) index: usize,
}

/// The maps of a program that units run, in the order of its object.
pub(crate) fn of_program(group: &str, units: &Range<u32>, program: &Arc<XdpProgram>) -> Vec<Map> {
    (0..program.object().maps.len()).filter_map(|index| map_of(group, units, program, index)).collect()
}

/// The map of that name among those of one program.
///
/// # Errors
/// There is none.
pub(crate) fn named<'a>(maps: &'a [Map], name: &str) -> Result<&'a Map, MapError> {
    let there = || match maps {
        [] => "the program has none".to_owned(),
        _ => format!("there are: {}", names_of(maps)),
    };
    maps.iter().find(|map| map.name == name).ok_or_else(|| MapError::NoMap { name: name.to_owned(), there: there() })
}

/// Names of maps, separated by commas.
fn names_of<'a>(maps: impl IntoIterator<Item = &'a Map>) -> String {
    maps.into_iter().map(|map| map.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn map_of(group: &str, units: &Range<u32>, program: &Arc<XdpProgram>, index: usize) -> Option<Map> {
    let declared = program.object().maps.get(index)?;
    let shape = &declared.shape;
    // The checker has refused objects with maps of other kinds.
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
    Some(Map {
        name: declared.name.clone(),
        kind,
        shape_of_key,
        shape_of_value,
        max_entries: shape.max_entries,
        read_only: matches!(declared.contents, Contents::Data { read_only: true, .. }),
        processors: kind.per_cpu().then(|| units.start * CONTEXTS..units.end * CONTEXTS),
        group: group.to_owned(),
        units: units.clone(),
        program: Arc::clone(program),
        index,
    })
}

/// Whether keys are indices of entries.
fn is_numbered(kind: MapKind) -> bool {
    use MapKind::{Array, ArrayOfMaps, Cpumap, Devmap, PercpuArray, PerfEventArray, ProgArray, Xskmap};
    matches!(kind, Array | PercpuArray | ProgArray | PerfEventArray | ArrayOfMaps | Devmap | Cpumap | Xskmap)
}

/// File descriptor of the program in an entry of devices or processors; 0 if the entry has no program.
fn program_of(value: &[u8]) -> i32 {
    value.get(4..8).and_then(<[u8]>::first_chunk).map_or(0, |number| i32::from_le_bytes(*number))
}

/// Whether values are numbers of devices, processors, sockets, programs or maps.
fn names(kind: MapKind) -> bool {
    is_numbered(kind) && !matches!(kind, MapKind::Array | MapKind::PercpuArray)
        || matches!(kind, MapKind::DevmapHash | MapKind::HashOfMaps)
}

impl Map {
    /// The bytes of a key.
    ///
    /// # Errors
    /// The key is of another type, or the map has no entries.
    pub fn key(&self, key: &Value) -> Result<Vec<u8>, MapError> {
        self.with_entries()?;
        self.shape_of_key.encode(key).map_err(|source| self.wrong("key", source))
    }

    /// The bytes of a value. For per-CPU kinds, a list with a value for each processor gives the value of each, any
    /// other value that of all.
    ///
    /// # Errors
    /// The value is of another type.
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

    /// The value that bytes mean; of per-CPU kinds the list of the values of all processors.
    pub fn decode(&self, value: &[u8]) -> Value {
        match &self.processors {
            Some(_) => {
                let each = value.chunks(self.value_bytes().max(1));
                Value::List(each.map(|value| self.shape_of_value.decode(value)).collect())
            }
            None => self.shape_of_value.decode(value),
        }
    }

    /// The bytes to store for a value: of per-CPU kinds a single value becomes that of all processors.
    ///
    /// # Errors
    /// Key or value have another size, or no target lets the host set that entry.
    pub(crate) fn admit<'a>(&self, key: &[u8], value: &'a [u8]) -> Result<Cow<'a, [u8]>, MapError> {
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
        Ok(if value.len() == all { value.into() } else { value.repeat(processors).into() })
    }

    /// Checks the size of a key, and that the map has entries.
    pub(crate) fn admit_key(&self, key: &[u8]) -> Result<(), MapError> {
        self.check("key", key, &[self.key_bytes()])
    }

    /// GROUP.NAME.
    pub(crate) fn in_group(&self) -> String {
        format!("{}.{}", self.group, self.declared())
    }

    /// Its name in its object.
    pub(crate) fn declared(&self) -> &str {
        &self.program.object().maps[self.index].name
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

    /// The error for one of Linux' error numbers.
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
