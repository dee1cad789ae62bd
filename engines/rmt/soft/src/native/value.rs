// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Values of expressions. All bits of a value above its width are 0.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I64, I128};
use cranelift_codegen::ir::{InstBuilder, Value};
use penstock_rmt_compiler::ir::{BinaryOp, Expr, ExprKind, UnaryOp};
use penstock_rmt_compiler::mask;

use super::function::{Function, type_of};

impl Function<'_, '_> {
    /// The value of an expression.
    pub(super) fn value(&mut self, expr: &Expr) -> Value {
        let width = expr.width;
        match &expr.kind {
            ExprKind::Const(value) => self.constant(*value, width),
            ExprKind::Field(field) => {
                let place = self.maker.slots.fields[*field];
                self.get(place)
            }
            ExprKind::Param(param) => self.param(*param),
            ExprKind::Lookahead { offset } => self.lookahead(*offset, width),
            ExprKind::Unary(op, of) => {
                let value = self.value(of);
                let value = match op {
                    UnaryOp::Not => self.builder.ins().bnot(value),
                    UnaryOp::Neg => self.builder.ins().ineg(value),
                };
                self.masked(value, width)
            }
            ExprKind::Binary(op, left, right) => {
                let (a, b) = (self.value(left), self.value(right));
                self.binary(*op, a, b, left.width)
            }
            ExprKind::Slice(of, low) => {
                let value = self.value(of);
                let value = self.shifted(value, *low);
                self.resized(value, width)
            }
            ExprKind::Resize(of) => {
                let value = self.value(of);
                self.resized(value, width)
            }
            ExprKind::Concat(upper, lower) => {
                let (a, b) = (self.value(upper), self.value(lower));
                let (a, b) = (self.typed(a, width), self.typed(b, width));
                // Only a value without bits has no place above the lower one.
                if lower.width >= type_of(width).bits() {
                    return b;
                }
                let above = self.builder.ins().ishl_imm(a, i64::from(lower.width));
                self.builder.ins().bor(above, b)
            }
            ExprKind::SignExtend(of) => {
                let value = self.value(of);
                let value = self.signed(value, of.width);
                let value = if type_of(width) == type_of(of.width) {
                    value
                } else if type_of(width) == I128 {
                    self.builder.ins().sextend(I128, value)
                } else {
                    self.builder.ins().ireduce(I64, value)
                };
                self.masked(value, width)
            }
            ExprKind::Mux(condition, yes, no) => {
                let condition = self.value(condition);
                let (yes, no) = (self.value(yes), self.value(no));
                self.select(condition, yes, no)
            }
        }
    }

