// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The layout of an object's maps on a card in RTL, and the host's writes that create them (engines/xdp/maps.md).
//!
//! Values of single contexts and small constants lie in the unit, all other maps in the card's banks. If there is no
//! room or no hardware for a map, the placement records the reason, and only programs that use the map are refused.
//!
//! Beside the object's maps there are *hidden* ones, that the code of helpers works with. They are placed first, and
//! have the highest numbers.
//!
//! Groups of units with their own programs share a card's banks and numbers: each group's maps are placed in the
//! [`Room`] that the earlier groups have left. The routes belong to the card, so all groups use the same tables.
//!
//! A program that replaces a running one ([`Before`]) keeps the places of its maps of the same name, types and sizes,
//! and gets room for the others beside all existing maps.

mod bank;
pub mod ring;
pub mod routes;
mod space;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::check::{FIB_LOOKUP, PRINTS};
use crate::helpers::{PROGRAM, SOCKET_AT};
use crate::ir::{Array, CONTEXTS, Layout, Routes, map_pointer};
use crate::maps::{Contents, Map, MapKind};
use crate::object::Object;
use bank::Bank;
pub use bank::{BANKS, CARD, ROWS};
use space::Space;

/// The beginning of the unit's own memory for programs, and its size in bytes.
pub const UNIT: u32 = 0x4000_0000;
const UNIT_BYTES: u32 = 1 << 16;
/// Maps that a card distinguishes.
const MAPS: u32 = 64;
/// Bytes of the ring of lines that programs print, and of that of a perf event array.
const LOG_BYTES: u32 = 1 << 14;
const PERF_BYTES: u32 = 1 << 15;

/// A map in the card's banks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardMap {
    /// By which programs and hosts name it.
    pub number: u32,
    /// Its descriptor, lowest word first.
    pub descriptor: [u32; 5],
    /// Addresses and initial contents: of global variables, of program arrays and of arrays of maps.
    pub contents: Vec<(u32, Vec<u8>)>,
    /// Initial keys and values: of hashes of maps.
    pub entries: Vec<(Vec<u8>, Vec<u8>)>,
}

impl CardMap {
    /// Its rows, the same in each bank.
    pub fn rows(&self) -> Range<u32> {
        (self.descriptor[2] & 0xFFFF)..self.descriptor[3] >> 16
    }
}

/// The part of a card that is left for the maps of the next group of units.
#[derive(Debug, Clone)]
pub struct Room {
    bank: Bank,
    /// Numbers that no map has: an object's maps are taken from the beginning, hidden ones from the end.
    numbers: BTreeSet<u32>,
    /// The tables of routes, once a program asks for them.
    routes: Option<Routes>,
    /// The tables, if they already exist.
    tables: Vec<CardMap>,
}

impl Default for Room {
    /// An empty card, all of whose maps are on the chip.
    fn default() -> Self {
        Self::new(ROWS)
    }
}

impl Room {
    /// An empty card whose banks have this many rows.
    pub fn new(rows: u32) -> Self {
        Self { bank: Bank::new(rows), numbers: (0..MAPS).collect(), routes: None, tables: vec![] }
    }

    /// The room that programs leave on such a card; each of them brings its layout and its maps.
    pub fn beside<'a>(rows: u32, programs: impl IntoIterator<Item = (&'a Layout, &'a [CardMap])>) -> Self {
        let mut room = Self::new(rows);
        let mut maps: Vec<&CardMap> = Vec::new();
        for (layout, of_program) in programs {
            room.routes = room.routes.or(layout.routes);
            room.numbers.retain(|number| !layout.numbers.contains(number));
            maps.extend(of_program);
        }
        for map in maps {
            room.bank.keep(map.rows());
            room.numbers.remove(&map.number);
            let is_table = room.routes.is_some_and(|routes| routes.maps().contains(&map.number));
            if is_table && !room.tables.iter().any(|table| table.number == map.number) {
                room.tables.push(map.clone());
            }
        }
        room
    }

    /// Places hidden maps beside those of an object, `own` of which are still to come. Returns them, and the result of
    /// `place`, which gets their first number.
    fn hidden<T, const COUNT: usize>(
        &mut self,
        object: &Object,
        own: usize,
        place: impl FnOnce(&mut Bank, u32) -> Result<(T, [[u32; 5]; COUNT]), String>,
    ) -> Result<(T, Vec<CardMap>), String> {
        let left = self.numbers.len();
        let numbers = |first: u32| first..first + COUNT as u32;
        // Above all indices of the object's maps.
        let firsts = self.numbers.range(object.maps.len() as u32..).rev();
        let mut free = firsts.filter(|first| numbers(**first).all(|number| self.numbers.contains(&number)));
        let first = free.next().copied().filter(|_| left >= own + COUNT);
        let first = first.ok_or_else(|| {
            format!("a card has {MAPS} maps, {left} of them are left, and the object itself has {own}")
        })?;
        let mut bank = self.bank.clone();
        let (what, descriptors) = place(&mut bank, first)?;
        self.bank = bank;
        self.numbers.retain(|number| !numbers(first).contains(number));
        let map = |(number, descriptor)| CardMap { number, descriptor, contents: vec![], entries: vec![] };
        Ok((what, (first..).zip(descriptors).map(map).collect()))
    }
}

