// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A variable that has no register lives on the stack: each node that gives it a value stores it there, each that reads
//! it loads it first.

use std::rc::Rc;

use super::code::{At, Code, Node, Src, Var};
use super::live::{Live, VarSet};
use super::{BackError, Others, rename};
use crate::rows::{Bytes, Do, Second, Window, isa};

/// Bytes of a variable on the stack.
const SLOT_BYTES: u32 = 8;

/// The unused stack, and the variables that have moved there. Variables that never hold a value at the same time share
/// a slot.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    /// Bytes of unused stack.
    free: u32,
    /// By slot, the variables that live there.
    slots: Vec<Vec<Var>>,
    /// By variable of the program, the variables that are live at the same time.
    rivals: Rc<Vec<VarSet>>,
    /// Variables that hold a value on its way from or to the stack.
    short_lived: Vec<Var>,
}

impl Slots {
    /// No variable has moved yet. `free`: bytes of unused stack, which is its lowest part.
    pub(super) fn new(code: &Code, free: u32) -> Slots {
        Slots { free, slots: vec![], rivals: Rc::new(rivals(code)), short_lived: vec![] }
    }

    /// How many variables have moved.
    pub(super) fn count(&self) -> usize {
        self.slots.iter().map(Vec::len).sum()
    }

    /// Variables that represent others while their value is in a register.
    pub(super) fn short_lived(&self) -> &[Var] {
        &self.short_lived
    }

    /// Moves a variable of the program to the stack.
    ///
    /// # Errors
    /// There is no room.
    pub(super) fn spill(&mut self, code: &mut Code, var: Var) -> Result<(), BackError> {
        let shared = |slot: &Vec<Var>| slot.iter().all(|other| !self.rivals[var.index()].contains(*other));
        let slot = self.slots.iter().position(shared).unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(vec![]);
        }
        self.slots[slot].push(var);
        let offset = slot as u32 * SLOT_BYTES;
        if offset + SLOT_BYTES > self.free {
            return Err(BackError::NoRoom {
                free: self.free,
                stack: isa::SIZE_STACK - self.free,
                others: Others::default(),
            });
        }
        self.short_lived.extend(spill(code, var, offset));
        Ok(())
    }
}

/// By variable, those that are live when it gets a value, or that get a value while it is live.
fn rivals(code: &Code) -> Vec<VarSet> {
    let live = Live::of(code);
    let mut rivals = vec![VarSet::new(code.vars); code.vars as usize];
    for block in &code.blocks {
        let mut now = VarSet::new(code.vars);
        for node in block.nodes.iter().rev() {
            if let Some(dst) = node.dst {
                for other in now.iter().filter(|other| *other != dst) {
                    rivals[dst.index()].insert(other);
                    rivals[other.index()].insert(dst);
                }
            }
            live.before(node, &mut now);
        }
    }
    rivals
}

/// Moves a variable to the stack, at an offset in bytes from its lowest byte. Returns the short-lived variables that
/// replace it.
fn spill(code: &mut Code, var: Var, offset: u32) -> Vec<Var> {
    let place = At { base: Src::Zero, offset: offset.cast_signed() };
    let bytes = Bytes { count: SLOT_BYTES as u8, swap: false };
    let load = Do::Load { window: Window::Stack, place, bytes, signed: false };
    let mut new = Vec::new();
    for block in 0..code.blocks.len() {
        let nodes = std::mem::take(&mut code.blocks[block].nodes);
        let mut out = Vec::with_capacity(nodes.len());
        for mut node in nodes {
            let reads = node.uses().any(|used| used == var);
            let writes = node.dst == Some(var);
            if !reads && !writes {
                out.push(node);
                continue;
            }
            let short = code.fresh();
            new.push(short);
            let slot = node.slot;
            // A guarded node may keep the old value.
            if reads || node.guard.is_some() {
                out.push(Node::new(load, Some(short), slot));
            }
            rename::node(&mut node, &|src| if src == Src::Var(var) { Src::Var(short) } else { src });
            out.push(node);
            if writes {
                let value = Second::Source(Src::Var(short));
                out.push(Node::new(Do::Store { window: Window::Stack, place, bytes, value }, None, slot));
            }
        }
        code.blocks[block].nodes = out;
    }
    new
}
