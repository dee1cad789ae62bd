// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Which fields a program reads and writes, and how often.

use crate::ir::{Checksum, ChecksumData, Expr, ExprKind, FieldId, ParserOp, Program, Stmt, StmtKind};

/// Reads and writes of fields.
#[derive(Debug, Clone)]
pub(super) struct Uses {
    /// How often each field is read.
    pub read: Vec<u32>,
    /// How often each field is written, the parser's extraction aside.
    pub written: Vec<u32>,
}

impl Uses {
    /// The uses in one block.
    pub(super) fn of_block(program: &Program, block: &[Stmt]) -> Self {
        let mut this = Self { read: vec![0; program.fields.len()], written: vec![0; program.fields.len()] };
        this.block(block);
        this
    }

    /// The uses in a whole program.
    pub(super) fn of(program: &Program) -> Self {
        let mut this = Self::of_block(program, &program.ingress);
        this.block(&program.egress);
        this.block(&program.deparse);
        for action in &program.actions {
            this.block(&action.body);
        }
        for key in program.tables.iter().flat_map(|table| &table.keys) {
            this.read[key.field] += 1;
        }
        for state in &program.parser.states {
            for op in &state.ops {
                match op {
                    ParserOp::Assign { to, value, .. } => {
                        this.expr(value);
                        this.written[*to] += 1;
                    }
                    // Lengths and keys are read from the window, not from the vector.
                    ParserOp::Extract { .. } | ParserOp::Advance { .. } | ParserOp::Verify { .. } => {}
                    // The card's parser has no such step.
                    ParserOp::Run(_) => {}
                }
            }
        }
        // The deparser asks whether a header is valid. If nothing changes that, the parser's extraction says so.
        for emit in &program.deparser {
            let valid = program.instances[emit.instance].valid;
            if this.written[valid] > 0 {
                this.read[valid] += 1;
            }
        }
        for sum in &program.verify {
            this.sum(sum);
            this.read[sum.field] += 1;
        }
        for sum in &program.update {
            this.sum(sum);
            this.written[sum.field] += 1;
        }
        this
    }

    /// Whether the program reads or writes a field.
    pub(super) fn counts(&self, field: FieldId) -> bool {
        self.read[field] + self.written[field] > 0
    }

    fn sum(&mut self, sum: &Checksum) {
        self.expr(&sum.condition);
        for part in &sum.data {
            match part {
                ChecksumData::Value(value) => self.expr(value),
                ChecksumData::Varbit(field) => self.read[*field] += 1,
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        expr.walk(&mut |expr| {
            if let ExprKind::Field(field) = expr.kind {
                self.read[field] += 1;
            }
        });
    }

    fn block(&mut self, block: &[Stmt]) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Assign(to, value) => {
                    self.expr(value);
                    self.written[*to] += 1;
                }
                StmtKind::CopyVarbit(to, from) => {
                    self.written[*to] += 1;
                    self.read[*from] += 1;
                }
                StmtKind::RegisterRead { index, to, .. } => {
                    self.expr(index);
                    self.written[*to] += 1;
                }
                StmtKind::RegisterWrite { index, value, .. } => {
                    self.expr(index);
                    self.expr(value);
                }
                StmtKind::Count { index, .. } => self.expr(index),
                StmtKind::Extern(of) => {
                    of.reads().into_iter().for_each(|field| self.read[field] += 1);
                    of.result().into_iter().for_each(|field| self.written[field] += 1);
                }
                StmtKind::Apply(apply) => {
                    for block in [&apply.hit, &apply.miss, &apply.otherwise] {
                        self.block(block);
                    }
                    apply.cases.iter().for_each(|(_, block)| self.block(block));
                }
                StmtKind::If { condition, then, otherwise } => {
                    self.expr(condition);
                    self.block(then);
                    self.block(otherwise);
                }
                StmtKind::Loop { condition, body } => {
                    self.expr(condition);
                    self.block(body);
                }
                StmtKind::Exit => {}
            }
        }
    }
}
