// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Finds the reason why a packet unit is stuck.

use penstock_engine::window::read_unit;
use penstock_engine::{Bus, CardError, Driver, regs};
use penstock_rpu::regs as own;
use penstock_rpu_compiler::Firmware;

use crate::driver::RpuDriver;
use crate::errors;

/// Exceptions of the core, as mcause has them, in words (RISC-V privileged specification 20240411, table 14). The start-up
/// code reports a jump to address 0 as number 1.
const EXCEPTIONS: [(u32, &str); 7] = [
    (0, "jump to a misaligned address"),
    (1, "jump through a null pointer"),
    (2, "illegal instruction"),
    (3, "breakpoint (ebreak)"),
    (4, "misaligned load"),
    (6, "misaligned store"),
    (11, "environment call (ecall)"),
];
/// Programs begin here, after the vectors.
const FIRST_PC: u32 = 8;

/// The function of the kit in which a program ends after an access to memory that does not exist
/// (engines/rpu/compiler/start/handlers.c).
const WILD_ACCESS: &str = "ended_by_wild_access";

/// Cycles before each look at a core that seems to be stopped. They differ, so that a loop is not met at the same place
/// each time.
const LOOKS: std::ops::RangeInclusive<u64> = 1..=8;

/// Whether the kit ended the program of a unit at `pc` after an access to memory that does not exist.
pub(crate) fn ended_by_wild_access(driver: &RpuDriver, unit: u32, pc: u32) -> bool {
    driver.firmware(unit).and_then(|firmware| firmware.function(pc)) == Some(WILD_ACCESS)
}

/// Why the program of a unit at `pc` ended: an exception that the kit's handler has stored, an access to memory that
/// does not exist, or the end of main.
pub(crate) fn ending(driver: &RpuDriver, bus: &mut dyn Bus, unit: u32, pc: u32) -> Result<Option<String>, CardError> {
    match driver.firmware(unit).and_then(|firmware| firmware.function(pc)) {
        Some("main_returned") => Ok(Some("main returned; it must take frames in a loop without end".to_owned())),
        Some(WILD_ACCESS) => errors::wild_access(driver, bus, unit),
        Some("fault_handler") => {
            let from = read_unit(bus, unit, regs::UNIT_DEBUG_OUT_L)?;
            let cause = read_unit(bus, unit, regs::UNIT_DEBUG_OUT_H)?;
            let exception = EXCEPTIONS.iter().find(|(code, _)| *code == cause && from >= FIRST_PC);
            let place = driver.locate(unit, from).map_or(String::new(), |place| format!(" ({place})"));
            Ok(exception.map(|(_, name)| format!("{name}, pc=0x{from:x}{place}")))
        }
        _ => Ok(None),
    }
}

/// Address of the load from RECV in which a unit waits, if it does. The host then sees the PC of the next instruction,
/// and it does not change. The PC does not change at a jump to itself either, which is not a wait.
pub(crate) fn waits_at(firmware: &Firmware, bus: &mut dyn Bus, unit: u32, pc: u32) -> Result<Option<u32>, CardError> {
    let word = |pc: u32| firmware.imem.get(pc as usize..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    let load = pc.wrapping_sub(4);
    if !word(load).is_some_and(loads_recv) || word(pc).is_some_and(jumps_to_itself) {
        return Ok(None);
    }
    for cycles in LOOKS {
        bus.pass(cycles)?;
        if read_unit(bus, unit, regs::UNIT_PC)? != pc {
            return Ok(None);
        }
    }
    Ok(Some(load))
}

/// Whether an instruction is `lw` of the register RECV, with x0 as base.
fn loads_recv(word: u32) -> bool {
    const ANY_RD: u32 = 0x1F << 7;
    word & !ANY_RD == own::RPU_CORE_RECV << 20 | 0x2003
}

/// Whether an instruction is a jump or a branch by 0 bytes.
fn jumps_to_itself(word: u32) -> bool {
    match word & 0x7F {
        0x6F => word >> 12 == 0,
        0x63 => word & 0xFE00_0F80 == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_told_apart() {
        // lw a0, 0x700(zero); lw t0, 0x700(zero); lw a0, 0x700(a1); lw a0, 0x704(zero); lbu a0, 0x700(zero); sw a0,
        // 0x700(zero)
        let loads = [0x7000_2503, 0x7000_2283, 0x7005_A503, 0x7040_2503, 0x7000_4503, 0x70A0_2023];
        assert_eq!(loads.map(loads_recv), [true, true, false, false, false, false]);
        // j .; jal .; beqz a0, .; bne a1, a2, .; j .+4; j .-4; beqz a0, .+8; beqz a0, .-4; addi a0, a0, 0
        let jumps = [
            0x0000_006F,
            0x0000_00EF,
            0x0005_0063,
            0x00C5_9063,
            0x0040_006F,
            0xFFDF_F06F,
            0x0005_0463,
            0xFE05_0EE3,
            0x0005_0513,
        ];
        assert_eq!(jumps.map(jumps_to_itself), [true, true, true, true, false, false, false, false, false]);
    }
}
