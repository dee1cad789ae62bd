// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A unit under a debugger.
//!
//! The hardware halts, steps and shows a PC and one word that core and host share (shell/regs/unit.rdl: HALT to
//! DATA). All else is made of these and of the host's way to the memories: where a core is halted its instruction is
//! replaced by another one, which is carried out in a step; then the PC and the instruction are put back.
//! `sw x7, DATA(x0)` shows a register, `lw x7, DATA(x0)` writes one, and loads and stores through two borrowed
//! registers reach what only the core does. minstret counts these instructions too.

use std::collections::BTreeMap;

use penstock_device::regs;
use penstock_engine::{Core, Place};
use penstock_registry::engines;

use crate::window::Window;

/// Bits of HALT.
const HALT: u32 = 1;
const EBREAK_HALTS: u32 = 2;
/// A core that obeys has halted after this many looks; each takes a few cycles on targets with cycles.
const LOOKS: u32 = 200;

/// Instructions that a core carries out for its debugger. All loads and stores are of words.
const EBREAK: u32 = 0x0010_0073;
const LW: u32 = 0x2003;
const SW: u32 = 0x2023;
/// Registers that are borrowed and restored: an address and its value.
const AT: u32 = 5;
const VALUE: u32 = 6;

/// A debugger operation that is not possible.
#[derive(Debug, thiserror::Error)]
pub enum DebugError {
    /// The card, or the way to it.
    #[error("{0}")]
    Card(String),
    /// It must be halted for this.
    #[error("the unit runs; halt it first")]
    Runs,
    /// The unit does not obey.
    #[error("the unit does not halt; is it held in reset?")]
    Stubborn,
    /// Its core is none that can be debugged.
    #[error("a debugger cannot halt the units of this engine")]
    Engine,
    /// The address is not mapped.
    #[error("a unit has nothing at 0x{0:x} that can be read or written")]
    Nothing(u32),
}

/// Why a unit is halted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halted {
    /// On request.
    Request,
    /// It is at an ebreak.
    Ebreak,
    /// It has carried out a step.
    Step,
}

/// Registers of a core: x0..x31, and the address of the next instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registers {
    /// x0..x31.
    pub x: [u32; 32],
    /// Program counter.
    pub pc: u32,
}

/// One unit, and the breakpoints in its program.
pub struct Unit<W> {
    /// The way to it.
    pub window: W,
    /// The instructions that breakpoints replace, by address. A reload may write another program over breakpoints; then
    /// the new instruction counts.
    breakpoints: BTreeMap<u32, u32>,
    /// One that was taken away for a step, and is put back when that has ended.
    lifted: Option<u32>,
    /// Registers as far as they are known; none while the unit runs.
    known: [Option<u32>; 32],
    /// The unit's core, once it is known.
    core: Option<&'static Core>,
}

impl<W: Window> Unit<W> {
    /// A unit in its present state.
    pub fn new(window: W) -> Self {
        Self { window, breakpoints: BTreeMap::new(), lifted: None, known: [None; 32], core: None }
    }

    /// Why the unit is halted; None if it runs, or is in a step.
    pub fn halted(&mut self) -> Result<Option<Halted>, DebugError> {
        let cause = match self.window.read(regs::UNIT_HALTED)? {
            0 => return Ok(None),
            1 => Halted::Request,
            2 => Halted::Ebreak,
            _ => Halted::Step,
        };
        if let Some(address) = self.lifted.take()
            && let Some(&own) = self.breakpoints.get(&address)
            && self.instruction(address)? == own
        {
            self.replace(address, EBREAK)?;
        }
        Ok(Some(cause))
    }

    /// Halts the unit before its next instruction, even in a load that waits; from now on its ebreaks halt it too. A
    /// unit in reset halts at its first instruction.
    pub fn halt(&mut self) -> Result<(), DebugError> {
        self.core()?;
        self.window.write(regs::UNIT_HALT, HALT | EBREAK_HALTS)?;
        self.known = [None; 32];
        let in_reset = self.window.read(regs::UNIT_RESET)? != 0;
        if in_reset || self.comes_to_a_halt()? { Ok(()) } else { Err(DebugError::Stubborn) }
    }

