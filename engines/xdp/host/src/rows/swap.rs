// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Another program for xdp units while they work: it is brought into the bank of row memory that they do not read, and taken from there by the frames
//! that begin then (engines/xdp/core.md, "Frames").

use std::sync::Arc;

use penstock_xdp_compiler::ir::CONTEXTS;

use crate::device::DeviceError;
use crate::host::{Bus, LOOK, write_rows, write_unit_maps};
use crate::image::{GroupImage, Program};
use crate::maps::{Entry, Map, make};
use crate::regs;
use crate::window::UNIT_WINDOW;
use crate::xdp::{RowImage, XdpProgram};

/// Cycles until a unit has ended its frames of the program before: sixteen contexts in turn, for as many rows as each may take, and what they wait
/// for meanwhile.
const END_LIMIT: u64 = 1 << 23;

/// The program that a swap brings.
pub fn program(image: &GroupImage) -> Result<&Arc<XdpProgram>, DeviceError> {
    let text = match &image.program {
        Program::Xdp(program) => return Ok(program),
        Program::Rpu(_) => "packet units start anew with another program: reload it",
        Program::Rows(_) => "nobody knows the maps of rows that were put together by hand: load them",
    };
    Err(DeviceError::Unsupported(text.into()))
}

/// What maps begin with that were not kept.
pub fn begun_anew<'a>(image: &'a GroupImage, kept: &[(String, bool)]) -> impl Iterator<Item = &'a (Map, Vec<Entry>)> {
    let is_kept = |name: &str| kept.iter().any(|(known, kept)| *kept && known == name);
    image.maps.iter().filter(move |(map, _)| !is_kept(map.declared()))
}

/// Writes rows beside those that units of the mask carry out, and makes the maps that are new.
pub fn bring(bus: &mut impl Bus, units: u32, image: &RowImage) -> Result<(), DeviceError> {
    for (other, units) in by_bank(bus, units)? {
        bus.write(regs::CARD_UNIT_WRITE_MASK, units)?;
        write_rows(bus, image, 1 - other)?;
    }
    bus.write(regs::CARD_UNIT_WRITE_MASK, units)?;
    write_unit_maps(bus, image)?;
    make::make(bus, image)
}

/// Has frames that begin from now on find their program in the other bank.
pub fn change(bus: &mut impl Bus, units: u32) -> Result<(), DeviceError> {
    for (bank, units) in by_bank(bus, units)? {
        bus.write(regs::CARD_UNIT_WRITE_MASK, units)?;
        bus.write(UNIT_WINDOW + regs::XDP_HOST_BANK, 1 - bank)?;
    }
    Ok(())
}

/// Waits until no context of these units is at work in the bank where no frame begins any more.
pub fn await_end(bus: &mut impl Bus, units: u32) -> Result<(), DeviceError> {
    let mut waited = 0;
    for (bank, units) in by_bank(bus, units)? {
        for unit in each(units) {
            while register(bus, unit, regs::XDP_HOST_WORKING)? >> ((1 - bank) * CONTEXTS) & 0xFFFF != 0 {
                if waited >= END_LIMIT {
                    return Err(DeviceError::Card(format!(
                        "unit {unit} has worked for {END_LIMIT} cycles on a frame of the program before; reload it"
                    )));
                }
                bus.pass(LOOK)?;
                waited += LOOK;
            }
        }
    }
    Ok(())
}

/// Units of the mask by the bank in which their frames begin.
fn by_bank(bus: &mut impl Bus, units: u32) -> Result<Vec<(u32, u32)>, DeviceError> {
    let mut masks = [0, 0];
    for unit in each(units) {
        masks[(register(bus, unit, regs::XDP_HOST_BANK)? & 1) as usize] |= 1 << unit;
    }
    Ok((0..).zip(masks).filter(|(_, units)| *units != 0).collect())
}

fn register(bus: &mut impl Bus, unit: u32, register: u32) -> Result<u32, DeviceError> {
    bus.write(regs::CARD_UNIT_READ, unit)?;
    bus.read(UNIT_WINDOW + register)
}

fn each(units: u32) -> impl Iterator<Item = u32> {
    (0..u32::BITS).filter(move |unit| units >> unit & 1 == 1)
}
