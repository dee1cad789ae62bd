// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The cores of units that a debugger can halt.

use std::ops::Range;

/// The RISC-V core (RV32) of an engine's units, as a debugger sees it. Its units have the debug registers of
/// shell/regs/unit.rdl (HALT to DATA).
#[derive(Debug)]
pub struct Core {
    /// The value of a unit's register ENGINE.
    pub engine: u32,
    /// The instruction memory in the window of a unit; the program has it from address 0 on.
    pub imem: Range<u32>,
    /// The address at which the program has the unit's register DATA, a multiple of 4 below 2,048.
    pub data: u32,
    /// The place of the word at an address of the program, a multiple of 4; None if the program has nothing there, or
    /// if a load changes something.
    pub place: fn(u32) -> Option<Place>,
}

/// The way of a debugger to a word of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The word of the unit's window at this offset. Instruction memory is always there.
    Window(u32),
    /// Only the core reaches the word, at this address.
    Core(u32),
}
