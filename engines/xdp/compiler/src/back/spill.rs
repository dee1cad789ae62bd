// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A variable that has no register lives on the stack: each node that gives it a value stores it there, each that reads it loads it first.

use super::code::{At, Code, Node, Src, Var};
use super::rename;
use crate::rows::{Bytes, Do, Second, Window};

/// Bytes of a variable on the stack.
pub const SLOT_BYTES: u32 = 8;

/// Moves a variable to the stack, so many bytes from its lowest one. Gives the short-lived variables that stand for it now.
pub fn spill(code: &mut Code, var: Var, offset: u32) -> Vec<Var> {
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
            // A guarded node may leave what was there.
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
