// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Variables: their fields, and assignments to them.

use super::Lower;
use super::value::{Place, Shape, Value};
use crate::ast;
use crate::fault::{Check, Fault};
use crate::ir::{self, Expr, ExprKind, FieldId, FieldKind, Instance, MAX_BITS, StmtKind};
use crate::source::Span;
use crate::types::{Struct, Type};

/// Writes of a block, actions of tables included.
pub(super) fn writes(program: &ir::Program, stmts: &[ir::Stmt], fields: &mut Vec<FieldId>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Assign(field, _) | StmtKind::CopyVarbit(field, _) | StmtKind::RegisterRead { to: field, .. } => {
                fields.push(*field);
            }
            StmtKind::Extern(of) => fields.extend(of.result()),
            StmtKind::RegisterWrite { .. } | StmtKind::Count { .. } | StmtKind::Exit => {}
            StmtKind::If { then, otherwise, .. } => {
                writes(program, then, fields);
                writes(program, otherwise, fields);
            }
            StmtKind::Loop { body, .. } => writes(program, body, fields),
            StmtKind::Apply(apply) => {
                let cases = apply.cases.iter().map(|(_, block)| block);
                for block in [&apply.hit, &apply.miss, &apply.otherwise].into_iter().chain(cases) {
                    writes(program, block, fields);
                }
                for action in &program.tables[apply.table].actions {
                    writes(program, &program.actions[action.action].body, fields);
                }
            }
        }
    }
}

impl<'a> Lower<'a> {
    /// Makes the fields of a variable.
    pub(super) fn variable(&mut self, name: &str, ty: &Type, kind: FieldKind, span: Span) -> Check<Place> {
        if self.program.fields.len() >= super::FIELDS {
            return Err(Fault::new(span, format!("variables have more than {} fields", super::FIELDS))
                .help("a struct counts each time that it stands in another one, and variables of a control each time that it is applied"));
        }
        let shape = match ty {
            Type::Header(of) => {
                let (instance, members) = self.header(name, of, span);
                Shape::Header(instance, members)
            }
            Type::Struct(of) | Type::Union(of) => {
                let mut members = Vec::new();
                for (member, ty) in &of.fields {
                    members.push((member.clone(), self.variable(&format!("{name}.{member}"), ty, kind, span)?));
                }
                if matches!(ty, Type::Union(_)) {
                    self.note_siblings(&members);
                }
                Shape::Struct(members)
            }
            Type::Tuple(of) => {
                let mut members = Vec::new();
                for (index, ty) in of.iter().enumerate() {
                    members.push((index.to_string(), self.variable(&format!("{name}[{index}]"), ty, kind, span)?));
                }
                Shape::Struct(members)
            }
            Type::Stack(of, size) => {
                let elements = (0..*size).map(|index| self.variable(&format!("{name}[{index}]"), of, kind, span));
                let elements = elements.collect::<Check<_>>()?;
                self.stack(elements)
            }
            _ if ty.wide().is_some() => {
                let mut members = Vec::new();
                for (part, bits) in chunks(ty) {
                    members
                        .push((part.clone(), self.variable(&format!("{name}{part}"), &Type::Bit(bits), kind, span)?));
                }
                Shape::Struct(members)
            }
            Type::Varbit(bits) => Shape::Varbit(self.field(name.to_owned(), *bits, kind, span)),
            Type::PacketIn | Type::PacketOut => Shape::Packet,
            _ => match ty.bits() {
                Some(bits) => Shape::Scalar(self.field(name.to_owned(), bits, kind, span)),
                None => return Err(Fault::new(span, format!("a variable cannot have the type `{ty}`"))),
            },
        };
        Ok(Place { shape, ty: ty.clone(), writable: true, span })
    }

    /// Makes an instance of a header.
    fn header(&mut self, name: &str, of: &Struct, span: Span) -> (usize, Vec<(String, Place)>) {
        let instance = self.program.instances.len();
        let valid = self.field(format!("{name}.$valid$"), 1, FieldKind::Valid(instance), span);
        let (mut fields, mut offset) = (Vec::new(), 0);
        let members = self.header_members(name, &of.fields, instance, &mut fields, &mut offset, span);
        self.program.instances.push(Instance { name: name.to_owned(), header: of.header, fields, valid, span });
        (instance, members)
    }

