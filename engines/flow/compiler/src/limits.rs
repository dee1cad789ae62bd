// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How much an element has of everything: the table in engines/flow/element.md.

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
/// Results of which registers take one.
pub const FUNCTIONS: usize = 16;
/// Functions that shift, average or multiply, of all.
pub const FULL_FUNCTIONS: usize = 4;
/// Timeouts: times with the states that they lead to.
pub const PERIODS: usize = 8;
/// Edits of a row.
pub const EDITS: usize = 8;
/// Words of fields that these write.
pub const WRITES: usize = 8;
/// Cycles from one frame of a flow to the next.
pub const LOOP: u32 = 2;
/// The same where contexts give way to others, as long as the flow has none: the place of its context may be taken until then.
pub const EVICTING_LOOP: u32 = 6;
/// Ethernet ports of the largest card.
pub const PORTS: u32 = 4;
/// Elements of a chain.
pub const ELEMENTS: usize = 15;
/// Bits of a key.
pub const KEY_BITS: u32 = 320;
/// Contexts of the largest table.
pub const CONTEXTS: u32 = 1 << 20;

/// Says of the first that is too many that it is.
pub fn few<T>(what: &str, most: usize, all: &[T], place: impl Fn(&T) -> Span, faults: &mut Vec<Fault>) {
    if let Some(first) = all.get(most) {
        let message = format!("there are {} {what}, {most} at most; take {} out", all.len(), all.len() - most);
        faults.push(Fault::new(place(first), message));
    }
}
