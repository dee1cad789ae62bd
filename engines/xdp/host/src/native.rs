// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! xdp units of a card in native code, and their maps.

use std::any::Any;

use penstock_engine::Native;
use penstock_engine::window::{mask_of, units_of};
use penstock_xdp_maps::{Errno, MapId, Maps, Store};
use penstock_xdp_soft::{Loaded, Unit};

use crate::maps::{Entry, Map, MapAccess, MapError, Record, Records, Slice};

/// The unit of that number, if it is an xdp unit.
fn unit(native: &mut dyn Native, number: u32) -> Option<&mut Unit> {
    (native.unit(number)? as &mut dyn Any).downcast_mut()
}

/// Gives units of the mask a program, whose maps they share.
pub(crate) fn load(native: &mut dyn Native, units: u32, loaded: &Loaded) {
    for number in units_of(units) {
        if let Some(unit) = unit(native, number) {
            unit.load(loaded.clone());
        }
    }
}

/// The programs of the units in the mask, each program once.
pub(crate) fn running(native: &mut dyn Native, units: u32) -> Vec<Loaded> {
    units_of(units).filter_map(|number| unit(native, number)?.loaded().cloned()).collect()
}

/// The program of that number, if a unit of the mask runs it.
pub(crate) fn find(native: &mut dyn Native, units: u32, number: u64) -> Option<Loaded> {
    running(native, units).into_iter().find(|loaded| loaded.number == number)
}

/// Puts entries into maps of a program that no unit runs yet.
///
/// # Errors
/// A map refuses an entry.
pub(crate) fn begin(loaded: &Loaded, maps: &[(Map, Vec<Entry>)]) -> Result<(), MapError> {
    for (map, entries) in maps {
        let mut access = NativeAccess { loaded: loaded.clone(), map };
        for (key, value) in entries {
            access.set(key, &map.admit(key, value)?, Store::Any)?;
        }
    }
    Ok(())
}

/// A map of a program in native code.
pub(crate) struct NativeAccess<'a> {
    /// The program.
    pub loaded: Loaded,
    /// The map.
    pub map: &'a Map,
}

impl<'a> NativeAccess<'a> {
    /// A map of the program that its units run.
    ///
    /// # Errors
    /// The units run another program.
    pub(crate) fn new(native: &mut dyn Native, map: &'a Map) -> Result<Self, MapError> {
        let loaded = find(native, mask_of(&map.units), map.program.number);
        Ok(Self { loaded: loaded.ok_or_else(|| MapError::Gone(map.name.clone()))?, map })
    }

    /// Works with the map between two frames.
    fn with<T>(&self, work: impl FnOnce(&mut Maps, MapId) -> Result<T, Errno>) -> Result<T, MapError> {
        let map = self.map;
        self.loaded.with(|engine| {
            let id = engine.map(map.program.object(), map.declared());
            let id = id.ok_or_else(|| MapError::Gone(map.name.clone()))?;
            work(engine.maps(), id).map_err(|errno| map.refused(errno.number().into(), errno))
        })
    }

    /// The values of the map's processors, from those of all processors of an engine. Each of those takes a multiple of
    /// eight bytes.
    fn own_values(&self, all: Vec<u8>) -> Vec<u8> {
        let Some(processors) = &self.map.processors else { return all };
        let (bytes, stride) = (self.map.value_bytes(), self.map.value_bytes().next_multiple_of(8));
        let each = all.chunks(stride).skip(processors.start as usize).take(processors.len());
        each.flat_map(|value| &value[..bytes]).copied().collect()
    }
}

impl MapAccess for NativeAccess<'_> {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, MapError> {
        match self.with(|maps, id| maps.get(id, key)) {
            Ok(value) => Ok(Some(self.own_values(value))),
            Err(MapError::NoEntry(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn set(&mut self, key: &[u8], value: &[u8], store: Store) -> Result<(), MapError> {
        self.with(|maps, id| {
            let Some(processors) = &self.map.processors else { return maps.set(id, key, value, store) };
            let (bytes, stride) = (self.map.value_bytes(), self.map.value_bytes().next_multiple_of(8));
            let mut all = vec![0; stride * maps.cpus() as usize];
            let each = all.chunks_mut(stride).skip(processors.start as usize);
            each.zip(value.chunks(bytes)).for_each(|(to, from)| to[..bytes].copy_from_slice(from));
            maps.set(id, key, &all, store)
        })
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), MapError> {
        self.with(|maps, id| maps.delete(id, key))
    }

    fn slice(&mut self, from: u32) -> Result<Slice, MapError> {
        // In a trie, the lookup of an existing prefix finds that prefix.
        let (all, next) = self.with(|maps, id| maps.slice(id, from))?;
        Ok(Slice { entries: all.into_iter().map(|(key, value)| (key, self.own_values(value))).collect(), next })
    }

    fn take(&mut self) -> Result<Records, MapError> {
        self.with(|maps, id| {
            let mut all = Records::default();
            if !self.map.names_processors() {
                let records = std::iter::from_fn(|| maps.take_record(id));
                all.records.extend(records.map(|bytes| Record { processor: None, bytes }));
                all.lost = maps.ring(id).map_or(0, |ring| ring.lost());
            }
            for processor in 0..maps.map(id).shape.max_entries {
                let Some(events) = maps.events(id, processor) else { break };
                let events_of = std::iter::from_fn(|| events.take());
                all.records.extend(events_of.map(|bytes| Record { processor: Some(processor), bytes }));
                all.lost += events.lost();
            }
            Ok(all)
        })
    }
}
