// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Checksums. Native code adds up values. It leaves varbits that are there, payloads and other algorithms to Rust code.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use penstock_rmt_compiler::ir::{Checksum, ChecksumData, FieldId, FieldKind, HashAlgorithm, Standard};

use super::function::Function;
use crate::calls;
use crate::machine::{Part, Sum};
use crate::slots::Slot;

/// A sum of 16-bit words as it grows.
struct Total {
    sum: Value,
    /// Bits of the last word that are taken.
    bits: u32,
}

impl Function<'_, '_> {
    /// Verifies checksums.
    pub(super) fn verify(&mut self, sums: &[Checksum]) {
        for sum in sums {
            self.checksum(sum, |this, is| {
                let stands = this.slot(this.maker.slots.fields[sum.field].slot);
                let wrong = this.compare(IntCC::NotEqual, is, stands);
                let error = this.maker.slots.fields[Standard::ChecksumError.field()].slot;
                let before = this.slot(error);
                let wrong = this.builder.ins().bor(before, wrong);
                this.set_slot(error, wrong);
            });
        }
    }

    /// Computes checksums.
    pub(super) fn update(&mut self, sums: &[Checksum]) {
        for sum in sums {
            self.checksum(sum, |this, is| this.set_slot(this.maker.slots.fields[sum.field].slot, is));
        }
    }

    /// Hands the checksum to `job` if its condition holds.
    fn checksum(&mut self, sum: &Checksum, job: impl FnOnce(&mut Self, Value)) {
        let condition = self.value(&sum.condition);
        let behind = self.unless(condition);
        let is = self.sum(sum);
        job(self, is);
        self.go_on_in(behind);
    }

    fn sum(&mut self, sum: &Checksum) -> Value {
        if sum.algorithm != HashAlgorithm::Csum16 || sum.payload {
            return self.sum_in_rust(sum);
        }
        let (rust, behind) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(rust);
        let result = self.builder.append_block_param(behind, I64);
        for part in &sum.data {
            if let ChecksumData::Varbit(field) = part {
                let valid = self.valid(*field);
                let valid = self.slot(valid);
                let next = self.builder.create_block();
                self.builder.ins().brif(valid, rust, &[], next, &[]);
                self.builder.switch_to_block(next);
            }
        }
        let value = self.sum_of_values(sum);
        self.builder.ins().jump(behind, &[value.into()]);
        self.builder.switch_to_block(rust);
        let value = self.sum_in_rust(sum);
        self.builder.ins().jump(behind, &[value.into()]);
        self.builder.switch_to_block(behind);
        result
    }

    /// The slot of the validity of a varbit's header.
    fn valid(&self, varbit: FieldId) -> Slot {
        let program = self.maker.program;
        let valid = match program.fields[varbit].kind {
            FieldKind::Header { instance, .. } => program.instances[instance].valid,
            _ => varbit,
        };
        self.maker.slots.fields[valid].slot
    }

    /// The Internet checksum of values alone.
    pub(super) fn sum_of_values(&mut self, sum: &Checksum) -> Value {
        let mut total = Total { sum: self.number(0), bits: 0 };
        for part in &sum.data {
            if let ChecksumData::Value(expr) = part {
                let value = self.value(expr);
                let (low, high) = self.halves(value);
                if expr.width > 64 {
                    self.add(&mut total, high, expr.width - 64);
                }
                self.add(&mut total, low, expr.width.min(64));
            }
        }
        // A carry can come three times.
        let mut value = self.folded(total.sum, 32);
        for _ in 0..3 {
            value = self.folded(value, 16);
        }
        self.builder.ins().bxor_imm(value, 0xFFFF)
    }

    /// Adds a value: see the total of Rust code.
    fn add(&mut self, total: &mut Total, value: Value, width: u32) {
        if width > 48 {
            let high = self.builder.ins().ushr_imm(value, 32);
            self.add(total, high, width - 32);
            let low = self.builder.ins().band_imm(value, 0xFFFF_FFFF);
            return self.add(total, low, 32);
        }
        total.bits = (total.bits + width) % 16;
        let shift = (16 - total.bits) % 16;
        let placed = if shift == 0 { value } else { self.builder.ins().ishl_imm(value, i64::from(shift)) };
        let placed = if width + shift > 32 { self.folded(placed, 32) } else { placed };
        total.sum = self.builder.ins().iadd(total.sum, placed);
    }

    /// The upper bits, from one on, added to the lower ones.
    fn folded(&mut self, value: Value, from: u32) -> Value {
        let upper = self.builder.ins().ushr_imm(value, i64::from(from));
        let lower = self.builder.ins().band_imm(value, (1 << from) - 1);
        self.builder.ins().iadd(upper, lower)
    }

    fn sum_in_rust(&mut self, sum: &Checksum) -> Value {
        let parts = self.parts(&sum.data);
        let width = self.maker.slots.fields[sum.field].width;
        self.maker.sums.push(Sum { parts, width, algorithm: sum.algorithm, payload: sum.payload });
        let number = self.number(self.maker.sums.len() as u64 - 1);
        self.call(calls::sum as *const u8, &[number])
    }

    /// Parts of a checksum or hash, for Rust code.
    pub(super) fn parts(&mut self, data: &[ChecksumData]) -> Vec<Part> {
        let parts = data.iter().map(|part| match part {
            ChecksumData::Value(value) => Part::Value(self.keep(value)),
            ChecksumData::Varbit(field) => Part::Varbit(self.maker.slots.varbit(*field), self.valid(*field)),
        });
        parts.collect()
    }
}
