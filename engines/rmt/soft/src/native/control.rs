// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Statements of controls and actions.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use penstock_rmt_compiler::ir::{Apply, Extern, FieldId, Stmt, StmtKind};

use super::function::Function;
use crate::calls;
use crate::operation::Operation;
use crate::slots::Place;
use crate::table;
use crate::work::{ACTION_AT, ARGS_AT, HIT_AT};

impl Function<'_, '_> {
    /// Carries out statements.
    pub(super) fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign(to, value) => {
                let value = self.value(value);
                self.set(self.maker.slots.fields[*to], value);
            }
            StmtKind::CopyVarbit(to, from) => {
                let (to, from) = (self.maker.slots.varbit(*to), self.maker.slots.varbit(*from));
                for slot in 0..2 {
                    let value = self.slot(from + slot);
                    self.set_slot(to + slot, value);
                }
            }
            StmtKind::RegisterRead { register, index, to } => {
                let (register, index) = (self.number(*register as u64), self.low(index));
                let cell = self.maker.slots.place(128);
                let address = self.address(cell.slot);
                self.call(calls::read_register as *const u8, &[register, index, address]);
                let to = self.maker.slots.fields[*to];
                let value = self.get(Place { slot: cell.slot, width: to.width });
                self.set(to, value);
            }
            StmtKind::RegisterWrite { register, index, value } => {
                let (register, index) = (self.number(*register as u64), self.low(index));
                let value = self.value(value);
                let (low, high) = self.halves(value);
                self.call(calls::write_register as *const u8, &[register, index, low, high]);
            }
            StmtKind::Count { counter, index } => {
                let (counter, index) = (self.number(*counter as u64), self.low(index));
                self.call(calls::count as *const u8, &[counter, index]);
            }
            StmtKind::Extern(of) => {
                let operation = self.operation(of);
                self.maker.operations.push(operation);
                let number = self.number(self.maker.operations.len() as u64 - 1);
                let ends = self.call(calls::operation as *const u8, &[number]);
                self.exit_if(ends);
            }
            StmtKind::Apply(apply) => self.apply(apply),
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.value(condition);
                self.choice(condition, then, otherwise);
            }
            StmtKind::Loop { condition, body } => {
                let (again, behind) = (self.builder.create_block(), self.builder.create_block());
                self.go_on_in(again);
                let condition = self.value(condition);
                let end = self.unless(condition);
                self.block(body);
                self.builder.ins().jump(again, &[]);
                self.builder.switch_to_block(end);
                self.go_on_in(behind);
            }
            StmtKind::Exit => {
                self.builder.ins().jump(self.exit, &[]);
                // No code leads to the statements behind it.
                let next = self.builder.create_block();
                self.builder.switch_to_block(next);
            }
        }
    }

    /// The lower 64 bits of an expression.
    fn low(&mut self, expr: &penstock_rmt_compiler::ir::Expr) -> Value {
        let value = self.value(expr);
        self.halves(value).0
    }

    /// Ends the function if the value is 1.
    fn exit_if(&mut self, value: Value) {
        let next = self.builder.create_block();
        self.builder.ins().brif(value, self.exit, &[], next, &[]);
        self.builder.switch_to_block(next);
    }

    /// One of two blocks.
    fn choice(&mut self, condition: Value, then: &[Stmt], otherwise: &[Stmt]) {
        let behind = self.builder.create_block();
        let no = self.unless(condition);
        self.block(then);
        self.builder.ins().jump(behind, &[]);
        self.builder.switch_to_block(no);
        self.block(otherwise);
        self.go_on_in(behind);
    }

    fn apply(&mut self, apply: &Apply) {
        let code = self.lookup(apply);
        let (hit, action, args) = (self.of_work(HIT_AT), self.of_work(ACTION_AT), self.of_work(ARGS_AT));
        let call = self.builder.ins().call_indirect(self.signature, code, &[self.work, self.slots, args]);
        let ends = self.builder.inst_results(call)[0];
        self.exit_if(ends);
        if !apply.hit.is_empty() || !apply.miss.is_empty() {
            self.choice(hit, &apply.hit, &apply.miss);
        }
        let behind = self.builder.create_block();
        for (actions, block) in &apply.cases {
            let (own, next) = (self.builder.create_block(), self.builder.create_block());
            for each in actions {
                let is = self.builder.ins().icmp_imm(IntCC::Equal, action, *each as i64);
                let other = self.builder.create_block();
                self.builder.ins().brif(is, own, &[], other, &[]);
                self.builder.switch_to_block(other);
            }
            self.builder.ins().jump(next, &[]);
            self.builder.switch_to_block(own);
            self.block(block);
            self.builder.ins().jump(behind, &[]);
            self.builder.switch_to_block(next);
        }
        self.block(&apply.otherwise);
        self.go_on_in(behind);
    }

    /// Looks up a table. Gives the code of the action.
    fn lookup(&mut self, apply: &Apply) -> Value {
        let program = self.maker.program;
        let keys = table::keys_in_order(&program.tables[apply.table]).into_iter();
        let keys = keys.map(|key| self.maker.slots.fields[key.field]);
        let words: Vec<u32> = keys.flat_map(|key| key.slot..key.slot + if key.is_wide() { 2 } else { 1 }).collect();
        let table = self.number(apply.table as u64);
        if let [word] = words[..] {
            let word = self.slot(word);
            return self.call(calls::find_word as *const u8, &[table, word]);
        }
        let first = self.maker.slots.take(words.len());
        for (word, to) in words.iter().zip(first..) {
            let word = self.slot(*word);
            self.set_slot(to, word);
        }
        let (address, count) = (self.address(first), self.number(words.len() as u64));
        self.call(calls::find_words as *const u8, &[table, address, count])
    }

    fn operation(&mut self, of: &Extern) -> Operation {
        match of {
            Extern::Hash { to, algorithm, base, data, max } => Operation::Hash {
                to: self.maker.slots.fields[*to],
                algorithm: *algorithm,
                base: self.keep(base),
                parts: self.parts(data),
                max: self.keep(max),
            },
            Extern::Random { to, low, high } => {
                Operation::Random { to: self.maker.slots.fields[*to], low: self.keep(low), high: self.keep(high) }
            }
            Extern::Digest { digest, data } => {
                Operation::Digest { digest: *digest, data: data.iter().map(|value| self.keep(value)).collect() }
            }
            Extern::Clone { from_egress, session, keep } => {
                Operation::Clone { from_egress: *from_egress, session: self.keep(session).slot, keep: self.list(keep) }
            }
            Extern::Resubmit { keep } => Operation::Resubmit(self.list(keep)),
            Extern::Recirculate { keep } => Operation::Recirculate(self.list(keep)),
            Extern::Truncate { length } => Operation::Truncate(self.keep(length).slot),
            Extern::Assert { condition } => Operation::Assert(self.keep(condition).slot),
            Extern::Meter { meter, index, to } => {
                Operation::Meter { meter: *meter, index: self.keep(index).slot, to: self.maker.slots.fields[*to] }
            }
            Extern::SameVarbit { to, a, b } => Operation::SameVarbit {
                to: self.maker.slots.fields[*to],
                varbits: [*a, *b].map(|of| self.maker.slots.varbit(of)),
            },
            Extern::DirectMeter { to, .. } => Operation::EntryColor(self.maker.slots.fields[*to]),
        }
    }

    /// The number of a list of fields that copies keep.
    fn list(&mut self, fields: &[FieldId]) -> usize {
        let places = fields.iter().map(|field| self.maker.slots.fields[*field]).collect();
        self.maker.kept.push(places);
        self.maker.kept.len() - 1
    }
}
