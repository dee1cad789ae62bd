// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The deparser, for headers that leave as they stand in the frame: the same ones in the same order, with nothing
//! between them.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use penstock_rmt_compiler::ir::Emit;

use super::function::Function;
use crate::header::{Header, Wire};

impl Function<'_, '_> {
    /// Writes the fields that the program may have written, and ends the function with 1; or goes on if headers have
    /// moved.
    pub(super) fn deparser(&mut self, emits: &[Emit]) {
        let moved = self.builder.create_block();
        self.check(emits, moved);
        for emit in emits {
            let header = &self.maker.instances[emit.instance];
            if header.stores.iter().any(|wires| !wires.is_empty()) {
                self.store_header(header);
            }
        }
        self.builder.ins().jump(self.exit, &[]);
        self.builder.switch_to_block(moved);
    }

    /// Goes to `moved` unless the valid headers are those that the parser has extracted, where they stand: one behind
    /// the other, from the frame's first byte to where the parser has ended.
    fn check(&mut self, emits: &[Emit], moved: Block) {
        let end = self.builder.declare_var(I64);
        let zero = self.number(0);
        self.builder.def_var(end, zero);
        for emit in emits {
            let header = &self.maker.instances[emit.instance];
            let valid = self.slot(header.valid);
            let next = self.unless(valid);
            if header.varbit.as_ref().is_some_and(|varbit| varbit.written) {
                self.builder.ins().jump(moved, &[]);
                self.builder.switch_to_block(next);
                continue;
            }
            let start = self.builder.use_var(end);
            let origin = self.builder.ins().iadd_imm(start, 1);
            let stands = self.slot(header.origin);
            self.stay_if_equal(origin, stands, moved);
            let mut behind = self.builder.ins().iadd_imm(start, header.bytes as i64);
            if header.varbit.is_some() {
                let varbit = self.slot(header.origin + 1);
                behind = self.builder.ins().iadd(behind, varbit);
            }
            self.builder.def_var(end, behind);
            self.go_on_in(next);
        }
        let (taken, end) = (self.slot(self.maker.slots.cursor), self.builder.use_var(end));
        self.stay_if_equal(taken, end, moved);
    }

    /// Goes to another block if two values differ.
    fn stay_if_equal(&mut self, a: Value, b: Value, otherwise: Block) {
        let same = self.builder.ins().icmp(IntCC::Equal, a, b);
        let next = self.builder.create_block();
        self.builder.ins().brif(same, next, &[], otherwise, &[]);
        self.builder.switch_to_block(next);
    }

    /// Writes the fields of a header, if it is valid.
    fn store_header(&mut self, header: &Header) {
        let valid = self.slot(header.valid);
        let next = self.unless(valid);
        let origin = self.slot(header.origin);
        let start = self.builder.ins().iadd_imm(origin, -1);
        let base = self.builder.ins().iadd(self.data, start);
        self.store_wires(base, &header.stores[0]);
        if !header.stores[1].is_empty() {
            let varbit = self.slot(header.origin + 1);
            let base = self.builder.ins().iadd(base, varbit);
            self.store_wires(base, &header.stores[1]);
        }
        self.go_on_in(next);
    }

    fn store_wires(&mut self, base: Value, wires: &[Wire]) {
        for wire in wires {
            let value = self.slot(wire.slot);
            self.write_bits(base, wire.offset, wire.width, value);
        }
    }
}
