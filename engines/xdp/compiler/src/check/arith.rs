// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Arithmetic on the checker's facts. It knows what the kernel's verifier knows and not much more, so that programs
//! accepted here load there.

use super::bits::Bits;
use super::scalar::{Range, Scalar};
use crate::insn::{AluOp, Size, Width};

/// The result of an operation on two numbers.
pub fn alu(op: AluOp, width: Width, left: &Scalar, right: &Scalar) -> Scalar {
    if op == AluOp::Mov {
        return fit(*right, width);
    }
    let (a, b) = match width {
        Width::W64 => (*left, *right),
        Width::W32 => (left.cut(Size::B4), right.cut(Size::B4)),
    };
    let known = left.bits(width).constant().zip(right.bits(width).constant());
    if let Some((x, y)) = known.filter(|_| !matches!(op, AluOp::Div | AluOp::Mod | AluOp::Sdiv | AluOp::Smod)) {
        return Scalar::of(constant(op, width, x, y));
    }
    let bits = match op {
        AluOp::Add => a.bits.plus(b.bits),
        AluOp::Sub => a.bits.minus(b.bits),
        AluOp::Mul => a.bits.times(b.bits),
        AluOp::And => a.bits.and(b.bits),
        AluOp::Or => a.bits.or(b.bits),
        AluOp::Xor => a.bits.xor(b.bits),
        AluOp::Lsh | AluOp::Rsh | AluOp::Arsh => return shift(op, width, &a, &b),
        AluOp::Div | AluOp::Mod | AluOp::Sdiv | AluOp::Smod | AluOp::Mov => {
            // Not even that the upper half is 0: Linux does not know it.
            return Scalar::ANY;
        }
    };
    let low = range(op, Width::W32, &a.low, &b.low, bits.low());
    match width {
        Width::W64 => Scalar { bits, wide: range(op, Width::W64, &a.wide, &b.wide, bits), low }.settled(),
        Width::W32 => Scalar { bits: bits.low(), wide: Range::ANY64, low }.settled(),
    }
}

/// Extended with its sign from some bytes.
pub fn extend(from: Size, width: Width, scalar: &Scalar) -> Scalar {
    let bits = from.bits();
    let signed = Scalar::of_signed(from).wide;
    let extended = if scalar.wide.smin >= signed.smin && scalar.wide.smax <= signed.smax {
        *scalar
    } else if from == Size::B4 {
        let wide = Range { smin: scalar.low.smin, smax: scalar.low.smax, ..Range::ANY64 };
        Scalar { bits: Bits::ANY, wide, low: scalar.low }.settled()
    } else if let Some(value) = scalar.constant() {
        let shift = 64 - bits;
        Scalar::of((value.cast_signed() << shift >> shift).cast_unsigned())
    } else {
        Scalar::of_signed(from)
    };
    fit(extended, width)
}

fn fit(scalar: Scalar, width: Width) -> Scalar {
    if width == Width::W64 { scalar } else { scalar.cut(Size::B4) }
}

/// The operation itself.
fn constant(op: AluOp, width: Width, x: u64, y: u64) -> u64 {
    let shift = (y & if width == Width::W64 { 63 } else { 31 }) as u32;
    let result = match op {
        AluOp::Add => x.wrapping_add(y),
        AluOp::Sub => x.wrapping_sub(y),
        AluOp::Mul => x.wrapping_mul(y),
        AluOp::And => x & y,
        AluOp::Or => x | y,
        AluOp::Xor => x ^ y,
        AluOp::Lsh => x << shift,
        AluOp::Rsh => x >> shift,
        AluOp::Arsh if width == Width::W32 => ((x as u32).cast_signed() >> shift).cast_unsigned().into(),
        AluOp::Arsh => (x.cast_signed() >> shift).cast_unsigned(),
        _ => y,
    };
    if width == Width::W64 { result } else { result & u64::from(u32::MAX) }
}

