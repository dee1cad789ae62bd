// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Simplifies conditions of branches: turns a constant round instead of a value, tests a bit instead of a mask, and
//! removes branches with only one possible way.

use super::dead;
use super::flow::tidy;
use super::peephole::Context;
use crate::insn::{Cond, Width};
use crate::ir::{Arg, BinOp, End, Op, Order, Program};

pub(super) fn run(program: &mut Program) -> bool {
    let order = Order::of(program);
    let mut context = Context::of(program, &order);
    let mut changed = false;
    for &block in &order.blocks {
        context.block = block;
        while let Some(end) = simpler(&context, &program.block(block).end) {
            program.block_mut(block).end = end;
            changed = true;
        }
    }
    if changed {
        // A way that is not open may have been the only one to some blocks.
        tidy(program);
    }
    dead::run(program) | changed
}

fn simpler(context: &Context, end: &End) -> Option<End> {
    match end {
        End::Branch { cond, width, a, b, then, otherwise, packet_check } => {
            if then == otherwise {
                return Some(End::Jump(then.clone()));
            }
            if let Some(way) = context.outcome(*cond, *width, *a, *b) {
                return Some(End::Jump(if way { then } else { otherwise }.clone()));
            }
            let new = compare(context, Compare { cond: *cond, width: *width, a: *a, b: *b, inverse: false })?;
            let Compare { cond, width, a, b, inverse } = new;
            let (then, otherwise) = if inverse { (otherwise, then) } else { (then, otherwise) };
            let packet_check = packet_check.map(|(bytes, there)| (bytes, there != inverse));
            let (then, otherwise) = (then.clone(), otherwise.clone());
            Some(End::Branch { cond, width, a, b, then, otherwise, packet_check })
        }
        End::Exit(verdict) => {
            let lower = context.lower(*verdict, 32);
            (lower != *verdict).then_some(End::Exit(lower))
        }
        End::Jump(_) | End::TailCall { .. } | End::Begin { .. } => None,
    }
}

/// A comparison; `inverse`: its outcome is to be turned round.
#[derive(Clone, Copy)]
struct Compare {
    cond: Cond,
    width: Width,
    a: Arg,
    b: Arg,
    inverse: bool,
}

/// The same, said with less.
fn compare(context: &Context, old: Compare) -> Option<Compare> {
    let Compare { cond, width, a, b, .. } = old;
    if width == Width::W32 {
        let (x, y) = (context.half(a), context.half(b));
        if (x, y) != (a, b) {
            return Some(Compare { a: x, b: y, ..old });
        }
    }
    let Arg::Const(number) = b else {
        return matches!(a, Arg::Const(_)).then(|| Compare { cond: cond.swapped(), a: b, b: a, ..old });
    };
    let equality = matches!(cond, Cond::Eq | Cond::Ne);
    match context.definition(a)? {
        Op::Swap { bytes, a: x } if equality => {
            let bits = 8 * u32::from(*bytes);
            let turned = number.swap_bytes() >> (64 - bits);
            // All bytes must be compared, and no others.
            let whole = match width {
                Width::W32 => bits == 32 || bits < 32 && context.fits(*x, bits),
                Width::W64 => context.fits(*x, bits),
            };
            (whole && (bits == 64 || number >> bits == 0)).then_some(Compare { a: *x, b: Arg::Const(turned), ..old })
        }
        Op::Bin { op: BinOp::Add, width: inner, a: x, b: Arg::Const(more) } if equality && *inner == width => {
            let less = number.wrapping_sub(*more);
            let less = if width == Width::W32 { less & u64::from(u32::MAX) } else { less };
            Some(Compare { a: *x, b: Arg::Const(less), ..old })
        }
        Op::Bin { op: BinOp::Xor, width: inner, a: x, b: y } if equality && number == 0 && *inner == width => {
            Some(Compare { a: *x, b: *y, ..old })
        }
        Op::Bin { op: BinOp::And, width: Width::W64, a: x, b: y } if equality && number == 0 => {
            let narrow = width == Width::W32 || context.fits(*x, 32) || context.fits(*y, 32);
            test(old, *x, if narrow { context.half(*y) } else { *y }, narrow)
        }
        Op::Field { shift, bits, left, a: x } if equality && number == 0 && bits + left <= 32 => {
            let mask = ((1u64 << bits) - 1) << shift;
            test(old, *x, Arg::Const(mask), mask <= u64::from(u32::MAX))
        }
        // Linux' `!!x`, and comparisons that are kept as numbers.
        Op::Set { cond: inner, width, a: x, b: y } if equality && number == 0 => {
            let inverse = cond == Cond::Eq;
            Some(Compare { cond: *inner, width: *width, a: *x, b: *y, inverse })
        }
        _ => None,
    }
}

/// A test of bits for being zero, of the lower 32 or of all. A mask of more than 31 bits is no operand of the core at
/// 64.
fn test(old: Compare, a: Arg, mask: Arg, narrow: bool) -> Option<Compare> {
    let fits = narrow || !matches!(mask, Arg::Const(mask) if mask > i32::MAX as u64);
    let width = if narrow { Width::W32 } else { Width::W64 };
    fits.then_some(Compare { cond: Cond::Set, width, a, b: mask, inverse: old.cond == Cond::Eq })
}
