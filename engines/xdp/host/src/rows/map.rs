// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Maps of a card in hardware (engines/xdp/maps.md). The host reaches shared maps by the requests that units send,
//! per-CPU values in the units' windows.

use penstock_engine::window::{UNIT_WINDOW, mask_of, word_of};
use penstock_engine::{Bus, regs};
use penstock_xdp_compiler::card::{CardMap, UNIT};
use penstock_xdp_compiler::helpers::SOCKET_AT;
use penstock_xdp_compiler::ir::{Array, CONTEXTS};
use penstock_xdp_compiler::maps::MapKind;
use penstock_xdp_maps::{Errno, SLICE, Store, admit};

use super::banks::{CardBanks, DELETE, LOOKUP, ROW, Slots, UPDATE};
use super::error::RowsError;
use super::image::RowImage;
use super::ring::CardRing;
use crate::maps::{Map, MapAccess, MapError, Record, Records, Slice};
use crate::program::PROCESSORS;
use crate::window::UNIT_MAPS;

/// Lowest bit of an update's flags in INFO.
const FLAGS_AT: u32 = 6;
/// The answer if there is no such entry: ENOENT.
const NO_ENTRY: i64 = -2;
/// Kind of an array in a descriptor.
const ARRAY: u32 = 1;
/// Kind of a trie in a descriptor. The key of the entry that it finds may be shorter than the key of the lookup.
const LPM: u32 = 4;

/// A map of a card, and the bus to it.
pub(crate) struct CardAccess<'a> {
    pub bus: &'a mut dyn Bus,
    pub map: &'a Map,
    pub image: &'a RowImage,
}

/// The place of a map.
enum Place {
    /// In each unit.
    Unit(Array),
    /// In the card's banks.
    Card(CardMap),
}

impl MapAccess for CardAccess<'_> {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, MapError> {
        match self.place()? {
            Place::Unit(array) => Ok(self.unit_get(&array, key)?),
            Place::Card(map) => Ok(self.card_get(&map, key)?.map(|value| self.shown(value))),
        }
    }

    fn set(&mut self, key: &[u8], value: &[u8], store: Store) -> Result<(), MapError> {
        match self.place()? {
            // Entries of an array always exist.
            Place::Unit(_) if store == Store::New => Err(MapError::Exists(self.map.name.clone())),
            Place::Unit(array) => Ok(self.unit_set(&array, key, value)?),
            Place::Card(map) if self.there_at().is_some() => self.entry_set(&map, key, value, store),
            Place::Card(map) if self.stores(&map) => match store {
                Store::New => Err(MapError::Exists(self.map.name.clone())),
                _ => self.store(&map, key, value),
            },
            Place::Card(map) => {
                admit(self.map.kind, value).map_err(|errno| self.refused(errno))?;
                self.update(&map, key, value, store)
            }
        }
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), MapError> {
        match self.place()? {
            Place::Unit(_) => Err(self.map.refused(22, "its entries are always there")),
            Place::Card(map) if self.there_at().is_some() => self.entry_delete(&map, key),
            Place::Card(map) => {
                let answer = self.ask(DELETE, map.number, key, &[])?;
                self.told(answer)
            }
        }
    }

    fn slice(&mut self, from: u32) -> Result<Slice, MapError> {
        match self.place()? {
            Place::Card(map) if map.descriptor[0] & 7 != ARRAY => {
                let (key_bytes, value_bytes) = (self.map.key_bytes(), self.map.value_bytes());
                let slots = Slots::of(&map.descriptor);
                let places = slots.values_at(self.map.processors.as_ref());
                let Slice { entries, next } = self.banks().scan(&slots, key_bytes, &places, value_bytes, from)?;
                let shown = entries.into_iter().map(|(key, value)| (key, self.shown(value)));
                Ok(Slice { entries: shown.collect(), next })
            }
            _ => {
                let end = self.map.max_entries.min(from.saturating_add(SLICE as u32));
                let keys = (from..end).map(|number| number.to_le_bytes().to_vec());
                let each = keys.map(|key| Ok(self.get(&key)?.map(|value| (key, value))));
                let entries = each.filter_map(Result::transpose).collect::<Result<_, MapError>>()?;
                Ok(Slice { entries, next: (end < self.map.max_entries).then_some(end) })
            }
        }
    }

    fn take(&mut self) -> Result<Records, MapError> {
        let ring = u32::try_from(self.map.index).ok().and_then(|index| self.image.layout.rings.get(&index)).copied();
        let ring = ring.ok_or_else(|| self.nowhere())?;
        let units = mask_of(&self.map.units);
        let (records, lost) = CardRing { banks: self.banks(), ring, units }.take()?;
        let record = |mut bytes: Vec<u8>| {
            // An event begins with the number of its processor, in eight bytes.
            let processor = self.map.names_processors().then(|| bytes.drain(..8).take(4).collect::<Vec<u8>>());
            Record { processor: processor.map(|bytes| word_of(&bytes)), bytes }
        };
        Ok(Records { records: records.into_iter().map(record).collect(), lost })
    }
}

