// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Statements.

use super::call::has_return;
use super::value::{Place, Value};
use super::{Context, Lower, Symbol};
use crate::ast::{self, Case, DeclKind, ExprKind as Ast, Stmt, StmtKind as AstStmt};
use crate::fault::{Check, Fault};
use crate::ir::{self, Apply, BinaryOp, Expr, StmtKind};
use crate::source::Span;
use crate::types::Type;

impl<'a> Lower<'a> {
    /// A block with its own scope. A fault ends the statement that contains it.
    pub(super) fn block(&mut self, stmts: &'a [Stmt]) {
        self.scoped(|this| this.sequence(stmts));
    }

    fn sequence(&mut self, stmts: &'a [Stmt]) {
        let Some((first, rest)) = stmts.split_first() else { return };
        if let Err(fault) = self.statement(first) {
            self.fail(fault);
        }
        if rest.is_empty() {
            return;
        }
        let returned = self.returning.flag.filter(|_| has_return(first));
        let left = self.loops.last().map(|leave| leave.left).filter(|_| leaves_loop(first));
        let flags = returned.into_iter().chain(left);
        let stays = flags
            .map(|flag| Expr::field(flag, 1, first.span).negate())
            .reduce(|a, b| Expr::binary(BinaryOp::And, a, b, first.span));
        if let Some(condition) = stays {
            let ((), then) = self.capture(|this| this.sequence(rest));
            self.emit(StmtKind::If { condition, then, otherwise: Vec::new() }, first.span);
        } else {
            self.sequence(rest);
        }
    }

    /// The statements of a block.
    fn captured(&mut self, stmts: &'a [Stmt]) -> Vec<ir::Stmt> {
        self.capture(|this| this.block(stmts)).1
    }

    pub(super) fn statement(&mut self, stmt: &'a Stmt) -> Check<()> {
        let span = stmt.span;
        match &stmt.kind {
            AstStmt::Empty => Ok(()),
            AstStmt::Block(stmts) => {
                self.block(stmts);
                Ok(())
            }
            AstStmt::Assign(place, op, value) => self.assignment(place, op.as_deref(), value, span),
            AstStmt::Call(call) => {
                let value = self.expr(call, None)?;
                if self.context == Context::Parser { self.read(value) } else { Ok(()) }
            }
            AstStmt::Exit if matches!(self.context, Context::Control | Context::Action) => {
                self.emit(StmtKind::Exit, span);
                Ok(())
            }
            AstStmt::Exit => Err(Fault::new(span, "`exit` stands in controls and actions alone")),
            AstStmt::Return(value) => self.leave(value.as_ref(), span),
            AstStmt::If(condition, then, otherwise) => self.choice(condition, then, otherwise.as_deref()),
            AstStmt::Switch(value, cases) => self.switch(value, cases, span),
            AstStmt::For(of) => self.for_loop(of, span),
            AstStmt::ForIn(decl, items, body) => self.for_in(decl, items, body, span),
            AstStmt::Break | AstStmt::Continue => {
                let Some(leave) = self.loops.last().copied() else {
                    return Err(Fault::new(span, "`break` and `continue` stand in loops alone"));
                };
                if stmt.kind == AstStmt::Break {
                    self.emit(StmtKind::Assign(leave.goes_on, Expr::constant(0, 1, span)), span);
                }
                self.emit(StmtKind::Assign(leave.left, Expr::constant(1, 1, span)), span);
                Ok(())
            }
            AstStmt::Decl(decl) => match &decl.kind {
                DeclKind::Var(ty, value) => {
                    if let Err(fault) = self.local_variable(decl, ty, value.as_ref(), span) {
                        self.fail_to_declare(decl, fault);
                    }
                    Ok(())
                }
                DeclKind::Const(..) => self.declaration(decl),
                _ => Err(Fault::new(decl.span, "only variables and constants are declared in a block")),
            },
        }
    }

    pub(super) fn local_variable(
        &mut self,
        decl: &'a ast::Decl,
        ty: &'a ast::Type,
        value: Option<&'a ast::Expr>,
        span: Span,
    ) -> Check<()> {
        let ty = self.ty(ty)?;
        let place = self.copy(&decl.name.text, &ty, decl.name.span)?;
        match value {
            Some(value) => {
                let value = self.expr(value, Some(&ty))?;
                self.assign(&place, value, span)?;
            }
            None => self.invalidate(&place, span),
        }
        self.declare(&decl.name, Symbol::Value(Value::Place(place)));
        Ok(())
    }

