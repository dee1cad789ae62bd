// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Lists: their values in order, their rest `...`, constants of structs and tuples, and comparisons.

use super::place::{mismatch, writes};
use super::value::{Place, Shape, Value};
use super::{Lower, Symbol};
use crate::ast;
use crate::fault::{Check, Fault};
use crate::ir::{BinaryOp, Expr};
use crate::source::Span;
use crate::types::Type;

impl<'a> Lower<'a> {
    /// The values of expressions from left to right. If an expression has statements of its own, the values in front of
    /// it are those from before these statements.
    pub(super) fn in_order(&mut self, exprs: impl Iterator<Item = &'a ast::Expr>) -> Check<Vec<Value>> {
        let mut values = Vec::new();
        for expr in exprs {
            let (value, stmts) = self.capture(|this| this.expr(expr, None));
            self.settle_before(values.iter_mut(), &stmts)?;
            self.out.extend(stmts);
            values.push(value?);
        }
        Ok(values)
    }

    /// Keeps the values that statements would change, in front of them.
    pub(super) fn settle_before<'v>(
        &mut self,
        values: impl Iterator<Item = &'v mut Value>,
        stmts: &[crate::ir::Stmt],
    ) -> Check<()> {
        if stmts.is_empty() {
            return Ok(());
        }
        let mut written = Vec::new();
        writes(&self.program, stmts, &mut written);
        for value in values {
            *value = self.settled(value.clone(), &written)?;
        }
        Ok(())
    }

    /// A list whose rest `...` is written out; other values as they are.
    pub(super) fn filled(&mut self, value: Value, ty: &Type) -> Check<Value> {
        match (value, ty) {
            (Value::Rest(span), _) => default_value(ty, span),
            (Value::List(mut values, span), _) if matches!(values.last(), Some(Value::Rest(_))) => {
                values.pop();
                let types: Vec<Type> = match ty {
                    Type::Header(of) | Type::Struct(of) => of.fields.iter().map(|(_, ty)| ty.clone()).collect(),
                    Type::Tuple(of) => of.to_vec(),
                    Type::Stack(of, size) => vec![(**of).clone(); *size as usize],
                    _ => return Err(mismatch(&ty.to_string(), &Value::List(values, span))),
                };
                for ty in types.iter().skip(values.len()) {
                    values.push(default_value(ty, span)?);
                }
                Ok(Value::List(values, span))
            }
            (Value::Record(mut values, span), Type::Header(of) | Type::Struct(of))
                if matches!(values.last(), Some((_, Value::Rest(_)))) =>
            {
                values.pop();
                for (name, ty) in &of.fields {
                    if !values.iter().any(|(given, _)| given == name) {
                        values.push((name.clone(), default_value(ty, span)?));
                    }
                }
                Ok(Value::Record(values, span))
            }
            (value, _) => Ok(value),
        }
    }

    /// A constant of this type, whose parts have names as the type's.
    pub(super) fn constant_of(&mut self, value: Value, ty: &Type) -> Check<Value> {
        let value = self.filled(value, ty)?;
        if ty.bits().is_some() {
            let value = self.scalar(value, ty)?;
            if value.value().is_none() {
                return Err(Fault::new(value.span, "this is not a constant"));
            }
            return Ok(Value::Scalar(value, ty.clone()));
        }
        let span = value.span();
        let wrong = |given: usize, wanted: usize| {
            Err(Fault::new(span, format!("`{ty}` has {wanted} parts")).label(format!("{given} values are given")))
        };
        match (ty, value) {
            (_, value @ Value::Integer(..)) if ty.wide().is_some() => {
                // Whether it fits its type is seen where it is copied.
                Ok(value)
            }
            (Type::Integer, value @ Value::Integer(..)) | (Type::Text, value @ Value::Text(_)) => Ok(value),
            (Type::Header(_) | Type::Union(_), value @ Value::Invalid(_)) => Ok(value),
            (Type::Header(of) | Type::Struct(of), Value::List(values, _)) => {
                if values.len() != of.fields.len() {
                    return wrong(values.len(), of.fields.len());
                }
                let parts = of.fields.iter().zip(values);
                let parts = parts.map(|((name, ty), value)| Ok((name.clone(), self.constant_of(value, ty)?)));
                Ok(Value::Record(parts.collect::<Check<_>>()?, span))
            }
            (Type::Header(of) | Type::Struct(of), Value::Record(values, _)) => {
                if values.len() != of.fields.len() {
                    return wrong(values.len(), of.fields.len());
                }
                let mut parts = Vec::new();
                for (name, value) in values {
                    let Some((_, ty)) = of.fields.iter().find(|(field, _)| *field == name) else {
                        return Err(Fault::new(value.span(), format!("`{ty}` has no field `{name}`")));
                    };
                    parts.push((name, self.constant_of(value, ty)?));
                }
                Ok(Value::Record(parts, span))
            }
            (Type::Tuple(of), Value::List(values, _)) => {
                if values.len() != of.len() {
                    return wrong(values.len(), of.len());
                }
                let parts = of.iter().zip(values).map(|(ty, value)| self.constant_of(value, ty));
                Ok(Value::List(parts.collect::<Check<_>>()?, span))
            }
            (Type::List(of), Value::List(values, _)) => {
                let parts = values.into_iter().map(|value| self.constant_of(value, of));
                Ok(Value::List(parts.collect::<Check<_>>()?, span))
            }
            (_, Value::Place(_)) => Err(Fault::new(span, "this is not a constant")),
            (_, value) => Err(mismatch(&ty.to_string(), &value)),
        }
    }

    /// Whether a variable equals a list, or two lists are equal; None if neither side is a list.
    pub(super) fn equal_list(&mut self, a: &Value, b: &Value, span: Span) -> Check<Option<Expr>> {
        let pairs: Vec<(Value, Value)> = match (a, b) {
            (Value::Place(_), Value::List(..) | Value::Record(..) | Value::Invalid(_)) => {
                return self.equal_to_place(a, b.clone(), span).map(Some);
            }
            (Value::List(..) | Value::Record(..) | Value::Invalid(_), Value::Place(_)) => {
                return self.equal_to_place(b, a.clone(), span).map(Some);
            }
            (Value::List(one, _), Value::List(two, _)) if one.len() == two.len() => {
                one.iter().cloned().zip(two.iter().cloned()).collect()
            }
            (Value::Record(one, _), Value::Record(two, _)) if one.len() == two.len() => {
                let mut pairs = Vec::new();
                for (name, value) in one {
                    match two.iter().find(|(other, _)| other == name) {
                        Some((_, other)) => pairs.push((value.clone(), other.clone())),
                        None => return Err(Fault::new(b.span(), format!("the field `{name}` is missing"))),
                    }
                }
                pairs
            }
            (Value::List(..) | Value::Record(..), _) => return Err(mismatch(&a.type_name(), b)),
            _ => return Ok(None),
        };
        self.all_equal(pairs, span).map(Some)
    }

    fn all_equal(&mut self, pairs: Vec<(Value, Value)>, span: Span) -> Check<Expr> {
        let mut same = Expr::constant(1, 1, span);
        for (a, b) in pairs {
            let part = match (&a, &b) {
                (Value::Integer(a, _), Value::Integer(b, _)) => Expr::constant(u128::from(a == b), 1, span),
                _ => self.equal(a, b, span)?,
            };
            same = Expr::binary(BinaryOp::And, same, part, span);
        }
        Ok(same)
    }

    /// Whether a variable has the values of a list. A list is a valid header.
    fn equal_to_place(&mut self, place: &Value, list: Value, span: Span) -> Check<Expr> {
        let Value::Place(place) = self.plain(place.clone())? else { return Err(mismatch("a list", place)) };
        let list = self.filled(list, &place.ty)?;
        let valid = match &place.shape {
            Shape::Header(instance, _) => self.validity(*instance, span),
            _ if Self::is_union(&place) => self.union_validity(&place, span),
            _ => Expr::constant(1, 1, span),
        };
        let members: Vec<(String, Place)> = match (&place.shape, &list) {
            (Shape::Header(..), Value::Invalid(_)) => return Ok(valid.negate()),
            (Shape::Struct(_), Value::Invalid(_)) if Self::is_union(&place) => return Ok(valid.negate()),
            (Shape::Header(_, members) | Shape::Struct(members), _) => members.clone(),
            (Shape::Stack(_, elements), Value::List(..)) => {
                elements.iter().map(|element| (String::new(), element.clone())).collect()
            }
            _ => return Err(mismatch(&place.ty.to_string(), &list)),
        };
        let mut pairs = Vec::new();
        match list {
            Value::List(values, _) if values.len() == members.len() => {
                pairs.extend(members.into_iter().zip(values).map(|((_, member), value)| (Value::Place(member), value)));
            }
            Value::Record(values, at) if values.len() == members.len() => {
                for (name, member) in members {
                    let value = values.iter().find(|(given, _)| *given == name);
                    let missing = || Fault::new(at, format!("the field `{name}` of `{}` is missing", place.ty));
                    pairs.push((Value::Place(member), value.ok_or_else(missing)?.1.clone()));
                }
            }
            other => {
                return Err(Fault::new(other.span(), format!("`{}` has {} parts", place.ty, members.len())));
            }
        }
        let same = self.all_equal(pairs, span)?;
        Ok(Expr::binary(BinaryOp::And, valid, same, span))
    }

    /// A part of a constant: `constant.field`.
    pub(super) fn part_of_record(&self, values: &[(String, Value)], name: &ast::Name) -> Check<Value> {
        let found = values.iter().find(|(field, _)| *field == name.text);
        let none = || Fault::new(name.span, format!("there is no field `{}`", name.text)).label("unknown field");
        Ok(found.ok_or_else(none)?.1.clone().at(name.span))
    }

    /// A name of the outermost scope: `.name`.
    pub(super) fn outermost(&self, name: &str, span: Span) -> Check<Symbol<'a>> {
        match self.scopes.first().and_then(|scope| scope.get(name)) {
            Some(Symbol::Broken) => Err(Fault::silent(span)),
            Some(symbol) => Ok(symbol.clone()),
            None => {
                Err(Fault::new(span, format!("there is no `{name}` outside of parsers and controls"))
                    .label("unknown name"))
            }
        }
    }

    /// The meaning of a name as an expression has it: `name` or `.name`. None for other expressions.
    pub(super) fn named(&self, expr: &ast::Expr) -> Option<Check<Symbol<'a>>> {
        match &expr.kind {
            ast::ExprKind::Name(name) => Some(self.lookup(name, expr.span)),
            ast::ExprKind::Outer(name) => Some(self.outermost(name, expr.span)),
            _ => None,
        }
    }
}

/// The value that `...` gives a part of this type: zeros, and headers that are not valid.
fn default_value(ty: &Type, span: Span) -> Check<Value> {
    if let Some(width) = ty.bits() {
        return Ok(Value::Scalar(Expr::constant(0, width, span), ty.clone()));
    }
    Ok(match ty {
        _ if ty.wide().is_some() => Value::Integer(0.into(), span),
        Type::Header(_) | Type::Union(_) => Value::Invalid(span),
        Type::Struct(of) => {
            let parts = of.fields.iter().map(|(name, ty)| Ok((name.clone(), default_value(ty, span)?)));
            Value::Record(parts.collect::<Check<_>>()?, span)
        }
        Type::Tuple(of) => Value::List(of.iter().map(|ty| default_value(ty, span)).collect::<Check<_>>()?, span),
        Type::Stack(_, size) => Value::List(vec![Value::Invalid(span); *size as usize], span),
        _ => return Err(Fault::missing(span, &format!("`...` for a value of type `{ty}`"))),
    })
}
