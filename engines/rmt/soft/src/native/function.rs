// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A function that is being translated: slots, calls of Rust code, and how it ends.

use cranelift_codegen::ir::types::{I64, I128};
use cranelift_codegen::ir::{
    AbiParam, AliasRegion, Block, Endianness, InstBuilder, MemFlags, SigRef, Signature, Type, Value,
};
use cranelift_frontend::FunctionBuilder;
use penstock_rmt_compiler::ir::{Expr, ExprKind, Param};
use penstock_rmt_compiler::mask;

use super::Maker;
use crate::slots::{Place, Slot};
use crate::work::LENGTH_AT;

/// A function that is being translated.
pub(super) struct Function<'f, 'p> {
    pub(super) builder: FunctionBuilder<'f>,
    pub(super) maker: &'f mut Maker<'p>,
    /// The three arguments: work, slots, and the frame's bytes or an action's arguments.
    pub(super) work: Value,
    pub(super) slots: Value,
    pub(super) data: Value,
    /// The signature of these functions.
    pub(super) signature: SigRef,
    /// The parser at work; None outside of it.
    pub(super) parser: Option<super::parser::Position>,
    /// The action's parameters: offset of the first word, and bits.
    pub(super) params: Vec<(i32, u32)>,
    /// Ends the function, which gives 1.
    pub(super) exit: Block,
}

/// Flags of slots. No access of a frame's bytes is one of them.
fn slot_flags() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Vmctx))
}

/// Flags of the frame's bytes, which need not be aligned.
pub(super) fn byte_flags() -> MemFlags {
    MemFlags::new().with_notrap().with_endianness(Endianness::Little).with_alias_region(Some(AliasRegion::Heap))
}

/// The type of values with so many bits.
pub(super) fn type_of(width: u32) -> Type {
    if width > 64 { I128 } else { I64 }
}

impl<'f, 'p> Function<'f, 'p> {
    pub(super) fn new(mut builder: FunctionBuilder<'f>, maker: &'f mut Maker<'p>) -> Self {
        let first = builder.create_block();
        builder.append_block_params_for_function_params(first);
        builder.switch_to_block(first);
        let arguments = builder.block_params(first).to_vec();
        let exit = builder.create_block();
        builder.set_cold_block(exit);
        let signature = builder.func.signature.clone();
        let signature = builder.import_signature(signature);
        let (work, slots, data) = (arguments[0], arguments[1], arguments[2]);
        Self { builder, maker, work, slots, data, signature, parser: None, params: Vec::new(), exit }
    }

    /// Ends the function, which gives 0.
    pub(super) fn end(mut self) {
        let zero = self.number(0);
        self.builder.ins().return_(&[zero]);
        self.builder.switch_to_block(self.exit);
        let one = self.number(1);
        self.builder.ins().return_(&[one]);
        self.builder.seal_all_blocks();
        self.builder.finalize();
    }

    /// A constant of 64 bits.
    pub(super) fn number(&mut self, value: u64) -> Value {
        self.builder.ins().iconst(I64, value.cast_signed())
    }

    /// A constant of so many bits.
    pub(super) fn constant(&mut self, value: u128, width: u32) -> Value {
        let low = self.number(value as u64);
        if type_of(width) == I64 {
            return low;
        }
        let high = self.number((value >> 64) as u64);
        self.builder.ins().iconcat(low, high)
    }

    /// The lower bits of a value.
    pub(super) fn masked(&mut self, value: Value, width: u32) -> Value {
        match width {
            64 | 128 => value,
            ..64 => self.builder.ins().band_imm(value, (mask(width) as u64).cast_signed()),
            _ => {
                let mask = self.constant(mask(width), width);
                self.builder.ins().band(value, mask)
            }
        }
    }

    fn at(slot: Slot) -> i32 {
        slot as i32 * 8
    }

