// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Loops. A loop whose turns follow from constants becomes its turns, one behind the other. Others become
//! [`StmtKind::Loop`], outside of parsers.

use num_bigint::BigInt;

use super::call::has_return;
use super::statement::leaves_loop;
use super::value::{Place, Shape, Value};
use super::{Context, Lower, Scope, Symbol};
use crate::ast::{self, DeclKind, ExprKind as Ast, For, Stmt, StmtKind as AstStmt};
use crate::fault::{Check, Fault};
use crate::ir::{BinaryOp, Expr, FieldId, LOOP_TURNS, MAX_BITS, StmtKind};
use crate::source::Span;
use crate::types::Type;

/// Turns that are written one behind the other at most.
const UNROLLED: usize = 256;

/// How `break` and `continue` leave a turn.
#[derive(Clone, Copy)]
pub(super) struct Leave {
    /// 1 while further turns may follow.
    pub goes_on: FieldId,
    /// 1 as soon as this turn has ended.
    pub left: FieldId,
}

/// A turn: what its variable is.
enum Turn {
    /// A constant that stands for the variable.
    Constant(Value),
    /// A value that the variable gets.
    Value(Value),
}

impl<'a> Lower<'a> {
    /// `for (init; condition; update) body`
    pub(super) fn for_loop(&mut self, of: &'a For, span: Span) -> Check<()> {
        if let Some((name, first, turns)) = self.constant_turns(of)? {
            if turns.is_empty() {
                self.check_body(name, first, &of.body, span);
            }
            let turns = turns.into_iter().map(Turn::Constant).collect();
            return self.unrolled(name, turns, &of.body, span);
        }
        self.scopes.push(Scope::new());
        let done = self.running_loop(of, span);
        self.scopes.pop();
        done
    }

    fn running_loop(&mut self, of: &'a For, span: Span) -> Check<()> {
        of.init.iter().try_for_each(|stmt| self.statement(stmt))?;
        let body = std::slice::from_ref(&of.body);
        self.turns_while(
            span,
            has_return(&of.body),
            |this| match &of.condition {
                Some(condition) => this.condition(condition),
                None => Ok(Expr::constant(1, 1, span)),
            },
            |this| {
                this.block(body);
                Ok(())
            },
            |this| of.update.iter().try_for_each(|stmt| this.statement(stmt)),
        )
    }

    /// Turns as long as a condition holds.
    fn turns_while(
        &mut self,
        span: Span,
        returns: bool,
        condition: impl FnOnce(&mut Self) -> Check<Expr>,
        body: impl FnOnce(&mut Self) -> Check<()>,
        update: impl FnOnce(&mut Self) -> Check<()>,
    ) -> Check<()> {
        if self.context == Context::Parser || self.in_parser {
            return Err(Fault::missing(span, "loops in parsers whose turns do not follow from constants")
                .help("a parser repeats states"));
        }
        if self.context == Context::Pure {
            return Err(Fault::missing(span, "loops in deparsers and checksum controls"));
        }
        let leave = self.new_leave(span);
        let turns = match self.turns {
            Some(turns) => turns,
            None => {
                let turns = self.temporary(32, span);
                self.turns = Some(turns);
                turns
            }
        };
        let count = Expr::field(turns, 32, span);
        let (done, inner): (Check<()>, _) = self.capture(|this| {
            let next = Expr::binary(BinaryOp::Add, count.clone(), Expr::constant(1, 32, span), span);
            this.emit(StmtKind::Assign(turns, next), span);
            this.emit(StmtKind::Assign(leave.left, Expr::constant(0, 1, span)), span);
            let holds = condition(this)?;
            this.loops.push(leave);
            let (done, mut then) = this.capture(body);
            this.loops.pop();
            done?;
            let (done, update) = this.capture(update);
            done?;
            let (_, guarded) = this.capture(|this| {
                let returned = this.returning.flag.filter(|_| returns);
                if let Some(flag) = returned {
                    let returned = Expr::field(flag, 1, span);
                    let then = vec![crate::ir::Stmt {
                        kind: StmtKind::Assign(leave.goes_on, Expr::constant(0, 1, span)),
                        span,
                    }];
                    this.emit(StmtKind::If { condition: returned, then, otherwise: Vec::new() }, span);
                }
                let condition = Expr::field(leave.goes_on, 1, span);
                this.emit(StmtKind::If { condition, then: update, otherwise: Vec::new() }, span);
            });
            then.extend(guarded);
            let stop = StmtKind::Assign(leave.goes_on, Expr::constant(0, 1, span));
            let otherwise = vec![crate::ir::Stmt { kind: stop, span }];
            this.emit(StmtKind::If { condition: holds, then, otherwise }, span);
            Ok(())
        });
        done?;
        self.emit(StmtKind::Assign(leave.goes_on, Expr::constant(1, 1, span)), span);
        let room = Expr::binary(BinaryOp::Lt, count, Expr::constant(LOOP_TURNS.into(), 32, span), span);
        let condition = Expr::binary(BinaryOp::And, Expr::field(leave.goes_on, 1, span), room, span);
        self.emit(StmtKind::Loop { condition, body: inner }, span);
        Ok(())
    }