/// The program that another one takes the place of.
#[derive(Debug, Clone, Copy)]
pub struct Before<'a> {
    /// The object that it is from.
    pub object: &'a Object,
    /// The places of its maps for the compiler.
    pub layout: &'a Layout,
    /// The places of its maps on the card.
    pub maps: &'a [CardMap],
}

impl Before<'_> {
    /// The state that a map takes over: its number, the place of its values, and its entry on the card.
    fn takes_over(&self, map: &Map) -> Option<(u32, Option<Array>, Option<CardMap>)> {
        let index = self.object.maps.iter().position(|old| map.goes_on(old))? as u32;
        let (number, array) = (self.layout.number(index), self.layout.array(index));
        let old = self.maps.iter().find(|old| old.number == number);
        let old = old.map(|old| CardMap { contents: vec![], entries: vec![], ..old.clone() });
        (old.is_some() || array.is_some()).then_some((number, array, old))
    }
}

/// All places.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Placement {
    /// For the compiler.
    pub layout: Layout,
    /// The maps that are in the card's memory.
    pub maps: Vec<CardMap>,
    /// Numbers of maps of the old program that stay.
    pub kept: BTreeSet<u32>,
    /// Bytes to write into each unit's own memory, with their offset from [`UNIT`].
    pub unit: Vec<(u32, Vec<u8>)>,
    /// By index of the map, why it is nowhere.
    pub missing: Vec<Option<String>>,
    /// By number of a helper, the reason why its maps have no place.
    pub without: BTreeMap<u32, String>,
    /// Rows of each of the card's banks.
    pub rows: u32,
}

impl Placement {
    /// Rows of each of the card's banks that it takes, and bytes of each unit's own memory; how many there are.
    pub fn sizes(&self) -> [(u32, u32); 2] {
        let rows = self.maps.iter().map(|map| map.rows().len() as u32).sum();
        let bytes = self.unit.iter().map(|(_, bytes)| bytes.len() as u32).sum();
        [(rows, self.rows - 1), (bytes, UNIT_BYTES)]
    }

    /// Writes programs into their program arrays: `row_of` gives the first row of a program.
    ///
    /// # Errors
    /// The name of a program that is not there, and the map.
    pub fn programs(&mut self, object: &Object, row_of: impl Fn(&str) -> Option<u32>) -> Result<(), NoProgram> {
        for made in &mut self.maps {
            let Some(index) = self.layout.index(made.number) else { continue };
            let Some(map) = object.maps.get(index) else { continue };
            let (Contents::Names(names), Ok(MapKind::ProgArray)) = (&map.contents, map.shape.kind()) else { continue };
            let Some(array) = self.layout.array(index as u32) else { continue };
            for (index, name) in names {
                let missing = || NoProgram { map: map.name.clone(), name: name.clone() };
                let row = row_of(name).ok_or_else(missing)?;
                let address = array.address_at(*index).ok_or_else(missing)?;
                made.contents.push((address, (PROGRAM | row).to_le_bytes().to_vec()));
            }
        }
        Ok(())
    }
}

impl Placement {
    /// Puts the pointers of maps into the map of that index, which is to have them.
    fn inner_maps(&mut self, object: &Object, map: &Map, index: u32) -> Result<(), String> {
        let Contents::Names(names) = &map.contents else { return Ok(()) };
        let (number, array) = (self.layout.number(index), self.layout.array(index));
        for (index, name) in names {
            let (inner, _) = object.map(name).ok_or_else(|| format!("there is no map {name} for it"))?;
            let inner_number = self.layout.number(inner);
            if !self.maps.iter().any(|made| made.number == inner_number) {
                let why = self.missing[inner as usize].clone();
                let why = why.unwrap_or_else(|| "units do not share it".to_owned());
                return Err(format!("{name}, which is to be in it: {why}"));
            }
            let pointer = (map_pointer(inner_number) as u32).to_le_bytes().to_vec();
            let address = array.map(|array| array.address_at(*index));
            let Some(made) = self.maps.iter_mut().find(|made| made.number == number) else { return Ok(()) };
            match address {
                Some(Some(address)) => made.contents.push((address, pointer)),
                None if map.shape.key_bytes == 4 => made.entries.push((index.to_le_bytes().to_vec(), pointer)),
                _ => return Err(format!("it has no entry {index} for {name}")),
            }
        }
        Ok(())
    }
}

