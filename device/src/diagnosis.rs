// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Why a unit does not go on, in words.

use penstock_shell::{Cause, Fault};

use crate::device::DeviceError;
use crate::host::{Bus, HELD_LIMIT, Host};
use crate::regs;

/// Exceptions of the core, as mcause has them, in words (RISC-V privileged specification 20240411, table 14).
const EXCEPTIONS: [(u32, &str); 6] = [
    (0, "jump to a misaligned address"),
    (2, "illegal instruction"),
    (3, "breakpoint (ebreak)"),
    (4, "misaligned load"),
    (6, "misaligned store"),
    (11, "environment call (ecall)"),
];
/// Where programs begin, behind the vectors.
const FIRST_PC: u32 = 8;

/// Looks at a core that seems to stand still. The distances between them differ, so that no loop is met at the same place each time.
const LOOKS: std::ops::RangeInclusive<u64> = 1..=8;

impl Host {
    /// A program counter of a unit in words: `pc=0x1c (forward.c:12 (main))`.
    pub fn place(&self, unit: u32, pc: u32) -> String {
        match self.firmware(unit).and_then(|firmware| firmware.locate(pc)) {
            Some(place) => format!("pc=0x{pc:x} ({place})"),
            None => format!("pc=0x{pc:x}"),
        }
    }

    /// What is said about a unit that does not go on.
    pub fn fault(&self, bus: &mut impl Bus, fault: &Fault) -> Result<String, DeviceError> {
        let end = self.end_of_program(bus, fault.unit.into(), fault.pc)?;
        Ok(end.unwrap_or_else(|| format!("{fault}, {}", self.place(fault.unit.into(), fault.pc))))
    }

    /// What is said about a unit with a clock that holds frames and has released none for [`HELD_LIMIT`] cycles.
    pub fn stands(&self, bus: &mut impl Bus, unit: u32) -> Result<String, DeviceError> {
        let pc = self.read_unit(bus, unit, regs::RPU_HOST_PC)?;
        if let Some(pc) = self.waits_at(bus, unit, pc)? {
            let slots = self.read_unit(bus, unit, regs::RPU_HOST_ACTIVE_SLOTS)?;
            return self.fault(bus, &Fault { unit: unit as u8, pc, slots, cause: Cause::Waits });
        }
        let hangs = || {
            let limit = HELD_LIMIT / 1000;
            format!("unit {unit} has not released a slot for {limit},000 cycles, {}", self.place(unit, pc))
        };
        Ok(self.end_of_program(bus, unit, pc)?.unwrap_or_else(hangs))
    }

    /// What ended the program of a unit that is at `pc`: an exception of which the kit's handler tells, or the end of main.
    pub fn end_of_program(&self, bus: &mut impl Bus, unit: u32, pc: u32) -> Result<Option<String>, DeviceError> {
        match self.firmware(unit).and_then(|firmware| firmware.function(pc)) {
            Some("main_returned") => {
                Ok(Some(format!("unit {unit}: main returned; it must take frames in a loop without end")))
            }
            Some("fault_handler") => {
                let from = self.read_unit(bus, unit, regs::RPU_HOST_DEBUG_OUT_L)?;
                let cause = self.read_unit(bus, unit, regs::RPU_HOST_DEBUG_OUT_H)?;
                let exception = EXCEPTIONS.iter().find(|(code, _)| *code == cause && from >= FIRST_PC);
                Ok(exception.map(|(_, name)| format!("unit {unit}: {name}, {}", self.place(unit, from))))
            }
            _ => Ok(None),
        }
    }

    /// Address of the load from RECV in which a unit waits, if it does. The PC that the host sees is then that of the instruction behind it,
    /// and stands still; so it does at a jump to itself, which is no wait.
    fn waits_at(&self, bus: &mut impl Bus, unit: u32, pc: u32) -> Result<Option<u32>, DeviceError> {
        let Some(firmware) = self.firmware(unit) else { return Ok(None) };
        let word = |pc: u32| firmware.imem.get(pc as usize..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        let load = pc.wrapping_sub(4);
        if !word(load).is_some_and(loads_recv) || word(pc).is_some_and(jumps_to_itself) {
            return Ok(None);
        }
        for cycles in LOOKS {
            bus.pass(cycles)?;
            if self.read_unit(bus, unit, regs::RPU_HOST_PC)? != pc {
                return Ok(None);
            }
        }
        Ok(Some(load))
    }
}

/// Whether an instruction is `lw` of the register RECV, with x0 as base.
fn loads_recv(word: u32) -> bool {
    const ANY_RD: u32 = 0x1F << 7;
    word & !ANY_RD == regs::RPU_CORE_RECV << 20 | 0x2003
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
        // lw a0, 0x700(zero); lw t0, 0x700(zero); lw a0, 0x700(a1); lw a0, 0x704(zero); lbu a0, 0x700(zero); sw a0, 0x700(zero)
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
