// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Arithmetic of values, and expressions that are folded as they are made.

use crate::ir::{BinaryOp, Expr, ExprKind, FieldId, MAX_BITS, UnaryOp};
use crate::source::Span;

/// All bits of a width set.
#[must_use]
pub fn mask(width: u32) -> u128 {
    if width >= MAX_BITS { u128::MAX } else { (1 << width) - 1 }
}

/// A two's complement number of a width as an `i128`.
#[must_use]
pub fn signed(value: u128, width: u32) -> i128 {
    let unused = MAX_BITS - width.clamp(1, MAX_BITS);
    (value << unused).cast_signed() >> unused
}

/// A value of one value.
#[must_use]
pub fn unary(op: UnaryOp, value: u128, width: u32) -> u128 {
    let result = match op {
        UnaryOp::Not => !value,
        UnaryOp::Neg => value.wrapping_neg(),
    };
    result & mask(width)
}

/// A value of two values; `width` is that of the left one.
#[must_use]
pub fn binary(op: BinaryOp, a: u128, b: u128, width: u32) -> u128 {
    let shift = u32::try_from(b).unwrap_or(u32::MAX);
    let (largest, smallest) = ((mask(width) >> 1).cast_signed(), !(mask(width) >> 1).cast_signed());
    let clamped = |value: Option<i128>, over: i128| value.unwrap_or(over).clamp(smallest, largest).cast_unsigned();
    let (sa, sb) = (signed(a, width), signed(b, width));
    let result = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => a.checked_shl(shift).unwrap_or(0),
        BinaryOp::Shr => a.checked_shr(shift).unwrap_or(0),
        BinaryOp::ShrSigned => (sa >> shift.min(MAX_BITS - 1)).cast_unsigned(),
        BinaryOp::AddSat => a.saturating_add(b).min(mask(width)),
        BinaryOp::SubSat => a.saturating_sub(b),
        BinaryOp::AddSatSigned => clamped(sa.checked_add(sb), if sb < 0 { i128::MIN } else { i128::MAX }),
        BinaryOp::SubSatSigned => clamped(sa.checked_sub(sb), if sb < 0 { i128::MAX } else { i128::MIN }),
        BinaryOp::Eq => u128::from(a == b),
        BinaryOp::Ne => u128::from(a != b),
        BinaryOp::Lt => u128::from(a < b),
        BinaryOp::Le => u128::from(a <= b),
        BinaryOp::LtSigned => u128::from(sa < sb),
        BinaryOp::LeSigned => u128::from(sa <= sb),
    };
    result & mask(width)
}

impl BinaryOp {
    /// Whether the result is one bit, whatever is compared.
    #[must_use]
    pub fn compares(self) -> bool {
        matches!(self, Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::LtSigned | Self::LeSigned)
    }
}

impl Expr {
    /// A constant.
    #[must_use]
    pub fn constant(value: u128, width: u32, span: Span) -> Self {
        Self { kind: ExprKind::Const(value & mask(width)), width, span }
    }

    /// A field.
    #[must_use]
    pub fn field(field: usize, width: u32, span: Span) -> Self {
        Self { kind: ExprKind::Field(field), width, span }
    }

    /// Its value, if it is a constant.
    #[must_use]
    pub fn value(&self) -> Option<u128> {
        if let ExprKind::Const(value) = self.kind { Some(value) } else { None }
    }

    /// The expression with some of its fields replaced by other values, folded anew.
    #[must_use]
    pub fn replace(&self, by: &impl Fn(FieldId) -> Option<Self>) -> Self {
        let (sub, span) = (|expr: &Self| expr.replace(by), self.span);
        match &self.kind {
            ExprKind::Field(field) => by(*field).unwrap_or_else(|| self.clone()),
            ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Lookahead { .. } => self.clone(),
            ExprKind::Unary(op, a) => Self::unary(*op, sub(a), span),
            ExprKind::Binary(op, a, b) => Self::binary(*op, sub(a), sub(b), span),
            ExprKind::Slice(a, low) => sub(a).slice(low + self.width - 1, *low, span),
            ExprKind::Concat(a, b) => sub(a).concat(sub(b), span),
            ExprKind::Resize(a) => sub(a).resize(self.width, false, span),
            ExprKind::SignExtend(a) => sub(a).resize(self.width, true, span),
            ExprKind::Mux(a, b, c) => Self::mux(sub(a), sub(b), sub(c), span),
        }
    }

    /// An operator of one value.
    #[must_use]
    pub fn unary(op: UnaryOp, value: Self, span: Span) -> Self {
        let width = value.width;
        match value.kind {
            ExprKind::Const(constant) => Self::constant(unary(op, constant, width), width, span),
            _ => Self { kind: ExprKind::Unary(op, Box::new(value)), width, span },
        }
    }