    /// The first value if the condition is not 0, else the second one. Values of 128 bits are chosen by halves: the
    /// code generator would make some of these choices a minimum or maximum, which it does not have for 128 bits.
    fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        if self.width_of(yes) == 64 {
            return self.builder.ins().select(condition, yes, no);
        }
        let ((yes_low, yes_high), (no_low, no_high)) = (self.halves(yes), self.halves(no));
        let low = self.builder.ins().select(condition, yes_low, no_low);
        let high = self.builder.ins().select(condition, yes_high, no_high);
        self.builder.ins().iconcat(low, high)
    }

    /// A value in the type of so many bits; bits that do not fit are lost.
    fn typed(&mut self, value: Value, width: u32) -> Value {
        let (from, to) = (self.builder.func.dfg.value_type(value), type_of(width));
        match (from.bits(), to.bits()) {
            (64, 128) => self.builder.ins().uextend(I128, value),
            (128, 64) => self.builder.ins().ireduce(I64, value),
            _ => value,
        }
    }

    /// A value in so many bits.
    fn resized(&mut self, value: Value, width: u32) -> Value {
        let value = self.typed(value, width);
        self.masked(value, width)
    }

    /// A value shifted to the right.
    fn shifted(&mut self, value: Value, by: u32) -> Value {
        if by == 0 { value } else { self.builder.ins().ushr_imm(value, i64::from(by)) }
    }

    /// A value of so many bits, extended with its sign to all bits of its type.
    fn signed(&mut self, value: Value, width: u32) -> Value {
        let above = i64::from(type_of(width).bits() - width);
        if above == 0 {
            return value;
        }
        let up = self.builder.ins().ishl_imm(value, above);
        self.builder.ins().sshr_imm(up, above)
    }

    /// An operator of two values, of which the left one has so many bits.
    pub(super) fn binary(&mut self, op: BinaryOp, a: Value, b: Value, width: u32) -> Value {
        let value = match op {
            BinaryOp::Add => self.builder.ins().iadd(a, b),
            BinaryOp::Sub => self.builder.ins().isub(a, b),
            BinaryOp::Mul => self.builder.ins().imul(a, b),
            BinaryOp::And => return self.builder.ins().band(a, b),
            BinaryOp::Or => return self.builder.ins().bor(a, b),
            BinaryOp::Xor => return self.builder.ins().bxor(a, b),
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::ShrSigned => self.shift(op, a, b, width),
            BinaryOp::AddSat | BinaryOp::SubSat => self.saturating(op == BinaryOp::AddSat, a, b, width),
            BinaryOp::AddSatSigned | BinaryOp::SubSatSigned => {
                self.saturating_signed(op == BinaryOp::AddSatSigned, a, b, width)
            }
            BinaryOp::Eq => return self.compare(IntCC::Equal, a, b),
            BinaryOp::Ne => return self.compare(IntCC::NotEqual, a, b),
            BinaryOp::Lt => return self.compare(IntCC::UnsignedLessThan, a, b),
            BinaryOp::Le => return self.compare(IntCC::UnsignedLessThanOrEqual, a, b),
            BinaryOp::LtSigned | BinaryOp::LeSigned => {
                let (a, b) = (self.signed(a, width), self.signed(b, width));
                let less = op == BinaryOp::LtSigned;
                return self.compare(if less { IntCC::SignedLessThan } else { IntCC::SignedLessThanOrEqual }, a, b);
            }
        };
        self.masked(value, width)
    }

    /// 1 if the comparison holds, else 0.
    pub(super) fn compare(&mut self, condition: IntCC, a: Value, b: Value) -> Value {
        let holds = self.builder.ins().icmp(condition, a, b);
        self.builder.ins().uextend(I64, holds)
    }

    /// A shift, whose distance may be of any width and more than the value's bits.
    fn shift(&mut self, op: BinaryOp, a: Value, b: Value, width: u32) -> Value {
        let most = self.constant(u128::from(width), self.width_of(b));
        let outside = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, b, most);
        let distance = self.typed(b, 64);
        if op == BinaryOp::ShrSigned {
            let last = self.number(width.saturating_sub(1).into());
            let distance = self.select(outside, last, distance);
            let a = self.signed(a, width);
            return self.builder.ins().sshr(a, distance);
        }
        let value = if op == BinaryOp::Shl {
            self.builder.ins().ishl(a, distance)
        } else {
            self.builder.ins().ushr(a, distance)
        };
        let zero = self.constant(0, width);
        self.select(outside, zero, value)
    }

    /// Bits of a value's type.
    fn width_of(&self, value: Value) -> u32 {
        self.builder.func.dfg.value_type(value).bits()
    }

    /// A sum that stays at the largest value, or a difference that stays at 0.
    fn saturating(&mut self, adds: bool, a: Value, b: Value, width: u32) -> Value {
        if !adds {
            let below = self.builder.ins().icmp(IntCC::UnsignedLessThan, a, b);
            let (zero, value) = (self.constant(0, width), self.builder.ins().isub(a, b));
            return self.select(below, zero, value);
        }
        let (largest, value) = (self.constant(mask(width), width), self.builder.ins().iadd(a, b));
        let over = if type_of(width).bits() == width {
            self.builder.ins().icmp(IntCC::UnsignedLessThan, value, a)
        } else {
            self.builder.ins().icmp(IntCC::UnsignedGreaterThan, value, largest)
        };
        self.select(over, largest, value)
    }

    /// A signed sum or difference that stays in its range.
    fn saturating_signed(&mut self, adds: bool, a: Value, b: Value, width: u32) -> Value {
        let (a, b) = (self.signed(a, width), self.signed(b, width));
        let value = if adds { self.builder.ins().iadd(a, b) } else { self.builder.ins().isub(a, b) };
        let largest = self.constant(mask(width) >> 1, width);
        let smallest = self.builder.ins().bnot(largest);
        if type_of(width).bits() > width {
            let over = self.builder.ins().icmp(IntCC::SignedGreaterThan, value, largest);
            let value = self.select(over, largest, value);
            let under = self.builder.ins().icmp(IntCC::SignedLessThan, value, smallest);
            return self.select(under, smallest, value);
        }
        // It leaves the range if the sign is not the left value's, while the right value moves it away from zero.
        let other = if adds { self.builder.ins().bxor(b, value) } else { self.builder.ins().bxor(a, b) };
        let changed = self.builder.ins().bxor(a, value);
        let both = self.builder.ins().band(changed, other);
        let zero = self.constant(0, width);
        let outside = self.builder.ins().icmp(IntCC::SignedLessThan, both, zero);
        let negative = self.builder.ins().icmp(IntCC::SignedLessThan, a, zero);
        let end = self.select(negative, smallest, largest);
        self.select(outside, end, value)
    }
}
