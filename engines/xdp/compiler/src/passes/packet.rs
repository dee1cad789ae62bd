// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Tracks the program's writes to the packet, byte by byte: a load of a written byte gives the stored value. The
//! checksum of a header that a program has just written is therefore computed from known numbers.
//!
//! Two pointers into the packet may be equal: a store through one invalidates values stored through the others. Where
//! ways meet, nothing is known. After a move of the packet a program has new pointers.

use std::collections::HashMap;

use super::dead;
use super::replace::Replace;
use super::stack::{Byte, Found, loaded, stored};
use crate::ir::{Arg, Op, Order, Place, Program, Space};

/// The contents of each byte, by pointer and offset.
type Written = HashMap<(Arg, i32), Byte>;

pub(super) fn run(program: &mut Program) -> bool {
    let order = Order::of(program);
    let before = program.predecessors();
    let mut ends: Vec<Written> = vec![Written::new(); program.blocks.len()];
    let mut replace = Replace::default();
    let mut changed = false;
    for &block in &order.blocks {
        let mut now = match before[block.0 as usize][..] {
            [only] => ends[only.0 as usize].clone(),
            _ => Written::new(),
        };
        for inst in &mut program.block_mut(block).insts {
            for arg in inst.op.operands_mut() {
                *arg = replace.get(*arg);
            }
            if let Op::Load { place, signed: false, swap } = &inst.op
                && let Some(found) = found(&now, place, *swap)
            {
                match (found, inst.result) {
                    (Found::Arg(arg), Some(result)) => replace.set(result, arg),
                    (Found::Op(op), _) => inst.op = op,
                    (Found::Arg(_), None) => continue,
                }
                changed = true;
            }
            step(&mut now, &inst.op);
        }
        ends[block.0 as usize] = now;
    }
    replace.apply(program);
    dead::run(program) | changed
}

/// The value of a load, if the program has written all of its bytes.
fn found(now: &Written, place: &Place, swap: bool) -> Option<Found> {
    let bytes: Option<Vec<Byte>> = offsets(place).map(|offset| now.get(&(place.base, offset)).copied()).collect();
    loaded(&bytes.filter(|_| place.space == Space::Packet)?, swap)
}

fn offsets(place: &Place) -> impl Iterator<Item = i32> {
    place.offset..place.offset.saturating_add_unsigned(place.bytes)
}

/// From before an operation to after it.
fn step(now: &mut Written, op: &Op) {
    match op {
        Op::Store { place, swap, value } if place.space == Space::Packet => {
            now.retain(|(base, _), _| *base == place.base);
            now.extend(offsets(place).map(|offset| (place.base, offset)).zip(stored(place, *swap, *value)));
        }
        Op::Store { place, .. } | Op::Atomic { place, .. } if reaches(place) => now.clear(),
        Op::Call { writes, .. } if writes.iter().any(reaches) => now.clear(),
        _ => {}
    }
}

/// Whether a place may be in the packet.
fn reaches(place: &Place) -> bool {
    matches!(place.space, Space::Packet | Space::Any)
}
