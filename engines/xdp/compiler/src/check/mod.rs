// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The checker: follows all paths through a program, as the kernel's verifier does, and knows of every register and
//! stack slot what it may hold. A program is accepted when no path can read what is not there, and all paths end. Later
//! passes use the facts found on the way.
//!
//! It is meant to accept nothing that Linux refuses to its administrator. It refuses more: bytes of the stack that were
//! never written, and what the engine does not have.

mod arith;
mod bits;
mod calls;
mod compare;
mod error;
mod facts;
mod flow;
mod helpers;
mod jumps;
mod memory;
mod operate;
mod paths;
mod scalar;
mod state;
#[cfg(test)]
mod tests;
mod value;

pub use arith::{alu, extend};
pub use bits::Bits;
pub use compare::{decided, refined};
pub use error::{CheckError, Known, Rule};
pub use facts::{Access, Branch, Facts, InsnFacts, Operand, PacketCheck};
pub use helpers::{
    Arg, FIB_LOOKUP, Gives, HELPERS, Helper, LOOKUP, PRINTS, REDIRECT, find as find_helper, name as helper_name,
};
pub use paths::MAX_VISITED;
pub use scalar::{Range, Scalar};
pub use value::{MapRef, Region};

use crate::insn::Insn;
use crate::object::{Object, Program};

/// A program that keeps the rules.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The facts that hold at each instruction, for the compiler.
    pub facts: Facts,
}

/// Checks a program of an object.
///
/// # Errors
/// The first rule that it breaks, with the place and the way out.
pub fn check(object: &Object, program: &Program) -> Result<Checked, Box<CheckError>> {
    let error = |(slot, rule): flow::Broken| {
        let insn = program.code.get(slot).unwrap_or(Insn::Exit);
        Box::new(CheckError { place: program.place(slot), insn, rule })
    };
    flow::check(program).map_err(error)?;
    let facts = paths::Paths::new(object, program).run().map_err(error)?;
    Ok(Checked { facts })
}
