// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The driver of packet units: the same on every target, as everything goes over their windows.

use std::any::Any;
use std::sync::Arc;

use penstock_engine::window::{UNIT_WINDOW, mask_of, read_unit, units_of, word_of};
use penstock_engine::{
    Bus, CardError, CardShape, Driver, EngineError, Image, Kept, LoadUnits, Request, UnitMemory, regs,
};
use penstock_rpu::accelerator::{Kind, Kinds};
use penstock_rpu::regs as own;
use penstock_rpu_compiler::Firmware;
use serde_json::Value as Json;

use crate::image::RpuImage;
use crate::{diagnosis, errors, kept, service};

/// Places in the window of a unit: data memory, packet memory, instruction memory, tables of accelerators.
pub(crate) const UNIT_DMEM: u32 = 0x080_0000;
pub(crate) const UNIT_PMEM: u32 = 0x100_0000;
pub(crate) const UNIT_IMEM: u32 = 0x200_0000;
pub(crate) const UNIT_TABLES: u32 = 0x300_0000;

/// The memories of a unit, as the host sees them.
pub(crate) const MEMORIES: &[UnitMemory] = &[
    UnitMemory { name: "imem", about: "instruction memory", address: UNIT_IMEM, size: 64 << 10 },
    UnitMemory { name: "dmem", about: "data memory", address: UNIT_DMEM, size: 32 << 10 },
    UnitMemory { name: "pmem", about: "packet memory", address: UNIT_PMEM, size: 1 << 20 },
    UnitMemory { name: "table", about: "tables", address: UNIT_TABLES, size: 16 << 20 },
];

/// The packet units of a card.
pub(crate) struct RpuDriver {
    pub shape: CardShape,
    /// Program of each unit of the card, by number.
    firmware: Vec<Option<Arc<Firmware>>>,
}

impl RpuDriver {
    pub(crate) fn new(shape: &CardShape) -> Self {
        Self { shape: shape.clone(), firmware: vec![None; shape.units as usize] }
    }

    /// The program that a unit runs.
    pub(crate) fn firmware(&self, unit: u32) -> Option<&Arc<Firmware>> {
        self.firmware.get(unit as usize)?.as_ref()
    }

    /// Accelerators of a unit, from its register.
    pub(crate) fn accelerators(bus: &mut dyn Bus, unit: u32) -> Result<Kinds, CardError> {
        let mask = read_unit(bus, unit, own::RPU_HOST_ACCEL)?;
        Ok(Kind::ALL.into_iter().filter(|kind| mask >> *kind as u32 & 1 == 1).collect())
    }
}

/// Writes tables into the units that are written to.
fn write_table(bus: &mut dyn Bus, words: &[(u32, u32)]) -> Result<(), CardError> {
    words.iter().try_for_each(|(offset, word)| bus.write(UNIT_WINDOW + UNIT_TABLES + offset, *word))
}

/// Reads data memory of a unit: `size` bytes from `offset` on.
pub(crate) fn read_data(bus: &mut dyn Bus, unit: u32, offset: u32, size: u32) -> Result<Vec<u8>, CardError> {
    let first = offset & !3;
    let mut bytes = Vec::new();
    for word in (first..offset + size).step_by(4) {
        bytes.extend(read_unit(bus, unit, UNIT_DMEM + word)?.to_le_bytes());
    }
    let skip = (offset - first) as usize;
    Ok(bytes[skip..skip + size as usize].to_vec())
}

/// Writes a memory of the units that are written to.
fn write_memory(bus: &mut dyn Bus, base: u32, bytes: &[u8]) -> Result<(), CardError> {
    let words = bytes.chunks(4).map(word_of);
    (base..).step_by(4).zip(words).try_for_each(|(offset, word)| bus.write(UNIT_WINDOW + offset, word))
}

impl Driver for RpuDriver {
    fn load_units(&mut self, bus: &mut dyn Bus, load: LoadUnits, image: &dyn Image) -> Result<(), EngineError> {
        let RpuImage { firmware, table } = own(image)?;
        write_memory(bus, UNIT_IMEM, &firmware.imem)?;
        let mut units = units_of(load.units);
        // Kept variables are a unit's own: only a unit that is loaded alone can keep them.
        let before = match (units.next(), units.next()) {
            (Some(unit), None) if load.keep => self.firmware(unit).map(|before| (unit, Arc::clone(before))),
            _ => None,
        };
        match before {
            Some((unit, before)) => {
                let data = kept::data(bus, unit, &before, firmware)?;
                write_memory(bus, UNIT_DMEM, &data)?;
            }
            None => write_memory(bus, UNIT_DMEM, &firmware.dmem)?,
        }
        write_table(bus, table)?;
        for unit in units_of(load.units) {
            if let Some(runs) = self.firmware.get_mut(unit as usize) {
                *runs = Some(Arc::clone(firmware));
            }
        }
        Ok(())
    }

    fn load_block(&mut self, _bus: &mut dyn Bus, _block: usize, _image: &dyn Image) -> Result<(), EngineError> {
        Err(EngineError::unsupported("the rpu engine has units and no inline blocks"))
    }

    fn swap(&mut self, _bus: &mut dyn Bus, _part: usize, _image: &dyn Image) -> Result<Kept, EngineError> {
        Err(EngineError::unsupported("packet units start anew with another program: reload it"))
    }

    fn locate(&self, unit: u32, pc: u32) -> Option<String> {
        self.firmware(unit)?.locate(pc)
    }

    fn ending(&self, bus: &mut dyn Bus, unit: u32, pc: u32) -> Result<Option<String>, EngineError> {
        Ok(diagnosis::ending(self, bus, unit, pc)?)
    }

    fn waits_at(&self, bus: &mut dyn Bus, unit: u32, pc: u32) -> Result<Option<u32>, EngineError> {
        let Some(firmware) = self.firmware(unit) else { return Ok(None) };
        Ok(diagnosis::waits_at(firmware, bus, unit, pc)?)
    }

    fn explain(&self, bus: &mut dyn Bus, unit: u32, flags: u32) -> Result<Vec<String>, EngineError> {
        Ok(errors::explain(self, bus, unit, flags)?)
    }

    fn cause(&self, bus: &mut dyn Bus, unit: u32, flags: u32) -> Result<Option<String>, EngineError> {
        Ok(errors::cause(bus, unit, flags)?)
    }

    fn refill(&mut self, bus: &mut dyn Bus, part: usize, image: &dyn Image) -> Result<(), EngineError> {
        let RpuImage { table, .. } = own(image)?;
        let Some((_, _, units)) = self.shape.parts.iter().find(|(index, ..)| *index == part) else { return Ok(()) };
        bus.write(regs::CARD_UNIT_WRITE_MASK, mask_of(units))?;
        Ok(write_table(bus, table)?)
    }

    fn call(&mut self, bus: &mut dyn Bus, request: &Request) -> Result<Json, EngineError> {
        match request.service.as_str() {
            service::NAME => service::answer(self, bus, &request.ask),
            name => Err(EngineError::unsupported(format!("packet units have no service `{name}`"))),
        }
    }
}

/// An image of this engine.
fn own(image: &dyn Image) -> Result<&RpuImage, EngineError> {
    let image = (image as &dyn Any).downcast_ref();
    image.ok_or_else(|| EngineError::unsupported("packet units run firmware, and this image is another engine's"))
}
