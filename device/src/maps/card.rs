// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Maps of a card in RTL (engines/xdp/maps.md): those that units share by requests like theirs, per-CPU values in the units' windows.

use penstock_xdp_compiler::card::{CardMap, UNIT};
use penstock_xdp_compiler::ir::{Array, CONTEXTS};
use penstock_xdp_maps::Store;

use super::banks::{CardBanks, DELETE, LOOKUP, ROW, Slots, UPDATE};
use super::ring::CardRing;
use super::{Entry, Map, MapError, Record, Records};
use crate::design::mask_of;
use crate::host::{Bus, word_of};
use crate::regs;
use crate::window::{UNIT_MAPS, UNIT_WINDOW};
use crate::xdp::RowImage;

/// Where INFO has an update's flags.
const FLAGS_AT: u32 = 6;
/// A descriptor's kind of arrays, and of tries, whose keys are not those that are asked for.
const ARRAY: u32 = 1;
const LPM: u32 = 4;

/// A map of a card, and how the card is reached.
pub struct CardAccess<'a, B: Bus> {
    pub bus: &'a mut B,
    pub map: &'a Map,
    pub image: &'a RowImage,
}

/// Where a map lies.
enum Place {
    /// In each unit.
    Unit(Array),
    /// In the card's banks.
    Card(CardMap),
}

impl<B: Bus> CardAccess<'_, B> {
    pub fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, MapError> {
        match self.place()? {
            Place::Unit(array) => self.unit_get(&array, key),
            Place::Card(map) => self.card_get(&map, key),
        }
    }

    pub fn set(&mut self, key: &[u8], value: &[u8], store: Store) -> Result<(), MapError> {
        match self.place()? {
            // All entries of an array are there.
            Place::Unit(_) if store == Store::New => Err(MapError::Exists(self.map.name.clone())),
            Place::Unit(array) => self.unit_set(&array, key, value),
            Place::Card(map) if self.stores(&map) => match store {
                Store::New => Err(MapError::Exists(self.map.name.clone())),
                _ => self.store(&map, key, value),
            },
            Place::Card(map) => {
                let flags = match store {
                    Store::Any => 0,
                    Store::New => 1,
                    Store::Existing => 2,
                };
                let answer = self.ask(UPDATE, map.number | flags << FLAGS_AT, key, value)?;
                self.told(answer)
            }
        }
    }

    pub fn delete(&mut self, key: &[u8]) -> Result<(), MapError> {
        match self.place()? {
            Place::Unit(_) => Err(self.map.refused(22, "its entries are always there")),
            Place::Card(map) => {
                let answer = self.ask(DELETE, map.number, key, &[])?;
                self.told(answer)
            }
        }
    }

    pub fn entries(&mut self) -> Result<Vec<Entry>, MapError> {
        match self.place()? {
            Place::Card(map) if map.descriptor[0] & 7 != ARRAY => {
                let (key_bytes, value_bytes) = (self.map.key_bytes(), self.map.value_bytes());
                Ok(self.banks().scan(&Slots::of(&map.descriptor), key_bytes, value_bytes)?)
            }
            _ => {
                let keys = (0..self.map.max_entries).map(|number| number.to_le_bytes().to_vec());
                let each = keys.map(|key| Ok(self.get(&key)?.map(|value| (key, value))));
                each.filter_map(Result::transpose).collect()
            }
        }
    }

    pub fn take(&mut self) -> Result<Records, MapError> {
        let ring = u32::try_from(self.map.index).ok().and_then(|index| self.image.layout.rings.get(&index)).copied();
        let ring = ring.ok_or_else(|| self.nowhere())?;
        let units = mask_of(&self.map.units);
        let (records, lost) = CardRing { banks: self.banks(), ring, units }.take()?;
        let record = |mut bytes: Vec<u8>| {
            // An event begins with its processor, in eight bytes.
            let processor = self.map.names_processors().then(|| bytes.drain(..8).take(4).collect::<Vec<u8>>());
            Record { processor: processor.map(|bytes| word_of(&bytes)), bytes }
        };
        Ok(Records { records: records.into_iter().map(record).collect(), lost })
    }

    /// Why it has no place.
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
            return Ok(Some(self.banks().read(address, bytes)?));
        }
        // Between the lookup and now the entry may have become another's, which its key then shows: it is read in one piece.
        let Slots { stride, key_rows, .. } = Slots::of(&map.descriptor);
        let before = (1 + key_rows) * ROW as u32;
        let rows = self.banks().read(address.wrapping_sub(before), stride as usize * ROW)?;
        let is_there = rows[2] & 1 == 1;
        let is_ours = map.descriptor[0] & 7 == LPM || rows[ROW..].starts_with(key);
        Ok((is_there && is_ours).then(|| rows[before as usize..][..bytes].to_vec()))
    }

    /// An operation on a key; gives the answer.
    fn ask(&mut self, operation: u32, info: u32, key: &[u8], value: &[u8]) -> Result<i64, MapError> {
        Ok(self.banks().ask(operation, info, key, value)?)
    }

    fn banks(&mut self) -> CardBanks<'_, B> {
        CardBanks { bus: self.bus }
    }

    fn told(&self, answer: i64) -> Result<(), MapError> {
        match answer {
            0 => Ok(()),
            -22 => Err(self.map.refused(22, "not valid for a map of this kind (EINVAL)")),
            number => Err(self.map.refused(-number, format!("error {}", -number))),
        }
    }

    /// An array whose values are too long for an update.
    fn stores(&self, map: &CardMap) -> bool {
        map.descriptor[0] & 7 == ARRAY && map.descriptor[0] >> 16 == 0
    }

    /// Writes the value of such an array, eight bytes at a time.
    fn store(&mut self, map: &CardMap, key: &[u8], value: &[u8]) -> Result<(), MapError> {
        let beyond = || MapError::Beyond { map: self.map.name.clone(), entries: self.map.max_entries };
        let Ok(address @ 1..) = u32::try_from(self.ask(LOOKUP, map.number, key, &[])?) else { return Err(beyond()) };
        Ok(self.banks().write(address, value)?)
    }

    // ---- in the units

    /// Offsets of an entry's values in a unit's memory: one for each context, or a single one.
    fn offsets(&self, array: &Array, key: &[u8]) -> Vec<u32> {
        let entry = key.first_chunk().map_or(u32::MAX, |entry| u32::from_le_bytes(*entry));
        if entry >= array.entries {
            return vec![];
        }
        let contexts = if array.per_context == 0 { 1 } else { CONTEXTS };
        (0..contexts).map(|context| array.address - UNIT + context * array.per_context + entry * array.stride).collect()
    }

    fn unit_get(&mut self, array: &Array, key: &[u8]) -> Result<Option<Vec<u8>>, MapError> {
        let offsets = self.offsets(array, key);
        let bytes = self.map.value_bytes();
        let mut all = Vec::new();
        // Of constants each unit has the same.
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

    fn unit_set(&mut self, array: &Array, key: &[u8], value: &[u8]) -> Result<(), MapError> {
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