    fn comes_to_a_halt(&mut self) -> Result<bool, DebugError> {
        for _ in 0..LOOKS {
            if self.halted()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lets the unit go on, until a breakpoint or the next [`Unit::halt`].
    pub fn resume(&mut self) -> Result<(), DebugError> {
        self.known = [None; 32];
        self.window.write(regs::UNIT_HALT, EBREAK_HALTS)
    }

    /// Lets the unit execute one instruction; false if the instruction waits in a load. The step then ends when the
    /// load does, or with the next [`Unit::halt`]. A step takes no interrupt. It passes over a breakpoint at the
    /// present instruction.
    pub fn step(&mut self) -> Result<bool, DebugError> {
        let pc = self.pc()?;
        self.known = [None; 32];
        if let Some(own) = self.under(pc)? {
            self.replace(pc, own)?;
            self.lifted = Some(pc);
        }
        self.window.write(regs::UNIT_STEP, 1)?;
        self.comes_to_a_halt()
    }

    /// Removes all breakpoints and lets the unit go on as if there had been no debugger.
    pub fn release(&mut self) -> Result<(), DebugError> {
        for address in self.breakpoints.keys().copied().collect::<Vec<_>>() {
            self.clear_breakpoint(address)?;
        }
        self.known = [None; 32];
        self.window.write(regs::UNIT_HALT, 0)
    }

    /// Address of the next instruction.
    pub fn pc(&mut self) -> Result<u32, DebugError> {
        self.check_halted()?;
        self.window.read(regs::UNIT_PC)
    }

    /// Goes on elsewhere.
    pub fn set_pc(&mut self, pc: u32) -> Result<(), DebugError> {
        self.check_halted()?;
        self.window.write(regs::UNIT_PC, pc)
    }

    /// All registers.
    pub fn registers(&mut self) -> Result<Registers, DebugError> {
        let pc = self.pc()?;
        let mut x = [0; 32];
        if self.known[1..].iter().any(Option::is_none) {
            let own = self.instruction(pc)?;
            for (number, value) in (1..).zip(&mut x[1..]) {
                *value = self.show(number, pc)?;
            }
            self.replace(pc, own)?;
            self.known = x.map(Some);
        }
        for (value, known) in x.iter_mut().zip(&self.known) {
            *value = known.unwrap_or_default();
        }
        x[0] = 0;
        Ok(Registers { x, pc })
    }

    /// Writes register x`number`; a write to x0 has no effect.
    pub fn set_register(&mut self, number: u32, value: u32) -> Result<(), DebugError> {
        if number.is_multiple_of(32) {
            return Ok(());
        }
        let pc = self.pc()?;
        let own = self.instruction(pc)?;
        self.give(number % 32, value, pc)?;
        self.replace(pc, own)?;
        self.known[number as usize % 32] = Some(value);
        Ok(())
    }

    /// Fills `bytes` from an address of the program on: instructions at 0, accelerator, data memory, header window and
    /// packet memory where the core has them, tables and instructions also where the host has them, the core's own
    /// registers from 0x80000600 on. Breakpoints do not show. The unit must be halted for what only the core reaches.
    pub fn read(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DebugError> {
        for (address, part) in words(address, bytes.len()) {
            let word = self.read_word(address)?.to_le_bytes();
            bytes[part.bytes].copy_from_slice(&word[part.lanes]);
        }
        Ok(())
    }

    /// Writes `bytes` from an address of the program on, as [`Unit::read`] has them. A word of which only a part
    /// changes is read before.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), DebugError> {
        for (address, part) in words(address, bytes.len()) {
            let mut word = if part.lanes.len() < 4 { self.read_word(address)?.to_le_bytes() } else { [0; 4] };
            word[part.lanes].copy_from_slice(&bytes[part.bytes]);
            self.write_word(address, u32::from_le_bytes(word))?;
        }
        Ok(())
    }

    /// Puts a breakpoint at an address of the program.
    pub fn set_breakpoint(&mut self, address: u32) -> Result<(), DebugError> {
        if address as usize >= self.core()?.imem.len() || !address.is_multiple_of(4) {
            return Err(DebugError::Nothing(address));
        }
        if self.under(address)?.is_none() {
            let own = self.instruction(address)?;
            self.replace(address, EBREAK)?;
            self.breakpoints.insert(address, own);
        }
        Ok(())
    }

    /// Whether there is a breakpoint at an address.
    pub fn has_breakpoint(&self, address: u32) -> bool {
        self.breakpoints.contains_key(&address)
    }

    /// Removes a breakpoint; false if the address has no breakpoint.
    pub fn clear_breakpoint(&mut self, address: u32) -> Result<bool, DebugError> {
        let own = self.under(address)?;
        if let Some(own) = own {
            self.replace(address, own)?;
        }
        Ok(self.breakpoints.remove(&address).is_some())
    }

    /// The instruction in whose place there is a breakpoint. One that a new program was written over is none any more.
    fn under(&mut self, address: u32) -> Result<Option<u32>, DebugError> {
        let Some(&own) = self.breakpoints.get(&address) else { return Ok(None) };
        Ok((self.instruction(address)? == EBREAK || self.lifted == Some(address)).then_some(own))
    }

    /// The unit's core, by its register ENGINE.
    fn core(&mut self) -> Result<&'static Core, DebugError> {
        if let Some(core) = self.core {
            return Ok(core);
        }
        let engine = self.window.read(regs::UNIT_ENGINE)?;
        let core = engines().iter().filter_map(|one| one.core()).find(|core| core.engine == engine);
        self.core = core;
        core.ok_or(DebugError::Engine)
    }

    /// The place of a word of the program.
    fn place(&mut self, address: u32) -> Result<Place, DebugError> {
        (self.core()?.place)(address).ok_or(DebugError::Nothing(address))
    }

    /// The word of instruction memory at an address of the program.
    fn instruction(&mut self, address: u32) -> Result<u32, DebugError> {
        let imem = self.core()?.imem.start;
        self.window.read(imem.wrapping_add(address))
    }

    fn replace(&mut self, address: u32, instruction: u32) -> Result<(), DebugError> {
        let imem = self.core()?.imem.start;
        self.window.write(imem.wrapping_add(address), instruction)
    }

    fn check_halted(&mut self) -> Result<(), DebugError> {
        if self.halted()?.is_some() { Ok(()) } else { Err(DebugError::Runs) }
    }

    fn read_word(&mut self, address: u32) -> Result<u32, DebugError> {
        match self.place(address)? {
            Place::Window(offset) => match self.replaced(offset)? {
                Some((_, own)) => Ok(own),
                None => self.window.read(offset),
            },
            Place::Core(there) => self.reach(there, None),
        }
    }

    fn write_word(&mut self, address: u32, value: u32) -> Result<(), DebugError> {
        match self.place(address)? {
            Place::Window(offset) => match self.replaced(offset)? {
                Some((instruction, _)) => {
                    self.breakpoints.insert(instruction, value);
                    Ok(())
                }
                None => self.window.write(offset, value),
            },
            Place::Core(there) => self.reach(there, Some(value)).map(|_| ()),
        }
    }

    /// If a breakpoint is at this word of the window: the address of the instruction, and the instruction.
    fn replaced(&mut self, offset: u32) -> Result<Option<(u32, u32)>, DebugError> {
        let imem = self.core()?.imem.clone();
        if !imem.contains(&offset) {
            return Ok(None);
        }
        let address = offset - imem.start;
        Ok(self.under(address)?.map(|own| (address, own)))
    }

    /// Has the core load a word, or store one.
    fn reach(&mut self, address: u32, value: Option<u32>) -> Result<u32, DebugError> {
        let Registers { x, pc } = self.registers()?;
        let own = self.instruction(pc)?;
        self.give(AT, address, pc)?;
        let word = match value {
            Some(value) => {
                self.give(VALUE, value, pc)?;
                self.carry_out(SW | VALUE << 20 | AT << 15, pc)?;
                value
            }
            None => {
                self.carry_out(LW | VALUE << 7 | AT << 15, pc)?;
                self.show(VALUE, pc)?
            }
        };
        for register in [AT, VALUE] {
            self.give(register, x[register as usize], pc)?;
        }
        self.replace(pc, own)?;
        Ok(word)
    }

    /// Reads a register. Afterwards the instruction at `pc`, where the unit is halted, is a different one; the same
    /// holds for the next two functions.
    fn show(&mut self, register: u32, pc: u32) -> Result<u32, DebugError> {
        let data = self.core()?.data;
        let (high, low) = (data >> 5, data & 31);
        self.carry_out(SW | register << 20 | high << 25 | low << 7, pc)?;
        self.window.read(regs::UNIT_DATA)
    }

    fn give(&mut self, register: u32, value: u32, pc: u32) -> Result<(), DebugError> {
        let data = self.core()?.data;
        self.window.write(regs::UNIT_DATA, value)?;
        self.carry_out(LW | register << 7 | data << 20, pc)
    }

    fn carry_out(&mut self, instruction: u32, pc: u32) -> Result<(), DebugError> {
        self.replace(pc, instruction)?;
        self.window.write(regs::UNIT_STEP, 1)?;
        if !self.comes_to_a_halt()? {
            return Err(DebugError::Stubborn);
        }
        self.window.write(regs::UNIT_PC, pc)
    }
}

/// The part of some bytes that is in one word.
struct Part {
    bytes: std::ops::Range<usize>,
    lanes: std::ops::Range<usize>,
}

/// The words that contain `count` bytes from `address` on: address of each, and the part of the bytes.
fn words(address: u32, count: usize) -> impl Iterator<Item = (u32, Part)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = address.wrapping_add(done as u32);
        let lane = at as usize % 4;
        let length = (count - done).min(4 - lane);
        let part = Part { bytes: done..done + length, lanes: lane..lane + length };
        done += length;
        (length > 0).then_some((at & !3, part))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const IMEM: u32 = 0x200_0000;
    static CORE: Core = Core {
        engine: 0,
        imem: IMEM..IMEM + 0x1_0000,
        data: 0x700,
        place: |address| Some(Place::Window(IMEM + address)),
    };