/// The range of a result; `bits` are the known bits.
fn range(op: AluOp, width: Width, a: &Range, b: &Range, bits: Bits) -> Range {
    let any = Range::any(width);
    let mut found = any;
    let mut unsigned = |min: i128, max: i128| {
        if min >= 0 && max <= i128::from(any.umax) {
            (found.umin, found.umax) = (min as u64, max as u64);
        }
    };
    let wide = |x: u64| i128::from(x);
    match op {
        AluOp::Add => unsigned(wide(a.umin) + wide(b.umin), wide(a.umax) + wide(b.umax)),
        AluOp::Sub => unsigned(wide(a.umin) - wide(b.umax), wide(a.umax) - wide(b.umin)),
        AluOp::Mul => {
            // The largest product of two signed 64-bit numbers does not fit i128, so the factors are checked first.
            if let Some(max) = a.umax.checked_mul(b.umax) {
                unsigned(wide(a.umin) * wide(b.umin), wide(max));
            }
        }
        AluOp::And => unsigned(wide(bits.min()), wide(a.umax.min(b.umax))),
        AluOp::Or => unsigned(wide(a.umin.max(b.umin)), wide(bits.max())),
        AluOp::Xor => unsigned(wide(bits.min()), wide(bits.max())),
        _ => {}
    }
    let mut signed = |ends: &[i128]| {
        let (min, max) = ends.iter().fold((i128::MAX, i128::MIN), |(min, max), &end| (min.min(end), max.max(end)));
        if min >= i128::from(any.smin) && max <= i128::from(any.smax) {
            (found.smin, found.smax) = (min as i64, max as i64);
        }
    };
    let wide = |x: i64| i128::from(x);
    match op {
        AluOp::Add => signed(&[wide(a.smin) + wide(b.smin), wide(a.smax) + wide(b.smax)]),
        AluOp::Sub => signed(&[wide(a.smin) - wide(b.smax), wide(a.smax) - wide(b.smin)]),
        AluOp::Mul => {
            let product = |x: i64, y: i64| wide(x) * wide(y);
            signed(&[
                product(a.smin, b.smin),
                product(a.smin, b.smax),
                product(a.smax, b.smin),
                product(a.smax, b.smax),
            ]);
        }
        _ => {}
    }
    found
}

/// A shift, by a known distance: else nothing is known of the result.
fn shift(op: AluOp, width: Width, a: &Scalar, b: &Scalar) -> Scalar {
    let bits = if width == Width::W64 { 64 } else { 32 };
    let Some(by) = b.bits(width).constant().filter(|by| *by < bits) else { return Scalar::ANY };
    let by = by as u32;
    let source = a.range(width);
    let any = Range::any(width);
    let mut found = any;
    let result_bits = match op {
        AluOp::Lsh => {
            if source.umax <= any.umax >> by {
                (found.umin, found.umax) = (source.umin << by, source.umax << by);
            } else if width == Width::W64 && by >= 32 && a.low.umax <= u64::MAX >> by {
                // Only the lower half stays.
                (found.umin, found.umax) = (a.low.umin << by, a.low.umax << by);
            }
            if width == Width::W64 && by == 32 {
                (found.smin, found.smax) = (a.low.smin << 32, a.low.smax << 32);
            }
            a.bits(width).left(by)
        }
        AluOp::Rsh => {
            (found.umin, found.umax) = (source.umin >> by, source.umax >> by);
            a.bits(width).right(by)
        }
        _ => {
            (found.smin, found.smax) = (source.smin >> by, source.smax >> by);
            a.bits(width).sar(by, bits as u32)
        }
    };
    match width {
        Width::W64 => Scalar { bits: result_bits, wide: found, low: Range::ANY32 }.settled(),
        Width::W32 => Scalar { bits: result_bits.low(), wide: Range::ANY64, low: found }.settled(),
    }
}
