// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The environment of rows that are executed: the maps and helpers of [`super::world`].

use penstock_xdp_compiler::check::find_helper;
use penstock_xdp_compiler::ir::{Memory, Special, World, map_pointer};
use penstock_xdp_compiler::maps::MapShape;
use penstock_xdp_compiler::object::Object;
use penstock_xdp_compiler::rows::Asks;
use penstock_xdp_compiler::rows::run::{Asked, Outside};

use super::world::{Plain, map_of};

/// The maps of the form's interpreter, for the requests of rows.
pub(crate) struct Around {
    pub world: Plain,
    key_bytes: Vec<u32>,
    value_bytes: Vec<u32>,
}

impl Around {
    pub(crate) fn new(object: &Object) -> Around {
        let sizes = |of: fn(&MapShape) -> u32| object.maps.iter().map(|map| of(&map.shape)).collect();
        Around {
            world: Plain::new(object),
            key_bytes: sizes(|shape| shape.key_bytes),
            value_bytes: sizes(|shape| shape.value_bytes),
        }
    }
}

impl Outside for Around {
    fn time(&mut self) -> u64 {
        self.world.special(Special::Time)
    }

    fn random(&mut self) -> u32 {
        self.world.special(Special::Random) as u32
    }

    fn load(&mut self, address: u64, count: u8) -> u64 {
        let bytes = self.world.read(address, count.into()).unwrap();
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    fn store(&mut self, address: u64, count: u8, value: u64) {
        self.world.write(address, &value.to_le_bytes()[..usize::from(count)]).unwrap();
    }

    fn call(&mut self, asked: &Asked, memory: &mut Memory) -> u64 {
        let pointed = map_of(asked.args[3]);
        let (number, map) = match asked.asks {
            Asks::Lookup { map, .. } => (1, map),
            Asks::Update { map, .. } => (2, map),
            Asks::Delete { map, .. } => (3, map),
            Asks::Helper { number } => {
                let helper = find_helper(number.into()).unwrap();
                return self.world.call(memory, helper, None, &asked.args[..5]).unwrap_or_else(|| panic!("{asked:?}"));
            }
            _ => panic!("{asked:?}"),
        };
        let map = map.map(u32::from).or(pointed).unwrap();
        // The key: bytes from the window, the rest from memory.
        let bytes = self.key_bytes[map as usize];
        let mut key = asked.key.clone().unwrap_or_default();
        key.truncate(bytes as usize);
        let rest = bytes - key.len() as u32;
        if rest > 0 {
            key.extend(memory.read(asked.args[0] + key.len() as u64, rest).unwrap());
        }
        // The world reads it from memory: from the far end of the stack of a copy.
        let mut copy = memory.clone();
        copy.write(0x2_0000, &key).unwrap();
        // A value may come from the stack or from the packet: a context has no other private memory.
        if let Asks::Update { .. } = asked.asks {
            let bytes = self.value_bytes[map as usize];
            assert!(memory.read(asked.args[1], bytes).is_some(), "{asked:?}");
        }
        let args = [map_pointer(map), 0x2_0000, asked.args[1], asked.args[2], 0];
        self.world.call(&mut copy, find_helper(number).unwrap(), Some(map), &args).unwrap()
    }
}