    /// Makes all headers of a variable invalid, as they are where it is declared. Its stacks are empty.
    pub(super) fn invalidate(&mut self, place: &Place, span: Span) {
        for instance in place.headers() {
            let valid = self.program.instances[instance].valid;
            self.emit(StmtKind::Assign(valid, Expr::constant(0, 1, span)), span);
        }
        for stack in place.stacks() {
            self.reset_counter(stack, span);
        }
    }

    fn assignment(&mut self, place: &'a ast::Expr, op: Option<&str>, value: &'a ast::Expr, span: Span) -> Check<()> {
        let target = self.writable(place)?;
        let value = match op {
            None => self.expr(value, Some(&target.ty))?,
            Some(op) => self.compound(op, Value::Place(Place { span: place.span, ..target.clone() }), value, span)?,
        };
        self.assign(&target, value, span)
    }

    /// The value that `old op= value` assigns.
    pub(super) fn compound(&mut self, op: &str, old: Value, value: &'a ast::Expr, span: Span) -> Check<Value> {
        let (value, stmts) = self.capture(|this| this.expr(value, None));
        let old = if stmts.is_empty() {
            old
        } else {
            let (old, ty) = self.typed(old)?;
            Value::Scalar(self.keep(old), ty)
        };
        self.out.extend(stmts);
        self.operate(op, old, value?, span)
    }

    fn leave(&mut self, value: Option<&'a ast::Expr>, span: Span) -> Check<()> {
        match (self.returning.value.clone(), value) {
            (Some(place), Some(value)) => {
                let ty = self.returning.ty.clone();
                let value = self.expr(value, ty.as_ref())?;
                self.assign(&place, value, span)?;
            }
            (None, None) => {}
            (Some(place), None) => {
                return Err(Fault::new(span, format!("a value of type `{}` is to be returned", place.ty)));
            }
            (None, Some(value)) => return Err(Fault::new(value.span, "nothing is to be returned here")),
        }
        if let Some(flag) = self.returning.flag {
            self.emit(StmtKind::Assign(flag, Expr::constant(1, 1, span)), span);
        }
        Ok(())
    }

    fn choice(&mut self, condition: &'a ast::Expr, then: &'a Stmt, otherwise: Option<&'a Stmt>) -> Check<()> {
        let then = std::slice::from_ref(then);
        let otherwise = otherwise.map_or(&[][..], std::slice::from_ref);
        if self.context == Context::Parser {
            let condition = self.condition(condition)?;
            return self.parser_choice(&condition, |this| this.block(then), |this| this.block(otherwise));
        }
        if let Some((table, hit, span)) = self.applied_condition(condition)? {
            let then = self.captured(then);
            let otherwise = self.captured(otherwise);
            let (hit, miss) = if hit { (then, otherwise) } else { (otherwise, then) };
            return self.apply_table(Apply { hit, miss, ..Apply::plain(table) }, span);
        }
        let value = self.condition(condition);
        let (then, otherwise) = (self.captured(then), self.captured(otherwise));
        let condition = value?;
        let span = condition.span;
        match condition.value() {
            Some(0) => self.out.extend(otherwise),
            Some(_) => self.out.extend(then),
            None => self.emit(StmtKind::If { condition, then, otherwise }, span),
        }
        Ok(())
    }

    /// `t.apply().hit`, `t.apply().miss` and their opposites: the table, and whether the condition holds after a hit.
    fn applied_condition(&self, condition: &'a ast::Expr) -> Check<Option<(usize, bool, Span)>> {
        match &condition.kind {
            Ast::Unary(op, inner) if op == "!" => {
                Ok(self.applied_condition(inner)?.map(|(table, hit, span)| (table, !hit, span)))
            }
            Ast::Member(call, name) if matches!(&name.text[..], "hit" | "miss") => {
                let Ast::Call(call) = &call.kind else { return Ok(None) };
                Ok(self.applied_table(call)?.map(|(table, _)| (table, name.text == "hit", condition.span)))
            }
            _ => Ok(None),
        }
    }

