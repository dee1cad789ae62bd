// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Brings a card up as a host does: through its registers.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use penstock_rpu::accelerator::{Kind, Kinds};
use penstock_rpu::prefix_table;
use penstock_rpu_compiler::{Firmware, Options, compile};
use penstock_shell::{Card, regs};
use penstock_unit::{Identity, Unit};

pub(crate) const WINDOW: u32 = 0x4000_0000;
const IMEM: u32 = WINDOW + 0x0200_0000;
const DMEM: u32 = WINDOW + 0x0080_0000;
const TABLE: u32 = WINDOW + 0x0300_0000;

pub(crate) const ROUND_ROBIN: u32 = 0;
pub(crate) const LEAST_LOADED: u32 = 1;
pub(crate) const FLOW_HASH: u32 = 2;
pub(crate) const FLOW_HASH_DROP: u32 = 3;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().to_owned()
}

/// A program of the project, by its name in engines/rpu/programs.
pub(crate) fn program(name: &str) -> Firmware {
    build(&root().join("engines/rpu/programs").join(name))
}

/// A program of which only `main` is given.
pub(crate) fn main_of(body: &str) -> Firmware {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("penstock-{}-{}.c", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, format!("#include <penstock.h>\nint main(void) {{ {body} }}\n")).unwrap();
    let firmware = build(&path);
    std::fs::remove_file(path).unwrap();
    firmware
}

pub(crate) fn build(path: &Path) -> Firmware {
    compile(&[path.to_owned()], &Options::new(&root())).unwrap()
}

/// Units of a card of so many ports, each an rpu with these accelerators.
pub(crate) fn rpu_units(ports: u8, units: u8, accelerators: Kinds) -> Vec<Box<dyn Unit>> {
    let unit =
        |unit| -> Box<dyn Unit> { Box::new(penstock_rpu::Unit::new(Identity { unit, units, ports }, accelerators)) };
    (0..units).map(unit).collect()
}

pub(crate) fn card(ports: u8, units: u8, policy: u32, firmware: &Firmware) -> Card {
    card_with_table(ports, units, policy, firmware, "")
}

/// `list` is the text of a block list.
pub(crate) fn card_with_table(ports: u8, units: u8, policy: u32, firmware: &Firmware, list: &str) -> Card {
    let mut card = Card::new(ports, rpu_units(ports, units, [Kind::IpPrefix].into_iter().collect()));
    let all = u32::MAX >> (32 - units);
    card.write(regs::CARD_UNIT_WRITE_MASK, all).unwrap();
    for (base, bytes) in [(IMEM, &firmware.imem), (DMEM, &firmware.dmem)] {
        for (word, offset) in bytes.chunks_exact(4).zip((0..).step_by(4)) {
            card.write(base + offset, u32::from_le_bytes(word.try_into().unwrap())).unwrap();
        }
    }
    let prefixes = prefix_table::parse("list", list).unwrap();
    for (offset, word) in prefix_table::compile("list", &prefixes).unwrap() {
        card.write(TABLE + offset, word).unwrap();
    }
    for entry in 0..regs::CARD_RETA_COUNT {
        card.write(regs::CARD_RETA + 4 * entry, entry % u32::from(units)).unwrap();
    }
    card.write(regs::CARD_POLICY, policy).unwrap();
    card.write(regs::CARD_UNIT_ENABLE, all).unwrap();
    card.write(regs::CARD_PORT_ENABLE, 0xF).unwrap();
    card.write(WINDOW + regs::UNIT_RESET, 0).unwrap();
    card
}

/// Reads a register of a unit.
pub(crate) fn unit_read(card: &mut Card, unit: u8, register: u32) -> u32 {
    card.write(regs::CARD_UNIT_READ, unit.into()).unwrap();
    card.read(WINDOW + register).unwrap()
}

/// Sends the frames of all flows to one unit.
pub(crate) fn all_flows_to(card: &mut Card, unit: u32) {
    for entry in 0..regs::CARD_RETA_COUNT {
        card.write(regs::CARD_RETA + 4 * entry, unit).unwrap();
    }
}

/// Slots of a unit that are free.
pub(crate) fn free_slots(card: &mut Card, unit: u32) -> u32 {
    card.write(regs::CARD_SLOTS_UNIT, unit).unwrap();
    card.read(regs::CARD_SLOTS_FREE).unwrap()
}

/// Reads a register of a stream.
pub(crate) fn stream_read(card: &mut Card, stream: u32, register: u32) -> u32 {
    card.read(regs::CARD_STREAM_BASE + stream * regs::CARD_STREAM_STRIDE + register).unwrap()
}

/// Frames of a capture file in the classic format, little endian.
pub(crate) fn capture(path: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let mut frames = Vec::new();
    let mut rest = &bytes[24..];
    while rest.len() >= 16 {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        frames.push(rest[16..16 + length].to_vec());
        rest = &rest[16 + length..];
    }
    frames
}
