// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Loads, stores and atomics. The engine runs one processor at a time, so an atomic is a load, an operation and a
//! store.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Endianness, FuncRef, Function as Ir, InstBuilder, MemFlags, Value};
use penstock_xdp_compiler::insn::{AtomicOp, Operand, Reg, Size, Width};

use super::arith::type_of;
use super::function::{Fault, Function};
use super::{FRAME_BYTES, Guard};
use crate::state::STACK_END;

/// Bytes that bare programs have of stack: eight frames.
pub(super) const BARE_STACK: u32 = 8 * FRAME_BYTES;

impl<F: FnMut(usize, &mut Ir) -> Option<FuncRef>> Function<'_, F> {
    pub(super) fn load(&mut self, slot: usize, size: Size, signed: bool, dst: Reg, base: Reg, offset: i16) {
        let (place, offset) = self.place(slot, base, offset, size);
        let value = self.builder.ins().load(type_of(size), data(), place, offset);
        let value = match size {
            Size::B8 => value,
            _ if signed => self.builder.ins().sextend(I64, value),
            _ => self.builder.ins().uextend(I64, value),
        };
        self.set(dst, value);
    }

    pub(super) fn store(&mut self, slot: usize, size: Size, base: Reg, offset: i16, src: Operand) {
        let (place, offset) = self.place(slot, base, offset, size);
        let value = self.operand(src);
        let value = if size == Size::B8 { value } else { self.builder.ins().ireduce(type_of(size), value) };
        self.builder.ins().store(data(), value, place, offset);
    }

    pub(super) fn atomic(
        &mut self,
        slot: usize,
        op: AtomicOp,
        width: Width,
        fetch: bool,
        (base, offset): (Reg, i16),
        src: Reg,
    ) {
        let size = if width == Width::W64 { Size::B8 } else { Size::B4 };
        let (place, offset) = self.place(slot, base, offset, size);
        let old = self.builder.ins().load(type_of(size), data(), place, offset);
        let given = self.get(src);
        let given = if size == Size::B4 { self.low(given) } else { given };
        let new = match op {
            AtomicOp::Add => self.builder.ins().iadd(old, given),
            AtomicOp::Or => self.builder.ins().bor(old, given),
            AtomicOp::And => self.builder.ins().band(old, given),
            AtomicOp::Xor => self.builder.ins().bxor(old, given),
            AtomicOp::Xchg => given,
            AtomicOp::Cmpxchg => {
                let expected = self.get(Reg::R0);
                let expected = if size == Size::B4 { self.low(expected) } else { expected };
                let same = self.builder.ins().icmp(IntCC::Equal, old, expected);
                self.builder.ins().select(same, given, old)
            }
        };
        self.builder.ins().store(data(), new, place, offset);
        if fetch {
            let old = if size == Size::B4 { self.builder.ins().uextend(I64, old) } else { old };
            self.set(if op == AtomicOp::Cmpxchg { Reg::R0 } else { src }, old);
        }
    }

    /// The target of an access, for the machine: an address and a distance.
    fn place(&mut self, slot: usize, base: Reg, offset: i16, size: Size) -> (Value, i32) {
        // r10 is ours: with any distance it stays in the memory.
        if base == Reg::FP && matches!(self.source.guard, Guard::Masked) {
            return (self.native_stack, offset.into());
        }
        let address = self.get(base);
        let address = self.builder.ins().iadd_imm(address, i64::from(offset));
        if let Guard::Bounded { start, bytes } = self.source.guard {
            self.bound(slot, address, size, start, bytes);
        }
        (self.native(address), 0)
    }

    /// The machine's address for one of a program.
    pub(super) fn native(&mut self, address: Value) -> Value {
        let address = self.builder.ins().ireduce(I32, address);
        let address = self.builder.ins().uextend(I64, address);
        self.builder.ins().iadd(self.base, address)
    }

    /// Stops the program when an access is neither in the memory it was given nor on its stack.
    fn bound(&mut self, slot: usize, address: Value, size: Size, start: u64, bytes: u64) {
        let (inside, outside) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(outside);
        let areas = [(start, bytes), (u64::from(STACK_END - BARE_STACK), BARE_STACK.into())];
        for (start, bytes) in areas {
            let Some(last) = bytes.checked_sub(size.bytes().into()) else { continue };
            let next = self.builder.create_block();
            let distance = self.builder.ins().iadd_imm(address, start.wrapping_neg().cast_signed());
            let fits = self.builder.ins().icmp_imm(IntCC::UnsignedLessThanOrEqual, distance, last.cast_signed());
            self.builder.ins().brif(fits, inside, &[], next, &[]);
            self.builder.switch_to_block(next);
        }
        self.builder.ins().jump(outside, &[]);
        self.builder.switch_to_block(outside);
        self.fault(slot, Fault::Memory);
        self.builder.switch_to_block(inside);
    }
}

/// Flags of program accesses: they cannot fault, need not be aligned, and are little-endian.
fn data() -> MemFlags {
    MemFlags::new().with_notrap().with_endianness(Endianness::Little)
}