    fn new_leave(&mut self, span: Span) -> Leave {
        Leave { goes_on: self.temporary(1, span), left: self.temporary(1, span) }
    }

    /// `for (T name in items) body`
    pub(super) fn for_in(
        &mut self,
        decl: &'a ast::Decl,
        items: &'a ast::Expr,
        body: &'a Stmt,
        span: Span,
    ) -> Check<()> {
        let DeclKind::Var(ty, _) = &decl.kind else { return Ok(()) };
        let ty = self.ty(ty)?;
        if let Ast::Range(low, high) = &items.kind {
            let mut low = self.expr(low, Some(&ty))?;
            let (high, stmts) = self.capture(|this| this.expr(high, Some(&ty)));
            self.settle_before(std::iter::once(&mut low), &stmts)?;
            self.out.extend(stmts);
            return self.for_range(decl, &ty, (low, high?), body, span);
        }
        let values: Vec<Value> = match self.expr(items, Some(&Type::List(ty.clone().into())))? {
            Value::List(values, _) => values,
            Value::Place(Place { shape: Shape::Stack(_, elements), .. }) => {
                elements.into_iter().map(Value::Place).collect()
            }
            other => {
                return Err(Fault::new(items.span, "a loop takes the values of a list, a stack or a range")
                    .label(format!("this is `{}`", other.type_name())));
            }
        };
        // The values are those from before the first turn, which the turns may change.
        if self.context == Context::Parser {
            let values = self.held(values)?;
            return self.over_values(decl, &ty, values, body, span);
        }
        let faults = self.faults.len();
        let (done, mut stmts) = self.capture(|this| this.over_values(decl, &ty, values.clone(), body, span));
        done?;
        if self.faults.len() == faults {
            let before = self.out.len();
            let mut settled = values;
            self.settle_before(settled.iter_mut(), &stmts)?;
            if self.out.len() > before {
                let (done, anew) = self.capture(|this| this.over_values(decl, &ty, settled, body, span));
                done?;
                stmts = anew;
            }
        }
        self.out.extend(stmts);
        Ok(())
    }

    /// Values that no statement changes.
    fn held(&mut self, values: Vec<Value>) -> Check<Vec<Value>> {
        let keep = |value| match value {
            Value::Scalar(expr, ty) => Ok(Value::Scalar(self.keep(expr), ty)),
            Value::Place(place) => {
                let copy = self.copy("$value", &place.ty, place.span)?;
                self.assign(&copy, Value::Place(place.clone()), place.span)?;
                Ok(Value::Place(copy))
            }
            other => Ok(other),
        };
        values.into_iter().map(keep).collect()
    }

    /// A turn for each value.
    fn over_values(
        &mut self,
        decl: &'a ast::Decl,
        ty: &Type,
        values: Vec<Value>,
        body: &'a Stmt,
        span: Span,
    ) -> Check<()> {
        let writes = changes(body, &decl.name.text);
        let mut turns = Vec::new();
        for value in values {
            let constant = match &value {
                Value::Scalar(..) | Value::Integer(..) if !writes => self.constant_of(value.clone(), ty).ok(),
                _ => None,
            };
            turns.push(constant.map_or(Turn::Value(value), Turn::Constant));
        }
        self.with_variable(decl, ty, turns, body, span)
    }