    /// The fields of a header, or of a struct in one.
    fn header_members(
        &mut self,
        name: &str,
        of: &[(String, Type)],
        instance: usize,
        fields: &mut Vec<FieldId>,
        offset: &mut u32,
        span: Span,
    ) -> Vec<(String, Place)> {
        let mut members = Vec::new();
        for (member, ty) in of {
            let full = format!("{name}.{member}");
            let shape = if let Type::Struct(of) = ty {
                Shape::Struct(self.header_members(&full, &of.fields, instance, fields, offset, span))
            } else if ty.wide().is_some() {
                let parts: Vec<_> = chunks(ty).into_iter().map(|(part, bits)| (part, Type::Bit(bits))).collect();
                Shape::Struct(self.header_members(&full, &parts, instance, fields, offset, span))
            } else {
                let varbit = matches!(ty, Type::Varbit(_));
                let bits = if let Type::Varbit(bits) = ty { *bits } else { ty.bits().unwrap_or_default() };
                let kind = FieldKind::Header { instance, offset: *offset, varbit };
                let field = self.field(full, bits, kind, span);
                *offset += if varbit { 0 } else { bits };
                fields.push(field);
                if varbit { Shape::Varbit(field) } else { Shape::Scalar(field) }
            };
            members.push((member.clone(), Place { shape, ty: ty.clone(), writable: true, span }));
        }
        members
    }

    /// The validity field of a header.
    pub(super) fn validity(&self, instance: usize, span: Span) -> Expr {
        Expr::field(self.program.instances[instance].valid, 1, span)
    }

    /// The variable that an expression names, to be written.
    pub(super) fn writable(&mut self, expr: &'a ast::Expr) -> Check<Place> {
        if let ast::ExprKind::Slice(base, high, low) = &expr.kind {
            let base = self.writable(base)?;
            let width = base.ty.wide().or(base.ty.bits()).filter(|_| base.ty.is_number());
            let Some(width) = width else {
                return Err(Fault::new(expr.span, format!("`{}` has no bits to choose", base.ty)));
            };
            let (high, low) = self.slice_bounds(high, low, width, expr.span)?;
            let (shape, ty) = (Shape::Slice(Box::new(base), high, low), Type::Bit(high + 1 - low));
            return Ok(Place { shape, ty, writable: true, span: expr.span });
        }
        match self.raw(expr, None)? {
            Value::Place(mut place) if place.writable => {
                // Later statements may change what the index reads.
                if let Shape::Element(index, _) = &mut place.shape {
                    **index = self.keep((**index).clone());
                }
                Ok(place)
            }
            Value::Place(_) => Err(Fault::new(expr.span, format!("`{}` cannot be written", self.text(expr.span)))
                .label("a parameter of direction `in`, or a constant")
                .help("declare the parameter `inout`, or write to a variable")),
            _ => Err(Fault::new(expr.span, format!("`{}` is not a variable", self.text(expr.span)))
                .label("only variables can be written")),
        }
    }

    /// `place[high:low] = value`
    pub(super) fn assign_slice(&mut self, place: &Place, high: u32, low: u32, value: Value, span: Span) -> Check<()> {
        if let Shape::Element(index, elements) = &place.shape {
            return self.for_element(index, elements.clone(), span, |this, element| {
                this.assign_slice(&element, high, low, value.clone(), span)
            });
        }
        if let Shape::Slice(of, _, from) = &place.shape {
            return self.assign_slice(of, from + high, from + low, value, span);
        }
        if let (Shape::Struct(parts), Some(bits)) = (&place.shape, place.ty.wide()) {
            let value = self.scalar(value, &Type::Bit(high + 1 - low))?;
            let value = self.keep(value);
            let mut end = bits;
            for (_, part) in parts {
                let from = end - part.ty.bits().unwrap_or_default();
                let (top, bottom) = (high.min(end - 1), low.max(from));
                if top >= bottom {
                    let own =
                        Value::Scalar(value.clone().slice(top - low, bottom - low, span), Type::Bit(top + 1 - bottom));
                    self.assign_slice(part, top - from, bottom - from, own, span)?;
                }
                end = from;
            }
            return Ok(());
        }
        let Shape::Scalar(field) = place.shape else {
            return Err(Fault::new(span, format!("`{}` has no bits to choose", place.ty)));
        };
        let width = self.program.fields[field].width;
        let mut made = self.scalar(value, &Type::Bit(high + 1 - low))?;
        let old = |high, low| Expr::field(field, width, span).slice(high, low, span);
        if low > 0 {
            made = made.concat(old(low - 1, 0), span);
        }
        if high + 1 < width {
            made = old(width - 1, high + 1).concat(made, span);
        }
        self.emit(StmtKind::Assign(field, made), span);
        Ok(())
    }

