// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Arithmetic. A 32-bit operation works on the lower halves and clears the upper half of its result.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I64};
use cranelift_codegen::ir::{FuncRef, Function as Ir, InstBuilder, Type, Value};
use penstock_xdp_compiler::insn::{AluOp, Operand, Reg, Size, Swap, Width};

use super::function::Function;

/// The code generator's type of that many bytes.
pub(super) fn type_of(size: Size) -> Type {
    match size {
        Size::B1 => I8,
        Size::B2 => I16,
        Size::B4 => I32,
        Size::B8 => I64,
    }
}

impl<F: FnMut(usize, &mut Ir) -> Option<FuncRef>> Function<'_, F> {
    /// The lower half.
    pub(super) fn low(&mut self, value: Value) -> Value {
        self.builder.ins().ireduce(I32, value)
    }

    /// An operand in the width of the operation.
    fn cut(&mut self, width: Width, value: Value) -> Value {
        if width == Width::W32 { self.low(value) } else { value }
    }

    /// Sets a register to a result, whose upper half is 0 if it has only 32 bits.
    fn result(&mut self, width: Width, dst: Reg, value: Value) {
        let value = if width == Width::W32 { self.builder.ins().uextend(I64, value) } else { value };
        self.set(dst, value);
    }

    pub(super) fn alu(&mut self, op: AluOp, width: Width, dst: Reg, src: Operand) {
        let (a, b) = (self.get(dst), self.operand(src));
        let (a, b) = (self.cut(width, a), self.cut(width, b));
        let ins = self.builder.ins();
        let value = match op {
            AluOp::Add => ins.iadd(a, b),
            AluOp::Sub => ins.isub(a, b),
            AluOp::Mul => ins.imul(a, b),
            AluOp::Or => ins.bor(a, b),
            AluOp::And => ins.band(a, b),
            AluOp::Xor => ins.bxor(a, b),
            AluOp::Mov => b,
            // Shifts take their distance modulo the width, here as there.
            AluOp::Lsh => ins.ishl(a, b),
            AluOp::Rsh => ins.ushr(a, b),
            AluOp::Arsh => ins.sshr(a, b),
            AluOp::Div | AluOp::Mod => self.unsigned(op == AluOp::Div, a, b),
            AluOp::Sdiv | AluOp::Smod => self.signed(op == AluOp::Sdiv, a, b),
        };
        self.result(width, dst, value);
    }

    /// By zero, a quotient is 0 and a remainder the dividend. The machine's own division would stop the process there.
    fn unsigned(&mut self, quotient: bool, a: Value, b: Value) -> Value {
        let ty = self.builder.func.dfg.value_type(b);
        let one = self.builder.ins().iconst(ty, 1);
        let by_zero = self.builder.ins().icmp_imm(IntCC::Equal, b, 0);
        let divisor = self.builder.ins().select(by_zero, one, b);
        if quotient {
            let zero = self.builder.ins().iconst(ty, 0);
            let value = self.builder.ins().udiv(a, divisor);
            self.builder.ins().select(by_zero, zero, value)
        } else {
            let value = self.builder.ins().urem(a, divisor);
            self.builder.ins().select(by_zero, a, value)
        }
    }

    /// Divides the absolute values and then applies the sign, so the smallest number divided by −1 needs no special
    /// case.
    fn signed(&mut self, quotient: bool, a: Value, b: Value) -> Value {
        let (large, small) = (self.builder.ins().iabs(a), self.builder.ins().iabs(b));
        let value = self.unsigned(quotient, large, small);
        let sign = if quotient { self.builder.ins().bxor(a, b) } else { a };
        let negative = self.builder.ins().icmp_imm(IntCC::SignedLessThan, sign, 0);
        let negated = self.builder.ins().ineg(value);
        self.builder.ins().select(negative, negated, value)
    }

    pub(super) fn negate(&mut self, width: Width, dst: Reg) {
        let value = self.get(dst);
        let value = self.cut(width, value);
        let value = self.builder.ins().ineg(value);
        self.result(width, dst, value);
    }

    /// The lower bytes, extended with their sign to the width.
    pub(super) fn extend(&mut self, width: Width, from: Size, dst: Reg, src: Reg) {
        let value = self.get(src);
        let value = self.builder.ins().ireduce(type_of(from), value);
        let value = self.builder.ins().sextend(if width == Width::W32 { I32 } else { I64 }, value);
        self.result(width, dst, value);
    }

    pub(super) fn swap(&mut self, kind: Swap, size: Size, dst: Reg) {
        let value = self.get(dst);
        let value = if size == Size::B8 { value } else { self.builder.ins().ireduce(type_of(size), value) };
        // Programs are little-endian, whatever the machine is.
        let value = if kind == Swap::ToLe { value } else { self.builder.ins().bswap(value) };
        let value = if size == Size::B8 { value } else { self.builder.ins().uextend(I64, value) };
        self.set(dst, value);
    }
}
