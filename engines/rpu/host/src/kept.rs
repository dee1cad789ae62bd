// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Variables that outlive a reload (`PN_KEPT`).

use penstock_engine::window::read_unit;
use penstock_engine::{Bus, CardError};
use penstock_rpu_sdk::{DMEM_BASE, Firmware};

use crate::driver::UNIT_DMEM;

/// Data memory of a program that is about to be loaded into a unit, with the kept variables of the program before:
/// those that both have under the same name and size.
pub fn data(bus: &mut dyn Bus, unit: u32, before: &Firmware, next: &Firmware) -> Result<Vec<u8>, CardError> {
    let mut data = next.dmem.clone();
    for variable in &next.kept {
        let same = |old: &&penstock_rpu_sdk::Symbol| (&old.name, old.size) == (&variable.name, variable.size);
        let Some(old) = before.kept.iter().find(same) else { continue };
        let (from, to) = (old.address - DMEM_BASE, (variable.address - DMEM_BASE) as usize);
        let mut bytes = Vec::new();
        for address in (from & !3..from + old.size).step_by(4) {
            bytes.extend(read_unit(bus, unit, UNIT_DMEM + address)?.to_le_bytes());
        }
        let (skip, size) = ((from % 4) as usize, old.size as usize);
        data[to..to + size].copy_from_slice(&bytes[skip..skip + size]);
    }
    Ok(data)
}