    /// `place = value`, for all types.
    pub(super) fn assign(&mut self, place: &Place, value: Value, span: Span) -> Check<()> {
        let value = self.plain(value)?;
        // A list may read fields that the same assignment has written before: `{a.y, a.x}`.
        let value = match value {
            Value::List(..) | Value::Record(..) => {
                let mut fields = place.fields();
                fields.extend(place.headers().into_iter().map(|instance| self.program.instances[instance].valid));
                self.settled(value, &fields)?
            }
            other => other,
        };
        if let Shape::Element(index, elements) = &place.shape {
            let value = match value {
                Value::Scalar(value, ty) => Value::Scalar(self.keep(value), ty),
                other => other,
            };
            return self.for_element(index, elements.clone(), span, |this, element| {
                this.assign(&element, value.clone(), span)
            });
        }
        if let Shape::Slice(of, high, low) = &place.shape {
            return self.assign_slice(of, *high, *low, value, span);
        }
        let is_copy = matches!(value, Value::Place(_));
        self.assign_parts(place, value, span)?;
        // Behind the copy, which may be of a sibling.
        if let (Shape::Header(header, _), true) = (&place.shape, is_copy) {
            self.invalidate_siblings(*header, span);
        }
        Ok(())
    }

    fn assign_parts(&mut self, place: &Place, value: Value, span: Span) -> Check<()> {
        match (&place.shape, self.filled(value, &place.ty)?) {
            (Shape::Header(..), Value::Invalid(_)) => self.invalidate(place, span),
            (Shape::Struct(_), Value::Invalid(_)) if Self::is_union(place) => self.invalidate(place, span),
            (Shape::Struct(parts), Value::Integer(number, at))
                if place.ty.wide().is_some_and(|bits| number.bits() <= u64::from(bits))
                    && number.sign() != num_bigint::Sign::Minus =>
            {
                let mut rest = number;
                for (_, part) in parts.iter().rev() {
                    let modulus = num_bigint::BigInt::from(1u8) << part.ty.bits().unwrap_or_default();
                    self.assign_parts(part, Value::Integer(&rest % &modulus, at), span)?;
                    rest /= modulus;
                }
            }
            (Shape::Scalar(field), value) => {
                let value = self.scalar(value, &place.ty)?;
                self.emit(StmtKind::Assign(*field, value), span);
            }
            (Shape::Varbit(field), Value::Place(Place { shape: Shape::Varbit(from), ty, .. })) if ty == place.ty => {
                self.emit(StmtKind::CopyVarbit(*field, from), span);
            }
            (Shape::Header(to, members), Value::Place(Place { shape: Shape::Header(from, others), ty, .. }))
                if ty == place.ty =>
            {
                for ((_, member), (_, other)) in members.iter().zip(others) {
                    self.assign_parts(member, Value::Place(other), span)?;
                }
                let valid = self.validity(from, span);
                self.emit(StmtKind::Assign(self.program.instances[*to].valid, valid), span);
            }
            (Shape::Struct(members), Value::Place(Place { shape: Shape::Struct(others), ty, .. }))
                if ty == place.ty =>
            {
                for ((_, member), (_, other)) in members.iter().zip(others) {
                    self.assign_parts(member, Value::Place(other), span)?;
                }
            }
            (Shape::Stack(to, elements), Value::Place(Place { shape: Shape::Stack(from, others), ty, .. }))
                if ty == place.ty =>
            {
                for (element, other) in elements.iter().zip(others) {
                    self.assign_parts(element, Value::Place(other), span)?;
                }
                if self.in_parser {
                    let (to, from) = (self.counter(*to, span), self.counter(from, span));
                    self.emit(StmtKind::Assign(to, Expr::field(from, 32, span)), span);
                }
            }
            (Shape::Stack(_, elements), Value::List(values, at)) => {
                if values.len() != elements.len() {
                    return Err(Fault::new(at, format!("`{}` has {} elements", place.ty, elements.len()))
                        .label(format!("{} values are given", values.len())));
                }
                for (element, value) in elements.iter().zip(values) {
                    self.assign_parts(element, value, span)?;
                }
            }
            (Shape::Header(_, members) | Shape::Struct(members), Value::List(values, at)) if !Self::is_union(place) => {
                if values.len() != members.len() {
                    return Err(Fault::new(at, format!("`{}` has {} fields", place.ty, members.len()))
                        .label(format!("{} values are given", values.len())));
                }
                for ((_, member), value) in members.iter().zip(values) {
                    self.assign_parts(member, value, span)?;
                }
                self.make_valid(place, span);
            }
            (Shape::Header(_, members) | Shape::Struct(members), Value::Record(mut values, at))
                if !Self::is_union(place) =>
            {
                for (name, member) in members {
                    let Some(index) = values.iter().position(|(given, _)| given == name) else {
                        return Err(Fault::new(at, format!("the field `{name}` of `{}` is missing", place.ty)));
                    };
                    let (_, value) = values.remove(index);
                    self.assign_parts(member, value, span)?;
                }
                if let Some((name, value)) = values.first() {
                    return Err(Fault::new(value.span(), format!("`{}` has no field `{name}`", place.ty)));
                }
                self.make_valid(place, span);
            }
            (_, value) => return Err(mismatch(&place.ty.to_string(), &value)),
        }
        Ok(())
    }

