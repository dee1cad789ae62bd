// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Tracks the contents of the stack, byte by byte: a load gives the stored value, and a store of a value that is
//! already there is removed. The stack starts as zero, so stores that zero a variable disappear as well.

use super::dead;
use super::replace::Replace;
use crate::ir::{Arg, BlockId, Op, Order, Place, Program, Space, Special};

/// Bytes of the stack.
pub(super) const BYTES: usize = 512;

/// The contents of a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Byte {
    Unknown,
    Const(u8),
    /// That byte of a value, counted from its lowest.
    Of(Arg, u8),
}

/// The bytes of a place whose address is known.
pub(super) fn bytes(place: &Place) -> Option<std::ops::Range<usize>> {
    if place.base != Arg::Special(Special::Stack) {
        return None;
    }
    let from = usize::try_from(BYTES as i64 + i64::from(place.offset)).ok()?;
    let to = from.checked_add(place.bytes as usize)?;
    (to <= BYTES).then_some(from..to)
}

/// Whether a place may be on the stack.
pub(super) fn reaches(place: &Place) -> bool {
    matches!(place.space, Space::Stack | Space::Any)
}

pub(super) fn run(program: &mut Program) -> bool {
    let order = Order::of(program);
    let before = program.predecessors();
    let mut ends: Vec<Option<Vec<Byte>>> = vec![None; program.blocks.len()];
    let mut replace = Replace::default();
    let mut changed = false;
    for &block in &order.blocks {
        let mut now = begin(&order, &before[block.0 as usize], &ends);
        program.block_mut(block).insts.retain_mut(|inst| {
            for arg in inst.op.operands_mut() {
                *arg = replace.get(*arg);
            }
            let found = match &inst.op {
                Op::Load { place, signed: false, swap } if place.space == Space::Stack => {
                    bytes(place).and_then(|range| loaded(&now[range], *swap))
                }
                Op::Store { place, swap, value } => {
                    let stored = stored(place, *swap, *value);
                    if bytes(place).is_some_and(|range| now[range] == stored[..]) {
                        changed = true;
                        return false;
                    }
                    None
                }
                _ => None,
            };
            match (found, inst.result) {
                (Some(Found::Arg(arg)), Some(result)) => {
                    replace.set(result, arg);
                    changed = true;
                }
                (Some(Found::Op(op)), _) => {
                    inst.op = op;
                    changed = true;
                }
                _ => {}
            }
            step(&mut now, &inst.op);
            true
        });
        ends[block.0 as usize] = Some(now);
    }
    replace.apply(program);
    dead::run(program) | changed
}

/// The contents of the stack at the end of each block.
pub(super) fn ends(program: &Program, order: &Order) -> Vec<Option<Vec<Byte>>> {
    let before = program.predecessors();
    let mut ends: Vec<Option<Vec<Byte>>> = vec![None; program.blocks.len()];
    for &block in &order.blocks {
        let mut now = begin(order, &before[block.0 as usize], &ends);
        program.block(block).insts.iter().for_each(|inst| step(&mut now, &inst.op));
        ends[block.0 as usize] = Some(now);
    }
    ends
}

/// The contents of the stack at the start of a block.
fn begin(order: &Order, ways: &[BlockId], ends: &[Option<Vec<Byte>>]) -> Vec<Byte> {
    match ways {
        [] => vec![Byte::Const(0); BYTES],
        // A back edge brings facts that are not known yet.
        _ if ways.iter().any(|way| order.reaches(*way) && ends[way.0 as usize].is_none()) => {
            vec![Byte::Unknown; BYTES]
        }
        _ => ways.iter().filter_map(|way| ends[way.0 as usize].clone()).reduce(join).unwrap_or_default(),
    }
}

/// From before an operation to after it.
pub(super) fn step(now: &mut [Byte], op: &Op) {
    match op {
        Op::Store { place, swap, value } => match bytes(place) {
            Some(range) => now[range].copy_from_slice(&stored(place, *swap, *value)),
            None => forget(now, place),
        },
        Op::Atomic { place, .. } => forget(now, place),
        Op::Call { writes, .. } => writes.iter().for_each(|place| forget(now, place)),
        _ => {}
    }
}

fn forget(now: &mut [Byte], place: &Place) {
    match bytes(place) {
        Some(range) => now[range].fill(Byte::Unknown),
        None if reaches(place) => now.fill(Byte::Unknown),
        None => {}
    }
}

fn join(mut a: Vec<Byte>, b: Vec<Byte>) -> Vec<Byte> {
    for (a, b) in a.iter_mut().zip(b) {
        if *a != b {
            *a = Byte::Unknown;
        }
    }
    a
}

/// The effect of a store on each byte.
pub(super) fn stored(place: &Place, swap: bool, value: Arg) -> Vec<Byte> {
    let byte = |index: u8| match value {
        Arg::Const(number) => Byte::Const((number >> (8 * index)) as u8),
        value => Byte::Of(value, index),
    };
    let bytes = (0..place.bytes as u8).map(byte);
    if swap { bytes.rev().collect() } else { bytes.collect() }
}

/// The value of a load.
pub(super) enum Found {
    Arg(Arg),
    Op(Op),
}

pub(super) fn loaded(bytes: &[Byte], swap: bool) -> Option<Found> {
    let mut bytes = bytes.to_vec();
    if swap {
        bytes.reverse();
    }
    let constant = bytes.iter().rev().try_fold(0u64, |number, byte| match byte {
        Byte::Const(byte) => Some(number << 8 | u64::from(*byte)),
        _ => None,
    });
    if let Some(number) = constant {
        return Some(Found::Arg(Arg::Const(number)));
    }
    let Byte::Of(value, first) = bytes[0] else { return None };
    let bits = 8 * bytes.len() as u8;
    if bytes.iter().zip(first..).all(|(byte, index)| *byte == Byte::Of(value, index)) {
        if first == 0 && bits == 64 {
            return Some(Found::Arg(value));
        }
        return (bits <= 32).then_some(Found::Op(Op::Field { shift: 8 * first, bits, left: 0, a: value }));
    }
    // The other way round.
    let turned = bytes.iter().zip((0..bytes.len() as u8).rev()).all(|(byte, index)| *byte == Byte::Of(value, index));
    (turned && matches!(bits, 16 | 32 | 64)).then_some(Found::Op(Op::Swap { bytes: bits / 8, a: value }))
}
