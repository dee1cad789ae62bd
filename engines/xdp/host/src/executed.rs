// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Counts the rows that frames take, by executing them one after the other as engines/xdp/core.md defines them. This
//! needs no card, so it runs at every number of lanes. The maps are those of native code, which start with the object's
//! contents, and the frames of a capture see the changes of earlier ones.

use penstock_xdp_compiler::back::Compiled;
use penstock_xdp_compiler::ir::{self, Array, Layout};
use penstock_xdp_compiler::object::Object;
use penstock_xdp_compiler::rows::run::{Asked, Done, Machine, Outside, RunError, Surroundings};
use penstock_xdp_compiler::rows::{Asks, Lanes, Row};
use penstock_xdp_maps::{CreateError, Errno, MapId, Maps, Memory, MemoryError, Store};

/// Why frames cannot be carried through.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum ExecuteError {
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Maps(#[from] CreateError),
    #[error(transparent)]
    Rows(#[from] RunError),
    /// The program uses something that exists only in the card.
    #[error("a frame {0}: what rows it takes, only a card says (`penstock run --target rtl`)")]
    OnCard(&'static str),
}

/// A context that works on one frame after the other, the first one of its unit.
pub struct Executed<'a> {
    rows: &'a [Row],
    lanes: Lanes,
    around: Around<'a>,
}

impl<'a> Executed<'a> {
    /// For rows that expect the object's maps where the layout has them.
    pub fn new(
        object: &'a Object,
        compiled: &'a Compiled,
        lanes: Lanes,
        layout: &'a Layout,
    ) -> Result<Self, ExecuteError> {
        let mut maps = Maps::new(1)?;
        let ids = maps.add(&object.maps).into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(Self { rows: &compiled.rows, lanes, around: Around { maps, object, ids, layout, beyond: None } })
    }

    /// The maps, to be filled.
    pub fn maps(&mut self) -> &mut Maps {
        &mut self.around.maps
    }

    /// The map of that name.
    pub fn map(&self, name: &str) -> Option<MapId> {
        self.around.ids.get(self.around.object.map(name)?.0 as usize).copied()
    }

    /// Carries a frame that arrived on an interface through.
    ///
    /// # Errors
    /// It needs something that does not exist here.
    pub fn frame(&mut self, bytes: &[u8], ifindex: u32) -> Result<Done, ExecuteError> {
        let surroundings = Surroundings { ifindex, ..Surroundings::default() };
        let memory = ir::Memory::new(bytes);
        let done = Machine::new(self.rows, self.lanes, memory, surroundings, &mut self.around).run();
        match self.around.beyond.take() {
            Some(what) => Err(ExecuteError::OnCard(what)),
            None => match done? {
                Done { next: Some(_), .. } => Err(ExecuteError::OnCard("goes on in another program")),
                done => Ok(done),
            },
        }
    }
}

/// The addresses at which programs see values of searched maps, apart from all arrays: offset from their addresses in
/// native code.
const FOUND: [(u64, u64); 2] = [(0xE000_0000, Memory::CARD_MAPS as u64), (0xC000_0000, Memory::UNIT_MAPS as u64)];

/// The address at which programs see the data that native code has at another address.
fn found(native: u64) -> u64 {
    let of = FOUND.iter().find(|(_, from)| native >= *from);
    of.map_or(native, |(to, from)| native - from + to)
}

/// Maps around a context.
struct Around<'a> {
    maps: Maps,
    object: &'a Object,
    /// By index of the map.
    ids: Vec<MapId>,
    /// The addresses at which rows expect the arrays.
    layout: &'a Layout,
    /// The frame's request that this simulation cannot serve.
    beyond: Option<&'static str>,
}

impl Around<'_> {
    /// The place in the maps of the data at an address; None if it is outside of the maps.
    fn place(&self, address: u64) -> Option<u64> {
        let in_arrays = self.layout.arrays.iter().zip(&self.ids).find_map(|(array, id)| {
            let (entry, byte) = entry_at(array.as_ref()?, address)?;
            Some(self.maps.map(*id).values.address(entry, 0) + u64::from(byte))
        });
        let in_found = || FOUND.iter().find(|(to, _)| address >= *to).map(|(to, from)| address - to + from);
        in_arrays.or_else(in_found)
    }

    fn bytes(&self, memory: &ir::Memory, address: u64, count: u32) -> Option<Vec<u8>> {
        let there = || Some(self.maps.memory.bytes(self.place(address)?, count as usize).ok()?.to_vec());
        memory.read(address, count).or_else(there)
    }

    fn asked(&mut self, asked: &Asked, memory: &ir::Memory) -> Result<u64, &'static str> {
        let (Asks::Lookup { map, .. } | Asks::Update { map, .. } | Asks::Delete { map, .. }) = asked.asks else {
            return Err("calls a helper");
        };
        let map = map.ok_or("asks a map that is in another one")?;
        let index = self.layout.index(map.into()).ok_or("asks for a route")?;
        let id = *self.ids.get(index).ok_or("asks a map that is not there")?;
        let shape = self.maps.map(id).shape.clone();
        // The key: the bytes in the window, and the rest from memory.
        let mut key = asked.key.clone().unwrap_or_default();
        key.truncate(shape.key_bytes as usize);
        let rest = shape.key_bytes - key.len() as u32;
        const NOWHERE: &str = "has a key or a value where nothing is";
        if rest > 0 {
            key.extend(self.bytes(memory, asked.args[0] + key.len() as u64, rest).ok_or(NOWHERE)?);
        }
        let done = match asked.asks {
            Asks::Lookup { .. } => {
                let map = self.maps.map_mut(id);
                let place = map.find(&key, true);
                Ok(place.map_or(0, |place| found(map.values.address(place, 0))))
            }
            Asks::Update { .. } => {
                let value = self.bytes(memory, asked.args[1], shape.value_bytes).ok_or(NOWHERE)?;
                Store::from_flags(asked.args[2]).and_then(|store| self.maps.set(id, &key, &value, store)).map(|()| 0)
            }
            _ => self.maps.delete(id, &key).map(|()| 0),
        };
        Ok(done.unwrap_or_else(Errno::result))
    }

    /// Records the frame's request, if it is the first such one.
    fn note(&mut self, what: &'static str) {
        self.beyond.get_or_insert(what);
    }
}

/// Data that rows read and write outside of maps: records for the host.
const RECORDS: &str = "sends a record or a line to the host";

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
        let place = self.place(address);
        let bytes = place.and_then(|place| self.maps.memory.bytes(place, count.into()).ok());
        match bytes {
            Some(bytes) => bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)),
            None => {
                self.note(RECORDS);
                0
            }
        }
    }

    fn store(&mut self, address: u64, count: u8, value: u64) {
        let place = self.place(address);
        match place.and_then(|place| self.maps.memory.bytes_mut(place, count.into()).ok()) {
            Some(bytes) => bytes.copy_from_slice(&value.to_le_bytes()[..usize::from(count)]),
            None => self.note(RECORDS),
        }
    }

    fn call(&mut self, asked: &Asked, memory: &mut ir::Memory) -> u64 {
        self.asked(asked, memory).unwrap_or_else(|what| {
            self.note(what);
            0
        })
    }
}