    /// An operator of two values.
    #[must_use]
    pub fn binary(op: BinaryOp, left: Self, right: Self, span: Span) -> Self {
        let width = if op.compares() { 1 } else { left.width };
        if let (Some(a), Some(b)) = (left.value(), right.value()) {
            return Self::constant(binary(op, a, b, left.width), width, span);
        }
        match (op, left.value(), right.value()) {
            (BinaryOp::And, Some(ones), _) if ones == mask(width) => return right,
            (BinaryOp::And, _, Some(ones)) if ones == mask(width) => return left,
            // `&&` and `||` do not look at their right side then.
            (BinaryOp::And, Some(0), _) => return left,
            (BinaryOp::Or, Some(ones), _) if ones == mask(width) => return left,
            (BinaryOp::Or | BinaryOp::Add | BinaryOp::Xor, Some(0), _) => return right,
            (
                BinaryOp::Or | BinaryOp::Add | BinaryOp::Sub | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr,
                _,
                Some(0),
            ) => {
                return left;
            }
            _ => {}
        }
        Self { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), width, span }
    }

    /// `not`, of one bit.
    #[must_use]
    pub fn negate(self) -> Self {
        let span = self.span;
        match self.kind {
            ExprKind::Binary(BinaryOp::Eq, a, b) => Self::binary(BinaryOp::Ne, *a, *b, span),
            ExprKind::Binary(BinaryOp::Ne, a, b) => Self::binary(BinaryOp::Eq, *a, *b, span),
            ExprKind::Unary(UnaryOp::Not, inner) => *inner,
            _ => Self::unary(UnaryOp::Not, self, span),
        }
    }

    /// Bits `low` to `high`.
    #[must_use]
    pub fn slice(self, high: u32, low: u32, span: Span) -> Self {
        let width = high + 1 - low;
        match self.kind {
            _ if width == self.width => self,
            ExprKind::Const(value) => Self::constant(value >> low, width, span),
            ExprKind::Concat(_, below) if high < below.width => below.slice(high, low, span),
            ExprKind::Concat(above, below) if low >= below.width => {
                above.slice(high - below.width, low - below.width, span)
            }
            ExprKind::Slice(inner, from) => Self { kind: ExprKind::Slice(inner, from + low), width, span },
            _ => Self { kind: ExprKind::Slice(Box::new(self), low), width, span },
        }
    }

    /// One value above another one.
    #[must_use]
    pub fn concat(self, below: Self, span: Span) -> Self {
        let width = self.width + below.width;
        match (self.value(), below.value()) {
            (Some(a), Some(b)) => Self::constant(a.checked_shl(below.width).unwrap_or(0) | b, width, span),
            _ => Self { kind: ExprKind::Concat(Box::new(self), Box::new(below)), width, span },
        }
    }

    /// Another width, with zeros or with copies of the sign if it is more.
    #[must_use]
    pub fn resize(self, width: u32, sign: bool, span: Span) -> Self {
        match self.value() {
            _ if width == self.width => self,
            Some(value) if sign => Self::constant(signed(value, self.width).cast_unsigned(), width, span),
            Some(value) => Self::constant(value, width, span),
            None if sign && width > self.width => Self { kind: ExprKind::SignExtend(Box::new(self)), width, span },
            None => Self { kind: ExprKind::Resize(Box::new(self)), width, span },
        }
    }

    /// One of two values.
    #[must_use]
    pub fn mux(condition: Self, yes: Self, no: Self, span: Span) -> Self {
        match condition.value() {
            Some(0) => no,
            Some(_) => yes,
            None => {
                let width = yes.width;
                Self { kind: ExprKind::Mux(Box::new(condition), Box::new(yes), Box::new(no)), width, span }
            }
        }
    }

    /// Calls `visit` for this expression and all in it.
    pub fn walk(&self, visit: &mut dyn FnMut(&Self)) {
        visit(self);
        match &self.kind {
            ExprKind::Const(_) | ExprKind::Field(_) | ExprKind::Param(_) | ExprKind::Lookahead { .. } => {}
            ExprKind::Unary(_, a) | ExprKind::Slice(a, _) | ExprKind::Resize(a) | ExprKind::SignExtend(a) => {
                a.walk(visit)
            }
            ExprKind::Binary(_, a, b) | ExprKind::Concat(a, b) => {
                a.walk(visit);
                b.walk(visit);
            }
            ExprKind::Mux(a, b, c) => {
                a.walk(visit);
                b.walk(visit);
                c.walk(visit);
            }
        }
    }

    /// Whether it reads one of these fields.
    #[must_use]
    pub fn reads(&self, fields: &[usize]) -> bool {
        let mut found = false;
        self.walk(&mut |expr| found |= matches!(expr.kind, ExprKind::Field(field) if fields.contains(&field)));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_wraps_and_saturates() {
        assert_eq!(binary(BinaryOp::Add, 250, 10, 8), 4);
        assert_eq!(binary(BinaryOp::Sub, 1, 2, 8), 255);
        assert_eq!(binary(BinaryOp::AddSat, 250, 10, 8), 255);
        assert_eq!(binary(BinaryOp::SubSat, 1, 2, 8), 0);
        assert_eq!(binary(BinaryOp::AddSatSigned, 0x7F, 1, 8), 0x7F);
        assert_eq!(binary(BinaryOp::AddSatSigned, 0x80, 0xFF, 8), 0x80);
        assert_eq!(binary(BinaryOp::SubSatSigned, 0x7F, 0xFF, 8), 0x7F);
        assert_eq!(binary(BinaryOp::SubSatSigned, 0, 1 << 127, 128), u128::MAX >> 1);
        assert_eq!(binary(BinaryOp::AddSat, u128::MAX, 1, 128), u128::MAX);
    }

    #[test]
    fn shifts_by_the_width_and_more_leave_nothing() {
        assert_eq!(binary(BinaryOp::Shl, 1, 8, 8), 0);
        assert_eq!(binary(BinaryOp::Shr, 0x80, 1000, 8), 0);
        assert_eq!(binary(BinaryOp::ShrSigned, 0x80, 1000, 8), 0xFF);
        assert_eq!(binary(BinaryOp::Shl, 1, u128::MAX, 128), 0);
    }

    #[test]
    fn signed_numbers_compare_by_their_sign() {
        assert_eq!(binary(BinaryOp::LtSigned, 0xFF, 0, 8), 1);
        assert_eq!(binary(BinaryOp::Lt, 0xFF, 0, 8), 0);
        assert_eq!(signed(0x80, 8), -128);
        assert_eq!(signed(1, 1), -1);
    }
}
