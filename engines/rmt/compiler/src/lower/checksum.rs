// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The controls of v1model that compute checksums.

use super::value::{Place, Shape, Value};
use super::{Context, Lower, Scope};
use crate::ast::{self, ControlDecl, ExprKind as Ast, Stmt, StmtKind as AstStmt};
use crate::fault::{Check, Fault};
use crate::ir::{BinaryOp, Checksum, ChecksumData, Expr, HashAlgorithm};
use crate::source::Span;
use crate::types::Type;

impl<'a> Lower<'a> {
    /// Lowers a checksum control; `verify` selects which one.
    pub(super) fn checksums(&mut self, control: &'a ControlDecl, scope: Scope<'a>, verify: bool) -> Vec<Checksum> {
        self.context = Context::Pure;
        let mut found = Vec::new();
        self.within(1, vec![scope], |this| {
            for local in &control.locals {
                this.fail(Fault::missing(local.span, "declarations in checksum controls"));
            }
            let always = Expr::constant(1, 1, Span::default());
            this.checksum_block(control.apply.as_deref().unwrap_or_default(), &always, verify, &mut found);
        });
        found
    }

    fn checksum_block(&mut self, stmts: &'a [Stmt], condition: &Expr, verify: bool, found: &mut Vec<Checksum>) {
        for stmt in stmts {
            if let Err(fault) = self.checksum_stmt(stmt, condition, verify, found) {
                self.fail(fault);
            }
            if let Some(made) = std::mem::take(&mut self.out).first() {
                self.fail(
                    Fault::missing(made.span, "an expression with statements of its own in a checksum control")
                        .help("assign its value to metadata in ingress or egress"),
                );
            }
        }
    }

    fn checksum_stmt(&mut self, stmt: &'a Stmt, outer: &Expr, verify: bool, found: &mut Vec<Checksum>) -> Check<()> {
        match &stmt.kind {
            AstStmt::Empty => Ok(()),
            AstStmt::Block(stmts) => {
                self.checksum_block(stmts, outer, verify, found);
                Ok(())
            }
            AstStmt::If(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                let both = |part| Expr::binary(BinaryOp::And, outer.clone(), part, stmt.span);
                self.checksum_block(std::slice::from_ref(then), &both(condition.clone()), verify, found);
                if let Some(otherwise) = otherwise {
                    self.checksum_block(std::slice::from_ref(otherwise), &both(condition.negate()), verify, found);
                }
                Ok(())
            }
            AstStmt::Call(ast::Expr { kind: Ast::Call(call), span }) => {
                let (wanted, name) =
                    (if verify { "verify_checksum" } else { "update_checksum" }, self.text(call.callee.span));
                if !name.starts_with(wanted) {
                    return Err(Fault::missing(*span, &format!("`{name}` in this checksum control"))
                        .help(format!("call `{wanted}` or `{wanted}_with_payload`")));
                }
                let args = self.arguments(&name, &["condition", "data", "checksum", "algo"], &call.args, *span)?;
                let condition = Expr::binary(BinaryOp::And, outer.clone(), self.condition(args[0])?, *span);
                let value = self.expr(args[1], None)?;
                let mut data = Vec::new();
                self.checksum_data(value, &mut data)?;
                let fixed = data
                    .iter()
                    .map(|part| if let ChecksumData::Value(value) = part { value.width } else { 0 })
                    .sum::<u32>();
                let algorithm = self.algorithm(args[3])?;
                if algorithm == HashAlgorithm::Csum16 && fixed % 16 != 0 {
                    return Err(Fault::new(
                        args[1].span,
                        format!("a checksum covers whole 16-bit words, these are {fixed} bits"),
                    ));
                }
                let place = self.writable(args[2])?;
                let Shape::Scalar(field) = place.shape else {
                    return Err(Fault::new(args[2].span, format!("`bit<16>` is expected, this is `{}`", place.ty)));
                };
                if place.ty != Type::Bit(16) && (algorithm == HashAlgorithm::Csum16 || !place.ty.is_number()) {
                    return Err(super::place::mismatch("bit<16>", &Value::Place(place)));
                }
                let payload = name.ends_with("_with_payload");
                found.push(Checksum { condition, data, field, algorithm, payload, span: *span });
                Ok(())
            }
            _ => Err(Fault::missing(stmt.span, "this statement in a checksum control")),
        }
    }

    /// All values in a list, struct or header.
    pub(super) fn checksum_data(&mut self, value: Value, data: &mut Vec<ChecksumData>) -> Check<()> {
        match value {
            Value::List(values, _) => values.into_iter().try_for_each(|value| self.checksum_data(value, data)),
            Value::Place(Place { shape: Shape::Varbit(field), .. }) => {
                data.push(ChecksumData::Varbit(field));
                Ok(())
            }
            Value::Place(Place { shape: Shape::Header(_, members) | Shape::Struct(members), .. }) => {
                members.into_iter().try_for_each(|(_, member)| self.checksum_data(Value::Place(member), data))
            }
            other => {
                let (value, _) = self.typed(other)?;
                data.push(ChecksumData::Value(value));
                Ok(())
            }
        }
    }
}
