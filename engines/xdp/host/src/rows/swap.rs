// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Swaps the program of xdp units in hardware while they work: the rows go into the bank of row memory that no frame
//! reads, and frames that begin after the change read that bank (engines/xdp/core.md, "Frames").

use penstock_engine::window::{UNIT_WINDOW, read_unit, units_of};
use penstock_engine::{Bus, CardError, regs};
use penstock_xdp_compiler::ir::CONTEXTS;

use super::error::RowsError;
use super::image::RowImage;
use super::make;
use super::{write_rows, write_unit_maps};

/// Cycles until a unit must have ended its frames of the program before: sixteen contexts in turn, each for as many
/// rows as a frame may take, and the requests of those rows.
const END_LIMIT: u64 = 1 << 23;
/// Cycles between two checks whether it has.
const LOOK: u64 = 100;

/// Writes rows into the bank that units of the mask do not run, and makes the maps that are new.
pub(crate) fn bring(bus: &mut dyn Bus, units: u32, image: &RowImage) -> Result<(), RowsError> {
    for (other, units) in by_bank(bus, units)? {
        bus.write(regs::CARD_UNIT_WRITE_MASK, units)?;
        write_rows(bus, image, 1 - other)?;
    }
    bus.write(regs::CARD_UNIT_WRITE_MASK, units)?;
    write_unit_maps(bus, image)?;
    make::make(bus, image)
}

/// Lets frames that begin from now on run the program in the other bank.
pub(crate) fn change(bus: &mut dyn Bus, units: u32) -> Result<(), RowsError> {
    for (bank, units) in by_bank(bus, units)? {
        bus.write(regs::CARD_UNIT_WRITE_MASK, units)?;
        bus.write(UNIT_WINDOW + penstock_xdp_soft::regs::XDP_HOST_BANK, 1 - bank)?;
    }
    Ok(())
}

/// Waits until no context of these units runs rows of the bank in which no frame begins any more.
pub(crate) fn await_end(bus: &mut dyn Bus, units: u32) -> Result<(), RowsError> {
    let mut waited = 0;
    for (bank, units) in by_bank(bus, units)? {
        for unit in units_of(units) {
            while read_unit(bus, unit, penstock_xdp_soft::regs::XDP_HOST_WORKING)? >> ((1 - bank) * CONTEXTS) & 0xFFFF
                != 0
            {
                if waited >= END_LIMIT {
                    return Err(RowsError::StillWorks { unit, cycles: END_LIMIT });
                }
                bus.pass(LOOK)?;
                waited += LOOK;
            }
        }
    }
    Ok(())
}

/// Units of the mask by the bank in which their frames begin.
fn by_bank(bus: &mut dyn Bus, units: u32) -> Result<Vec<(u32, u32)>, CardError> {
    let mut masks = [0, 0];
    for unit in units_of(units) {
        masks[(read_unit(bus, unit, penstock_xdp_soft::regs::XDP_HOST_BANK)? & 1) as usize] |= 1 << unit;
    }
    Ok((0..).zip(masks).filter(|(_, units)| *units != 0).collect())
}
