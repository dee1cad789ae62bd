// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Expressions.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};

use super::literal;
use super::place::mismatch;
use super::value::{Place, Shape, Value};
use super::{Lower, Symbol, kind_name};
use crate::ast::{self, ExprKind as Ast};
use crate::fault::{Check, Fault, nearest};
use crate::ir::{BinaryOp, Expr, ExprKind, Extern, MAX_BITS, StmtKind, UnaryOp};
use crate::source::Span;
use crate::types::{ENUM_BITS, Type};

impl<'a> Lower<'a> {
    /// Any expression. `want` is the type that the context asks for, where it has one: `lookahead` and lists need it.
    pub(super) fn expr(&mut self, expr: &'a ast::Expr, want: Option<&Type>) -> Check<Value> {
        let value = self.raw(expr, want)?;
        self.plain(value)
    }

    /// Any expression. An element of a stack that an index chooses stays a place that can be written.
    pub(super) fn raw(&mut self, expr: &'a ast::Expr, want: Option<&Type>) -> Check<Value> {
        let span = expr.span;
        match &expr.kind {
            Ast::Number(text) => literal::number(text, span),
            Ast::Bool(value) => Ok(Value::Scalar(Expr::constant(u128::from(*value), 1, span), Type::Bool)),
            Ast::Text(_) => Ok(Value::Text(span)),
            Ast::Name(name) | Ast::Outer(name) => {
                let outer = matches!(expr.kind, Ast::Outer(_));
                match if outer { self.outermost(name, span) } else { self.lookup(name, span) }? {
                    Symbol::Value(value) => Ok(value.at(span)),
                    other => Err(Fault::new(span, format!("`{name}` is not a value")).label(symbol_kind(&other))),
                }
            }
            Ast::Member(base, name) => self.member(base, name, span),
            Ast::Index(base, index) => self.index(base, index, span),
            Ast::Slice(base, high, low) => {
                let value = self.expr(base, None)?;
                let width = match &value {
                    Value::Place(Place { ty, .. }) if ty.wide().is_some() => ty.wide().unwrap_or_default(),
                    other => {
                        let (value, ty) = self.typed(other.clone())?;
                        if !ty.is_number() {
                            return Err(
                                Fault::new(span, format!("`{ty}` has no bits to choose")).label("expected `bit<N>`")
                            );
                        }
                        value.width
                    }
                };
                let (high, low) = self.slice_bounds(high, low, width, span)?;
                let bits = self.bits_of(value, high, low, span)?;
                Ok(Value::Scalar(bits, Type::Bit(high + 1 - low)))
            }
            Ast::Unary(op, value) => self.unary(op, value, span),
            Ast::Binary(op, left, right) => match &op[..] {
                "&&" | "||" => self.logic(op, left, right, span),
                _ => self.binary(op, left, right, span),
            },
            Ast::Cast(ty, value) => {
                let ty = self.ty(ty)?;
                // The operand of a cast has its own type, unless it is a list.
                let want = Some(&ty).filter(|ty| ty.bits().is_none());
                let value = self.expr(value, want)?;
                self.cast(value, &ty, span)
            }
            Ast::Mux(condition, yes, no) => self.mux(condition, yes, no, want, span),
            Ast::Call(call) => self.call(call, want, span),
            Ast::List(values) => {
                only_last(values.iter())?;
                Ok(Value::List(self.in_order(values.iter())?, span))
            }
            Ast::Record(values) => {
                only_last(values.iter().map(|(_, value)| value))?;
                let made = self.in_order(values.iter().map(|(_, value)| value))?;
                let names = values.iter().map(|(name, _)| name.text.clone());
                Ok(Value::Record(names.zip(made).collect(), span))
            }
            Ast::Invalid => Ok(Value::Invalid(span)),
            Ast::Rest => Ok(Value::Rest(span)),
            Ast::Any | Ast::Mask(..) | Ast::Range(..) => {
                Err(Fault::new(span, "a value is expected here, not a set of values")
                    .help("sets stand in select and in entries"))
            }
        }
    }