    fn switch(&mut self, value: &'a ast::Expr, cases: &'a [Case], span: Span) -> Check<()> {
        if self.context == Context::Parser {
            return Err(Fault::new(span, "`switch` stands in controls, actions and functions alone")
                .help("a parser decides by `if` and by `select`"));
        }
        if let Ast::Member(call, name) = &value.kind
            && name.text == "action_run"
            && let Ast::Call(call) = &call.kind
            && let Some((table, _)) = self.applied_table(call)?
        {
            return self.switch_action(table, cases, span);
        }
        let value = self.expr(value, None)?;
        let (value, ty) = self.typed(value)?;
        let value = self.keep(value);
        let mut conditions: Vec<Expr> = Vec::new();
        let mut chain: Vec<(Option<Expr>, Vec<ir::Stmt>)> = Vec::new();
        for case in cases {
            if matches!(case.label.kind, Ast::Any) {
                let block =
                    case.block.as_deref().ok_or_else(|| Fault::new(case.label.span, "`default` needs a block"))?;
                chain.push((None, self.captured(block)));
                continue;
            }
            let label = self.expr_of(&case.label, &ty)?;
            if label.value().is_none() {
                return Err(Fault::new(case.label.span, "a case is a constant"));
            }
            conditions.push(Expr::binary(BinaryOp::Eq, value.clone(), label, case.label.span));
            if let Some(block) = &case.block {
                let any = conditions.drain(..).reduce(|a, b| Expr::binary(BinaryOp::Or, a, b, case.label.span));
                let block = self.captured(block);
                chain.push((any, block));
            }
        }
        let mut rest = Vec::new();
        for (condition, then) in chain.into_iter().rev() {
            rest = match condition {
                None => then,
                Some(condition) => {
                    let span = condition.span;
                    vec![ir::Stmt { kind: StmtKind::If { condition, then, otherwise: rest }, span }]
                }
            };
        }
        self.out.extend(rest);
        Ok(())
    }

    fn switch_action(&mut self, table: usize, cases: &'a [Case], span: Span) -> Check<()> {
        let mut apply = Apply::plain(table);
        let mut actions = Vec::new();
        for case in cases {
            let block = case.block.as_ref().map(|block| self.captured(block));
            if matches!(case.label.kind, Ast::Any) {
                apply.otherwise = block.ok_or_else(|| Fault::new(case.label.span, "`default` needs a block"))?;
                continue;
            }
            let (Ast::Name(name) | Ast::Outer(name)) = &case.label.kind else {
                return Err(Fault::new(case.label.span, "a case of `action_run` is the name of an action"));
            };
            let Some(Symbol::Action(action)) = self.named(&case.label).transpose()? else {
                return Err(Fault::new(case.label.span, format!("`{name}` is not an action")));
            };
            let refs = &self.program.tables[table].actions;
            let found = refs.iter().find(|of| self.program.actions[of.action].name == action.name);
            match found {
                Some(of) => actions.push(of.action),
                None => {
                    let table = &self.program.tables[table];
                    return Err(Fault::new(case.label.span, format!("`{name}` is not an action of `{}`", table.name))
                        .also(table.span, "the table"));
                }
            }
            if let Some(block) = block {
                apply.cases.push((std::mem::take(&mut actions), block));
            }
        }
        self.apply_table(apply, span)
    }

    /// Applies a table: keys that are not fields are assigned to fields before.
    pub(super) fn apply_table(&mut self, apply: Apply, span: Span) -> Check<()> {
        if self.context != Context::Control {
            return Err(Fault::new(span, "tables are applied in the `apply` block of a control alone")
                .help("an action cannot apply a table: apply it behind the table that runs the action"));
        }
        let keys = self.keys[apply.table].clone();
        self.count(keys.len(), span)?;
        self.out.extend(keys);
        self.emit(StmtKind::Apply(Box::new(apply)), span);
        Ok(())
    }

    /// `t.apply().hit` as a value.
    pub(super) fn apply_result(&mut self, table: usize, name: &ast::Name, span: Span) -> Check<Value> {
        let wanted = match &name.text[..] {
            "hit" => 1,
            "miss" => 0,
            "action_run" => return Err(Fault::new(span, "`action_run` stands in `switch (…)` alone")),
            _ => return Err(Fault::new(name.span, "an application has `hit`, `miss` and `action_run`")),
        };
        let result = self.temporary(1, span);
        let set = |value| vec![ir::Stmt { kind: StmtKind::Assign(result, Expr::constant(value, 1, span)), span }];
        let (hit, miss) = (set(wanted), set(1 - wanted));
        self.apply_table(Apply { hit, miss, ..Apply::plain(table) }, span)?;
        Ok(Value::Scalar(Expr::field(result, 1, span), Type::Bool))
    }
}

/// Whether a statement contains a `break` or `continue` of the loop around it.
pub(super) fn leaves_loop(stmt: &Stmt) -> bool {
    match &stmt.kind {
        AstStmt::Break | AstStmt::Continue => true,
        AstStmt::If(_, then, otherwise) => leaves_loop(then) || otherwise.as_deref().is_some_and(leaves_loop),
        AstStmt::Block(stmts) => stmts.iter().any(leaves_loop),
        AstStmt::Switch(_, cases) => cases.iter().filter_map(|case| case.block.as_ref()).flatten().any(leaves_loop),
        _ => false,
    }
}

impl Apply {
    /// An application that nothing depends on.
    pub(super) fn plain(table: usize) -> Self {
        Self { table, hit: Vec::new(), miss: Vec::new(), cases: Vec::new(), otherwise: Vec::new() }
    }
}
