// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Functions of v1model that act on the whole frame, hash, or report to a controller.

use super::value::{Place, Shape, Value};
use super::{Context, Lower};
use crate::ast::{self, Call, Field};
use crate::fault::{Check, Fault};
use crate::ir::{Digest, Expr, Extern, FieldId, HashAlgorithm, StmtKind};
use crate::source::Span;
use crate::types::Type;

impl<'a> Lower<'a> {
    /// A function of v1model that becomes an [`Extern`].
    pub(super) fn operation(&mut self, name: &str, call: &'a Call, span: Span) -> Check<Value> {
        self.check_effects(&format!("`{name}`"), call.callee.span)?;
        let number = Type::Bit(32);
        let mut result = None;
        let made = match name {
            "hash" => {
                let args = self.arguments(name, &["result", "algo", "base", "data", "max"], &call.args, span)?;
                let to = self.result(args[0], &mut result)?;
                let algorithm = self.algorithm(args[1])?;
                let base = self.number(args[2])?;
                let value = self.expr(args[3], None)?;
                let mut data = Vec::new();
                self.checksum_data(value, &mut data)?;
                let max = self.number(args[4])?;
                Extern::Hash { to, algorithm, base, data, max }
            }
            "random" => {
                let args = self.arguments(name, &["result", "lo", "hi"], &call.args, span)?;
                let to = self.result(args[0], &mut result)?;
                Extern::Random { to, low: self.number(args[1])?, high: self.number(args[2])? }
            }
            "digest" => {
                let args = self.arguments(name, &["receiver", "data"], &call.args, span)?;
                self.expr_of(args[0], &number)?;
                self.digest(call, args[1], span)?
            }
            "clone" | "clone3" | "clone_preserving_field_list" => {
                let params: &[&str] = match name {
                    "clone" => &["type", "session"],
                    "clone3" => &["type", "session", "data"],
                    _ => &["type", "session", "index"],
                };
                let args = self.arguments(name, params, &call.args, span)?;
                let from_egress = self.constant(args[0])? == 1.into();
                let session = self.expr_of(args[1], &number)?;
                let keep = match args.get(2) {
                    None => Vec::new(),
                    Some(data) if name == "clone3" => self.kept(data)?,
                    Some(index) => self.field_list(index)?,
                };
                Extern::Clone { from_egress, session, keep }
            }
            "resubmit" | "recirculate" => {
                let args = self.arguments(name, &["data"], &call.args, span)?;
                let keep = self.kept(args[0])?;
                if name == "resubmit" { Extern::Resubmit { keep } } else { Extern::Recirculate { keep } }
            }
            "resubmit_preserving_field_list" | "recirculate_preserving_field_list" => {
                let args = self.arguments(name, &["index"], &call.args, span)?;
                let keep = self.field_list(args[0])?;
                if name.starts_with("resubmit") { Extern::Resubmit { keep } } else { Extern::Recirculate { keep } }
            }
            "truncate" => {
                let args = self.arguments(name, &["length"], &call.args, span)?;
                Extern::Truncate { length: self.expr_of(args[0], &number)? }
            }
            "assert" => {
                let args = self.arguments(name, &["check"], &call.args, span)?;
                Extern::Assert { condition: self.condition(args[0])? }
            }
            _ => return Err(Fault::missing(call.callee.span, &format!("the function `{name}`"))),
        };
        self.emit(StmtKind::Extern(Box::new(made)), span);
        self.give(result, span)?;
        Ok(Value::Void(span))
    }

    /// Checks that statements with effects may stand here.
    pub(super) fn check_effects(&self, what: &str, span: Span) -> Check<()> {
        if self.context == Context::Pure {
            return Err(Fault::missing(span, &format!("{what} in checksum controls and deparsers"))
                .help("move it to the end of egress"));
        }
        Ok(())
    }

    /// The field that a number is written to. If an index chooses it, `later` becomes the place that [`Self::give`]
    /// gives the number to.
    pub(super) fn result(&mut self, expr: &'a ast::Expr, later: &mut Option<(Place, FieldId)>) -> Check<FieldId> {
        let place = self.writable(expr)?;
        self.result_of(place, expr.span, later)
    }

    /// As [`Self::result`], for a place.
    pub(super) fn result_of(
        &mut self,
        place: Place,
        span: Span,
        later: &mut Option<(Place, FieldId)>,
    ) -> Check<FieldId> {
        match (&place.shape, place.ty.bits()) {
            (Shape::Scalar(field), _) => Ok(*field),
            (Shape::Element(..), Some(width)) => {
                let field = self.temporary(width, span);
                *later = Some((place, field));
                Ok(field)
            }
            _ => Err(Fault::new(span, format!("a number is expected, this is `{}`", place.ty))),
        }
    }

    /// Gives a number to the place that it is for.
    pub(super) fn give(&mut self, later: Option<(Place, FieldId)>, span: Span) -> Check<()> {
        let Some((place, field)) = later else { return Ok(()) };
        let value = Expr::field(field, self.program.fields[field].width, span);
        self.assign(&place, Value::Scalar(value, place.ty.clone()), span)
    }

    /// A number of any width. Constants without a width have 64 bits.
    fn number(&mut self, expr: &'a ast::Expr) -> Check<Expr> {
        match self.expr(expr, None)? {
            value @ Value::Integer(..) => self.scalar(value, &Type::Bit(64)),
            value => Ok(self.typed(value)?.0),
        }
    }