    /// Memory of a halted unit.
    #[derive(Default)]
    struct Memory(HashMap<u32, u32>);

    impl Window for Memory {
        fn read(&mut self, address: u32) -> Result<u32, DebugError> {
            let halted = u32::from(address == regs::UNIT_HALTED);
            Ok(self.0.get(&address).copied().unwrap_or(halted))
        }

        fn write(&mut self, address: u32, value: u32) -> Result<(), DebugError> {
            self.0.insert(address, value);
            Ok(())
        }
    }

    #[test]
    fn a_program_that_is_loaded_under_breakpoints_stays_whole() {
        const OLD: [u32; 4] = [0x11, 0x22, 0x33, 0x44];
        const NEW: [u32; 4] = [0x55, 0x66, 0x77, 0x88];
        fn load(unit: &mut Unit<Memory>, program: [u32; 4]) {
            (0..).step_by(4).zip(program).for_each(|(at, word)| unit.window.write(IMEM + at, word).unwrap());
        }
        fn program(unit: &mut Unit<Memory>) -> [u32; 4] {
            [0, 4, 8, 12].map(|at| unit.window.read(IMEM + at).unwrap())
        }
        let mut unit = Unit { core: Some(&CORE), ..Unit::new(Memory::default()) };
        load(&mut unit, OLD);
        for address in [0, 4, 8] {
            unit.set_breakpoint(address).unwrap();
        }
        assert_eq!(program(&mut unit), [EBREAK, EBREAK, EBREAK, OLD[3]]);
        load(&mut unit, NEW);
        let mut seen = [0; 16];
        unit.read(0, &mut seen).unwrap();
        assert_eq!(seen[..], NEW.map(u32::to_le_bytes).concat());
        // A breakpoint that is set again belongs to the new program.
        unit.set_breakpoint(4).unwrap();
        assert_eq!(program(&mut unit), [NEW[0], EBREAK, NEW[2], NEW[3]]);
        unit.step().unwrap();
        assert_eq!(
            (unit.halted().unwrap(), program(&mut unit)),
            (Some(Halted::Request), [NEW[0], EBREAK, NEW[2], NEW[3]])
        );
        unit.clear_breakpoint(8).unwrap();
        unit.release().unwrap();
        assert_eq!(program(&mut unit), NEW);
    }
}
