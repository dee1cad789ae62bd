// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Makes the maps of a card in hardware, and sends them requests as units do (engines/xdp/maps.md).

use penstock_engine::Bus;
use penstock_engine::window::word_of;
use penstock_xdp_compiler::card::{CARD, CardMap, repeatable_seed};

use super::banks::{CardBanks, UPDATE};
use super::error::RowsError;
use super::image::RowImage;
use crate::window::MAPS_WINDOW;

/// Bits of COMMAND when it is read: a request is under way, a map is being made, card memory has answered with an error.
const REQUEST: u32 = 1;
const MAKING: u32 = 2;
const LOST: u32 = 4;
/// COMMAND of a store: its operation, with one part for the key and one part in all.
const STORE: u32 = 1 | 1 << 4 | 1 << 8;
/// Host address of the parts of a request, and of its answer.
pub(super) const ANSWERS: u32 = MAPS_WINDOW + penstock_xdp_soft::regs::MAPS_HOST_DATA;
/// Lowest bit of an access's number of bytes in INFO.
pub(super) const BYTES_AT: u32 = 25;
/// Reads of COMMAND until a map must be made. Making one takes a cycle for each row of a bank, a read takes some
/// cycles.
const LOOKS: u32 = 1 << 16;
/// Cycles between two reads.
const LOOK: u64 = 32;

/// Gives a card the seed of its hash, before any map of keys is made.
pub(crate) fn seed(bus: &mut dyn Bus) -> Result<(), RowsError> {
    for (at, word) in (0..).zip(repeatable_seed()) {
        bus.write(MAPS_WINDOW + penstock_xdp_soft::regs::MAPS_HOST_SEED_LOW, word as u32)?;
        bus.write(MAPS_WINDOW + penstock_xdp_soft::regs::MAPS_HOST_SEED_HIGH, (word >> 32) as u32)?;
        bus.write(MAPS_WINDOW + penstock_xdp_soft::regs::MAPS_HOST_SEED_AT, at)?;
    }
    Ok(())
}

/// Makes the maps of a program that the card does not have yet, with the entries that the object declares.
pub(super) fn make(bus: &mut dyn Bus, image: &RowImage) -> Result<(), RowsError> {
    let maps: Vec<&CardMap> = image.maps.iter().filter(|map| !image.kept.contains(&map.number)).collect();
    for map in &maps {
        for (offset, word) in (0..).step_by(4).zip(map.descriptor) {
            bus.write(MAPS_WINDOW + penstock_xdp_soft::regs::MAPS_HOST_DESCRIPTOR + offset, word)?;
        }
        bus.write(MAPS_WINDOW + penstock_xdp_soft::regs::MAPS_HOST_DEFINE, map.number)?;
        wait(bus, MAKING)?;
    }
    for (address, bytes) in maps.iter().flat_map(|map| &map.contents) {
        for (offset, chunk) in (0..).step_by(8).zip(bytes.chunks(8)) {
            store(bus, address + offset, chunk)?;
        }
    }
    for map in maps {
        for (key, value) in &map.entries {
            let answer = CardBanks { bus }.ask(UPDATE, map.number, key, value)?;
            if answer != 0 {
                return Err(RowsError::Initial { map: map.number, errno: -answer });
            }
        }
    }
    Ok(())
}

/// Stores up to 8 bytes at an address.
pub(super) fn store(bus: &mut dyn Bus, address: u32, bytes: &[u8]) -> Result<(), RowsError> {
    request(bus, STORE, (address - CARD) | (bytes.len() as u32) << BYTES_AT, bytes)
}

/// Sends a request and waits for its answer, which is at [`ANSWERS`] then. The parts of the request begin with `data`;
/// the bytes after that keep their values.
pub(super) fn request(bus: &mut dyn Bus, command: u32, info: u32, data: &[u8]) -> Result<(), RowsError> {
    for (word, offset) in data.chunks(4).map(word_of).zip((0..).step_by(4)) {
        bus.write(ANSWERS + offset, word)?;
    }
    bus.write(MAPS_WINDOW + penstock_xdp_soft::regs::MAPS_HOST_INFO, info)?;
    bus.write(MAPS_WINDOW + penstock_xdp_soft::regs::MAPS_HOST_COMMAND, command)?;
    wait(bus, REQUEST)
}

/// Waits until a bit of COMMAND is 0.
fn wait(bus: &mut dyn Bus, bit: u32) -> Result<(), RowsError> {
    for _ in 0..LOOKS {
        let command = bus.read(MAPS_WINDOW + penstock_xdp_soft::regs::MAPS_HOST_COMMAND)?;
        if command & LOST != 0 {
            return Err(RowsError::Memory(bus.read(MAPS_WINDOW + penstock_xdp_soft::regs::MAPS_HOST_MEMORY_ERRORS)?));
        }
        if command & bit == 0 {
            return Ok(());
        }
        bus.pass(LOOK)?;
    }
    Err(RowsError::NoAnswer)
}
