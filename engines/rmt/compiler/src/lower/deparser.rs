// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The deparser: headers in the order of `emit`, and the conditions that `emit` stands under.

use super::value::{Place, Shape, Value};
use super::{Context, Lower, Scope, Symbol};
use crate::ast::{self, ControlDecl, DeclKind, ExprKind as Ast, Stmt, StmtKind as AstStmt};
use crate::fault::{Check, Fault};
use crate::ir::{BinaryOp, Emit, Expr, ExprKind, FieldId, FieldKind, InstanceId, StmtKind};
use crate::source::Span;
use crate::types::Type;

/// A header that is emitted if all conditions hold.
struct Conditional {
    instance: InstanceId,
    place: Place,
    conditions: Vec<Expr>,
    span: Span,
}

impl<'a> Lower<'a> {
    /// Lowers the deparser.
    pub(super) fn deparser(&mut self, control: &'a ControlDecl, scope: Scope<'a>) {
        self.context = Context::Pure;
        let mut found = Vec::new();
        let (((), _), mut stmts) = self.capture(|this| {
            this.within(1, vec![scope, Scope::new()], |this| {
                for local in &control.locals {
                    if let Err(fault) = this.deparser_local(local) {
                        this.fail_to_declare(local, fault);
                    }
                }
                this.emits(control.apply.as_deref().unwrap_or_default(), &[], &mut found);
            })
        });
        let (done, ends) = self.capture(|this| this.place_emits(found));
        if let Err(fault) = done {
            self.fail(fault);
        }
        stmts.extend(ends);
        // A deparser without conditions has variables that nothing reads.
        let reads = |field: FieldId| !matches!(self.program.fields[field].kind, FieldKind::Local);
        let matters = stmts.iter().any(|stmt| !matches!(&stmt.kind, StmtKind::Assign(to, _) if !reads(*to)));
        self.program.deparse = if matters { stmts } else { Vec::new() };
    }

    fn deparser_local(&mut self, local: &'a ast::Decl) -> Check<()> {
        match &local.kind {
            DeclKind::Var(ty, value) => self.local_variable(local, ty, value.as_ref(), local.span),
            DeclKind::Const(..) => self.declaration(local),
            _ => Err(Fault::missing(local.span, "declarations in the deparser but variables and constants")),
        }
    }

    fn emits(&mut self, stmts: &'a [Stmt], conditions: &[Expr], found: &mut Vec<Conditional>) {
        self.scoped(|this| {
            for stmt in stmts {
                if let Err(fault) = this.deparser_stmt(stmt, conditions, found) {
                    this.fail(fault);
                }
            }
        });
    }

    fn deparser_stmt(&mut self, stmt: &'a Stmt, conditions: &[Expr], found: &mut Vec<Conditional>) -> Check<()> {
        match &stmt.kind {
            AstStmt::Block(stmts) => {
                self.emits(stmts, conditions, found);
                Ok(())
            }
            AstStmt::If(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                let condition = self.lasting(condition);
                let (mut yes, mut no) = (conditions.to_vec(), conditions.to_vec());
                conjuncts(condition.clone(), &mut yes);
                no.push(condition.clone().negate());
                let ((), then) = self.capture(|this| this.emits(std::slice::from_ref(then), &yes, found));
                let otherwise = otherwise.as_deref().map_or(&[][..], std::slice::from_ref);
                let ((), otherwise) = self.capture(|this| this.emits(otherwise, &no, found));
                if !then.is_empty() || !otherwise.is_empty() {
                    self.emit(StmtKind::If { condition, then, otherwise }, stmt.span);
                }
                Ok(())
            }
            AstStmt::Call(ast::Expr { kind: Ast::Call(call), span }) if self.is_emit(call)? => {
                self.emit_call(call, *span, conditions, found)
            }
            AstStmt::Empty | AstStmt::Assign(..) | AstStmt::Decl(_) | AstStmt::Call(_) => self.statement(stmt),
            _ => Err(Fault::missing(stmt.span, "this statement in a deparser")
                .help("a deparser has `emit`, `if`, variables and assignments to them")),
        }
    }

    /// A condition whose value stays the same up to the end of the deparser: it cannot change headers.
    fn lasting(&mut self, condition: Expr) -> Expr {
        let mut changes = false;
        condition.walk(&mut |part| {
            if let ExprKind::Field(field) = part.kind {
                changes |= self.program.fields[field].kind == FieldKind::Local;
            }
        });
        if changes { self.keep(condition) } else { condition }
    }

