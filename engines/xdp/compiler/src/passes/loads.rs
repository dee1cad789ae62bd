// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Numbers that are put together of loads side by side are one load: compilers read packed headers byte by byte.

use std::collections::HashMap;

use super::dead;
use super::replace::Replace;
use super::wide::passes;
use crate::insn::Width;
use crate::ir::{Arg, BinOp, Op, Place, Program, ValueId};

pub(super) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    while let Some(joined) = find(program) {
        let inst = &mut program.blocks[joined.block].insts[joined.at];
        inst.op = joined.load;
        let Some(value) = inst.result else { break };
        let mut replace = Replace::default();
        replace.set(joined.sum, Arg::Value(value));
        replace.apply(program);
        changed = true;
        dead::run(program);
    }
    changed
}

/// A load in place of two, and the sum that it gives.
struct Joined {
    block: usize,
    at: usize,
    load: Op,
    sum: ValueId,
}

/// The places of values' definitions, and the number of their uses.
struct Values<'a> {
    program: &'a Program,
    places: HashMap<ValueId, (usize, usize)>,
    uses: HashMap<ValueId, usize>,
}

impl<'a> Values<'a> {
    fn of(program: &'a Program) -> Values<'a> {
        let mut values = Values { program, places: HashMap::new(), uses: HashMap::new() };
        for (index, block) in program.blocks.iter().enumerate() {
            for (at, inst) in block.insts.iter().enumerate() {
                values.places.extend(inst.result.map(|result| (result, (index, at))));
            }
            for arg in block.insts.iter().flat_map(|inst| inst.op.operands()).chain(block.end.operands()) {
                if let Arg::Value(value) = arg {
                    *values.uses.entry(value).or_default() += 1;
                }
            }
        }
        values
    }

    /// The definition of a value that has one use.
    fn once(&self, arg: Arg) -> Option<((usize, usize), &'a Op)> {
        let Arg::Value(value) = arg else { return None };
        let (block, at) = *self.places.get(&value)?;
        (self.uses.get(&value) == Some(&1)).then(|| ((block, at), &self.program.blocks[block].insts[at].op))
    }

    /// A load without other uses, its place, and whether it swaps its bytes.
    fn load(&self, arg: Arg) -> Option<((usize, usize), &'a Place, bool)> {
        match self.once(arg)? {
            (at, Op::Load { place, signed: false, swap }) => Some((at, place, *swap)),
            _ => None,
        }
    }
}

fn find(program: &Program) -> Option<Joined> {
    let values = Values::of(program);
    for inst in program.blocks.iter().flat_map(|block| &block.insts) {
        if let (Op::Bin { op: BinOp::Or | BinOp::Xor | BinOp::Add, width, a, b }, Some(sum)) = (&inst.op, inst.result) {
            let found = join(&values, *width, *a, *b).or_else(|| join(&values, *width, *b, *a));
            if let Some((block, at, load)) = found {
                return Some(Joined { block, at, load, sum });
            }
        }
    }
    None
}

/// `low | high << bits of low`, as one load in place of the earlier one.
fn join(values: &Values, width: Width, low: Arg, high: Arg) -> Option<(usize, usize, Op)> {
    let (low_at, low_place, low_swap) = values.load(low)?;
    let (_, Op::Bin { op: BinOp::Lsh, width: inner, a: high, b: Arg::Const(by) }) = values.once(high)? else {
        return None;
    };
    let (high_at, high_place, high_swap) = values.load(*high)?;
    let bytes = low_place.bytes + high_place.bytes;
    let narrow = width == Width::W32 || *inner == Width::W32;
    if *by != u64::from(8 * low_place.bytes) || bytes > if narrow { 4 } else { 8 } {
        return None;
    }
    if (low_place.space, low_place.base, low_at.0) != (high_place.space, high_place.base, high_at.0) {
        return None;
    }
    let follows = |first: &Place, then: &Place| i64::from(first.offset) + i64::from(first.bytes) == then.offset.into();
    // A single byte is in either order.
    let as_is = |swap: bool, place: &Place| !swap || place.bytes == 1;
    let turned = |swap: bool, place: &Place| swap || place.bytes == 1;
    let (offset, swap) = if follows(low_place, high_place) && as_is(low_swap, low_place) && as_is(high_swap, high_place)
    {
        (low_place.offset, false)
    } else if follows(high_place, low_place) && turned(low_swap, low_place) && turned(high_swap, high_place) {
        (high_place.offset, true)
    } else {
        return None;
    };
    let (first, second) = (low_at.1.min(high_at.1), low_at.1.max(high_at.1));
    let moved = if second == low_at.1 { low_place } else { high_place };
    let between = &values.program.blocks[low_at.0].insts[first + 1..second];
    let place = Place { offset, bytes, ..*low_place };
    let load = Op::Load { place, signed: false, swap };
    between.iter().all(|inst| passes(&inst.op, moved, false)).then_some((low_at.0, first, load))
}
