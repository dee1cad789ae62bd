// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Makes the maps of a card in RTL, and asks them as its units do (engines/xdp/maps.md).

use penstock_xdp_compiler::card::{CARD, CardMap, repeatable_seed};

use super::banks::{CardBanks, UPDATE};
use crate::device::DeviceError;
use crate::host::{Bus, word_of};
use crate::regs;
use crate::window::MAPS_WINDOW;
use crate::xdp::RowImage;

/// Bits of COMMAND when it is read: a request is under way, a map is being made.
const REQUEST: u32 = 1;
const MAKING: u32 = 2;
/// A store, and where the parts of its key and all its parts are counted.
const STORE: u32 = 1 | 1 << 4 | 1 << 8;
/// Where parts of a request and answers stand.
pub const ANSWERS: u32 = MAPS_WINDOW + regs::MAPS_HOST_DATA;
/// Where INFO has an access's bytes.
pub const BYTES_AT: u32 = 25;
/// Looks at COMMAND until a map must be made: making one takes a cycle for each of a bank's rows, a look some cycles.
const LOOKS: u32 = 1 << 16;
/// Cycles between two looks.
const LOOK: u64 = 32;

/// Gives a card the seed of its hash, before any map of keys is made.
pub fn seed(bus: &mut impl Bus) -> Result<(), DeviceError> {
    for (at, word) in (0..).zip(repeatable_seed()) {
        bus.write(MAPS_WINDOW + regs::MAPS_HOST_SEED_LOW, word as u32)?;
        bus.write(MAPS_WINDOW + regs::MAPS_HOST_SEED_HIGH, (word >> 32) as u32)?;
        bus.write(MAPS_WINDOW + regs::MAPS_HOST_SEED_AT, at)?;
    }
    Ok(())
}

/// Makes the maps of a program that are not there yet, empty but for its global variables.
pub fn make(bus: &mut impl Bus, image: &RowImage) -> Result<(), DeviceError> {
    let maps: Vec<&CardMap> = image.maps.iter().filter(|map| !image.kept.contains(&map.number)).collect();
    for map in &maps {
        for (offset, word) in (0..).step_by(4).zip(map.descriptor) {
            bus.write(MAPS_WINDOW + regs::MAPS_HOST_DESCRIPTOR + offset, word)?;
        }
        bus.write(MAPS_WINDOW + regs::MAPS_HOST_DEFINE, map.number)?;
        wait(bus, MAKING)?;
    }
    for (address, bytes) in maps.iter().flat_map(|map| &map.contents) {
        for (offset, chunk) in (0..).step_by(8).zip(bytes.chunks(8)) {
            store(bus, address + offset, chunk)?;
        }
    }
    for map in maps {
        for (key, value) in &map.entries {
            let answer = CardBanks { bus: &mut *bus }.ask(UPDATE, map.number, key, value)?;
            if answer != 0 {
                return Err(DeviceError::Card(format!(
                    "map {} does not take what it begins with: {answer}",
                    map.number
                )));
            }
        }
    }
    Ok(())
}

/// Stores up to 8 bytes at an address.
pub fn store(bus: &mut impl Bus, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
    request(bus, STORE, (address - CARD) | (bytes.len() as u32) << BYTES_AT, bytes)
}

/// Sends a request with the parts that begin with `data` (behind that stands what was there), and waits until it is answered: the answer stands from [`ANSWERS`] on.
pub fn request(bus: &mut impl Bus, command: u32, info: u32, data: &[u8]) -> Result<(), DeviceError> {
    for (word, offset) in data.chunks(4).map(word_of).zip((0..).step_by(4)) {
        bus.write(ANSWERS + offset, word)?;
    }
    bus.write(MAPS_WINDOW + regs::MAPS_HOST_INFO, info)?;
    bus.write(MAPS_WINDOW + regs::MAPS_HOST_COMMAND, command)?;
    wait(bus, REQUEST)
}

/// Waits until a bit of COMMAND is down.
fn wait(bus: &mut impl Bus, bit: u32) -> Result<(), DeviceError> {
    for _ in 0..LOOKS {
        if bus.read(MAPS_WINDOW + regs::MAPS_HOST_COMMAND)? & bit == 0 {
            return Ok(());
        }
        bus.pass(LOOK)?;
    }
    Err(DeviceError::Card("the card's maps do not answer the host".into()))
}