    /// An expression of this type.
    pub(super) fn expr_of(&mut self, expr: &'a ast::Expr, ty: &Type) -> Check<Expr> {
        let value = self.expr(expr, Some(ty))?;
        self.scalar(value, ty)
    }

    /// A condition.
    pub(super) fn condition(&mut self, expr: &'a ast::Expr) -> Check<Expr> {
        let value = self.expr(expr, Some(&Type::Bool))?;
        let number = match &value {
            Value::Scalar(_, ty) | Value::Place(Place { ty, .. }) => ty.is_number(),
            _ => false,
        };
        self.scalar(value, &Type::Bool).map_err(|fault| if number { fault.help("compare it: `… != 0`") } else { fault })
    }

    /// A constant, as a number of any width.
    pub(super) fn constant(&mut self, expr: &'a ast::Expr) -> Check<BigInt> {
        let value = self.expr(expr, None)?;
        match value {
            Value::Integer(number, _) => Ok(number),
            Value::Scalar(Expr { kind: ExprKind::Const(value), width, .. }, Type::Int(_)) => {
                Ok(crate::fold::signed(value, width).into())
            }
            Value::Scalar(Expr { kind: ExprKind::Const(value), .. }, _) => Ok(value.into()),
            _ => Err(Fault::new(expr.span, format!("`{}` is not a constant", self.text(expr.span)))
                .label("must be known when the program is compiled")),
        }
    }

    /// A constant from 0 to the largest `u32`.
    pub(super) fn constant_u32(&mut self, expr: &'a ast::Expr) -> Check<u32> {
        let number = self.constant(expr)?;
        number
            .to_u32()
            .ok_or_else(|| Fault::new(expr.span, format!("{number} is not possible here")).label("0 to 4294967295"))
    }

    pub(super) fn slice_bounds(
        &mut self,
        high: &'a ast::Expr,
        low: &'a ast::Expr,
        width: u32,
        span: Span,
    ) -> Check<(u32, u32)> {
        let (high, low) = (self.constant_u32(high)?, self.constant_u32(low)?);
        if low > high || high >= width {
            return Err(Fault::new(span, format!("a value of {width} bits has no bits {high}:{low}"))
                .help(format!("the first number is the higher one, and {} at most", width - 1)));
        }
        Ok((high, low))
    }

    fn member(&mut self, base: &'a ast::Expr, name: &ast::Name, span: Span) -> Check<Value> {
        if let Ast::Name(of) | Ast::Outer(of) = &base.kind {
            if of == "error" {
                let index = self.program.errors.iter().position(|error| *error == name.text);
                let value = index.ok_or_else(|| Fault::new(name.span, format!("there is no error `{}`", name.text)))?;
                return Ok(Value::Scalar(Expr::constant(value as u128, ENUM_BITS, span), Type::Error));
            }
            if let Some(Symbol::Type(ty)) = self.named(base).transpose()? {
                let Type::Enum(members) = &ty else {
                    return Err(Fault::new(base.span, format!("`{ty}` has no members")).label("a type, not a value"));
                };
                let found = members.members.iter().find(|(member, _)| *member == name.text);
                let Some((_, value)) = found else {
                    let fault = Fault::new(name.span, format!("`{ty}` has no member `{}`", name.text));
                    let names = members.members.iter().map(|(member, _)| &member[..]);
                    return Err(match nearest(&name.text, names.clone()) {
                        Some(near) => fault.help(format!("did you mean `{near}`?")),
                        None => fault.help(format!("it has {}", names.collect::<Vec<_>>().join(", "))),
                    });
                };
                return Ok(Value::Scalar(Expr::constant(*value, ty.bits().unwrap_or(ENUM_BITS), span), ty));
            }
        }
        if let Ast::Call(call) = &base.kind
            && let Some((table, _)) = self.applied_table(call)?
        {
            return self.apply_result(table, name, span);
        }
        let value = self.raw(base, None)?;
        if let Value::Record(values, _) = &value {
            return self.part_of_record(values, name);
        }
        if let Value::Place(place) = &value {
            if let Shape::Stack(..) = &place.shape {
                return self.stack_member(place, name, span);
            }
            return Ok(Value::Place(Place { span, ..part(place, name)? }));
        }
        Err(Fault::new(name.span, format!("`{}` has no field `{}`", value.type_name(), name.text))
            .label("unknown field"))
    }