    fn make_valid(&mut self, place: &Place, span: Span) {
        if let Shape::Header(instance, _) = place.shape {
            self.set_valid(instance, true, span);
        }
    }

    /// Makes a header valid or invalid.
    pub(super) fn set_valid(&mut self, instance: usize, valid: bool, span: Span) {
        let field = self.program.instances[instance].valid;
        self.invalidate_siblings(instance, span);
        self.emit(StmtKind::Assign(field, Expr::constant(u128::from(valid), 1, span)), span);
    }

    /// A list whose values no longer read the fields: temporaries keep the values that they read.
    pub(super) fn settled(&mut self, value: Value, fields: &[FieldId]) -> Check<Value> {
        Ok(match value {
            Value::List(values, span) => {
                let values = values.into_iter().map(|value| self.settled(value, fields));
                Value::List(values.collect::<Check<_>>()?, span)
            }
            Value::Record(values, span) => {
                let values = values.into_iter().map(|(name, value)| Ok((name, self.settled(value, fields)?)));
                Value::Record(values.collect::<Check<_>>()?, span)
            }
            Value::Scalar(expr, ty) if expr.reads(fields) => Value::Scalar(self.keep(expr), ty),
            Value::Place(place) if self.shares(&place, fields) => {
                let (copy, span) = (self.copy("$copy", &place.ty, place.span)?, place.span);
                self.assign_parts(&copy, Value::Place(place), span)?;
                Value::Place(copy)
            }
            other => other,
        })
    }

    /// Whether a place, or the validity of a header in it, is one of these fields.
    pub(super) fn shares(&self, place: &Place, fields: &[FieldId]) -> bool {
        let valid = place.headers().into_iter().map(|header| self.program.instances[header].valid);
        place.fields().into_iter().chain(valid).any(|field| fields.contains(&field))
    }

    /// A new local variable.
    pub(super) fn copy(&mut self, name: &str, ty: &Type, span: Span) -> Check<Place> {
        self.variable(name, ty, FieldKind::Local, span)
    }

