// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows that frames take, counted by carrying them out one after the other, as engines/xdp/core.md says: no card is needed, so it is done at every
//! number of lanes. Around the rows are the maps of native code, filled as the design says. Each frame is the first of its flow.

use penstock_device::{Lanes, Port, Root};
use penstock_xdp_compiler::ir::{Array, Layout, Memory};
use penstock_xdp_compiler::rows::Asks;
use penstock_xdp_compiler::rows::run::{Asked, Machine, Outside, Surroundings};
use penstock_xdp_maps::{Errno, MapId, Maps, Store};

use super::{BenchError, traffic, xdp};

/// Rows carried out for a frame of so many bytes, on average, by the design of a program in bench/xdp.
pub fn rows_a_frame(root: &Root, name: &'static str, lanes: Lanes, size: usize) -> Result<f64, BenchError> {
    let failed = |what: String| BenchError::Wrong(name, what);
    let (program, contents) = xdp::loaded(root, name, Some(lanes))?;
    let (compiled, placement) = program.translate().map_err(|error| failed(error.to_string()))?;
    let mut maps = Maps::new(1).map_err(|error| failed(error.to_string()))?;
    let ids = maps.add(&program.object().maps).map_err(|error| failed(error.to_string()))?;
    xdp::fill(name, &mut maps, &contents, |map| Some(ids[program.object().map(map)?.0 as usize]))?;
    let mut around = Around { maps, ids, layout: &placement.layout };
    let traffic = traffic::clean(xdp::ports(name), size);
    let mut rows = 0;
    for frame in &traffic.frames {
        let ifindex = if let Port::Ethernet(port) = frame.port { u32::from(port) + 1 } else { 0 };
        let surroundings = Surroundings { ifindex, ..Surroundings::default() };
        let memory = Memory::new(&traffic.bytes[frame.range.clone()]);
        let done = Machine::new(&compiled.rows, lanes, memory, surroundings, &mut around).run();
        rows += done.map_err(|error| failed(error.to_string()))?.rows;
    }
    Ok(rows as f64 / traffic.frames.len() as f64)
}

/// Where programs see values of maps that are searched: apart from all arrays.
const FOUND: u64 = 0x4000_0000;

/// Maps around a context, which is the first one of its unit.
struct Around<'a> {
    maps: Maps,
    /// By index of the map.
    ids: Vec<MapId>,
    /// Where rows expect the arrays.
    layout: &'a Layout,
}

impl Around<'_> {
    /// Where the maps have what is at an address.
    fn place(&self, address: u64) -> u64 {
        let in_arrays = self.layout.arrays.iter().zip(&self.ids).find_map(|(array, id)| {
            let (entry, byte) = entry_at(array.as_ref()?, address)?;
            Some(self.maps.map(*id).values.address(entry, 0) + u64::from(byte))
        });
        in_arrays.unwrap_or(address.wrapping_sub(FOUND))
    }

    fn bytes(&self, memory: &Memory, address: u64, count: u32) -> Option<Vec<u8>> {
        let there = || Some(self.maps.memory.bytes(self.place(address), count as usize).ok()?.to_vec());
        memory.read(address, count).or_else(there)
    }

    fn asked(&mut self, asked: &Asked, memory: &Memory) -> Option<Result<u64, Errno>> {
        let (Asks::Lookup { map, .. } | Asks::Update { map, .. } | Asks::Delete { map, .. }) = asked.asks else {
            return None;
        };
        // None of these programs has maps of maps.
        let id = *self.ids.get(usize::from(map?))?;
        let shape = self.maps.map(id).shape.clone();
        // The key: what the window has of it, and the rest from memory.
        let mut key = asked.key.clone().unwrap_or_default();
        key.truncate(shape.key_bytes as usize);
        let rest = shape.key_bytes - key.len() as u32;
        if rest > 0 {
            key.extend(self.bytes(memory, asked.args[0] + key.len() as u64, rest)?);
        }
        Some(match asked.asks {
            Asks::Lookup { .. } => {
                let map = self.maps.map_mut(id);
                let place = map.find(&key, true);
                Ok(place.map_or(0, |place| FOUND + map.values.address(place, 0)))
            }
            Asks::Update { .. } => {
                let value = self.bytes(memory, asked.args[1], shape.value_bytes)?;
                Store::from_flags(asked.args[2]).and_then(|store| self.maps.set(id, &key, &value, store)).map(|()| 0)
            }
            _ => self.maps.delete(id, &key).map(|()| 0),
        })
    }
}

/// Which value of an array is at an address, and which byte of it.
fn entry_at(array: &Array, address: u64) -> Option<(u32, u32)> {
    let offset = u32::try_from(address.checked_sub(array.address.into())?).ok()?;
    let (bank, inside, banks) = match array.banks.filter(|_| array.entries > 1) {
        Some(banks) => (offset / banks.bytes, offset % banks.bytes, banks.count),
        None => (0, offset, 1),
    };
    let entry = inside.checked_div(array.stride)?.checked_mul(banks)?.checked_add(bank)?;
    (bank < banks && entry < array.entries).then(|| (entry, inside % array.stride))
}

impl Outside for Around<'_> {
    fn time(&mut self) -> u64 {
        0
    }

    fn random(&mut self) -> u32 {
        0
    }

    fn load(&mut self, address: u64, count: u8) -> u64 {
        let bytes = self.maps.memory.bytes(self.place(address), count.into()).unwrap_or_default();
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    fn store(&mut self, address: u64, count: u8, value: u64) {
        let place = self.place(address);
        if let Ok(bytes) = self.maps.memory.bytes_mut(place, count.into()) {
            bytes.copy_from_slice(&value.to_le_bytes()[..usize::from(count)]);
        }
    }

    fn call(&mut self, asked: &Asked, memory: &mut Memory) -> u64 {
        self.asked(asked, memory).map_or(0, |done| done.unwrap_or_else(Errno::result))
    }
}
