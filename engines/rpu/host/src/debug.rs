// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The core of a packet unit, as a debugger sees it.

use std::ops::Range;

use penstock_engine::{Core, Place};
use penstock_rpu::regs;

use crate::driver::{UNIT_DMEM, UNIT_IMEM, UNIT_PMEM, UNIT_TABLES};

/// The instruction memory in the window of a unit.
const IMEM: Range<u32> = UNIT_IMEM..UNIT_IMEM + 0x1_0000;

/// A debugger finds the core's own registers at their address plus this, because instructions have the same addresses.
const CORE_REGISTERS: u32 = 0x8000_0000;
/// Where the core's own registers begin and end for a debugger.
const FIRST_REGISTER: u32 = CORE_REGISTERS + 0x600;
const REGISTERS_END: u32 = CORE_REGISTERS + 0x800;

/// The core.
pub(crate) const CORE: Core =
    Core { engine: u32::from_le_bytes(*b"rpu\0"), imem: IMEM, data: regs::RPU_CORE_DATA, place };

/// The place of a word of the program (docs/architecture.md, "RPU address map").
fn place(address: u32) -> Option<Place> {
    Some(match address {
        0..0x1_0000 => Place::Window(IMEM.start + address),
        0x0040_0000..0x0080_0000 => Place::Core(address),
        UNIT_DMEM..0x0080_8000 => Place::Window(address),
        0x0080_8000..0x0080_8100 => Place::Core(address),
        UNIT_PMEM..0x0110_0000 => Place::Window(address),
        UNIT_IMEM..0x0201_0000 | UNIT_TABLES..0x0400_0000 => Place::Window(address),
        FIRST_REGISTER..REGISTERS_END => match address - CORE_REGISTERS {
            // A load takes a frame, or waits for one.
            regs::RPU_CORE_RECV => return None,
            register => Place::Core(register),
        },
        _ => return None,
    })
}