    /// Turns whose variable is a constant, or a variable of the type that gets the value of each turn.
    fn with_variable(
        &mut self,
        decl: &'a ast::Decl,
        ty: &Type,
        turns: Vec<Turn>,
        body: &'a Stmt,
        span: Span,
    ) -> Check<()> {
        if turns.iter().all(|turn| matches!(turn, Turn::Constant(_))) {
            return self.unrolled(&decl.name, turns, body, span);
        }
        let place = self.copy(&decl.name.text, ty, decl.name.span)?;
        let mut scope = Scope::new();
        scope.insert(decl.name.text.clone(), Symbol::Value(Value::Place(place)));
        self.scopes.push(scope);
        let turns = turns.into_iter().map(|turn| match turn {
            Turn::Constant(value) | Turn::Value(value) => Turn::Value(value),
        });
        let turns = turns.collect();
        let done = self.unrolled(&decl.name, turns, body, span);
        self.scopes.pop();
        done
    }

    fn for_range(
        &mut self,
        decl: &'a ast::Decl,
        ty: &Type,
        (low, high): (Value, Value),
        body: &'a Stmt,
        span: Span,
    ) -> Check<()> {
        let known = |value: &Value| match value {
            Value::Integer(number, _) => Some(number.clone()),
            Value::Scalar(expr, ty) => expr.value().filter(|_| !ty.is_signed()).map(BigInt::from),
            _ => None,
        };
        let bounds = known(&low).zip(known(&high));
        let is_short = |(low, high): &(BigInt, BigInt)| high - low < BigInt::from(UNROLLED);
        if let Some((first, last)) = bounds.filter(is_short) {
            for bound in [low, high].into_iter().filter(|bound| matches!(bound, Value::Scalar(..))) {
                self.scalar(bound, ty)?;
            }
            let (low, high) = (first, last);
            let writes = changes(body, &decl.name.text);
            let mut turns = Vec::new();
            if low > high {
                let value = self.constant_of(Value::Integer(low.clone(), span), ty)?;
                self.check_body(&decl.name, value, body, span);
            }
            let mut at = low;
            while at <= high {
                let value = Value::Integer(at.clone(), span);
                let value = self.constant_of(value, ty)?;
                turns.push(if writes { Turn::Value(value) } else { Turn::Constant(value) });
                at += 1;
            }
            return self.with_variable(decl, ty, turns, body, span);
        }
        if known(&low).is_some() && known(&high).is_some() && (self.in_parser || self.context == Context::Parser) {
            return Err(Fault::missing(span, &format!("more than {UNROLLED} turns over constants in parsers")));
        }
        let (low, high) = (self.scalar(low, ty)?, self.scalar(high, ty)?);
        // The number behind the last one has a bit more.
        let width = low.width + 1;
        if width > MAX_BITS {
            return Err(Fault::missing(span, &format!("loops over ranges of {MAX_BITS} bits")));
        }
        let signed = ty.is_signed();
        let next = self.keep_in_field(low.resize(width, signed, span));
        let high = self.keep(high.resize(width, signed, span));
        let place = self.copy(&decl.name.text, ty, decl.name.span)?;
        let mut scope = Scope::new();
        scope.insert(decl.name.text.clone(), Symbol::Value(Value::Place(place.clone())));
        self.scopes.push(scope);
        let now = || Expr::field(next, width, span);
        let order = if signed { BinaryOp::LeSigned } else { BinaryOp::Le };
        let done = self.turns_while(
            span,
            has_return(body),
            |_| Ok(Expr::binary(order, now(), high.clone(), span)),
            |this| {
                this.assign(&place, Value::Scalar(now().slice(width - 2, 0, span), ty.clone()), span)?;
                this.block(std::slice::from_ref(body));
                Ok(())
            },
            |this| {
                let one = Expr::constant(1, width, span);
                this.emit(StmtKind::Assign(next, Expr::binary(BinaryOp::Add, now(), one, span)), span);
                Ok(())
            },
        );
        self.scopes.pop();
        done
    }

    /// Keeps a value in a field that statements may change.
    fn keep_in_field(&mut self, value: Expr) -> FieldId {
        let (width, span) = (value.width, value.span);
        let field = self.temporary(width, span);
        self.emit(StmtKind::Assign(field, value), span);
        field
    }