    fn unary(&mut self, op: &str, value: &'a ast::Expr, span: Span) -> Check<Value> {
        if op == "!" {
            let value = self.condition(value)?;
            return Ok(Value::Scalar(Expr { span, ..value.negate() }, Type::Bool));
        }
        let value = self.expr(value, None)?;
        if let Value::Integer(number, _) = value {
            let number = match op {
                "-" => -number,
                "~" => {
                    return Err(Fault::new(span, "`~` needs a number with a width").help("write for example `~32w1`"));
                }
                _ => number,
            };
            return Ok(Value::Integer(number, span));
        }
        let (value, ty) = self.typed(value)?;
        if !ty.is_number() {
            return Err(Fault::new(value.span, format!("`{op}` needs a number, this is `{ty}`")));
        }
        Ok(match op {
            "+" => Value::Scalar(value, ty),
            "-" => Value::Scalar(Expr::unary(UnaryOp::Neg, value, span), ty),
            _ => Value::Scalar(Expr::unary(UnaryOp::Not, value, span), ty),
        })
    }

    /// The left and the right side of an operator. If the right side has statements of its own, the left one keeps the value from before them.
    fn sides(&mut self, left: &'a ast::Expr, right: &'a ast::Expr) -> Check<(Value, Value)> {
        let a = self.expr(left, None)?;
        let (b, stmts) = self.capture(|this| this.expr(right, None));
        let a = match a {
            Value::Integer(..) => a,
            _ if stmts.is_empty() => a,
            Value::Scalar(expr, ty) => Value::Scalar(self.keep(expr), ty),
            Value::Place(Place { shape: Shape::Scalar(_), .. }) => {
                let (expr, ty) = self.typed(a)?;
                Value::Scalar(self.keep(expr), ty)
            }
            mut other => {
                self.settle_before(std::iter::once(&mut other), &stmts)?;
                other
            }
        };
        self.out.extend(stmts);
        Ok((a, b?))
    }

    /// `&&` and `||`. Statements of the right side run only if its value matters.
    fn logic(&mut self, op: &str, left: &'a ast::Expr, right: &'a ast::Expr, span: Span) -> Check<Value> {
        let a = self.condition(left)?;
        let (b, stmts) = self.capture(|this| this.condition(right));
        let b = b?;
        let and = op == "&&";
        if stmts.is_empty() {
            let op = if and { BinaryOp::And } else { BinaryOp::Or };
            return Ok(Value::Scalar(Expr::binary(op, a, b, span), Type::Bool));
        }
        let result = self.temporary(1, span);
        self.emit(StmtKind::Assign(result, a), span);
        let chosen = Expr::field(result, 1, span);
        let condition = if and { chosen.clone() } else { chosen.clone().negate() };
        let mut then = stmts;
        then.push(crate::ir::Stmt { kind: StmtKind::Assign(result, b), span });
        self.emit(StmtKind::If { condition, then, otherwise: Vec::new() }, span);
        Ok(Value::Scalar(chosen, Type::Bool))
    }

    fn binary(&mut self, op: &str, left: &'a ast::Expr, right: &'a ast::Expr, span: Span) -> Check<Value> {
        let (a, b) = self.sides(left, right)?;
        self.operate(op, a, b, span)
    }

