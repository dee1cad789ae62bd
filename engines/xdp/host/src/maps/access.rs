// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Reads and changes maps of a card at work, in native code or in hardware.

use penstock_engine::Bus;

use super::{Entry, Map, MapError, Records, Store, named, names_of, of_program};
use crate::driver::{Group, Running};
use crate::native::NativeAccess;
use crate::rows::CardAccess;

/// The operations of a target on a map. Keys and values have the right sizes.
pub(crate) trait MapAccess {
    /// See [`Maps::get`].
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, MapError>;

    /// See [`Maps::set`]; of per-CPU kinds with the values of all processors.
    fn set(&mut self, key: &[u8], value: &[u8], store: Store) -> Result<(), MapError>;

    /// See [`Maps::delete`].
    fn delete(&mut self, key: &[u8]) -> Result<(), MapError>;

    /// See [`Maps::slice`].
    fn slice(&mut self, from: u32) -> Result<Slice, MapError>;

    /// See [`Maps::take`].
    fn take(&mut self) -> Result<Records, MapError>;
}

/// Entries of a map, as many as are read between two frames.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slice {
    /// The entries.
    pub entries: Vec<Entry>,
    /// Where the next slice begins; None if this is the last one.
    pub next: Option<u32>,
}

/// The maps of a card at work.
pub struct Maps<'a> {
    groups: &'a [Group],
    bus: &'a mut dyn Bus,
}

impl<'a> Maps<'a> {
    pub(crate) fn new(groups: &'a [Group], bus: &'a mut dyn Bus) -> Self {
        Self { groups, bus }
    }

    /// The maps of all programs that units run, in the order of the groups and of their objects.
    #[must_use]
    pub fn list(&self) -> Vec<Map> {
        let of_group = |group: &Group| {
            let program = group.running.as_ref().map(|running| &running.program);
            program.map_or(vec![], |program| of_program(&group.name, &group.units, program))
        };
        let mut all: Vec<Map> = self.groups.iter().flat_map(of_group).collect();
        let names: Vec<String> = all.iter().map(|map| map.name.clone()).collect();
        for map in &mut all {
            if names.iter().filter(|name| **name == map.name).count() > 1 {
                map.name = map.in_group();
            }
        }
        all
    }

    /// The map NAME, or GROUP.NAME if several groups of units have a map of that name.
    ///
    /// # Errors
    /// There is no such map, or several.
    pub fn find(&self, name: &str) -> Result<Map, MapError> {
        let all = self.list();
        let is_meant = |map: &&Map| map.name == name || (!map.group.is_empty() && map.in_group() == name);
        if let Some(map) = all.iter().find(is_meant) {
            return Ok(map.clone());
        }
        let same: Vec<&Map> = all.iter().filter(|map| map.declared() == name).collect();
        if same.len() > 1 {
            return Err(MapError::Several { name: name.to_owned(), there: names_of(same) });
        }
        if all.is_empty() {
            return Err(MapError::NoMap { name: name.to_owned(), there: "no program with maps is loaded".to_owned() });
        }
        named(&all, name).cloned()
    }

    /// The value of a key, None if there is no such entry. For per-CPU kinds, the values of all [`Map::processors`],
    /// one after the other; for a trie, the value of the longest prefix.
    ///
    /// # Errors
    /// The key has another size, or the map has no entries or is not loaded any more.
    pub fn get(&mut self, map: &Map, key: &[u8]) -> Result<Option<Vec<u8>>, MapError> {
        map.admit_key(key)?;
        self.access(map)?.get(key)
    }

    /// Sets the value of a key between two frames; of per-CPU kinds a single value becomes that of all processors.
    ///
    /// # Errors
    /// The map refuses the entry.
    pub fn set(&mut self, map: &Map, key: &[u8], value: &[u8], store: Store) -> Result<(), MapError> {
        let value = map.admit(key, value)?;
        self.access(map)?.set(key, &value, store)
    }

    /// Deletes an entry.
    ///
    /// # Errors
    /// There is no such entry, or entries of this kind of map cannot be deleted.
    pub fn delete(&mut self, map: &Map, key: &[u8]) -> Result<(), MapError> {
        map.admit_key(key)?;
        self.access(map)?.delete(key)
    }

    /// A slice of the entries, from 0 or the [`Slice::next`] of the slice before: of an array in order, of another map in
    /// any order. Frames pass between two slices, so the map may change: an entry that is there all the time is in
    /// exactly one slice, an entry that a program adds or deletes meanwhile may be missing, and one that it deletes and
    /// adds again may come twice. Each entry is as it was at some time.
    ///
    /// # Errors
    /// The map has no entries, or is not loaded any more.
    pub fn slice(&mut self, map: &Map, from: u32) -> Result<Slice, MapError> {
        map.with_entries()?;
        self.access(map)?.slice(from)
    }

    /// Takes the records that programs have sent since the last call.
    ///
    /// # Errors
    /// The map has no records, or is not loaded any more.
    pub fn take(&mut self, map: &Map) -> Result<Records, MapError> {
        match map.has_records() {
            true => self.access(map)?.take(),
            false => Err(MapError::NoRecords { map: map.name.clone(), kind: map.kind }),
        }
    }

    /// Sets entries in the maps that `is_new` picks.
    pub(crate) fn begin(&mut self, maps: &[(Map, Vec<Entry>)], is_new: impl Fn(&Map) -> bool) -> Result<(), MapError> {
        for (map, entries) in maps.iter().filter(|(map, _)| is_new(map)) {
            for (key, value) in entries {
                self.set(map, key, value, Store::Any)?;
            }
        }
        Ok(())
    }

    fn access<'m>(&'m mut self, map: &'m Map) -> Result<Box<dyn MapAccess + 'm>, MapError> {
        let gone = || MapError::Gone(map.name.clone());
        let running = self.groups.iter().filter_map(|group| group.running.as_ref());
        let Running { rows, .. } =
            running.clone().find(|running| running.program.number == map.program.number).ok_or_else(gone)?;
        if let Some(image) = rows {
            return Ok(Box::new(CardAccess { bus: self.bus, map, image }));
        }
        let native = self.bus.native().ok_or_else(gone)?;
        Ok(Box::new(NativeAccess::new(native, map)?))
    }
}