    fn is_emit(&self, call: &ast::Call) -> Check<bool> {
        let Ast::Member(base, method) = &call.callee.kind else { return Ok(false) };
        let Ast::Name(name) = &base.kind else { return Ok(false) };
        let packet =
            matches!(self.lookup(name, base.span)?, Symbol::Value(Value::Place(Place { ty: Type::PacketOut, .. })));
        Ok(packet && method.text == "emit")
    }

    fn emit_call(
        &mut self,
        call: &'a ast::Call,
        span: Span,
        conditions: &[Expr],
        found: &mut Vec<Conditional>,
    ) -> Check<()> {
        let args = self.arguments("emit", &["hdr"], &call.args, span)?;
        let value = self.raw(args[0], None)?;
        self.emit_value(value, span, conditions, found)
    }

    fn emit_value(&mut self, value: Value, span: Span, conditions: &[Expr], found: &mut Vec<Conditional>) -> Check<()> {
        let place = match value {
            Value::Place(place) => place,
            Value::List(values, _) => {
                return values.into_iter().try_for_each(|value| self.emit_value(value, span, conditions, found));
            }
            other => return Err(Fault::new(other.span(), "a header is expected, or a struct of headers")),
        };
        if let Shape::Element(index, elements) = &place.shape {
            let index = self.keep((**index).clone());
            for (number, element) in elements.iter().enumerate() {
                let mut all = conditions.to_vec();
                all.push(Self::chosen(&index, number, span));
                found.extend(conditionals(element, &all, span));
            }
            return Ok(());
        }
        let headers = conditionals(&place, conditions, span);
        let is_struct = matches!(place.ty, Type::Struct(_) | Type::Tuple(_));
        if headers.is_empty() && !is_struct {
            return Err(Fault::new(place.span, format!("`{}` has no headers", place.ty)).label("expected a header"));
        }
        found.extend(headers);
        Ok(())
    }

    /// Gives the headers their places. A header that leaves under a condition is invalid if the condition does not
    /// hold. If the deparser emits it several times, copies of it leave.
    fn place_emits(&mut self, found: Vec<Conditional>) -> Check<()> {
        let mut ends = Vec::new();
        let times = |instance| found.iter().filter(|of| of.instance == instance).count();
        for Conditional { instance, place, conditions, span } in &found {
            let span = *span;
            let valid = self.program.instances[*instance].valid;
            // That the header is valid, its `emit` asks anyway.
            let asked = conditions.iter().filter(|condition| condition.kind != ExprKind::Field(valid));
            let asked = asked.cloned().reduce(|a, b| Expr::binary(BinaryOp::And, a, b, span));
            let Some(asked) = asked else {
                self.program.deparser.push(Emit { instance: *instance, span });
                continue;
            };
            if times(*instance) == 1 {
                ends.push((valid, asked, span));
                self.program.deparser.push(Emit { instance: *instance, span });
                continue;
            }
            let copy = self.copy("$emitted", &place.ty, span)?;
            self.assign(&copy, Value::Place(place.clone()), span)?;
            let instance = copy.headers()[0];
            ends.push((self.program.instances[instance].valid, asked, span));
            self.program.deparser.push(Emit { instance, span });
        }
        let changed: Vec<FieldId> = ends.iter().map(|(valid, ..)| *valid).collect();
        for (valid, asked, _) in &mut ends {
            // A condition asks for the headers as they are in front of the deparser.
            let others: Vec<FieldId> = changed.iter().copied().filter(|field| field != valid).collect();
            if asked.reads(&others) {
                *asked = self.keep(asked.clone());
            }
        }
        for (valid, asked, span) in ends {
            let both = Expr::binary(BinaryOp::And, Expr::field(valid, 1, span), asked, span);
            self.emit(StmtKind::Assign(valid, both), span);
        }
        Ok(())
    }
}

/// The conditions of `a && b`.
fn conjuncts(condition: Expr, found: &mut Vec<Expr>) {
    match condition.kind {
        ExprKind::Binary(BinaryOp::And, a, b) if condition.width == 1 => {
            conjuncts(*a, found);
            conjuncts(*b, found);
        }
        _ => found.push(condition),
    }
}

/// The headers of a place.
fn conditionals(place: &Place, conditions: &[Expr], span: Span) -> Vec<Conditional> {
    match &place.shape {
        Shape::Header(instance, _) => {
            vec![Conditional { instance: *instance, place: place.clone(), conditions: conditions.to_vec(), span }]
        }
        Shape::Struct(members) => {
            members.iter().flat_map(|(_, member)| conditionals(member, conditions, span)).collect()
        }
        Shape::Stack(_, elements) => {
            elements.iter().flat_map(|element| conditionals(element, conditions, span)).collect()
        }
        _ => Vec::new(),
    }
}