    /// An operator of two values.
    pub(super) fn operate(&mut self, op: &str, a: Value, b: Value, span: Span) -> Check<Value> {
        match op {
            "<<" | ">>" => return self.shift(op, a, b, span),
            "==" | "!=" => return self.equality(op == "==", a, b, span),
            "++" if matches!((&a, &b), (Value::Text(_), Value::Text(_))) => return Ok(Value::Text(span)),
            "++" => {
                let ((a, ty), (b, other)) = (self.typed(a)?, self.typed(b)?);
                if !ty.is_number() || !other.is_number() {
                    return Err(Fault::new(span, format!("`++` joins numbers, these are `{ty}` and `{other}`")));
                }
                let width = a.width + b.width;
                if width > MAX_BITS {
                    return Err(Fault::missing(span, &format!("values of {width} bits"))
                        .help(format!("at most {MAX_BITS} bits")));
                }
                let ty = if ty.is_signed() { Type::Int(width) } else { Type::Bit(width) };
                return Ok(Value::Scalar(a.concat(b, span), ty));
            }
            _ => {}
        }
        if let (Value::Integer(a, _), Value::Integer(b, _)) = (&a, &b) {
            return integers(op, a, b, span);
        }
        let (a, b, ty) = self.unify(a, b, op)?;
        if !ty.is_number() {
            return Err(Fault::new(span, format!("`{op}` needs numbers, these are `{ty}`")));
        }
        let signed = ty.is_signed();
        let (op, swap) = match op {
            "+" => (BinaryOp::Add, false),
            "-" => (BinaryOp::Sub, false),
            "*" => (BinaryOp::Mul, false),
            "&" => (BinaryOp::And, false),
            "|" => (BinaryOp::Or, false),
            "^" => (BinaryOp::Xor, false),
            "|+|" => (if signed { BinaryOp::AddSatSigned } else { BinaryOp::AddSat }, false),
            "|-|" => (if signed { BinaryOp::SubSatSigned } else { BinaryOp::SubSat }, false),
            "<" => (if signed { BinaryOp::LtSigned } else { BinaryOp::Lt }, false),
            "<=" => (if signed { BinaryOp::LeSigned } else { BinaryOp::Le }, false),
            ">" => (if signed { BinaryOp::LtSigned } else { BinaryOp::Lt }, true),
            ">=" => (if signed { BinaryOp::LeSigned } else { BinaryOp::Le }, true),
            _ => {
                return match (a.value(), b.value()) {
                    (Some(a), Some(b)) if b != 0 && !signed => {
                        let value = if op == "/" { a / b } else { a % b };
                        Ok(Value::Scalar(Expr::constant(value, ty.bits().unwrap_or_default(), span), ty))
                    }
                    (Some(0), None) if !signed => Ok(Value::Scalar(a, ty)),
                    (None, Some(divisor)) if divisor.is_power_of_two() && !signed => {
                        let (op, by) = match op {
                            "/" => (BinaryOp::Shr, divisor.trailing_zeros().into()),
                            _ => (BinaryOp::And, divisor - 1),
                        };
                        let by = Expr::constant(by, b.width, span);
                        Ok(Value::Scalar(Expr::binary(op, a, by, span), ty))
                    }
                    _ => Err(Fault::new(span, format!("`{op}` divides positive constants, or by powers of two"))
                        .help("let the control plane divide")),
                };
            }
        };
        let ty = if op.compares() { Type::Bool } else { ty };
        let (a, b) = if swap { (b, a) } else { (a, b) };
        Ok(Value::Scalar(Expr::binary(op, a, b, span), ty))
    }

    /// Two numbers of one type; a constant without a width takes the other one's.
    fn unify(&mut self, a: Value, b: Value, op: &str) -> Check<(Expr, Expr, Type)> {
        let fit = |this: &mut Self, number: Value, other: &Type| {
            let other =
                if let Type::Enum(of) = other { of.underlying.clone().unwrap_or(Type::Void) } else { other.clone() };
            Ok::<_, Box<Fault>>((this.scalar(number, &other)?, other))
        };
        if matches!(a, Value::Integer(..)) {
            let (b, ty) = self.typed(b)?;
            let (a, ty) = fit(self, a, &ty)?;
            return Ok((a, b, ty));
        }
        let (a, ty) = self.typed(a)?;
        if matches!(b, Value::Integer(..)) {
            let (b, ty) = fit(self, b, &ty)?;
            return Ok((a, b, ty));
        }
        let b_value = b;
        let (b, other) = self.typed(b_value.clone())?;
        let under = |ty: &Type| if let Type::Enum(of) = ty { of.underlying.clone() } else { None };
        if ty == other {
            let ty = if matches!(op, "==" | "!=") { ty } else { under(&ty).unwrap_or(ty) };
            return Ok((a, b, ty));
        }
        match (under(&ty).unwrap_or(ty.clone()), under(&other).unwrap_or(other)) {
            (one, two) if one == two => Ok((a, b, one)),
            (_, other) => Err(Fault::new(b.span, format!("`{op}` needs one type on both sides"))
                .label(format!("this is `{other}`"))
                .also(a.span, format!("this is `{ty}`"))
                .help(if ty.is_number() { format!("cast one of them: `({ty})(…)`") } else { String::new() })),
        }
    }

