// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Units in native code with their driver, for tests through the engines' contract.
#![allow(dead_code, clippy::panic)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use penstock_engine::window::{UNIT_WINDOW, units_of};
use penstock_engine::{
    Access, AccessError, Bus, CardError, CardShape, Driver, Engine, EngineError, Identity, Image, Job, LoadUnits,
    Native, Part, PartJob, Request, Root, regs,
};
use penstock_unit::{Answer, Arrival, Block, Departure, Destination, Outside, Unit as _};
use penstock_xdp_host::{CardSettings, GroupSettings, XDP};
use penstock_xdp_soft::Unit;
use serde_json::Value as Json;

/// A folder for programs and entries that goes with it.
pub(crate) struct Folder(pub PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("penstock-xdp-host-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.0.join(name);
        std::fs::write(&file, text).unwrap();
        file
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Compiles a program for groups of this many units each; `given` as in [`PartJob`].
pub(crate) fn compile(
    program: &Path,
    part: &GroupSettings,
    sizes: &[u32],
    given: bool,
) -> Result<Vec<Arc<dyn Image>>, EngineError> {
    let (root, card) = (Root::find().unwrap(), CardSettings::default());
    let mut first = 0;
    let parts = (0..).zip(sizes).map(|(index, size)| {
        let units = first..first + size;
        first = units.end;
        PartJob { name: "", index, units, program, part, given }
    });
    let (design, parts) = (Path::new("design.toml"), parts.collect());
    XDP.compile(&Job { root: &root, design, ports: 2, groups: &[], tenants: &[], card: &card, parts })
}

pub(crate) fn compile_one(program: &Path, part: &GroupSettings) -> Arc<dyn Image> {
    compile(program, part, &[2], false).unwrap().remove(0)
}

/// Settings with a file of entries for a map.
pub(crate) fn begins(map: &str, file: PathBuf) -> GroupSettings {
    GroupSettings { maps: [(map.to_owned(), file)].into(), ..GroupSettings::default() }
}

/// Two units and a bus to them.
pub(crate) struct Card {
    pub units: Vec<Unit>,
    pub write_mask: u32,
    read: usize,
}

impl Card {
    pub(crate) fn new() -> (Self, Box<dyn Driver>) {
        let identity = |unit| Identity { unit, units: 2, ports: 2 };
        let part = GroupSettings::default();
        assert!(part.unit(identity(0)).is_some());
        let units = (0..2).map(|unit| Unit::new(identity(unit))).collect();
        let shape = CardShape { ports: 2, units: 2, parts: vec![(0, String::new(), 0..2)], tenants: Vec::new() };
        let mut card = Self { units, write_mask: 0, read: 0 };
        let mut driver = XDP.driver(&shape, &CardSettings::default());
        driver.begin(&mut card).unwrap();
        (card, driver)
    }

    /// Gives a unit frames.
    pub(crate) fn push(&mut self, unit: usize, frames: u8) {
        for slot in 1..=frames {
            self.units[unit].receive(slot, Arrival::default(), &[0; 60]);
        }
        self.units[unit].run(&mut Nobody, 1);
    }
}

impl Bus for Card {
    fn read(&mut self, address: u32) -> Result<u32, CardError> {
        let refused = AccessError { access: Access::Read, address };
        let offset = address.checked_sub(UNIT_WINDOW).ok_or(refused)?;
        let unit = &self.units[self.read];
        let low = unit.count_at(offset).map(|count| count as u32);
        Ok(low.or_else(|| unit.host_read(offset)).ok_or(refused)?)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
        match address {
            regs::CARD_UNIT_WRITE_MASK => self.write_mask = value,
            regs::CARD_UNIT_READ => self.read = value as usize,
            _ => {
                for unit in units_of(self.write_mask) {
                    assert!(self.units[unit as usize].host_write(address - UNIT_WINDOW, value));
                }
            }
        }
        Ok(())
    }

    fn pass(&mut self, _cycles: u64) -> Result<(), CardError> {
        Ok(())
    }

    fn native(&mut self) -> Option<&mut dyn Native> {
        Some(self)
    }
}

impl Native for Card {
    fn unit(&mut self, unit: u32) -> Option<&mut dyn penstock_unit::Unit> {
        Some(self.units.get_mut(unit as usize)?)
    }

    fn block(&mut self, _block: usize) -> Option<&mut dyn Block> {
        None
    }

    fn set_block(&mut self, _block: usize, _to: Box<dyn Block>) {}
}

/// Takes no frames, since programs here drop all.
pub(crate) struct Nobody;

impl Outside for Nobody {
    fn send(&mut self, departure: Departure, _bytes: &[u8]) -> Answer {
        panic!("{departure:?}")
    }

    fn generate(&mut self, _destination: Destination, _bytes: &[u8]) {}

    fn free(&mut self, _slot: u8) {}

    fn declare(&mut self, _count: u8, _bytes: u16) {}
}

/// Loads units as a device does, and starts them.
pub(crate) fn load(card: &mut Card, driver: &mut dyn Driver, units: u32, join: bool, image: &Arc<dyn Image>) {
    card.write(regs::CARD_UNIT_WRITE_MASK, units).unwrap();
    card.write(UNIT_WINDOW + regs::UNIT_RESET, 1).unwrap();
    let by_flow = false;
    driver.load_units(card, LoadUnits { group: 0, units, join, keep: false, by_flow }, &**image).unwrap();
    assert_eq!(card.write_mask, units, "UNIT_WRITE_MASK names the units that are loaded");
    card.write(UNIT_WINDOW + regs::UNIT_RESET, 0).unwrap();
}

/// Loads the whole card.
pub(crate) fn load_all(card: &mut Card, driver: &mut dyn Driver, image: &Arc<dyn Image>) {
    driver.check(&[(0, &**image)], true).unwrap();
    load(card, driver, 0b11, false, image);
    driver.loaded(card, &[(0, &**image)]).unwrap();
}

pub(crate) fn call(card: &mut Card, driver: &mut dyn Driver, service: &str, ask: Json) -> Result<Json, EngineError> {
    driver.call(card, &Request { service: service.to_owned(), ask })
}
