// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Fields that a program reads and writes: headers are read and written back only as far as it does.

use penstock_rmt_compiler::ir::{ChecksumData, Expr, ExprKind, ParserOp, Program, Stmt, StmtKind, Transition};

/// Fields that a program reads and writes.
pub(crate) struct Uses {
    /// By field.
    pub read: Vec<bool>,
    /// By field.
    pub written: Vec<bool>,
}

impl Uses {
    /// Of a program.
    pub(crate) fn of(program: &Program) -> Self {
        let none = vec![false; program.fields.len()];
        let mut this = Self { read: none.clone(), written: none };
        for state in &program.parser.states {
            for op in &state.ops {
                match op {
                    ParserOp::Extract { varbit, .. } => varbit.iter().for_each(|bits| this.reads(bits)),
                    ParserOp::Advance { bits, .. } => this.reads(bits),
                    ParserOp::Assign { to, value, .. } => {
                        this.reads(value);
                        this.written[*to] = true;
                    }
                    ParserOp::Verify { condition, .. } => this.reads(condition),
                    ParserOp::Run(stmt) => this.block(std::slice::from_ref(stmt)),
                }
            }
            if let Transition::Select { keys, .. } = &state.next {
                keys.iter().for_each(|key| this.reads(key));
            }
        }
        for (sums, writes) in [(&program.verify, false), (&program.update, true)] {
            for sum in sums {
                this.reads(&sum.condition);
                for part in &sum.data {
                    if let ChecksumData::Value(value) = part {
                        this.reads(value);
                    }
                }
                this.read[sum.field] = true;
                this.written[sum.field] |= writes;
            }
        }
        this.block(&program.ingress);
        this.block(&program.egress);
        this.block(&program.deparse);
        for action in &program.actions {
            this.block(&action.body);
        }
        for table in &program.tables {
            table.keys.iter().for_each(|key| this.read[key.field] = true);
            table.selector.iter().for_each(|field| this.read[*field] = true);
        }
        this
    }

    fn reads(&mut self, expr: &Expr) {
        expr.walk(&mut |expr| {
            if let ExprKind::Field(field) = expr.kind {
                self.read[field] = true;
            }
        });
    }

    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Assign(to, value) => {
                    self.reads(value);
                    self.written[*to] = true;
                }
                StmtKind::CopyVarbit(to, _) => self.written[*to] = true,
                StmtKind::RegisterRead { index, to, .. } => {
                    self.reads(index);
                    self.written[*to] = true;
                }
                StmtKind::RegisterWrite { index, value, .. } => {
                    self.reads(index);
                    self.reads(value);
                }
                StmtKind::Count { index, .. } => self.reads(index),
                StmtKind::Extern(of) => {
                    of.reads().into_iter().for_each(|field| self.read[field] = true);
                    of.result()
                        .into_iter()
                        .chain(of.kept().iter().copied())
                        .for_each(|field| self.written[field] = true);
                }
                StmtKind::Apply(apply) => {
                    for block in [&apply.hit, &apply.miss, &apply.otherwise] {
                        self.block(block);
                    }
                    apply.cases.iter().for_each(|(_, block)| self.block(block));
                }
                StmtKind::If { condition, then, otherwise } => {
                    self.reads(condition);
                    self.block(then);
                    self.block(otherwise);
                }
                StmtKind::Loop { condition, body } => {
                    self.reads(condition);
                    self.block(body);
                }
                StmtKind::Exit => {}
            }
        }
    }
}