    fn shift(&mut self, op: &str, a: Value, b: Value, span: Span) -> Check<Value> {
        if let Value::Integer(number, at) = &b
            && number.is_negative()
        {
            return Err(Fault::new(*at, "a shift by less than nothing").help("shift in the other direction"));
        }
        if let (Value::Integer(a, _), Value::Integer(b, at)) = (&a, &b) {
            let by = b
                .to_u32()
                .filter(|by| *by <= 4096)
                .ok_or_else(|| Fault::new(*at, "a shift by so much is not possible"))?;
            return Ok(Value::Integer(if op == "<<" { a << by } else { a >> by }, span));
        }
        let b = match b {
            Value::Integer(number, at) => Expr::constant(number.to_u128().unwrap_or(u128::MAX), 32, at),
            other => {
                let (b, ty) = self.typed(other)?;
                if !matches!(ty, Type::Bit(_)) {
                    return Err(Fault::new(b.span, format!("a shift is by `bit<N>`, this is `{ty}`")));
                }
                b
            }
        };
        let (a, ty) = self.typed(a)?;
        let op = match (op, &ty) {
            ("<<", Type::Bit(_) | Type::Int(_)) => BinaryOp::Shl,
            (">>", Type::Bit(_)) => BinaryOp::Shr,
            (">>", Type::Int(_)) => BinaryOp::ShrSigned,
            _ => return Err(Fault::new(a.span, format!("a number is expected, this is `{ty}`"))),
        };
        Ok(Value::Scalar(Expr::binary(op, a, b, span), ty))
    }

    fn equality(&mut self, equal: bool, a: Value, b: Value, span: Span) -> Check<Value> {
        if let (Value::Integer(a, _), Value::Integer(b, _)) = (&a, &b) {
            return Ok(Value::Scalar(Expr::constant(u128::from((a == b) == equal), 1, span), Type::Bool));
        }
        let same = self.equal(a, b, span)?;
        let same = if equal { same } else { same.negate() };
        Ok(Value::Scalar(same, Type::Bool))
    }

