// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A value of a map that is loaded, changed by one operation and stored again is changed where it lies: a counter is
//! one request, and its context waits for its turn only, not for an answer. It is an atomic operation then, which is
//! one of the orders that the program allows, and loses no count.

use std::collections::HashMap;

use super::dead;
use super::wide::passes;
use crate::insn::{AtomicOp, Width};
use crate::ir::{Arg, BinOp, Block, Inst, Op, Place, Program, Space, ValueId};

pub(super) fn run(program: &mut Program) -> bool {
    let mut uses: HashMap<ValueId, usize> = HashMap::new();
    for block in &program.blocks {
        for arg in block.insts.iter().flat_map(|inst| inst.op.operands()).chain(block.end.operands()) {
            if let Arg::Value(value) = arg {
                *uses.entry(value).or_default() += 1;
            }
        }
    }
    let mut changed = false;
    for block in &mut program.blocks {
        for at in 0..block.insts.len() {
            if let Some(op) = change(block, at, &uses) {
                block.insts[at].op = op;
                changed = true;
            }
        }
    }
    if changed {
        dead::run(program);
    }
    changed
}

/// Merges a store with the load and the operation before it, if nothing else uses their results.
fn change(block: &Block, at: usize, uses: &HashMap<ValueId, usize>) -> Option<Op> {
    let Op::Store { place, swap: false, value } = &block.insts[at].op else { return None };
    if !matches!(place.space, Space::Map(_)) || !matches!(place.bytes, 4 | 8) {
        return None;
    }
    let own = |arg: Arg| {
        let Arg::Value(value) = arg else { return None };
        let index = block.insts[..at].iter().position(|inst| inst.result == Some(value))?;
        (uses.get(&value) == Some(&1)).then_some((index, &block.insts[index]))
    };
    let (_, Inst { op: Op::Bin { op, width, a, b }, .. }) = own(*value)? else { return None };
    let op = match op {
        BinOp::Add => AtomicOp::Add,
        BinOp::And => AtomicOp::And,
        BinOp::Or => AtomicOp::Or,
        BinOp::Xor => AtomicOp::Xor,
        _ => return None,
    };
    if *width == Width::W32 && place.bytes == 8 {
        return None;
    }
    [(*a, *b), (*b, *a)].into_iter().find_map(|(old, by)| {
        let (loaded, load) = own(old)?;
        let same = |other: &Place| (other.base, other.offset, other.bytes) == (place.base, place.offset, place.bytes);
        let Op::Load { place: from, signed: false, swap: false } = &load.op else { return None };
        // The load moves down to the store.
        let moves = block.insts[loaded + 1..at].iter().all(|inst| passes(&inst.op, from, false));
        (same(from) && by != old && moves).then_some(Op::Atomic { op, place: *place, value: by, expected: None })
    })
}
