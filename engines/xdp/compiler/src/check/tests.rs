// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Arithmetic and comparisons against plain numbers: for all tested operands, the abstract result contains the concrete
//! one.
#![allow(clippy::unwrap_used)]

use super::bits::Bits;
use super::scalar::{Range, Scalar};
use super::{alu, decided, extend, refined};
use crate::insn::{AluOp, Cond, Size, Width};

/// Pseudo-random numbers, the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Near the ends of ranges as often as between them.
    fn number(&mut self) -> u64 {
        let near = [0, 1 << 31, 1 << 32, 1 << 63, u64::MAX, 0xff, 1 << 16];
        match self.next() % 3 {
            0 => self.next(),
            1 => near[self.next() as usize % near.len()].wrapping_add(self.next() % 5).wrapping_sub(2),
            _ => self.next() >> (self.next() % 64),
        }
    }

    /// A number and something that is known of it.
    fn known(&mut self) -> (u64, Scalar) {
        let number = self.number();
        let mut scalar = Scalar::ANY;
        match self.next() % 4 {
            0 => scalar = Scalar::of(number),
            1 => {
                let unknown = self.number();
                scalar.bits = Bits { value: number & !unknown, unknown };
            }
            2 => {
                let other = self.number();
                scalar.wide = Range { umin: number.min(other), umax: number.max(other), ..Range::ANY64 };
            }
            _ => {
                let (number, other) = (number.cast_signed(), self.number().cast_signed());
                scalar.wide = Range { smin: number.min(other), smax: number.max(other), ..Range::ANY64 };
            }
        }
        (number, scalar.settled())
    }
}

fn holds(scalar: &Scalar, number: u64) -> bool {
    let inside = |range: &Range, unsigned: u64, signed: i64| {
        (range.umin..=range.umax).contains(&unsigned) && (range.smin..=range.smax).contains(&signed)
    };
    let low = number as u32;
    (number ^ scalar.bits.value) & !scalar.bits.unknown == 0
        && inside(&scalar.wide, number, number.cast_signed())
        && inside(&scalar.low, low.into(), low.cast_signed().into())
}

/// The operation as the RFC defines it.
fn plain(op: AluOp, width: Width, x: u64, y: u64) -> u64 {
    let (x32, y32) = (x as u32, y as u32);
    match width {
        Width::W64 => match op {
            AluOp::Add => x.wrapping_add(y),
            AluOp::Sub => x.wrapping_sub(y),
            AluOp::Mul => x.wrapping_mul(y),
            AluOp::Div => x.checked_div(y).unwrap_or(0),
            AluOp::Sdiv => {
                if y == 0 {
                    0
                } else {
                    x.cast_signed().wrapping_div(y.cast_signed()).cast_unsigned()
                }
            }
            AluOp::Or => x | y,
            AluOp::And => x & y,
            AluOp::Lsh => x << (y & 63),
            AluOp::Rsh => x >> (y & 63),
            AluOp::Mod => x.checked_rem(y).unwrap_or(x),
            AluOp::Smod => {
                if y == 0 {
                    x
                } else {
                    x.cast_signed().wrapping_rem(y.cast_signed()).cast_unsigned()
                }
            }
            AluOp::Xor => x ^ y,
            AluOp::Mov => y,
            AluOp::Arsh => (x.cast_signed() >> (y & 63)).cast_unsigned(),
        },
        Width::W32 => u64::from(match op {
            AluOp::Add => x32.wrapping_add(y32),
            AluOp::Sub => x32.wrapping_sub(y32),
            AluOp::Mul => x32.wrapping_mul(y32),
            AluOp::Div => x32.checked_div(y32).unwrap_or(0),
            AluOp::Sdiv => {
                if y32 == 0 {
                    0
                } else {
                    x32.cast_signed().wrapping_div(y32.cast_signed()).cast_unsigned()
                }
            }
            AluOp::Or => x32 | y32,
            AluOp::And => x32 & y32,
            AluOp::Lsh => x32 << (y32 & 31),
            AluOp::Rsh => x32 >> (y32 & 31),
            AluOp::Mod => x32.checked_rem(y32).unwrap_or(x32),
            AluOp::Smod => {
                if y32 == 0 {
                    x32
                } else {
                    x32.cast_signed().wrapping_rem(y32.cast_signed()).cast_unsigned()
                }
            }
            AluOp::Xor => x32 ^ y32,
            AluOp::Mov => y32,
            AluOp::Arsh => (x32.cast_signed() >> (y32 & 31)).cast_unsigned(),
        }),
    }
}

