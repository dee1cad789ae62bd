// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Removes stores to the stack that nothing reads: no load, and no helper, which is where keys and values are read.

use super::dead;
use super::stack::{BYTES, bytes, reaches};
use crate::ir::{Block, Op, Order, Place, Program};

/// By byte of the stack, whether something may still read it.
type Live = [bool; BYTES];

pub(super) fn run(program: &mut Program) -> bool {
    let order = Order::of(program);
    let mut live = vec![[false; BYTES]; program.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.blocks.iter().rev() {
            let mut now = behind(program.block(block), &live);
            for inst in program.block(block).insts.iter().rev() {
                step(&mut now, &inst.op);
            }
            changed |= live[block.0 as usize] != now;
            live[block.0 as usize] = now;
        }
    }
    let mut removed = false;
    for &block in &order.blocks {
        let mut now = behind(program.block(block), &live);
        let block = program.block_mut(block);
        for index in (0..block.insts.len()).rev() {
            let op = &block.insts[index].op;
            if let Op::Store { place, .. } = op
                && bytes(place).is_some_and(|range| !now[range].contains(&true))
            {
                block.insts.remove(index);
                removed = true;
            } else {
                step(&mut now, op);
            }
        }
    }
    removed && {
        dead::run(program);
        true
    }
}

/// Bytes read after a block.
fn behind(block: &Block, live: &[Live]) -> Live {
    let mut all = [false; BYTES];
    for edge in block.end.edges() {
        all.iter_mut().zip(live[edge.to.0 as usize]).for_each(|(all, live)| *all |= live);
    }
    all
}

/// From after an operation to before it.
fn step(now: &mut Live, op: &Op) {
    let mut read = |place: &Place| match bytes(place) {
        Some(range) => now[range].fill(true),
        None if reaches(place) => now.fill(true),
        None => {}
    };
    match op {
        Op::Load { place, .. } | Op::Atomic { place, .. } => read(place),
        // A call may leave the bytes that it could write unchanged.
        Op::Call { reads, writes, .. } => reads.iter().chain(writes).for_each(read),
        Op::Store { place, .. } => {
            if let Some(range) = bytes(place) {
                now[range].fill(false);
            }
        }
        _ => {}
    }
}