    /// The contents of a slot.
    pub(super) fn slot(&mut self, slot: Slot) -> Value {
        self.builder.ins().load(I64, slot_flags(), self.slots, Self::at(slot))
    }

    /// Writes a slot.
    pub(super) fn set_slot(&mut self, slot: Slot, value: Value) {
        self.builder.ins().store(slot_flags(), value, self.slots, Self::at(slot));
    }

    /// The address of a slot.
    pub(super) fn address(&mut self, slot: Slot) -> Value {
        self.builder.ins().iadd_imm(self.slots, i64::from(Self::at(slot)))
    }

    /// A value of slots.
    pub(super) fn get(&mut self, place: Place) -> Value {
        let low = self.slot(place.slot);
        if !place.is_wide() {
            return low;
        }
        let high = self.slot(place.slot + 1);
        self.builder.ins().iconcat(low, high)
    }

    /// Writes a value to slots.
    pub(super) fn set(&mut self, place: Place, value: Value) {
        let (low, high) = self.halves(value);
        self.set_slot(place.slot, low);
        if place.is_wide() {
            self.set_slot(place.slot + 1, high);
        }
    }

    /// The lower and the upper half of a value.
    pub(super) fn halves(&mut self, value: Value) -> (Value, Value) {
        if self.builder.func.dfg.value_type(value) == I128 {
            return self.builder.ins().isplit(value);
        }
        (value, self.number(0))
    }

    /// The slots of a value, for Rust code: a field's own, or new ones that are written here.
    pub(super) fn keep(&mut self, expr: &Expr) -> Place {
        if let ExprKind::Field(field) = expr.kind {
            return self.maker.slots.fields[field];
        }
        let value = self.value(expr);
        let place = self.maker.slots.place(expr.width);
        self.set(place, value);
        place
    }

    /// The parameters of the action.
    pub(super) fn params(&mut self, params: &[Param]) {
        let mut at = 0;
        for param in params {
            self.params.push((at, param.width));
            at += if param.width > 64 { 16 } else { 8 };
        }
    }

    /// The value of a parameter.
    pub(super) fn param(&mut self, param: usize) -> Value {
        let (at, width) = self.params[param];
        let word =
            |this: &mut Self, at| this.builder.ins().load(I64, MemFlags::trusted().with_readonly(), this.data, at);
        let low = word(self, at);
        if type_of(width) == I64 {
            return low;
        }
        let high = word(self, at + 8);
        self.builder.ins().iconcat(low, high)
    }

    /// A field of `Work`.
    pub(super) fn of_work(&mut self, at: i32) -> Value {
        self.builder.ins().load(I64, MemFlags::trusted(), self.work, at)
    }

    /// Bytes of the frame.
    pub(super) fn length(&mut self) -> Value {
        self.of_work(LENGTH_AT)
    }

    /// Calls a Rust function, which takes the work and numbers of 64 bits.
    pub(super) fn call(&mut self, function: *const u8, arguments: &[Value]) -> Value {
        let mut signature = Signature::new(self.builder.func.signature.call_conv);
        signature.params = vec![AbiParam::new(I64); arguments.len() + 1];
        signature.returns.push(AbiParam::new(I64));
        let signature = self.builder.import_signature(signature);
        let address = self.number(function as u64);
        let arguments = [&[self.work], arguments].concat();
        let call = self.builder.ins().call_indirect(signature, address, &arguments);
        self.builder.inst_results(call)[0]
    }

    /// Goes on in a new block if the value is not 0, else in the block that it gives.
    pub(super) fn unless(&mut self, value: Value) -> Block {
        let (then, otherwise) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(value, then, &[], otherwise, &[]);
        self.builder.switch_to_block(then);
        otherwise
    }

    /// Ends the block that is being written, which leads to another one, where translation goes on.
    pub(super) fn go_on_in(&mut self, block: Block) {
        self.builder.ins().jump(block, &[]);
        self.builder.switch_to_block(block);
    }
}