    pub(super) fn equal(&mut self, a: Value, b: Value, span: Span) -> Check<Expr> {
        if let Some(same) = self.equal_list(&a, &b, span)? {
            return Ok(same);
        }
        // A number that is too wide for operators is compared with a constant as with a variable.
        let (a, b) = match (a, b) {
            (Value::Place(wide), number @ Value::Integer(..)) | (number @ Value::Integer(..), Value::Place(wide))
                if wide.ty.wide().is_some() =>
            {
                let copy = self.copy("$wide", &wide.ty, span)?;
                self.assign(&copy, number, span)?;
                (Value::Place(wide), Value::Place(copy))
            }
            sides => sides,
        };
        let members = |place: &Place| match &place.shape {
            Shape::Header(_, members) | Shape::Struct(members) => Some(members.clone()),
            Shape::Stack(_, elements) => Some(elements.iter().map(|of| (String::new(), of.clone())).collect()),
            _ => None,
        };
        if let (Value::Place(one), Value::Place(two)) = (&a, &b)
            && let (Some(left), Some(right)) = (members(one), members(two))
        {
            if one.ty != two.ty {
                return Err(mismatch(&one.ty.to_string(), &b));
            }
            let mut same = Expr::constant(1, 1, span);
            for ((_, left), (_, right)) in left.into_iter().zip(right) {
                let part = self.equal(Value::Place(left), Value::Place(right), span)?;
                same = Expr::binary(BinaryOp::And, same, part, span);
            }
            if let (Shape::Header(one, _), Shape::Header(two, _)) = (&one.shape, &two.shape) {
                // Two headers are equal if neither is valid, or if both are and their fields are equal.
                let (one, two) = (self.validity(*one, span), self.validity(*two, span));
                let both = Expr::binary(BinaryOp::And, one.clone(), two.clone(), span);
                let neither = Expr::binary(BinaryOp::Or, one, two, span).negate();
                let fields = Expr::binary(BinaryOp::And, both, same, span);
                same = Expr::binary(BinaryOp::Or, neither, fields, span);
            }
            return Ok(same);
        }
        if let (
            Value::Place(Place { shape: Shape::Varbit(one), ty, .. }),
            Value::Place(Place { shape: Shape::Varbit(two), ty: other, .. }),
        ) = (&a, &b)
        {
            if ty != other {
                return Err(mismatch(&ty.to_string(), &b));
            }
            self.check_effects("the comparison of varbits", span)?;
            let to = self.temporary(1, span);
            self.emit(StmtKind::Extern(Box::new(Extern::SameVarbit { to, a: *one, b: *two })), span);
            return Ok(Expr::field(to, 1, span));
        }
        let (a, b, _) = self.unify(a, b, "==")?;
        Ok(Expr::binary(BinaryOp::Eq, a, b, span))
    }

    fn mux(
        &mut self,
        condition: &'a ast::Expr,
        yes: &'a ast::Expr,
        no: &'a ast::Expr,
        want: Option<&Type>,
        span: Span,
    ) -> Check<Value> {
        let condition = self.condition(condition)?;
        let ((yes, first), (no, second)) =
            (self.capture(|this| this.expr(yes, want)), self.capture(|this| this.expr(no, want)));
        let (yes, no) = (yes?, no?);
        let parts = |value: &Value| match value {
            Value::Place(place) if place.ty.bits().is_none() => Some(place.ty.clone()),
            _ => None,
        };
        let lists = |value: &Value| matches!(value, Value::List(..) | Value::Record(..) | Value::Invalid(_));
        let known = parts(&yes).or_else(|| parts(&no));
        let wanted = want.filter(|_| lists(&yes) && lists(&no)).cloned();
        if let Some(ty) = known.or(wanted) {
            return self.choice_of_parts(condition, (yes, first), (no, second), &ty, span);
        }
        if let (Value::Integer(..), Value::Integer(..), None) = (&yes, &no, want) {
            return self.typed(yes).map(|(expr, ty)| Value::Scalar(expr, ty));
        }
        let (yes, no, ty) = match want {
            Some(ty) if ty.bits().is_some() => (self.scalar(yes, ty)?, self.scalar(no, ty)?, ty.clone()),
            _ => self.unify(yes, no, "?:")?,
        };
        if first.is_empty() && second.is_empty() {
            return Ok(Value::Scalar(Expr::mux(condition, yes, no, span), ty));
        }
        let (result, width) = (self.temporary(yes.width, span), yes.width);
        let block = |mut stmts: Vec<crate::ir::Stmt>, value| {
            stmts.push(crate::ir::Stmt { kind: StmtKind::Assign(result, value), span });
            stmts
        };
        let (then, otherwise) = (block(first, yes), block(second, no));
        self.emit(StmtKind::If { condition, then, otherwise }, span);
        Ok(Value::Scalar(Expr::field(result, width, span), ty))
    }

    /// One of two structs, headers or lists.
    fn choice_of_parts(
        &mut self,
        condition: Expr,
        yes: (Value, Vec<crate::ir::Stmt>),
        no: (Value, Vec<crate::ir::Stmt>),
        ty: &Type,
        span: Span,
    ) -> Check<Value> {
        let copy = self.copy("$choice", ty, span)?;
        let mut blocks = Vec::new();
        for (value, mut stmts) in [yes, no] {
            let (done, made) = self.capture(|this| this.assign(&copy, value, span));
            done?;
            stmts.extend(made);
            blocks.push(stmts);
        }
        let otherwise = blocks.pop().unwrap_or_default();
        let then = blocks.pop().unwrap_or_default();
        self.emit(StmtKind::If { condition, then, otherwise }, span);
        Ok(Value::Place(copy.read_only()))
    }

