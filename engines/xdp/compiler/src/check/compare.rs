// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The facts that a comparison of two numbers gives: whether it has only one possible result, and what holds for each
//! result.

use super::bits::Bits;
use super::scalar::{Range, Scalar};
use crate::insn::{Cond, Width};

impl Cond {
    /// The condition that holds when this one does not; there is no such condition for bit tests.
    pub(super) fn inverse(self) -> Option<Cond> {
        Some(match self {
            Cond::Eq => Cond::Ne,
            Cond::Ne => Cond::Eq,
            Cond::Gt => Cond::Le,
            Cond::Le => Cond::Gt,
            Cond::Ge => Cond::Lt,
            Cond::Lt => Cond::Ge,
            Cond::Sgt => Cond::Sle,
            Cond::Sle => Cond::Sgt,
            Cond::Sge => Cond::Slt,
            Cond::Slt => Cond::Sge,
            Cond::Set => return None,
        })
    }

    /// The condition with its sides exchanged.
    pub(crate) fn swapped(self) -> Cond {
        match self {
            Cond::Gt => Cond::Lt,
            Cond::Lt => Cond::Gt,
            Cond::Ge => Cond::Le,
            Cond::Le => Cond::Ge,
            Cond::Sgt => Cond::Slt,
            Cond::Slt => Cond::Sgt,
            Cond::Sge => Cond::Sle,
            Cond::Sle => Cond::Sge,
            same => same,
        }
    }
}

/// The result of the comparison, if it has only one possible result.
pub fn decided(cond: Cond, width: Width, left: &Scalar, right: &Scalar) -> Option<bool> {
    let (a, b) = (left.range(width), right.range(width));
    let (x, y) = (left.bits(width), right.bits(width));
    match cond {
        Cond::Eq => {
            if let Some((x, y)) = x.constant().zip(y.constant()) {
                return Some(x == y);
            }
            let apart = a.umin > b.umax || a.umax < b.umin || a.smin > b.smax || a.smax < b.smin;
            (apart || x.meet(y).is_none()).then_some(false)
        }
        Cond::Ne => decided(Cond::Eq, width, left, right).map(|equal| !equal),
        Cond::Set => {
            let mask = y.constant()?;
            if x.value & mask != 0 { Some(true) } else { (x.max() & mask == 0).then_some(false) }
        }
        Cond::Gt if a.umin > b.umax => Some(true),
        Cond::Gt if a.umax <= b.umin => Some(false),
        Cond::Sgt if a.smin > b.smax => Some(true),
        Cond::Sgt if a.smax <= b.smin => Some(false),
        Cond::Ge if a.umin >= b.umax => Some(true),
        Cond::Ge if a.umax < b.umin => Some(false),
        Cond::Sge if a.smin >= b.smax => Some(true),
        Cond::Sge if a.smax < b.smin => Some(false),
        Cond::Gt | Cond::Sgt | Cond::Ge | Cond::Sge => None,
        Cond::Lt | Cond::Le | Cond::Slt | Cond::Sle => decided(cond.swapped(), width, right, left),
    }
}

/// Both sides if the comparison's result is `holds`.
pub fn refined(cond: Cond, holds: bool, width: Width, left: &Scalar, right: &Scalar) -> (Scalar, Scalar) {
    let (mut a, mut b) = (*left, *right);
    if cond == Cond::Set {
        if let Some(mask) = right.bits(width).constant() {
            test_bits(&mut a.bits, mask, holds);
        }
    } else if let Some(cond) = if holds { Some(cond) } else { cond.inverse() } {
        apply(cond, width, &mut a, &mut b);
    }
    // If both are impossible, nothing follows: the other way is taken.
    match a.consistent().zip(b.consistent()) {
        Some(both) => both,
        None => (*left, *right),
    }
}

fn test_bits(bits: &mut Bits, mask: u64, set: bool) {
    if !set {
        *bits = Bits { value: bits.value & !mask, unknown: bits.unknown & !mask };
    } else if mask.is_power_of_two() {
        *bits = Bits { value: bits.value | mask, unknown: bits.unknown & !mask };
    }
}

fn part(scalar: &mut Scalar, width: Width) -> &mut Range {
    if width == Width::W64 { &mut scalar.wide } else { &mut scalar.low }
}

fn apply(cond: Cond, width: Width, left: &mut Scalar, right: &mut Scalar) {
    match cond {
        Cond::Eq => {
            let both = left.range(width).meet(right.range(width));
            (*part(left, width), *part(right, width)) = (both, both);
            if let Some(bits) = left.bits(width).meet(right.bits(width)) {
                for side in [left, right] {
                    side.bits = if width == Width::W64 { bits } else { side.bits.with_low(bits) };
                }
            }
            return;
        }
        Cond::Ne => {
            let (x, y) = (left.bits(width).constant(), right.bits(width).constant());
            if let Some(y) = y {
                exclude(part(left, width), y, width);
            }
            if let Some(x) = x {
                exclude(part(right, width), x, width);
            }
            return;
        }
        Cond::Lt | Cond::Le | Cond::Slt | Cond::Sle => return apply(cond.swapped(), width, right, left),
        Cond::Set | Cond::Gt | Cond::Ge | Cond::Sgt | Cond::Sge => {}
    }
    let (a, b) = (*left.range(width), *right.range(width));
    let (left, right) = (part(left, width), part(right, width));
    match cond {
        Cond::Gt => {
            left.umin = a.umin.max(b.umin.saturating_add(1));
            right.umax = b.umax.min(a.umax.saturating_sub(1));
        }
        Cond::Ge => {
            left.umin = a.umin.max(b.umin);
            right.umax = b.umax.min(a.umax);
        }
        Cond::Sgt => {
            left.smin = a.smin.max(b.smin.saturating_add(1));
            right.smax = b.smax.min(a.smax.saturating_sub(1));
        }
        Cond::Sge => {
            left.smin = a.smin.max(b.smin);
            right.smax = b.smax.min(a.smax);
        }
        _ => {}
    }
}

/// Removes a number at an end of a range.
fn exclude(range: &mut Range, value: u64, width: Width) {
    let signed = if width == Width::W64 { value.cast_signed() } else { i64::from((value as u32).cast_signed()) };
    if range.umin == value {
        range.umin = value.saturating_add(1);
    }
    if range.umax == value {
        range.umax = value.saturating_sub(1);
    }
    if range.smin == signed {
        range.smin = signed.saturating_add(1);
    }
    if range.smax == signed {
        range.smax = signed.saturating_sub(1);
    }
}
