// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A unit under a debugger.
//!
//! The hardware halts, steps and shows a PC and one word that core and host share (engines/rpu/regs/rpu.rdl: HALT to
//! DATA). All else is made of these and of the host's way to the memories: where a core is halted its instruction is
//! replaced by another one, which is carried out in a step; then the PC and the instruction are put back.
//! `sw x7, DATA(x0)` shows a register, `lw x7, DATA(x0)` writes one, and loads and stores through two borrowed
//! registers reach what only the core does. minstret counts these instructions too.

use std::collections::BTreeMap;

use penstock_rpu::regs;

use crate::window::Window;

/// Places in the window of a unit.
const IMEM: u32 = 0x200_0000;
/// Bytes of instruction memory.
const IMEM_BYTES: u32 = 0x1_0000;

/// Bits of HALT.
const HALT: u32 = 1;
const EBREAK_HALTS: u32 = 2;
/// A core that obeys has halted after this many looks; each takes a few cycles on targets with cycles.
const LOOKS: u32 = 200;

/// Instructions that a core carries out for its debugger. All loads and stores are of words.
const EBREAK: u32 = 0x0010_0073;
const LW: u32 = 0x2003;
const SW: u32 = 0x2023;
/// The value of the register ENGINE for an rpu.
const RPU: u32 = 0x0075_7072;
/// Registers that are borrowed and restored: an address and its value.
const AT: u32 = 5;
const VALUE: u32 = 6;

/// A debugger finds the core's own registers at their address plus this, because instructions have the same addresses.
const CORE_REGISTERS: u32 = 0x8000_0000;
/// The boundaries of the memories.
const FIRST_REGISTER: u32 = CORE_REGISTERS + 0x600;
const REGISTERS_END: u32 = CORE_REGISTERS + 0x800;

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
    #[error("the unit is not of the engine rpu; only its programs can be debugged so far")]
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

/// How a debugger reaches an address that the program uses.
enum Place {
    /// A word of the window at this offset; instruction memory among them.
    Window(u32),
    /// An address that only the core reaches.
    Core(u32),
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
}

impl<W: Window> Unit<W> {
    /// A unit in its present state.
    pub fn new(window: W) -> Self {
        Self { window, breakpoints: BTreeMap::new(), lifted: None, known: [None; 32] }
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
            && let Some(own) = self.breakpoints.get(&address)
            && self.window.read(IMEM + address)? == *own
        {
            self.window.write(IMEM + address, EBREAK)?;
        }
        Ok(Some(cause))
    }

    /// Halts the unit before its next instruction, even in a load that waits; from now on its ebreaks halt it too. A
    /// unit in reset halts at its first instruction.
    pub fn halt(&mut self) -> Result<(), DebugError> {
        if self.window.read(regs::UNIT_ENGINE)? != RPU {
            return Err(DebugError::Engine);
        }
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
            self.window.write(IMEM + pc, own)?;
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
            let own = self.window.read(IMEM + pc)?;
            for (number, value) in (1..).zip(&mut x[1..]) {
                *value = self.show(number, pc)?;
            }
            self.window.write(IMEM + pc, own)?;
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
        let own = self.window.read(IMEM + pc)?;
        self.give(number % 32, value, pc)?;
        self.window.write(IMEM + pc, own)?;
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
        if address >= IMEM_BYTES || !address.is_multiple_of(4) {
            return Err(DebugError::Nothing(address));
        }
        if self.under(address)?.is_none() {
            let own = self.window.read(IMEM + address)?;
            self.window.write(IMEM + address, EBREAK)?;
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
            self.window.write(IMEM + address, own)?;
        }
        Ok(self.breakpoints.remove(&address).is_some())
    }

    /// The instruction in whose place there is a breakpoint. One that a new program was written over is none any more.
    fn under(&mut self, address: u32) -> Result<Option<u32>, DebugError> {
        let Some(&own) = self.breakpoints.get(&address) else { return Ok(None) };
        Ok((self.window.read(IMEM + address)? == EBREAK || self.lifted == Some(address)).then_some(own))
    }

    fn check_halted(&mut self) -> Result<(), DebugError> {
        if self.halted()?.is_some() { Ok(()) } else { Err(DebugError::Runs) }
    }

    fn read_word(&mut self, address: u32) -> Result<u32, DebugError> {
        match place(address)? {
            Place::Window(offset) => match self.under(offset.wrapping_sub(IMEM))? {
                Some(own) => Ok(own),
                None => self.window.read(offset),
            },
            // It takes a frame, or waits for one.
            Place::Core(regs::RPU_CORE_RECV) => Err(DebugError::Nothing(address)),
            Place::Core(there) => self.reach(there, None),
        }
    }

    fn write_word(&mut self, address: u32, value: u32) -> Result<(), DebugError> {
        match place(address)? {
            Place::Window(offset) => match self.under(offset.wrapping_sub(IMEM))? {
                Some(_) => {
                    self.breakpoints.insert(offset.wrapping_sub(IMEM), value);
                    Ok(())
                }
                None => self.window.write(offset, value),
            },
            Place::Core(there) => self.reach(there, Some(value)).map(|_| ()),
        }
    }

    /// Has the core load a word, or store one.
    fn reach(&mut self, address: u32, value: Option<u32>) -> Result<u32, DebugError> {
        let Registers { x, pc } = self.registers()?;
        let own = self.window.read(IMEM + pc)?;
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
        self.window.write(IMEM + pc, own)?;
        Ok(word)
    }

    /// Reads a register. Afterwards the instruction at `pc`, where the unit is halted, is a different one; the same
    /// holds for the next two functions.
    fn show(&mut self, register: u32, pc: u32) -> Result<u32, DebugError> {
        let (high, low) = (regs::RPU_CORE_DATA >> 5, regs::RPU_CORE_DATA & 31);
        self.carry_out(SW | register << 20 | high << 25 | low << 7, pc)?;
        self.window.read(regs::UNIT_DATA)
    }

    fn give(&mut self, register: u32, value: u32, pc: u32) -> Result<(), DebugError> {
        self.window.write(regs::UNIT_DATA, value)?;
        self.carry_out(LW | register << 7 | regs::RPU_CORE_DATA << 20, pc)
    }

    fn carry_out(&mut self, instruction: u32, pc: u32) -> Result<(), DebugError> {
        self.window.write(IMEM + pc, instruction)?;
        self.window.write(regs::UNIT_STEP, 1)?;
        if !self.comes_to_a_halt()? {
            return Err(DebugError::Stubborn);
        }
        self.window.write(regs::UNIT_PC, pc)
    }
}

/// How a word of the program is reached (docs/architecture.md, "RPU address map").
fn place(address: u32) -> Result<Place, DebugError> {
    Ok(match address {
        0..IMEM_BYTES => Place::Window(IMEM + address),
        0x0040_0000..0x0080_0000 => Place::Core(address),
        0x0080_0000..0x0080_8000 => Place::Window(address),
        0x0080_8000..0x0080_8100 => Place::Core(address),
        0x0100_0000..0x0110_0000 => Place::Window(address),
        0x0200_0000..0x0201_0000 | 0x0300_0000..0x0400_0000 => Place::Window(address),
        FIRST_REGISTER..REGISTERS_END => Place::Core(address - CORE_REGISTERS),
        _ => return Err(DebugError::Nothing(address)),
    })
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
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::HashMap;

    use super::*;

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
        let mut unit = Unit::new(Memory::default());
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