    /// Bits of a number, which may be too wide for other operators.
    pub(super) fn bits_of(&mut self, value: Value, high: u32, low: u32, span: Span) -> Check<Expr> {
        if high - low >= MAX_BITS {
            return Err(Fault::missing(span, &format!("slices of {} bits", high + 1 - low))
                .help(format!("at most {MAX_BITS} bits")));
        }
        let value = self.plain(value)?;
        if let Value::Place(Place { shape: Shape::Struct(parts), ty, .. }) = &value
            && let Some(bits) = ty.wide()
        {
            let (mut end, mut made) = (bits, None::<Expr>);
            for (_, part) in parts {
                let (own, _) = self.typed(Value::Place(part.clone()))?;
                let from = end - own.width;
                let (top, bottom) = (high.min(end - 1), low.max(from));
                if top >= bottom {
                    let own = own.slice(top - from, bottom - from, span);
                    made = Some(match made {
                        Some(before) => before.concat(own, span),
                        None => own,
                    });
                }
                end = from;
            }
            return made.ok_or_else(|| Fault::new(span, "there are no such bits"));
        }
        let (value, _) = self.typed(value)?;
        Ok(value.slice(high, low, span))
    }

    fn cast(&mut self, value: Value, ty: &Type, span: Span) -> Check<Value> {
        let wrong = |from: &str| {
            Fault::new(span, format!("`{from}` cannot be cast to `{ty}`")).help(
                "possible are bit<N> and int<N> to each other with N bits, to other widths, bit<1> to bool and back",
            )
        };
        let under = |ty: &Type| match ty {
            Type::New(_, of) => (**of).clone(),
            Type::Enum(of) => of.underlying.clone().unwrap_or_else(|| ty.clone()),
            _ => ty.clone(),
        };
        let target = under(ty);
        if let Value::Integer(number, at) = &value {
            return match &target {
                Type::Integer => Ok(value),
                Type::Bool if *number == BigInt::from(1) || number.is_zero() => {
                    Ok(Value::Scalar(Expr::constant(u128::from(!number.is_zero()), 1, span), Type::Bool))
                }
                Type::Bit(width) | Type::Int(width) => {
                    // A cast takes the lower bits; only `fit` complains.
                    let lower = ((number % (BigInt::from(1) << *width)) + (BigInt::from(1) << *width))
                        % (BigInt::from(1) << *width);
                    Ok(Value::Scalar(Expr::constant(lower.to_u128().unwrap_or_default(), *width, *at), ty.clone()))
                }
                _ => Err(wrong("int")),
            };
        }
        if matches!(ty, Type::List(_)) {
            return self.constant_of(value, ty);
        }
        if matches!(&value, Value::Place(place) if place.ty == *ty && ty.bits().is_none()) {
            return Ok(value);
        }
        if matches!(value, Value::List(..) | Value::Record(..) | Value::Invalid(_) | Value::Rest(_))
            && matches!(ty, Type::Struct(_) | Type::Header(_) | Type::Union(_) | Type::Tuple(_) | Type::Stack(..))
        {
            let copy = self.copy("$cast", ty, span)?;
            self.assign(&copy, value, span)?;
            return Ok(Value::Place(copy));
        }
        let (value, from) = self.typed(value)?;
        let source = under(&from);
        let made = match (&source, &target) {
            (one, two) if one == two => value,
            (Type::Bit(_), Type::Bit(width)) => value.resize(*width, false, span),
            (Type::Int(_), Type::Int(width)) => value.resize(*width, true, span),
            (Type::Bit(one), Type::Int(two)) | (Type::Int(one), Type::Bit(two)) if one == two => value,
            (Type::Bit(1), Type::Bool) | (Type::Bool, Type::Bit(1)) => value,
            _ => return Err(wrong(&from.to_string())),
        };
        Ok(Value::Scalar(Expr { span, ..made }, ty.clone()))
    }
}

