// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Checks of the packet's end as comparisons of its length: `data + 34 > data_end` is `len < 34`.
//!
//! hXDP takes such checks out and lets its hardware end the program at an access outside of the packet. Here an access
//! never faults, and a check with its verdict is one lane of a row that has room for four, `br.lt len, 34 → drop`: no
//! sum, no register, no row of its own. Checks therefore stay, as comparisons of a special with a constant, and the
//! loads behind them need not wait for them.
//!
//! Two checks are not made one unless one follows from the other, which [`super::conditions`] finds, for both compare
//! the same value. Checking for 34 bytes at once where the program asks for 14 first would be right only when both fail
//! with the same verdict, nothing is stored, moved or called between them, and all ways from the first lead to the
//! second: for the ways that do not, frames of 14 to 33 bytes would be dropped. Removing the remaining checks would
//! save a lane, but never a row.

use std::collections::HashSet;

use super::dead;
use super::peephole::Context;
use crate::insn::{Cond, Width};
use crate::ir::{Arg, BinOp, BlockId, End, Inst, Op, Order, Program, Special, Stale, ValueId};

/// No check asks for more.
const LONGEST: i64 = 0xffff;

pub(super) fn run(program: &mut Program) -> bool {
    let order = Order::of(program);
    let context = Context::of(program, &order);
    let stale = Stale::of(program);
    let mut changed = false;
    for index in 0..program.blocks.len() {
        let mut now = stale.at(BlockId(index as u32));
        for inst in &mut program.blocks[index].insts {
            if is_length(&Ends { context: &context, stale: &now }, &inst.op) {
                inst.op = Op::Read(Special::Len);
                changed = true;
            }
            stale.step(&mut now, inst);
        }
        let End::Branch { cond, width: Width::W64, a, b, .. } = program.blocks[index].end else { continue };
        let ends = Ends { context: &context, stale: &now };
        let Some((cond, bytes)) = check(&ends, cond, a, b).or_else(|| check(&ends, cond.swapped(), b, a)) else {
            continue;
        };
        let len = program.fresh();
        let block = &mut program.blocks[index];
        block.insts.push(Inst { op: Op::Read(Special::Len), result: Some(len), slot: block.end_slot });
        if let End::Branch { cond: old, a, b, .. } = &mut block.end {
            (*old, *a, *b) = (cond, Arg::Value(len), Arg::Const(bytes));
        }
        changed = true;
    }
    dead::run(program) | changed
}

/// The packet's beginning and end, as a place in the program knows them.
struct Ends<'a> {
    context: &'a Context,
    /// Reads from before the packet has moved: the length is another one now.
    stale: &'a HashSet<ValueId>,
}

impl Ends<'_> {
    fn reads(&self, arg: Arg, special: Special) -> bool {
        let read = matches!(self.context.definition(arg), Some(Op::Read(read)) if *read == special);
        read && !matches!(arg, Arg::Value(value) if self.stale.contains(&value))
    }
}

/// `data_end - data`, of which the lower half is all there is.
fn is_length(ends: &Ends, op: &Op) -> bool {
    matches!(op, Op::Bin { op: BinOp::Sub, a, b, .. }
        if ends.reads(*a, Special::DataEnd) && ends.reads(*b, Special::Data))
}

/// Turns a comparison of `data + n` with `data_end` into one of `len` with a number.
fn check(ends: &Ends, cond: Cond, pointer: Arg, end: Arg) -> Option<(Cond, u64)> {
    if cond == Cond::Set || !ends.reads(end, Special::DataEnd) {
        return None;
    }
    let bytes = match ends.context.definition(pointer)? {
        Op::Bin { op: BinOp::Add, width: Width::W64, a, b: Arg::Const(more) } if ends.reads(*a, Special::Data) => {
            more.cast_signed()
        }
        _ if ends.reads(pointer, Special::Data) => 0,
        _ => return None,
    };
    (0..=LONGEST).contains(&bytes).then(|| (cond.swapped(), bytes.cast_unsigned()))
}
