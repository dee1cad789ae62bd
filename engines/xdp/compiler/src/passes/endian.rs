// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Byte order: loads and stores turn it round on their way, and twice is not at all. (Comparisons with constants are
//! among `conditions`.)

use std::collections::HashMap;

use super::peephole::{self, Context, New};
use super::replace::Replace;
use crate::ir::{Arg, Op, Program, ValueId};

pub(super) fn run(program: &mut Program) -> bool {
    loads(program) | peephole::run(program, rule)
}

fn rule(context: &Context, op: &Op) -> Option<New> {
    match op {
        Op::Swap { bytes, a } => {
            let bits = 8 * u32::from(*bytes);
            match context.definition(*a) {
                Some(Op::Swap { bytes: inner, a: x }) if inner == bytes => {
                    Some(if context.fits(*x, bits) { New::Arg(*x) } else { New::Op(Op::low(*x, bits as u8)) })
                }
                _ => {
                    let lower = context.lower(*a, bits);
                    (lower != *a).then_some(New::Op(Op::Swap { bytes: *bytes, a: lower }))
                }
            }
        }
        Op::Store { place, swap, value } => match context.definition(*value) {
            Some(Op::Swap { bytes, a }) if u32::from(*bytes) == place.bytes => {
                Some(New::Op(Op::Store { place: *place, swap: !swap, value: *a }))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Loads whose only use is to be turned round.
fn loads(program: &mut Program) -> bool {
    let mut uses: HashMap<ValueId, usize> = HashMap::new();
    let mut swaps: HashMap<ValueId, (u8, ValueId)> = HashMap::new();
    for block in &program.blocks {
        for inst in &block.insts {
            if let (Op::Swap { bytes, a: Arg::Value(a) }, Some(result)) = (&inst.op, inst.result) {
                swaps.insert(*a, (*bytes, result));
            }
        }
        let insts = block.insts.iter().flat_map(|inst| inst.op.operands());
        for arg in insts.chain(block.end.operands()) {
            if let Arg::Value(value) = arg {
                *uses.entry(value).or_default() += 1;
            }
        }
    }
    let mut replace = Replace::default();
    for inst in program.blocks.iter_mut().flat_map(|block| &mut block.insts) {
        if let (Op::Load { place, signed: false, swap }, Some(loaded)) = (&mut inst.op, inst.result)
            && let Some((bytes, swapped)) = swaps.get(&loaded)
            && u32::from(*bytes) == place.bytes
            && uses.get(&loaded) == Some(&1)
        {
            *swap = !*swap;
            replace.set(*swapped, Arg::Value(loaded));
        }
    }
    // The swaps themselves have no use left.
    replace.apply(program) && super::dead::run(program)
}
