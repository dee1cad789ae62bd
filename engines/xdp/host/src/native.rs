// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Maps of a card in native code.

use penstock_shell::Card;
use penstock_xdp_maps::{Errno, MapId, Maps, Store};

use super::{Entry, Map, MapError, Record, Records};
use crate::design::mask_of;

impl Map {
    /// Works with the map between two frames.
    fn with<T>(&self, card: &Card, work: impl FnOnce(&mut Maps, MapId) -> Result<T, Errno>) -> Result<T, MapError> {
        let gone = || MapError::Gone(self.name.clone());
        let loaded = card.loaded_xdp(mask_of(&self.units), self.program.number).ok_or_else(gone)?;
        let object = self.program.object();
        loaded.with(|engine| {
            let id = engine.map(object, self.declared()).ok_or_else(gone)?;
            work(engine.maps(), id).map_err(|errno| self.refused(errno.number().into(), errno))
        })
    }

    /// The values of this card's processors, out of those of all that an engine has: each of those takes a multiple of eight bytes.
    fn ours(&self, all: Vec<u8>) -> Vec<u8> {
        let Some(processors) = &self.processors else { return all };
        let (bytes, stride) = (self.value_bytes(), self.value_bytes().next_multiple_of(8));
        let each = all.chunks(stride).skip(processors.start as usize).take(processors.len());
        each.flat_map(|value| &value[..bytes]).copied().collect()
    }
}

pub fn get(card: &Card, map: &Map, key: &[u8]) -> Result<Option<Vec<u8>>, MapError> {
    match map.with(card, |maps, id| maps.get(id, key)) {
        Ok(value) => Ok(Some(map.ours(value))),
        Err(MapError::NoEntry(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

pub fn set(card: &Card, map: &Map, key: &[u8], value: &[u8], store: Store) -> Result<(), MapError> {
    map.with(card, |maps, id| {
        let Some(processors) = &map.processors else { return maps.set(id, key, value, store) };
        let (bytes, stride) = (map.value_bytes(), map.value_bytes().next_multiple_of(8));
        let mut all = vec![0; stride * maps.cpus() as usize];
        let each = all.chunks_mut(stride).skip(processors.start as usize);
        each.zip(value.chunks(bytes)).for_each(|(to, from)| to[..bytes].copy_from_slice(from));
        maps.set(id, key, &all, store)
    })
}

pub fn delete(card: &Card, map: &Map, key: &[u8]) -> Result<(), MapError> {
    map.with(card, |maps, id| maps.delete(id, key))
}

pub fn entries(card: &Card, map: &Map) -> Result<Vec<Entry>, MapError> {
    // Of a trie a lookup by a prefix is that of the prefix itself, since it is there.
    let all = map.with(card, |maps, id| maps.dump(id))?;
    Ok(all.into_iter().map(|(key, value)| (key, map.ours(value))).collect())
}

pub fn take(card: &Card, map: &Map) -> Result<Records, MapError> {
    map.with(card, |maps, id| {
        let mut all = Records::default();
        if !map.names_processors() {
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
