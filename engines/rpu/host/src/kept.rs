// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Variables that outlive a reload (`PN_KEPT`).

use penstock_engine::{Bus, CardError};
use penstock_rpu_compiler::{DMEM_BASE, Firmware};

use crate::driver::read_data;

/// Data memory of a program that is about to be loaded into a unit, with the kept variables of the program before:
/// those that both have under the same name and size.
pub(crate) fn data(bus: &mut dyn Bus, unit: u32, before: &Firmware, next: &Firmware) -> Result<Vec<u8>, CardError> {
    let mut data = next.dmem.clone();
    for variable in &next.kept {
        let same = |old: &&penstock_rpu_compiler::Symbol| (&old.name, old.size) == (&variable.name, variable.size);
        let Some(old) = before.kept.iter().find(same) else { continue };
        let (from, to) = (old.address - DMEM_BASE, (variable.address - DMEM_BASE) as usize);
        data[to..to + old.size as usize].copy_from_slice(&read_data(bus, unit, from, old.size)?);
    }
    Ok(data)
}
