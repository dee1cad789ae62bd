// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Constants, and arithmetic that can be said with less.

use super::peephole::{Context, New};
use crate::insn::Width;
use crate::ir::{Arg, BinOp, Op};

/// Evaluates or simplifies an operation.
pub(super) fn rule(context: &Context, op: &Op) -> Option<New> {
    if op.is_pure()
        && let Some(number) = context.result(op).constant()
    {
        return Some(New::Arg(Arg::Const(number)));
    }
    match op {
        Op::Bin { op, width, a, b } => binary(context, *op, *width, *a, *b),
        Op::SignExtend { bits, width, a } => {
            let (bits, lower) = (u32::from(*bits), context.lower(*a, u32::from(*bits)));
            if context.fits(*a, bits - 1) {
                return Some(New::Arg(*a));
            }
            (lower != *a).then_some(New::Op(Op::SignExtend { bits: bits as u8, width: *width, a: lower }))
        }
        Op::Store { place, swap, value } => {
            let value = cut(context, *value, 8 * place.bytes)?;
            Some(New::Op(Op::Store { place: *place, swap: *swap, value }))
        }
        Op::Adjust { what, by, bare } => {
            Some(New::Op(Op::Adjust { what: *what, by: cut(context, *by, 32)?, bare: *bare }))
        }
        _ => None,
    }
}

/// An operand without the operations that do not matter, if there are any.
fn cut(context: &Context, arg: Arg, bits: u32) -> Option<Arg> {
    let lower = context.lower(arg, bits);
    (lower != arg).then_some(lower)
}

fn binary(context: &Context, op: BinOp, width: Width, a: Arg, b: Arg) -> Option<New> {
    use BinOp::{Add, And, Arsh, Div, Lsh, Mod, Mul, Or, Rsh, Sub, Xor};
    let bin = |op, width, a, b| Some(New::Op(Op::Bin { op, width, a, b }));
    let narrow = width == Width::W32;
    let bits = if narrow { 32 } else { 64 };
    // A distance counts modulo the width: it is one below it before the width may change.
    if matches!(op, Lsh | Rsh | Arsh)
        && let Arg::Const(by) = b
        && by >= bits
    {
        return bin(op, width, a, Arg::Const(by % bits));
    }
    if narrow {
        let (x, y) = (context.half(a), context.half(b));
        if (x, y) != (a, b) {
            return bin(op, width, x, y);
        }
        // If the upper halves of the operands are 0, both widths give the same result, and using one form finds more
        // duplicates.
        let whole = matches!(b, Arg::Const(_)) && op == And
            || matches!(op, And | Or | Xor | Div | Mod) && context.fits(a, 32) && context.fits(b, 32)
            || op == Rsh && matches!(b, Arg::Const(_)) && context.fits(a, 32);
        if whole && !narrow_operand(op, b) {
            return bin(op, Width::W64, a, b);
        }
    } else if narrow_operand(op, b) && context.fits(a, 32) {
        return bin(op, Width::W32, a, b);
    }
    // The result of an operation that changes nothing: for 32 bits, the lower half.
    let same = |arg: Arg| {
        if narrow && !context.fits(arg, 32) { New::Op(Op::low(arg, 32)) } else { New::Arg(arg) }
    };
    if matches!(op, Add | Mul | And | Or | Xor) && matches!(a, Arg::Const(_)) && !matches!(b, Arg::Const(_)) {
        return bin(op, width, b, a);
    }
    if a == b {
        match op {
            Sub | Xor => return Some(New::Arg(Arg::Const(0))),
            And | Or => return Some(same(a)),
            _ => {}
        }
    }
    let Arg::Const(number) = b else { return None };
    let mask = if narrow { u64::from(u32::MAX) } else { u64::MAX };
    match (op, number) {
        (Add | Sub | Or | Xor | Lsh | Rsh | Arsh, 0) | (Mul | Div, 1) => return Some(same(a)),
        (Sub, _) => return bin(Add, width, a, Arg::Const(number.wrapping_neg() & mask)),
        (Mul, _) if number.is_power_of_two() => return bin(Lsh, width, a, Arg::Const(number.trailing_zeros().into())),
        (Div, _) if number.is_power_of_two() => return bin(Rsh, width, a, Arg::Const(number.trailing_zeros().into())),
        (Mod, _) if number.is_power_of_two() => return bin(And, width, a, Arg::Const(number - 1)),
        (And, _) if context.known(a).bits.max() & !number == 0 => return Some(same(a)),
        _ => {}
    }
    // (x op m) op n is x op (m op n).
    if let Some(Op::Bin { op: inner, width: inner_width, a: x, b: Arg::Const(other) }) = context.definition(a)
        && (*inner, *inner_width) == (op, width)
    {
        let both = match op {
            Add => other.wrapping_add(number),
            Mul => other.wrapping_mul(number),
            And => other & number,
            Or => other | number,
            Xor => other ^ number,
            _ => return None,
        };
        return bin(op, width, *x, Arg::Const(both & mask));
    }
    None
}

/// Whether a constant is an operand of the core's row at 32 bits only, where an operation on 64 would need a register
/// for it.
fn narrow_operand(op: BinOp, b: Arg) -> bool {
    const FIRST: u64 = 1 << 31;
    matches!(op, BinOp::Or | BinOp::Xor) && matches!(b, Arg::Const(FIRST..=0xFFFF_FFFF))
}