    /// Keeps the value that an expression has now, in a temporary unless it is a constant.
    pub(super) fn keep(&mut self, expr: Expr) -> Expr {
        if matches!(expr.kind, ExprKind::Const(_) | ExprKind::Param(_)) {
            return expr;
        }
        let (width, span) = (expr.width, expr.span);
        let field = self.temporary(width, span);
        self.emit(StmtKind::Assign(field, expr), span);
        Expr::field(field, width, span)
    }

    /// A value that no index chooses any more.
    pub(super) fn plain(&mut self, value: Value) -> Check<Value> {
        match value {
            Value::Place(Place { shape: Shape::Slice(of, high, low), ty, span, .. }) => {
                let bits = self.bits_of(Value::Place(*of), high, low, span)?;
                Ok(Value::Scalar(bits, ty))
            }
            Value::Place(place) => self.element_value(place),
            other => Ok(other),
        }
    }

    /// A value as a number of this type.
    pub(super) fn scalar(&mut self, value: Value, ty: &Type) -> Check<Expr> {
        match self.plain(value)? {
            Value::Integer(number, span) if ty.is_number() => match super::literal::fit(&number, ty, span)? {
                Value::Scalar(expr, _) => Ok(expr),
                other => Err(mismatch(&ty.to_string(), &other)),
            },
            Value::Scalar(expr, given) if given == *ty || widens(&given, ty) => Ok(expr),
            Value::Place(Place { shape: Shape::Scalar(field), ty: given, span, .. })
                if given == *ty || widens(&given, ty) =>
            {
                Ok(Expr::field(field, self.program.fields[field].width, span))
            }
            other => Err(mismatch(&ty.to_string(), &other)),
        }
    }

    /// A value as a number, with its type. A constant without a width has no type.
    pub(super) fn typed(&mut self, value: Value) -> Check<(Expr, Type)> {
        match self.plain(value)? {
            Value::Scalar(expr, ty) => Ok((expr, ty)),
            Value::Place(Place { ty, span, .. }) if ty.wide().is_some() => {
                Err(Fault::missing(span, &format!("operators on values of type `{ty}`")).help(format!(
                    "values of more than {MAX_BITS} bits are copied, compared and sliced: choose bits of it with `[high:low]`"
                )))
            }
            Value::Place(Place { shape: Shape::Scalar(field), ty, span, .. }) => {
                Ok((Expr::field(field, self.program.fields[field].width, span), ty))
            }
            Value::Integer(number, span) => Err(Fault::new(span, format!("the width of {number} is not known here"))
                .label("a number without a width")
                .help(format!("write it with its width, for example 32w{number}"))),
            other => Err(Fault::new(other.span(), format!("a number is expected, this is `{}`", other.type_name()))),
        }
    }
}

/// The parts of a number that is too wide for operators, from the highest bits to the lowest, each with its bits.
pub(super) fn chunks(ty: &Type) -> Vec<(String, u32)> {
    let mut end = ty.wide().unwrap_or_default();
    let mut parts = Vec::new();
    while end > 0 {
        let bits = end.min(MAX_BITS);
        end -= bits;
        parts.push((format!("[{}:{end}]", end + bits - 1), bits));
    }
    parts
}

/// Members of an enumeration with an underlying type are also values of that type.
fn widens(from: &Type, to: &Type) -> bool {
    matches!(from, Type::Enum(of) if of.underlying.as_ref() == Some(to))
}

/// The fault of a value that has another type than is expected.
pub(super) fn mismatch(expected: &str, value: &Value) -> Box<Fault> {
    let given = value.type_name();
    let fault = Fault::new(value.span(), format!("mismatched types: `{expected}` is expected, this is `{given}`"))
        .label(format!("expected `{expected}`"));
    // A number that is too wide for operators has no cast.
    let narrow = |bits: &str| bits.trim_end_matches('>').parse().is_ok_and(|bits: u32| bits <= MAX_BITS);
    let number = |name: &str| name.strip_prefix("bit<").or(name.strip_prefix("int<")).is_some_and(narrow);
    let castable = |name: &str| number(name) || name == "bool";
    if castable(expected) && castable(&given) { fault.help(format!("cast it: `({expected})(…)`")) } else { fault }
}
