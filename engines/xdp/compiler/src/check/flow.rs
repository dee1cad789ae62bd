// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Checks that need no values: branch targets, unreachable code, recursion.

use std::ops::Range;

use super::error::Rule;
use super::state::MAX_FRAMES;
use crate::insn::{Callee, Imm64, Insn};
use crate::object::Program;

/// A rule that is broken, and the slot.
pub(super) type Broken = (usize, Rule);

/// Points where paths meet: the checker compares states there.
pub(super) fn joins(program: &Program) -> Vec<bool> {
    let mut joins = vec![false; program.code.len()];
    for (slot, insn) in program.code.iter() {
        let follows = matches!(insn, Insn::Call(Callee::Local(_)) | Insn::Branch { .. });
        if follows && slot + 1 < joins.len() {
            joins[slot + 1] = true;
        }
        if let Some(target) = program.code.target(slot) {
            joins[target] = true;
        }
    }
    joins
}

/// Checks the flow of control.
pub(super) fn check(program: &Program) -> Result<(), Broken> {
    for function in &program.functions {
        inside(program, &function.slots)?;
    }
    let mut heights = vec![Height::Unknown; program.functions.len()];
    height(program, 0, 1, &mut heights)?;
    match heights.iter().position(|height| *height == Height::Unknown) {
        Some(uncalled) => Err((program.functions[uncalled].slots.start, Rule::Unreachable)),
        None => Ok(()),
    }
}

/// All instructions of a function can be reached, and none leads out of it.
fn inside(program: &Program, slots: &Range<usize>) -> Result<(), Broken> {
    let code = &program.code;
    let mut reached = vec![false; slots.len()];
    let mut open = vec![(slots.start, slots.start)];
    while let Some((slot, from)) = open.pop() {
        if !slots.contains(&slot) {
            return Err((from, if slot == slots.end { Rule::NoExit } else { Rule::JumpOut }));
        }
        let Some(insn) = code.get(slot).filter(|_| !reached[slot - slots.start]) else { continue };
        reached[slot - slots.start] = true;
        if let Some(target) = insn.jump_offset().and_then(|_| code.target(slot)) {
            if !slots.contains(&target) {
                return Err((slot, Rule::JumpOut));
            }
            open.push((target, slot));
        }
        if insn.falls_through() {
            open.push((slot + insn.slots(), slot));
        }
        if let Insn::LoadImm64 { imm: Imm64::Function(_), .. } = insn {
            return Err((slot, Rule::Address("a function")));
        }
    }
    match code.part(slots.clone()).find(|(slot, _)| !reached[slot - slots.start]) {
        Some((slot, _)) => Err((slot, Rule::Unreachable)),
        None => Ok(()),
    }
}

/// How many functions run at once from a function on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Height {
    Unknown,
    /// The function is on the call chain: a further call of it is recursion.
    Open,
    Known(usize),
}

/// Follows the calls of a function that runs at a depth.
fn height(program: &Program, number: usize, depth: usize, heights: &mut [Height]) -> Result<usize, Broken> {
    heights[number] = Height::Open;
    let mut most = 0;
    for (slot, called) in called(program, number) {
        let called = called.ok_or((slot, Rule::JumpOut))?;
        let below = match heights[called] {
            Height::Open => return Err((slot, Rule::Recursion)),
            Height::Unknown if depth == MAX_FRAMES => return Err((slot, Rule::CallDepth)),
            Height::Unknown => height(program, called, depth + 1, heights)?,
            Height::Known(below) => below,
        };
        if depth + below > MAX_FRAMES {
            return Err((slot, Rule::CallDepth));
        }
        most = most.max(below);
    }
    heights[number] = Height::Known(most + 1);
    Ok(most + 1)
}

/// The functions that a function calls, with the slots of the calls.
fn called(program: &Program, number: usize) -> impl Iterator<Item = (usize, Option<usize>)> + '_ {
    let calls = |(slot, insn)| matches!(insn, Insn::Call(Callee::Local(_))).then_some(slot);
    let slots = program.functions[number].slots.clone();
    program
        .code
        .part(slots)
        .filter_map(calls)
        .map(|slot| (slot, program.code.target(slot).and_then(|target| program.function_at(target))))
}

/// Bytes of stack in use along the deepest chain of calls, given the stack of each function.
pub(super) fn deepest(program: &Program, stack: &[u32]) -> u32 {
    fn from(program: &Program, stack: &[u32], number: usize, known: &mut [Option<u32>]) -> u32 {
        if let Some(known) = known[number] {
            return known;
        }
        let called: Vec<_> = called(program, number).filter_map(|(_, called)| called).collect();
        let below = called.into_iter().map(|called| from(program, stack, called, known)).max();
        // As Linux counts: in steps of 32 bytes, and no function without any.
        let bytes = stack[number].max(1).next_multiple_of(32) + below.unwrap_or(0);
        known[number] = Some(bytes);
        bytes
    }
    from(program, stack, 0, &mut vec![None; program.functions.len()])
}
