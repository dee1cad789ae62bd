// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Bare programs: instructions and nothing around them, as the conformance suites of eBPF have them.
//!
//! r1 holds the address of the memory that is given, r2 its length, r10 the end of a stack of 512 bytes; functions that
//! are called have stacks of their own, eight deep. Nothing is checked before: an access outside of the memory and the
//! stack stops the program.
//!
//! ```
//! // r0 = 7; exit
//! let code = [0xb7, 0, 0, 0, 7, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0];
//! assert_eq!(penstock_xdp_soft::bare::run(&code, &mut [])?, 7);
//! # Ok::<(), penstock_xdp_soft::bare::BareError>(())
//! ```

use std::collections::BTreeMap;

use penstock_xdp_compiler::insn::{Code, CodeError, Insn};
use penstock_xdp_maps::{Maps, Memory, MemoryError};

use crate::native::{Fault, Guard, Native, NativeError, Source};
use crate::state::{FUEL, STACK_END, State};

/// Why a program gave nothing.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum BareError {
    #[error(transparent)]
    Code(#[from] CodeError),
    #[error(transparent)]
    Native(#[from] NativeError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error("the memory has {bytes} bytes; it has the length that was said, and {MAX_BYTES} at most")]
    Length { bytes: usize },
    #[error("instruction {slot} (`{insn}`) reaches outside of the memory and the stack")]
    Outside { slot: usize, insn: Insn },
    #[error("instruction {slot} (`{insn}`) calls deeper than eight functions")]
    Depth { slot: usize, insn: Insn },
    #[error("instruction {slot} (`{insn}`) is the last and does not end the program; end it with `exit`")]
    End { slot: usize, insn: Insn },
    #[error("the program has jumped back {FUEL} times and is taken to have no end")]
    Endless,
}

/// The longest memory.
const MAX_BYTES: usize = 1 << 20;

/// A program and its memory.
pub struct Program {
    code: Code,
    native: Native,
    state: Box<State>,
    /// The place of its memory, and its length.
    start: u64,
    bytes: usize,
}

impl Program {
    /// Translates a program for a memory of that many bytes.
    ///
    /// # Errors
    /// The code is invalid, or calls helpers, which bare programs do not have.
    pub fn new(code: &[u8], bytes: usize) -> Result<Program, BareError> {
        if bytes > MAX_BYTES {
            return Err(BareError::Length { bytes });
        }
        let code = Code::decode(code)?;
        let maps = Maps::new(1)?;
        let start = if bytes == 0 { 0 } else { Memory::UNIT_MAPS.into() };
        let native = Native::new(&Source {
            code: &code,
            guard: Guard::Bounded { start, bytes: bytes as u64 },
            facts: None,
            frames: BTreeMap::new(),
            maps: &maps,
            ids: &[],
        })?;
        Ok(Program { code, native, state: Box::new(State::new(maps)), start, bytes })
    }

    /// Runs it, and gives its r0. The memory has the length that was said.
    ///
    /// # Errors
    /// The program was stopped; its stores to the memory remain.
    pub fn run(&mut self, memory: &mut [u8]) -> Result<u64, BareError> {
        let wrong = BareError::Length { bytes: memory.len() };
        if memory.len() != self.bytes {
            return Err(wrong);
        }
        let (start, state) = (self.start, &mut *self.state);
        let Ok(inside) = state.maps.memory.bytes_mut(start, self.bytes) else { return Err(wrong) };
        inside.copy_from_slice(memory);
        state.fuel = FUEL;
        state.fault = [0; 2];
        let (entry, base) = (self.native.entry(), state.maps.memory.base());
        // SAFETY: code made for this memory and state.
        let result = unsafe { entry(base, state, start, self.bytes as u64, 0, 0, 0, STACK_END.into()) };
        let Ok(inside) = state.maps.memory.bytes(start, self.bytes) else { return Err(wrong) };
        memory.copy_from_slice(inside);
        if state.fuel >= 0 { Ok(result) } else { Err(self.stopped()) }
    }

    fn stopped(&self) -> BareError {
        let [slot, fault] = self.state.fault;
        let slot = slot as usize;
        let insn = self.code.get(slot).unwrap_or(Insn::Exit);
        match fault {
            fault if fault == Fault::Memory as u64 => BareError::Outside { slot, insn },
            fault if fault == Fault::Depth as u64 => BareError::Depth { slot, insn },
            fault if fault == Fault::End as u64 => BareError::End { slot, insn },
            _ => BareError::Endless,
        }
    }
}

/// Runs a program once and gives its r0.
///
/// # Errors
/// As [`Program::new`] and [`Program::run`].
pub fn run(code: &[u8], memory: &mut [u8]) -> Result<u64, BareError> {
    Program::new(code, memory.len())?.run(memory)
}