/// A program array is to have a program that is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("map {map}: there is no program {name} for it")]
pub struct NoProgram {
    /// The program array.
    pub map: String,
    /// The program that an entry of it names.
    pub name: String,
}

/// Places the maps of an object, and the maps needed by the helpers of these numbers, which its programs call, on a
/// card for this object alone. `processors`: the number of processors with values of their own, which are the contexts
/// of all units up to the last one that runs the programs.
pub fn place(object: &Object, helpers: &BTreeSet<u32>, processors: u32) -> Placement {
    place_in(&mut Room::default(), object, helpers, processors, None)
}

/// The same on a card that other groups use too, perhaps in place of a running program.
pub fn place_in(
    room: &mut Room,
    object: &Object,
    helpers: &BTreeSet<u32>,
    processors: u32,
    before: Option<&Before<'_>>,
) -> Placement {
    let mut unit = Unit::beside(before);
    let (missing, rows) = (vec![None; object.maps.len()], room.bank.rows());
    let mut placement = Placement { missing, rows, ..Placement::default() };
    let taken_over: Vec<_> = object.maps.iter().map(|map| before?.takes_over(map)).collect();
    let own = taken_over.iter().filter(|old| old.is_none()).count();
    // Later programs that need routes use these tables, even if the program that they were made for is gone.
    placement.kept.extend(room.tables.iter().map(|table| table.number));
    placement.maps.append(&mut room.tables.clone());
    if helpers.contains(&FIB_LOOKUP) && room.routes.is_none() {
        match room.hidden(object, own, routes::place) {
            Ok((routes, maps)) => {
                room.routes = Some(routes);
                placement.maps.extend(maps);
            }
            Err(why) => {
                placement.without.insert(FIB_LOOKUP, why);
            }
        }
    }
    // Hidden maps have higher numbers than the object's.
    placement.layout.routes = room.routes.filter(|routes| routes.v4 as usize >= object.maps.len());
    let rings = object.maps.iter().zip(0..).filter_map(|(map, index)| Some((index, ring_bytes(map)?)));
    let (with_records, mut bytes): (Vec<u32>, Vec<u32>) = rings.unzip();
    let prints = PRINTS.iter().any(|number| helpers.contains(number));
    bytes.extend(prints.then_some(LOG_BYTES));
    if !bytes.is_empty() {
        let place = |bank: &mut Bank, _| ring::place(bank, &bytes).map(|(descriptor, rings)| (rings, [descriptor]));
        match room.hidden(object, own, place) {
            Ok((rings, maps)) => {
                placement.maps.extend(maps);
                placement.layout.log = rings.last().copied().filter(|_| prints);
                placement.layout.rings = with_records.into_iter().zip(rings).collect();
            }
            Err(why) => {
                with_records.iter().for_each(|index| placement.missing[*index as usize] = Some(why.clone()));
                placement.without.extend(PRINTS.map(|number| (number, why.clone())));
            }
        }
    }
    for ((index, map), old) in object.maps.iter().enumerate().zip(taken_over) {
        if let Some((number, array, map)) = old {
            placement.layout.numbers.push(number);
            placement.layout.arrays.push(array);
            placement.kept.insert(number);
            placement.maps.extend(map);
            continue;
        }
        let number = room.numbers.pop_first();
        placement.layout.numbers.push(number.unwrap_or(MAPS));
        if map.shape.kind().is_ok_and(MapKind::has_records) {
            placement.layout.arrays.push(None);
            continue;
        }
        let placed = match number {
            Some(number) => one(map, number, processors, &mut unit, &mut room.bank),
            None => Err(format!("a card has {MAPS} maps, and none is left for this one")),
        };
        let array = match placed {
            Ok(Place::Unit(array)) => Some(array),
            Ok(Place::Card(map, array)) => {
                placement.maps.push(map);
                array
            }
            Err(why) => {
                placement.missing[index] = Some(why);
                None
            }
        };
        placement.layout.arrays.push(array);
    }
    for (map, index) in object.maps.iter().zip(0..).filter(|(map, _)| map.inner.is_some()) {
        if let Err(why) = placement.inner_maps(object, map, index) {
            let number = placement.layout.number(index);
            placement.maps.retain(|made| made.number != number);
            placement.layout.arrays[index as usize] = None;
            placement.missing[index as usize] = Some(why);
        }
    }
    placement.unit = unit.pieces;
    placement
}

/// Bytes of the ring that has a map's records, if it has such.
fn ring_bytes(map: &Map) -> Option<u32> {
    match map.shape.kind() {
        Ok(MapKind::Ringbuf) => Some(map.shape.max_entries),
        Ok(MapKind::PerfEventArray) => Some(PERF_BYTES),
        _ => None,
    }
}