impl CardAccess<'_> {
    /// A value as native code shows it, where the value of a map of maps is the index of the inner map plus one.
    fn shown(&self, value: Vec<u8>) -> Vec<u8> {
        let index = self.image.layout.index(u32::from(word_of(&value) as u16));
        match index.filter(|_| self.map.kind.of_maps()) {
            Some(index) => (index as u32 + 1).to_le_bytes().to_vec(),
            None => value,
        }
    }

    /// The error for a map that has no place on the card.
    fn nowhere(&self) -> MapError {
        let why = self.image.missing.get(self.map.index).cloned().flatten();
        MapError::Nowhere { map: self.map.name.clone(), why: why.unwrap_or_default() }
    }

    fn place(&self) -> Result<Place, MapError> {
        let index = self.map.index;
        if self.image.missing.get(index).is_some_and(Option::is_some) {
            return Err(self.nowhere());
        }
        if let Some(map) = self.image.maps.iter().find(|map| self.image.layout.index(map.number) == Some(index)) {
            return Ok(Place::Card(map.clone()));
        }
        let array = u32::try_from(index).ok().and_then(|index| self.image.layout.array(index));
        array.map(Place::Unit).ok_or_else(|| self.nowhere())
    }

    // ---- in the banks

    fn card_get(&mut self, map: &CardMap, key: &[u8]) -> Result<Option<Vec<u8>>, MapError> {
        let Ok(address @ 1..) = u32::try_from(self.ask(LOOKUP, map.number, key, &[])?) else { return Ok(None) };
        let bytes = self.map.value_bytes();
        if map.descriptor[0] & 7 == ARRAY {
            let there_at = self.there_at();
            let mut value = self.banks().read(address, there_at.map_or(0, |at| at + 4).max(bytes))?;
            let is_there = there_at.is_none_or(|at| value[at..][..4] != [0; 4]);
            value.truncate(bytes);
            return Ok(is_there.then_some(value));
        }
        if let Some(processors) = &self.map.processors {
            let places = Slots::of(&map.descriptor).values_at(Some(processors));
            let all = self.banks().read(address, places.last().map_or(0, |last| last + bytes))?;
            // A program may have given the entry to another key meanwhile.
            let again = self.ask(LOOKUP, map.number, key, &[])?;
            let values = places.iter().flat_map(|place| &all[*place..][..bytes]).copied();
            return Ok((again == i64::from(address)).then(|| values.collect()));
        }
        // A program may have given the entry to another key since the lookup. One request reads key and value, so the
        // key tells.
        let Slots { stride, key_rows, .. } = Slots::of(&map.descriptor);
        let before = (1 + key_rows) * ROW as u32;
        let rows = self.banks().read(address.wrapping_sub(before), stride as usize * ROW)?;
        let is_there = rows[2] & 1 == 1;
        let is_ours = map.descriptor[0] & 7 == LPM || rows[ROW..].starts_with(key);
        Ok((is_there && is_ours).then(|| rows[before as usize..][..bytes].to_vec()))
    }

    /// Carries out an operation on a key and gives the answer.
    fn ask(&mut self, operation: u32, info: u32, key: &[u8], value: &[u8]) -> Result<i64, MapError> {
        Ok(self.banks().ask(operation, info, key, value)?)
    }

    fn banks(&mut self) -> CardBanks<'_> {
        CardBanks { bus: self.bus }
    }

    fn told(&self, answer: i64) -> Result<(), MapError> {
        match answer {
            0 => Ok(()),
            -22 => Err(self.map.refused(22, "not valid for a map of this kind (EINVAL)")),
            number => Err(self.map.refused(-number, format!("error {}", -number))),
        }
    }

    /// Stores a value; the value of each processor is stored atomically.
    fn update(&mut self, map: &CardMap, key: &[u8], value: &[u8], store: Store) -> Result<(), MapError> {
        let info = |store| {
            let flags = match store {
                Store::Any => 0,
                Store::New => 1,
                Store::Existing => 2,
            };
            map.number | flags << FLAGS_AT
        };
        let Some(processors) = &self.map.processors else {
            let answer = self.ask(UPDATE, info(store), key, value)?;
            return self.told(answer);
        };
        // The first update makes the entry. If a program deletes it meanwhile, the other values are as good as deleted
        // with it.
        let mut store = store;
        for (processor, value) in processors.clone().zip(value.chunks(self.map.value_bytes())) {
            let answer = self.banks().ask_as(processor, UPDATE, info(store), key, value)?;
            if answer == NO_ENTRY && processor > processors.start {
                break;
            }
            self.told(answer)?;
            store = Store::Existing;
        }
        Ok(())
    }

    fn refused(&self, errno: Errno) -> MapError {
        self.map.refused(errno.number().into(), errno)
    }

    // ---- arrays whose entries may be absent: arrays of maps, and those of helpers/redirect.rs

    /// Offset of the four bytes of such an entry that are 0 if it is absent; None for other maps.
    fn there_at(&self) -> Option<usize> {
        match self.map.kind {
            MapKind::Devmap | MapKind::Cpumap | MapKind::ArrayOfMaps => Some(0),
            MapKind::Xskmap => Some(SOCKET_AT as usize),
            _ => None,
        }
    }

    fn entry_set(&mut self, map: &CardMap, key: &[u8], value: &[u8], store: Store) -> Result<(), MapError> {
        if self.map.kind == MapKind::Xskmap {
            let is_there = self.card_get(map, key)?.is_some();
            return match store {
                Store::New if is_there => Err(self.refused(Errno::Exists)),
                Store::Existing if !is_there => Err(self.refused(Errno::NoEntry)),
                _ => self.update(map, key, &[value, &[1, 0, 0, 0]].concat(), Store::Any),
            };
        }
        // Linux treats all entries of these kinds as present.
        if store == Store::New {
            return Err(self.refused(Errno::Exists));
        }
        admit(self.map.kind, value).map_err(|errno| self.refused(errno))?;
        if self.map.kind == MapKind::Cpumap && word_of(key) >= PROCESSORS {
            return Err(self.refused(Errno::NoDevice));
        }
        self.update(map, key, value, Store::Any)
    }

    fn entry_delete(&mut self, map: &CardMap, key: &[u8]) -> Result<(), MapError> {
        let maps = self.map.kind == MapKind::ArrayOfMaps;
        if word_of(key) >= self.map.max_entries {
            return Err(self.refused(if maps { Errno::TooBig } else { Errno::Invalid }));
        }
        if maps && self.card_get(map, key)?.is_none() {
            return Err(self.refused(Errno::NoEntry));
        }
        self.update(map, key, &[0; 8], Store::Any)
    }

    /// Whether the map is an array whose values are too long for an update.
    fn stores(&self, map: &CardMap) -> bool {
        map.descriptor[0] & 7 == ARRAY && map.descriptor[0] >> 16 == 0
    }

    /// Writes the value of such an array, eight bytes at a time.
    fn store(&mut self, map: &CardMap, key: &[u8], value: &[u8]) -> Result<(), MapError> {
        let beyond = || MapError::Beyond { map: self.map.name.clone(), entries: self.map.max_entries };
        let Ok(address @ 1..) = u32::try_from(self.ask(LOOKUP, map.number, key, &[])?) else { return Err(beyond()) };
        Ok(self.banks().write(address, value)?)
    }

    // ---- in the units' own memory

    /// Offsets of an entry's values in a unit's memory: one for each context, or a single one for all.
    fn offsets(&self, array: &Array, key: &[u8]) -> Vec<u32> {
        let entry = key.first_chunk().map_or(u32::MAX, |entry| u32::from_le_bytes(*entry));
        if entry >= array.entries {
            return vec![];
        }
        let contexts = if array.per_context == 0 { 1 } else { CONTEXTS };
        (0..contexts).map(|context| array.address - UNIT + context * array.per_context + entry * array.stride).collect()
    }

    fn unit_get(&mut self, array: &Array, key: &[u8]) -> Result<Option<Vec<u8>>, RowsError> {
        let offsets = self.offsets(array, key);
        let bytes = self.map.value_bytes();
        let mut all = Vec::new();
        // All units have the same constants.
        let units = if array.per_context == 0 { 1 } else { self.map.units.len() };
        for unit in self.map.units.clone().take(units) {
            self.bus.write(regs::CARD_UNIT_READ, unit)?;
            for offset in &offsets {
                let end = all.len() + bytes;
                for at in (0..bytes as u32).step_by(4) {
                    all.extend(self.bus.read(UNIT_WINDOW + UNIT_MAPS + offset + at)?.to_le_bytes());
                }
                all.truncate(end);
            }
        }
        Ok((!offsets.is_empty()).then_some(all))
    }

    fn unit_set(&mut self, array: &Array, key: &[u8], value: &[u8]) -> Result<(), RowsError> {
        let offsets = self.offsets(array, key);
        let values = value.chunks(self.map.value_bytes().max(1));
        let places = self.map.units.clone().flat_map(|unit| offsets.iter().map(move |offset| (unit, *offset)));
        for ((unit, offset), value) in places.zip(values) {
            self.bus.write(regs::CARD_UNIT_WRITE_MASK, 1 << unit)?;
            for (at, word) in (0..).step_by(4).zip(value.chunks(4)) {
                self.bus.write(UNIT_WINDOW + UNIT_MAPS + offset + at, word_of(word))?;
            }
        }
        Ok(())
    }
}