    /// A member of `HashAlgorithm`.
    pub(super) fn algorithm(&mut self, expr: &'a ast::Expr) -> Check<HashAlgorithm> {
        let value = self.expr(expr, None)?;
        let (value, ty) = self.typed(value)?;
        let known = matches!(&ty, Type::Enum(of) if of.name == "HashAlgorithm");
        let index = value.value().filter(|_| known).and_then(|index| usize::try_from(index).ok());
        let algorithm = index.and_then(|index| HashAlgorithm::ALL.get(index));
        algorithm.copied().ok_or_else(|| {
            Fault::new(expr.span, "an algorithm is expected")
                .help("write a member of HashAlgorithm, such as HashAlgorithm.crc32")
        })
    }

    /// Fields that a copy of the frame keeps, as `clone3` names them.
    fn kept(&mut self, expr: &'a ast::Expr) -> Check<Vec<FieldId>> {
        fn fields(value: &Value, found: &mut Vec<FieldId>) -> Check<()> {
            match value {
                Value::List(values, _) => values.iter().try_for_each(|value| fields(value, found)),
                Value::Place(place) => {
                    found.extend(place.fields());
                    Ok(())
                }
                // A constant has no value to keep.
                Value::Scalar(value, _) if value.value().is_some() => Ok(()),
                Value::Integer(..) => Ok(()),
                other => Err(Fault::new(other.span(), "only fields keep their values")),
            }
        }
        let value = self.expr(expr, None)?;
        let mut found = Vec::new();
        fields(&value, &mut found)?;
        Ok(found)
    }

    /// Fields with `@field_list` of this number.
    fn field_list(&mut self, expr: &'a ast::Expr) -> Check<Vec<FieldId>> {
        let index = self.expr_of(expr, &Type::Bit(8))?;
        let Some(index) = index.value() else {
            return Err(Fault::new(expr.span, "the number of a field list is a constant"));
        };
        Ok(self.listed.iter().filter(|(list, _)| *list == index).map(|(_, field)| *field).collect())
    }

    /// Notes the field lists of a struct's members.
    pub(super) fn note_field_lists(&mut self, name: &str, fields: &[Field]) -> Check<()> {
        let mut noted = Vec::new();
        for field in fields {
            let mut lists = Vec::new();
            for annotation in field.annotations.iter().filter(|annotation| annotation.name == "field_list") {
                for number in annotation.value.split(',') {
                    match super::literal::plain(number) {
                        Some(number) => lists.push(u128::from(number)),
                        None => match self.find(number) {
                            Some(super::Symbol::Value(Value::Scalar(value, _))) if value.value().is_some() => {
                                lists.extend(value.value());
                            }
                            _ => {
                                return Err(Fault::new(annotation.span, format!("`{number}` is not a number"))
                                    .help("write `@field_list(1)`"));
                            }
                        },
                    }
                }
            }
            if !lists.is_empty() {
                noted.push((field.name.text.clone(), lists));
            }
        }
        self.field_lists.insert(name.to_owned(), noted);
        Ok(())
    }

    /// Finds the fields of the metadata that are on field lists.
    pub(super) fn find_listed(&mut self, place: &Place) {
        let (Shape::Struct(members), Type::Struct(of)) = (&place.shape, &place.ty) else { return };
        let noted = self.field_lists.get(&of.name).cloned().unwrap_or_default();
        for (name, member) in members {
            for (_, lists) in noted.iter().filter(|(listed, _)| listed == name) {
                let fields = member.fields();
                self.listed.extend(lists.iter().flat_map(|list| fields.iter().map(|field| (*list, *field))));
            }
            self.find_listed(member);
        }
    }

    fn digest(&mut self, call: &'a Call, data: &'a ast::Expr, span: Span) -> Check<Extern> {
        let want = match call.types.first() {
            Some(ty) => Some(self.ty(ty)?),
            None => None,
        };
        let value = self.expr(data, want.as_ref())?;
        let known = match (&want, &value) {
            (Some(ty), _) => Some(ty.clone()),
            (None, Value::Place(place)) => Some(place.ty.clone()),
            _ => None,
        };
        let values = match known.as_ref().filter(|ty| matches!(ty, Type::Struct(_) | Type::Header(_))) {
            Some(ty) => {
                let place = self.copy("$digest", ty, span)?;
                self.assign(&place, value, span)?;
                Value::Place(place)
            }
            None => value,
        };
        let (mut fields, mut exprs) = (Vec::new(), Vec::new());
        self.digest_fields(values, "", &mut fields, &mut exprs)?;
        let name = match &known {
            Some(Type::Struct(of) | Type::Header(of)) => of.name.clone(),
            _ => format!("digest_{}", self.program.digests.len()),
        };
        let same = self.program.digests.iter().position(|digest| digest.name == name && digest.fields == fields);
        let digest = match same {
            Some(digest) => digest,
            None => {
                let id = self.p4info_id(0x17, &name, &[], span);
                self.program.digests.push(Digest { name, id, fields, span });
                self.program.digests.len() - 1
            }
        };
        Ok(Extern::Digest { digest, data: exprs })
    }

    fn digest_fields(
        &mut self,
        value: Value,
        path: &str,
        fields: &mut Vec<(String, u32)>,
        exprs: &mut Vec<Expr>,
    ) -> Check<()> {
        let name = |member: &str| if path.is_empty() { member.to_owned() } else { format!("{path}.{member}") };
        match value {
            Value::List(values, _) => {
                for (index, value) in values.into_iter().enumerate() {
                    self.digest_fields(value, &name(&format!("f{index}")), fields, exprs)?;
                }
            }
            Value::Place(Place { shape: Shape::Header(_, members) | Shape::Struct(members), .. }) => {
                for (member, place) in members {
                    self.digest_fields(Value::Place(place), &name(&member), fields, exprs)?;
                }
            }
            other => {
                let (value, _) = self.typed(other)?;
                fields.push((if path.is_empty() { "value".to_owned() } else { path.to_owned() }, value.width));
                exprs.push(value);
            }
        }
        Ok(())
    }
}
