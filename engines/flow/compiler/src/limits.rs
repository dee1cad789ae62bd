// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Limits of an element: the table in engines/flow/element.md.

use crate::fault::{Fault, Span};

/// States of a program's element.
pub const STATES: usize = 256;
/// Registers of a flow.
pub const REGISTERS: usize = 4;
/// Registers of an element.
pub const GLOBALS: usize = 8;
/// Rows, one for each state that a row of the program names.
pub const ROWS: usize = 64;
/// Operands X: words of fields that predicates, conditions, functions and edits read.
pub const OPERANDS: usize = 8;
/// Comparisons of an operand X with a constant.
pub const PREDICATES: usize = 32;
/// Comparisons that may depend on the context.
pub const CONDITIONS: usize = 8;
/// Functions, whose results registers take.
pub const FUNCTIONS: usize = 16;
/// Functions among them that can shift, average or multiply.
pub const FULL_FUNCTIONS: usize = 4;
/// Timeouts: times with the states that they lead to.
pub const PERIODS: usize = 8;
/// Edits of a row.
pub const EDITS: usize = 8;
/// Words of fields that the edits of a row write.
pub const WRITES: usize = 8;
/// Cycles between two frames of a flow.
pub const LOOP: u32 = 2;
/// Cycles between two frames of a flow without a context in a table with `evict`: its place may be taken until then.
pub const EVICTING_LOOP: u32 = 6;
/// Ethernet ports of the largest card.
pub const PORTS: u32 = 4;
/// Elements of a block.
pub const ELEMENTS: usize = 15;
/// Bits of a key.
pub const KEY_BITS: u32 = 320;
/// Contexts of the largest table.
pub const CONTEXTS: u32 = 1 << 20;

/// Reports the first item beyond a limit.
pub fn few<T>(what: &str, most: usize, all: &[T], place: impl Fn(&T) -> Span, faults: &mut Vec<Fault>) {
    if let Some(first) = all.get(most) {
        let message = format!("there are {} {what}, {most} at most; take {} out", all.len(), all.len() - most);
        faults.push(Fault::new(place(first), message));
    }
}