    /// Turns one behind the other.
    fn unrolled(&mut self, name: &'a ast::Name, turns: Vec<Turn>, body: &'a Stmt, span: Span) -> Check<()> {
        let leaves = leaves_loop(body) || has_return(body);
        if leaves && self.context == Context::Parser {
            return Err(Fault::missing(span, "`break`, `continue` and `return` in loops of parsers"));
        }
        let leave = if leaves {
            let leave = self.new_leave(span);
            self.emit(StmtKind::Assign(leave.goes_on, Expr::constant(1, 1, span)), span);
            Some(leave)
        } else {
            None
        };
        for turn in turns {
            let mut scope = Scope::new();
            let value = match turn {
                Turn::Constant(value) => {
                    scope.insert(name.text.clone(), Symbol::Value(value));
                    None
                }
                Turn::Value(value) => Some(value),
            };
            self.count(1, span)?;
            self.scopes.push(scope);
            let done = match leave {
                None => self.turn(name, value, body, span),
                Some(leave) => {
                    let (done, then) = self.capture(|this| {
                        this.emit(StmtKind::Assign(leave.left, Expr::constant(0, 1, span)), span);
                        this.loops.push(leave);
                        let done = this.turn(name, value, body, span);
                        this.loops.pop();
                        done
                    });
                    let mut condition = Expr::field(leave.goes_on, 1, span);
                    if let Some(flag) = self.returning.flag.filter(|_| has_return(body)) {
                        let stays = Expr::field(flag, 1, span).negate();
                        condition = Expr::binary(BinaryOp::And, condition, stays, span);
                    }
                    self.emit(StmtKind::If { condition, then, otherwise: Vec::new() }, span);
                    done
                }
            };
            self.scopes.pop();
            done?;
        }
        Ok(())
    }

    fn turn(&mut self, name: &ast::Name, value: Option<Value>, body: &'a Stmt, span: Span) -> Check<()> {
        if let Some(value) = value
            && let Some(Symbol::Value(Value::Place(place))) = self.find(&name.text).cloned()
        {
            self.assign(&place, value, span)?;
        }
        self.in_turn(|this| this.block(std::slice::from_ref(body)));
        Ok(())
    }

    /// Checks a body that has no turn, with a constant for its variable.
    fn check_body(&mut self, name: &'a ast::Name, value: Value, body: &'a Stmt, span: Span) {
        // The states of a parser cannot be dropped again.
        if self.context == Context::Parser {
            return;
        }
        let leave = self.new_leave(span);
        let mut scope = Scope::new();
        scope.insert(name.text.clone(), Symbol::Value(value));
        self.scopes.push(scope);
        self.loops.push(leave);
        self.capture(|this| this.in_turn(|this| this.block(std::slice::from_ref(body))));
        self.loops.pop();
        self.scopes.pop();
    }

    /// Runs `work` as part of a turn of a loop over constants.
    fn in_turn(&mut self, work: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.in_turn, true);
        work(self);
        self.in_turn = before;
    }

    /// The values that the variable of a loop has in its turns, if they follow from constants: the loop declares one
    /// variable, which its body does not change, and condition and update read nothing else.
    fn constant_turns(&mut self, of: &'a For) -> Check<Option<(&'a ast::Name, Value, Vec<Value>)>> {
        let ([Stmt { kind: AstStmt::Decl(decl), .. }], Some(condition), [update]) =
            (&of.init[..], &of.condition, &of.update[..])
        else {
            return Ok(None);
        };
        let (name, DeclKind::Var(ty, Some(first))) = (&decl.name, &decl.kind) else { return Ok(None) };
        let AstStmt::Assign(target, op, step) = &update.kind else { return Ok(None) };
        if !matches!(&target.kind, Ast::Name(of) if *of == name.text) || changes(&of.body, &name.text) {
            return Ok(None);
        }
        let ty = self.ty(ty)?;
        if ty.bits().is_none() {
            return Ok(None);
        }
        let mut turns = Vec::new();
        // Statements of these expressions are made only to see whether there are any.
        let first = self.capture(|this| this.expr(first, Some(&ty)));
        let (Ok(first), true) = (first.0, first.1.is_empty()) else { return Ok(None) };
        let Ok(first) = self.constant_of(first, &ty) else { return Ok(None) };
        let mut value = first.clone();
        loop {
            // Loops in loops count each time, as their turns do.
            self.count(1, update.span)?;
            let mut scope = Scope::new();
            scope.insert(name.text.clone(), Symbol::Value(value.clone()));
            self.scopes.push(scope);
            let (holds, made) = self.capture(|this| this.condition(condition));
            let (next, also) = self.capture(|this| match op {
                None => this.expr(step, Some(&ty)),
                Some(op) => this.compound(op, value.clone(), step, update.span),
            });
            self.scopes.pop();
            let is_plain = made.is_empty() && also.is_empty();
            let (Some(holds), true) = (holds.ok().and_then(|holds| holds.value()), is_plain) else {
                return Ok(None);
            };
            if holds == 0 {
                return Ok(Some((name, first, turns)));
            }
            if turns.len() >= UNROLLED {
                return Ok(None);
            }
            turns.push(value);
            let Ok(next) = next else { return Ok(None) };
            let Ok(next) = self.constant_of(next, &ty) else { return Ok(None) };
            value = next;
        }
    }
}

