// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Shifts and masks as fields: some bits of a value, at another place. Two of them, one after the other, are one.

use super::peephole::{Context, New};
use crate::insn::Width;
use crate::ir::{Arg, BinOp, Op};

/// `bits` bits of `a` from bit `shift` on, moved left by `left`.
#[derive(Debug, Clone, Copy)]
struct Field {
    a: Arg,
    shift: u32,
    bits: u32,
    left: u32,
}

/// A field of a field, a mask or a shift; a shift to and fro.
pub(super) fn rule(context: &Context, op: &Op) -> Option<New> {
    if let Op::Field { shift, bits, left, a } = op {
        let (shift, bits) = (u32::from(*shift), u32::from(*bits));
        if shift == 0 && *left == 0 && context.fits(*a, bits) {
            return Some(New::Arg(*a));
        }
        // Only bits below the field's end count.
        let lower = context.lower(*a, shift + bits);
        if lower != *a {
            return Some(New::Op(Op::Field { shift: shift as u8, bits: bits as u8, left: *left, a: lower }));
        }
    }
    if let Op::Bin { op, width: Width::W64, a, b: Arg::Const(right) } = op
        && let Some(Op::Bin { op: BinOp::Lsh, width: Width::W64, a: x, b: Arg::Const(by) }) = context.definition(*a)
    {
        match (op, by, right) {
            (BinOp::Rsh, 32..64, _) if right >= by && *right < 64 => {
                return Some(New::Op(Op::Field {
                    shift: (right - by) as u8,
                    bits: (64 - right) as u8,
                    left: 0,
                    a: *x,
                }));
            }
            (BinOp::Arsh, 32 | 48 | 56, _) if by == right => {
                return Some(New::Op(Op::SignExtend { bits: (64 - by) as u8, width: Width::W64, a: *x }));
            }
            _ => {}
        }
    }
    let outer = Field::of(context, op)?;
    let both =
        context.definition(outer.a).and_then(|inner| Field::of(context, inner)).and_then(|inner| inner.then(outer));
    if let Some(both) = both {
        return Some(New::Op(both.op()?));
    }
    // A mask of the lower bits is a field, for others to build on.
    let mask = matches!(op, Op::Bin { op: BinOp::And, .. }) && outer.shift == 0;
    mask.then(|| outer.op().map(New::Op)).flatten()
}

impl Field {
    /// An operation as a field extraction.
    fn of(context: &Context, op: &Op) -> Option<Field> {
        match op {
            Op::Field { shift, bits, left, a } => {
                Some(Field { a: *a, shift: (*shift).into(), bits: (*bits).into(), left: (*left).into() })
            }
            Op::Bin { op: BinOp::And, width: Width::W64, a, b: Arg::Const(mask) } if *mask != 0 => {
                let shift = mask.trailing_zeros();
                let bits = (mask >> shift).trailing_ones();
                let whole = mask >> shift >> bits.min(63) == 0;
                (whole && bits <= 32).then_some(Field { a: *a, shift, bits, left: shift })
            }
            Op::Bin { op: BinOp::Rsh, width, a, b: Arg::Const(by) } if *by < 32 || *width == Width::W64 && *by < 64 => {
                let by = *by as u32;
                let top = if *width == Width::W32 { 32 } else { 64 - context.known(*a).bits.max().leading_zeros() };
                let bits = top.checked_sub(by).filter(|bits| (1..=32).contains(bits))?;
                Some(Field { a: *a, shift: by, bits, left: 0 })
            }
            Op::Bin { op: BinOp::Lsh, width, a, b: Arg::Const(by @ 0..8) } => {
                let top = 64 - context.known(*a).bits.max().leading_zeros();
                let fits = (1..=32).contains(&top) && (*width == Width::W64 || top + *by as u32 <= 32);
                fits.then_some(Field { a: *a, shift: 0, bits: top, left: *by as u32 })
            }
            _ => None,
        }
    }

    /// A field of this one's result, expressed as a field of its operand.
    fn then(self, outer: Field) -> Option<Field> {
        // Bits of the result from `left` to `left + bits` may be set; they come from `shift` to `shift + bits` of the
        // operand.
        let first = self.left.max(outer.shift);
        let end = (self.left + self.bits).min(outer.shift + outer.bits);
        let bits = end.checked_sub(first).filter(|bits| *bits > 0)?;
        Some(Field { a: self.a, shift: self.shift + first - self.left, bits, left: first - outer.shift + outer.left })
    }

    /// As an operation, if the form has it.
    fn op(self) -> Option<Op> {
        let fits = self.shift < 64 && self.bits <= 32 && self.left <= 7;
        fits.then_some(Op::Field { shift: self.shift as u8, bits: self.bits as u8, left: self.left as u8, a: self.a })
    }
}