/// The place of a map.
enum Place {
    Unit(Array),
    /// With the place of its values, unless they need a search.
    Card(CardMap, Option<Array>),
}

fn one(map: &Map, number: u32, processors: u32, unit: &mut Unit, bank: &mut Bank) -> Result<Place, String> {
    let kind = map.shape.kind().map_err(|error| error.to_string())?;
    if let Contents::Data { bytes, read_only } = &map.contents {
        if *read_only && let Some(address) = unit.take(bytes) {
            let array = Array { stride: map.shape.value_bytes, entries: 1, ..Array::at(address) };
            return Ok(Place::Unit(array));
        }
        let (descriptor, array) = bank.array(1, map.shape.value_bytes)?;
        let contents = vec![(array.address, bytes.clone())];
        return Ok(Place::Card(CardMap { number, descriptor, contents, entries: vec![] }, Some(array)));
    }
    let card =
        |(descriptor, array)| Place::Card(CardMap { number, descriptor, contents: vec![], entries: vec![] }, array);
    match kind {
        MapKind::PercpuArray => {
            let stride = map.shape.value_bytes.next_multiple_of(8);
            let each = (u64::from(stride) * u64::from(map.shape.max_entries)).next_multiple_of(8);
            let bytes = usize::try_from(each * u64::from(CONTEXTS)).ok().filter(|bytes| *bytes <= UNIT_BYTES as usize);
            let address = bytes.and_then(|bytes| unit.take(&vec![0; bytes])).ok_or_else(|| {
                let all = each * u64::from(CONTEXTS);
                format!("it takes {all} bytes for the contexts of a unit, {} are left", unit.left())
            })?;
            let array =
                Array { stride, entries: map.shape.max_entries, per_context: each as u32, ..Array::at(address) };
            Ok(Place::Unit(array))
        }
        MapKind::Array
        | MapKind::ArrayOfMaps
        | MapKind::Devmap
        | MapKind::Cpumap
        | MapKind::Xskmap
        | MapKind::ProgArray => {
            let more = if kind == MapKind::Xskmap { SOCKET_AT } else { 0 };
            let (descriptor, array) = bank.array(map.shape.max_entries, map.shape.value_bytes + more)?;
            Ok(card((descriptor, Some(array))))
        }
        MapKind::Hash | MapKind::HashOfMaps | MapKind::DevmapHash | MapKind::LruHash | MapKind::LpmTrie => {
            Ok(card((bank.keys(kind, &map.shape, 0)?, None)))
        }
        MapKind::PercpuHash | MapKind::LruPercpuHash => match bank.keys(kind, &map.shape, processors) {
            Ok(descriptor) => Ok(card((descriptor, None))),
            Err(why) => Err(format!("{why}: each has a value for each of {processors} processors")),
        },
        MapKind::Ringbuf | MapKind::PerfEventArray => Err("it has records and no entries".to_owned()),
    }
}

/// The unit's own memory while it is filled.
struct Unit {
    space: Space,
    pieces: Vec<(u32, Vec<u8>)>,
}

/// Each access of a map's value is within one row of this many bytes.
const UNIT_ROW: u32 = 16;

impl Unit {
    /// Beside the maps of the old program.
    fn beside(before: Option<&Before<'_>>) -> Self {
        let mut space = Space::new(UNIT_BYTES);
        for array in before.iter().flat_map(|before| before.layout.arrays.iter().flatten()) {
            let bytes = if array.per_context > 0 { array.per_context * CONTEXTS } else { array.stride * array.entries };
            if let Some(start) = array.address.checked_sub(UNIT).filter(|start| *start < UNIT_BYTES) {
                space.keep(start..start + bytes);
            }
        }
        Self { space, pieces: Vec::new() }
    }

    /// Puts bytes there; gives their address.
    fn take(&mut self, bytes: &[u8]) -> Option<u32> {
        let part = self.space.take(bytes.len() as u64, UNIT_ROW).ok()?;
        self.pieces.push((part.start, bytes.to_vec()));
        Some(UNIT + part.start)
    }

    fn left(&mut self) -> u32 {
        self.space.take(u64::MAX, UNIT_ROW).err().unwrap_or_default()
    }
}

impl Array {
    /// A value at an address; the other fields are not set yet.
    fn at(address: u32) -> Self {
        Self { address, stride: 0, entries: 0, per_context: 0, banks: None }
    }
}

/// The seed of a simulated card's hash, a word for each `SEED_AT`: the same in each run, so that runs can be repeated.
/// Do not use it on a card that receives frames from others: anybody who knows the seed can choose keys that collide.
pub fn repeatable_seed() -> [u64; 17] {
    let mut state = 0u64;
    std::array::from_fn(|_| {
        // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}

#[cfg(test)]
mod tests;