/// Whether statements may change a variable: they assign to it, or give it to a call.
fn changes(stmt: &Stmt, name: &str) -> bool {
    let is = |expr: &ast::Expr| matches!(root(expr), Some(of) if of == name);
    let calls = |expr: &ast::Expr| called_with(expr, name);
    match &stmt.kind {
        AstStmt::Assign(target, _, value) => is(target) || calls(target) || calls(value),
        AstStmt::Call(call) => calls(call),
        AstStmt::If(condition, then, otherwise) => {
            calls(condition) || changes(then, name) || otherwise.as_deref().is_some_and(|part| changes(part, name))
        }
        AstStmt::Block(stmts) => stmts.iter().any(|stmt| changes(stmt, name)),
        AstStmt::Switch(value, cases) => {
            let blocks = cases.iter().filter_map(|case| case.block.as_ref());
            calls(value) || blocks.flatten().any(|stmt| changes(stmt, name))
        }
        AstStmt::For(of) => {
            let parts = of.init.iter().chain(&of.update).chain([&of.body]);
            of.condition.as_ref().is_some_and(calls) || parts.into_iter().any(|stmt| changes(stmt, name))
        }
        AstStmt::ForIn(_, items, body) => calls(items) || changes(body, name),
        AstStmt::Decl(decl) => match &decl.kind {
            // Another variable of this name: what follows is about that one, and is counted all the same.
            DeclKind::Var(_, Some(value)) => calls(value),
            _ => false,
        },
        AstStmt::Return(Some(value)) => calls(value),
        AstStmt::Return(None) | AstStmt::Exit | AstStmt::Break | AstStmt::Continue | AstStmt::Empty => false,
    }
}

/// The variable that a place is a part of.
fn root(expr: &ast::Expr) -> Option<&str> {
    match &expr.kind {
        Ast::Name(name) => Some(name),
        Ast::Member(base, _) | Ast::Index(base, _) | Ast::Slice(base, ..) => root(base),
        _ => None,
    }
}

/// Whether a call in an expression gets a variable, or a part of it, as an argument.
fn called_with(expr: &ast::Expr, name: &str) -> bool {
    let inner = |expr: &ast::Expr| called_with(expr, name);
    match &expr.kind {
        Ast::Call(call) => {
            let args = || call.args.iter().map(|arg| &arg.value);
            inner(&call.callee) || args().any(|arg| root(arg) == Some(name)) || args().any(inner)
        }
        Ast::Member(base, _) | Ast::Unary(_, base) | Ast::Cast(_, base) => inner(base),
        Ast::Index(a, b) | Ast::Binary(_, a, b) | Ast::Mask(a, b) | Ast::Range(a, b) => inner(a) || inner(b),
        Ast::Slice(a, b, c) | Ast::Mux(a, b, c) => inner(a) || inner(b) || inner(c),
        Ast::List(values) => values.iter().any(inner),
        Ast::Record(values) => values.iter().any(|(_, value)| inner(value)),
        _ => false,
    }
}