const OPS: [AluOp; 14] = [
    AluOp::Add,
    AluOp::Sub,
    AluOp::Mul,
    AluOp::Div,
    AluOp::Sdiv,
    AluOp::Or,
    AluOp::And,
    AluOp::Lsh,
    AluOp::Rsh,
    AluOp::Mod,
    AluOp::Smod,
    AluOp::Xor,
    AluOp::Mov,
    AluOp::Arsh,
];

#[test]
fn arithmetic() {
    let mut numbers = Numbers(0x2545_F491_4F6C_DD1D);
    for _ in 0..200_000 {
        let ((x, a), (mut y, mut b)) = (numbers.known(), numbers.known());
        let op = OPS[numbers.next() as usize % OPS.len()];
        if matches!(op, AluOp::Lsh | AluOp::Rsh | AluOp::Arsh) {
            y = numbers.next() % 64;
            b = Scalar::of(y);
        }
        let width = if numbers.next() & 1 == 0 { Width::W32 } else { Width::W64 };
        assert!(holds(&a, x) && holds(&b, y), "{x:#x} {a:x?} {y:#x} {b:x?}");
        let result = alu(op, width, &a, &b);
        assert!(holds(&result, plain(op, width, x, y)), "{op:?} {width:?} {x:#x} {a:x?}, {y:#x} {b:x?}: {result:x?}");
    }
}

#[test]
fn sizes() {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for _ in 0..100_000 {
        let (x, a) = numbers.known();
        for size in [Size::B1, Size::B2, Size::B4, Size::B8] {
            let shift = 64 - size.bits();
            assert!(holds(&a.cut(size), x << shift >> shift), "{x:#x} {a:x?} {size:?}");
            if size != Size::B8 {
                let signed = ((x << shift).cast_signed() >> shift).cast_unsigned();
                assert!(holds(&extend(size, Width::W64, &a), signed), "{x:#x} {a:x?} {size:?}");
            }
        }
    }
}

fn compares(cond: Cond, width: Width, x: u64, y: u64) -> bool {
    let (x, y) = if width == Width::W64 { (x, y) } else { (x & 0xffff_ffff, y & 0xffff_ffff) };
    let signed = |x: u64| if width == Width::W64 { x.cast_signed() } else { (x as u32).cast_signed().into() };
    match cond {
        Cond::Eq => x == y,
        Cond::Ne => x != y,
        Cond::Set => x & y != 0,
        Cond::Gt => x > y,
        Cond::Ge => x >= y,
        Cond::Lt => x < y,
        Cond::Le => x <= y,
        Cond::Sgt => signed(x) > signed(y),
        Cond::Sge => signed(x) >= signed(y),
        Cond::Slt => signed(x) < signed(y),
        Cond::Sle => signed(x) <= signed(y),
    }
}

const CONDS: [Cond; 11] =
    [Cond::Eq, Cond::Ne, Cond::Set, Cond::Gt, Cond::Ge, Cond::Lt, Cond::Le, Cond::Sgt, Cond::Sge, Cond::Slt, Cond::Sle];

/// Refinement by a comparison keeps the compared numbers, and often narrows the bounds.
#[test]
fn comparisons() {
    let mut numbers = Numbers(0xDEAD_BEEF_1234_5678);
    let (mut known, mut narrower) = (0, 0);
    for _ in 0..200_000 {
        let ((x, a), (y, b)) = (numbers.known(), numbers.known());
        let cond = CONDS[numbers.next() as usize % CONDS.len()];
        let width = if numbers.next() & 1 == 0 { Width::W32 } else { Width::W64 };
        let result = compares(cond, width, x, y);
        if let Some(says) = decided(cond, width, &a, &b) {
            known += 1;
            assert_eq!(says, result, "{cond:?} {width:?} {x:#x} {a:x?}, {y:#x} {b:x?}");
        }
        let (left, right) = refined(cond, result, width, &a, &b);
        narrower += usize::from((left, right) != (a, b));
        assert!(
            holds(&left, x) && holds(&right, y),
            "{cond:?} {result} {width:?} {x:#x} {a:x?}, {y:#x} {b:x?}: {left:x?} {right:x?}"
        );
    }
    assert!(known > 40_000 && narrower > 40_000, "{known} {narrower}");
}

#[test]
fn sets_of_bits() {
    assert_eq!(Bits::range(8, 11), Bits { value: 8, unknown: 3 });
    assert_eq!(Bits::range(5, 5), Bits::of(5));
    assert_eq!(Bits::range(0, u64::MAX), Bits::ANY);
    assert!(Bits::range(8, 11).includes(Bits::of(9)) && !Bits::range(8, 11).includes(Bits::of(12)));
    assert_eq!(Bits::of(8).join(Bits::of(9)), Bits { value: 8, unknown: 1 });
    assert_eq!(Bits::of(8).meet(Bits::of(9)), None);
}