/// Checks that `...` stands behind the other parts of a list.
fn only_last<'a>(values: impl DoubleEndedIterator<Item = &'a ast::Expr>) -> Check<()> {
    match values.rev().skip(1).find(|value| value.kind == Ast::Rest) {
        Some(rest) => Err(Fault::new(rest.span, "`...` stands behind the other values of a list")),
        None => Ok(()),
    }
}

/// A member of a header, struct or header union. If an index chooses among several, the member of each.
fn part(place: &Place, name: &ast::Name) -> Check<Place> {
    match &place.shape {
        Shape::Header(_, members) | Shape::Struct(members) => {
            if let Some((_, member)) = members.iter().find(|(member, _)| *member == name.text) {
                return Ok(member.clone());
            }
            let fault = Fault::new(name.span, format!("`{}` has no field `{}`", place.ty, name.text));
            let names = members.iter().map(|(member, _)| &member[..]);
            Err(match nearest(&name.text, names.clone()) {
                Some(near) => fault.label("unknown field").help(format!("did you mean `{near}`?")),
                None => {
                    let names = names.collect::<Vec<_>>().join(", ");
                    fault.label("unknown field").help(format!("its fields are {names}"))
                }
            })
        }
        Shape::Element(index, elements) => {
            let parts: Vec<Place> = elements.iter().map(|element| part(element, name)).collect::<Check<_>>()?;
            let (ty, writable) = (parts[0].ty.clone(), place.writable);
            Ok(Place { shape: Shape::Element(index.clone(), parts), ty, writable, span: place.span })
        }
        _ => Err(Fault::new(name.span, format!("`{}` has no field `{}`", place.ty, name.text)).label("unknown field")),
    }
}

/// Bits of a constant without a width. A product has the bits of both sides, so constants of constants double them.
const INTEGER_BITS: u64 = 1 << 16;

/// An operator of two constants without a width.
fn integers(op: &str, a: &BigInt, b: &BigInt, span: Span) -> Check<Value> {
    let bool = |value: bool| Ok(Value::Scalar(Expr::constant(u128::from(value), 1, span), Type::Bool));
    if a.bits() + b.bits() > INTEGER_BITS {
        return Err(Fault::new(span, format!("constants of more than {INTEGER_BITS} bits are not possible")));
    }
    let value = match op {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" | "%" if b.is_zero() => return Err(Fault::new(span, "division by 0")),
        "/" => a / b,
        "%" => a % b,
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        "<" => return bool(a < b),
        "<=" => return bool(a <= b),
        ">" => return bool(a > b),
        ">=" => return bool(a >= b),
        _ => return Err(Fault::new(span, format!("`{op}` needs numbers with a width")).help("write for example `8w1`")),
    };
    Ok(Value::Integer(value, span))
}

/// The kind of a symbol, for messages.
pub(super) fn symbol_kind(symbol: &Symbol) -> &'static str {
    match symbol {
        Symbol::Value(_) => "a value",
        Symbol::Type(_) => "a type",
        Symbol::Decl(decl) => kind_name(decl),
        Symbol::Action(_) => "an action: call it with `(…)`",
        Symbol::Table(_) => "a table: write `.apply()`",
        Symbol::Register(..) => "a register: write `.read(…)` or `.write(…)`",
        Symbol::Counter(_) | Symbol::DirectCounter(_) => "a counter: write `.count(…)`",
        Symbol::Meter(_) | Symbol::DirectMeter(_) => "a meter: write `.execute_meter(…)` or `.read(…)`",
        Symbol::Profile(_) => "an action profile: write `implementation = …` in a table",
        Symbol::ValueSet(_) => "a value set: name it in a row of `select`",
        Symbol::Instance(_) => "an instance: write `.apply(…)`",
        Symbol::Main => "the package",
        Symbol::Broken => "has a fault",
    }
}
