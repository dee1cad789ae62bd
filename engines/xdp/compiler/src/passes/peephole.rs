// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Shared helpers of passes that look at one instruction and its operands.

use super::dead;
use super::known::Known;
use super::replace::Replace;
use crate::check::Scalar;
use crate::insn::{Cond, Width};
use crate::ir::{Arg, BinOp, BlockId, Op, Order, Program};

/// Definitions of an instruction's operands.
pub(super) struct Context {
    /// By number, the definition of the value: pure operations, loads and reads.
    definitions: Vec<Option<Op>>,
    known: Known,
    /// The block of the instruction.
    pub block: BlockId,
}

/// The replacement of an instruction.
#[derive(Debug)]
pub(super) enum New {
    /// Its result is this.
    Arg(Arg),
    /// It is this.
    Op(Op),
}

impl Context {
    pub(super) fn of(program: &Program, order: &Order) -> Context {
        let mut definitions = vec![None; program.values as usize];
        for inst in program.blocks.iter().flat_map(|block| &block.insts) {
            if let Some(result) = inst.result.filter(|_| inst.op.is_idle()) {
                definitions[result.0 as usize] = Some(inst.op.clone());
            }
        }
        Context { definitions, known: Known::of(program, order), block: BlockId(0) }
    }

    /// The definition of a value.
    pub(super) fn definition(&self, arg: Arg) -> Option<&Op> {
        let Arg::Value(value) = arg else { return None };
        self.definitions.get(value.0 as usize)?.as_ref()
    }

    /// Facts about an operand.
    pub(super) fn known(&self, arg: Arg) -> Scalar {
        self.known.at(self.block, arg)
    }

    /// The result of a comparison, if it is known.
    pub(super) fn outcome(&self, cond: Cond, width: Width, a: Arg, b: Arg) -> Option<bool> {
        self.known.outcome(self.block, cond, width, a, b)
    }

    /// Facts about an operation's result.
    pub(super) fn result(&self, op: &Op) -> Scalar {
        self.known.result(self.block, op)
    }

    /// Whether only the lower bits of a value can be set.
    pub(super) fn fits(&self, arg: Arg, bits: u32) -> bool {
        bits >= 64 || self.known(arg).bits.max() >> bits == 0
    }

    /// A value of which only the lower bits matter, without operations that only change the others.
    pub(super) fn lower(&self, mut arg: Arg, bits: u32) -> Arg {
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        loop {
            arg = match self.definition(arg) {
                Some(Op::Field { shift: 0, bits: kept, left: 0, a }) if u32::from(*kept) >= bits => *a,
                Some(Op::SignExtend { bits: kept, a, .. }) if u32::from(*kept) >= bits => *a,
                Some(Op::Bin { op: BinOp::And, width, a, b: Arg::Const(kept) })
                    if kept & mask == mask && (*width == Width::W64 || bits <= 32) =>
                {
                    *a
                }
                _ => return arg,
            };
        }
    }

    /// An operand of a 32-bit operation: a constant has no upper half there.
    pub(super) fn half(&self, arg: Arg) -> Arg {
        match self.lower(arg, 32) {
            Arg::Const(number) => Arg::Const(number & u64::from(u32::MAX)),
            arg => arg,
        }
    }
}

/// A rule: the replacement of an operation. None: it stays.
pub(super) type Rule = fn(&Context, &Op) -> Option<New>;

/// Applies a rule to all instructions until it applies nowhere, and then drops unused results.
pub(super) fn run(program: &mut Program, rule: Rule) -> bool {
    /// No chain of rules is longer.
    const CHAIN: usize = 8;
    let order = Order::of(program);
    let mut context = Context::of(program, &order);
    let mut replace = Replace::default();
    let mut changed = false;
    for &block in &order.blocks {
        context.block = block;
        for inst in &mut program.block_mut(block).insts {
            for arg in inst.op.operands_mut() {
                *arg = replace.get(*arg);
            }
            for _ in 0..CHAIN {
                match rule(&context, &inst.op) {
                    None => break,
                    Some(New::Op(op)) => inst.op = op,
                    Some(New::Arg(arg)) => {
                        if let Some(result) = inst.result {
                            replace.set(result, replace.get(arg));
                        }
                        changed = true;
                        break;
                    }
                }
                changed = true;
            }
            if let Some(result) = inst.result.filter(|_| inst.op.is_idle()) {
                context.definitions[result.0 as usize] = Some(inst.op.clone());
            }
        }
    }
    replace.apply(program);
    dead::run(program) | changed
}
