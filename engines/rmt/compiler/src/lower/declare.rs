// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Types, constants and other declarations.

use std::rc::Rc;

use num_traits::ToPrimitive;

use super::{ActionSymbol, Lower, Symbol};
use crate::ast::{self, Decl, DeclKind, Field, TypeKind};
use crate::fault::{Check, Fault};
use crate::ir::{HeaderType, MAX_BITS};
use crate::types::{ENUM_BITS, Enum, Struct, Type};

impl<'a> Lower<'a> {
    /// A declaration that needs nothing of the control that it may stand in.
    pub(super) fn declaration(&mut self, decl: &'a Decl) -> Check<()> {
        let symbol = match &decl.kind {
            DeclKind::Const(ty, value) => {
                let ty = self.ty(ty)?;
                let value = self.expr(value, Some(&ty))?;
                Symbol::Value(self.constant_of(value, &ty)?)
            }
            DeclKind::Typedef(ty) => Symbol::Type(self.ty(ty)?),
            DeclKind::NewType(ty) => Symbol::Type(Type::New(decl.name.text.as_str().into(), Rc::new(self.ty(ty)?))),
            DeclKind::Enum(underlying, members) => {
                Symbol::Type(self.enumeration(decl, underlying.as_ref(), members)?)
            }
            DeclKind::Errors(names) => {
                for name in names {
                    if self.program.errors.contains(&name.text) {
                        return Err(Fault::new(name.span, format!("the error `{}` is declared twice", name.text)));
                    }
                    self.program.errors.push(name.text.clone());
                }
                return Ok(());
            }
            // Which kinds a key may have stands in the lowering of tables.
            DeclKind::MatchKinds(_) => return Ok(()),
            DeclKind::Header(types, _) | DeclKind::Struct(types, _) | DeclKind::Union(types, _) => {
                if types.is_empty() {
                    Symbol::Type(self.fields_type(decl, decl.name.text.clone())?)
                } else {
                    Symbol::Decl(decl)
                }
            }
            DeclKind::Action(..) => {
                let name = decl.name.text.clone();
                Symbol::Action(ActionSymbol { decl, depth: 1, name })
            }
            DeclKind::Parser(_) | DeclKind::Control(_) | DeclKind::Function(_) | DeclKind::Package(_) => {
                Symbol::Decl(decl)
            }
            DeclKind::Extern(_) => match &decl.name.text[..] {
                "packet_in" => Symbol::Type(Type::PacketIn),
                "packet_out" => Symbol::Type(Type::PacketOut),
                _ => Symbol::Decl(decl),
            },
            DeclKind::Instance(ty, args) => self.instance(decl, ty, args)?,
            DeclKind::ValueSet(ty, size) => self.value_set(decl, ty, size)?,
            DeclKind::Var(..) => {
                return Err(Fault::new(decl.span, "a variable stands in a control, parser or action")
                    .help("declare it there, or make it `const`"));
            }
            DeclKind::Table(_) => return Err(Fault::new(decl.span, "a table stands in a control")),
        };
        if matches!(&symbol, Symbol::Type(ty) if ty.depth() > super::TYPES) {
            return Err(Fault::new(decl.name.span, format!("more than {} types stand in each other", super::TYPES)));
        }
        // A function may be declared several times, with different parameters.
        if matches!(&decl.kind, DeclKind::Function(function) if function.body.is_none())
            && matches!(self.find(&decl.name.text), Some(Symbol::Decl(_)))
        {
            return Ok(());
        }
        self.declare(&decl.name, symbol);
        Ok(())
    }

    /// A header, struct or header union of this name.
    pub(super) fn fields_type(&mut self, decl: &'a Decl, name: String) -> Check<Type> {
        match &decl.kind {
            DeclKind::Header(_, fields) => self.header_type(decl, fields, name),
            DeclKind::Union(_, fields) => self.union_type(decl, fields, name),
            DeclKind::Struct(_, fields) => {
                self.note_field_lists(&name, fields)?;
                self.note_match_kinds(&name, fields)?;
                let fields = self.members(fields)?;
                let depth = depth(&fields);
                Ok(Type::Struct(Rc::new(Struct { name, fields, header: 0, depth })))
            }
            _ => Err(Fault::new(decl.span, "this is not a type with fields")),
        }
    }

    /// A type as written.
    pub(super) fn ty(&mut self, ty: &'a ast::Type) -> Check<Type> {
        Ok(match &ty.kind {
            TypeKind::Bool => Type::Bool,
            TypeKind::Error => Type::Error,
            TypeKind::Void => Type::Void,
            TypeKind::Text => Type::Text,
            TypeKind::Integer => Type::Integer,
            TypeKind::Bit(None) => Type::Bit(1),
            TypeKind::Bit(Some(width)) => Type::Bit(self.width(width, WIDEST)?),
            TypeKind::Signed(width) => Type::Int(self.width(width, MAX_BITS)?),
            TypeKind::Varbit(width) => {
                let bits = self.width(width, WIDEST)?;
                if bits % 8 != 0 {
                    return Err(Fault::missing(width.span, "varbits whose maximum is not a multiple of 8"));
                }
                Type::Varbit(bits)
            }
            TypeKind::Named(name, args) => match self.lookup(name, ty.span)? {
                Symbol::Type(found) if args.is_empty() => found,
                Symbol::Decl(decl) => self.with_types(decl, args, ty.span)?,
                _ => return Err(Fault::new(ty.span, format!("`{name}` is not a type"))),
            },
            TypeKind::Stack(of, size) => {
                let of = self.ty(of)?;
                if !matches!(of, Type::Header(_) | Type::Union(_)) {
                    return Err(Fault::new(ty.span, format!("a stack consists of headers, not of `{of}`")));
                }
                let count = self.constant_u32(size)?;
                if count == 0 || count > STACK {
                    return Err(Fault::missing(size.span, &format!("stacks of {count} headers"))
                        .help(format!("1 to {STACK} are possible")));
                }
                Type::Stack(Rc::new(of), count)
            }
            TypeKind::Tuple(of) => {
                let made = Type::Tuple(Rc::new(of.iter().map(|ty| self.ty(ty)).collect::<Check<_>>()?));
                // A tuple of tuples that a `typedef` names doubles with each of these names.
                if made.parts(PARTS).is_none() {
                    return Err(Fault::new(ty.span, format!("this tuple has more than {PARTS} parts"))
                        .label("counted with the parts of tuples in it"));
                }
                made
            }
            TypeKind::List(of) => Type::List(Rc::new(self.ty(of)?)),
            TypeKind::MatchKind | TypeKind::Any => return Err(Fault::new(ty.span, "no value has this type")),
        })
    }

    fn width(&mut self, width: &'a ast::Expr, most: u32) -> Check<u32> {
        let bits = self.constant_u32(width)?;
        if bits == 0 || bits > most {
            return Err(Fault::missing(width.span, &format!("values of {bits} bits"))
                .help(format!("1 to {most} bits are possible")));
        }
        Ok(bits)
    }

    pub(super) fn members(&mut self, fields: &'a [Field]) -> Check<Vec<(String, Type)>> {
        let mut members: Vec<(String, Type)> = Vec::new();
        for field in fields {
            if members.iter().any(|(name, _)| *name == field.name.text) {
                return Err(Fault::new(field.name.span, format!("there are two fields `{}`", field.name.text)));
            }
            members.push((field.name.text.clone(), self.ty(&field.ty)?));
        }
        Ok(members)
    }

    fn header_type(&mut self, decl: &'a Decl, fields: &'a [Field], name: String) -> Check<Type> {
        let members = self.members(fields)?;
        let mut shown = Vec::new();
        for ((member, ty), field) in members.iter().zip(fields) {
            if !flat(member, ty, &mut shown) {
                return Err(Fault::missing(field.ty.span, &format!("fields of type `{ty}` in headers")));
            }
        }
        let bits = shown.iter().filter(|(_, _, varies)| !varies).map(|(_, bits, _)| bits).sum::<u32>();
        let varbits = shown.iter().filter(|(_, _, varies)| *varies).count();
        if bits % 8 != 0 {
            return Err(Fault::new(decl.name.span, format!("the header `{name}` has {bits} bits"))
                .label("a header is a whole number of bytes")
                .help(format!("add a field of {} bits", 8 - bits % 8)));
        }
        if varbits > 1 {
            return Err(Fault::new(decl.name.span, "a header has one varbit at most"));
        }
        let span = decl.name.span;
        let annotations = super::shown(&decl.annotations);
        self.controller_header(decl, fields, &shown);
        self.program.headers.push(HeaderType { name: name.clone(), fields: shown, bits, annotations, span });
        let header = self.program.headers.len() - 1;
        Ok(Type::Header(Rc::new(Struct { name, depth: depth(&members), fields: members, header })))
    }

    fn enumeration(
        &mut self,
        decl: &'a Decl,
        underlying: Option<&'a ast::Type>,
        members: &'a [(ast::Name, Option<ast::Expr>)],
    ) -> Check<Type> {
        let underlying = underlying.map(|ty| self.ty(ty)).transpose()?;
        let mut made: Vec<(String, u128)> = Vec::new();
        for (index, (name, value)) in members.iter().enumerate() {
            let number = match (&underlying, value) {
                (Some(ty), Some(value)) => {
                    let value = self.expr_of(value, ty)?;
                    value.value().ok_or_else(|| Fault::new(value.span, "this is not a constant"))?
                }
                (None, None) => index.to_u128().unwrap_or_default(),
                (Some(ty), None) => {
                    return Err(Fault::new(name.span, format!("`{}` needs a value of type `{ty}`", name.text))
                        .help(format!("write `{} = …`", name.text)));
                }
                (None, Some(value)) => {
                    return Err(Fault::new(value.span, "this enumeration has no values")
                        .help(format!("write `enum bit<{ENUM_BITS}> {} {{ … }}`", decl.name.text)));
                }
            };
            made.push((name.text.clone(), number));
        }
        Ok(Type::Enum(Rc::new(Enum { name: decl.name.text.clone(), underlying, members: made })))
    }
}

/// Bits of the widest values, which are varbits and numbers that no operator takes.
const WIDEST: u32 = 8 * 2048;
/// Headers in a stack.
const STACK: u32 = 128;
/// Parts of a tuple, with those of tuples in it.
const PARTS: usize = 4096;

/// The fields of a header that a member is: one, or those of a struct, or the parts of a wide number. False if headers
/// have no such members.
fn flat(name: &str, ty: &Type, fields: &mut Vec<(String, u32, bool)>) -> bool {
    match ty {
        Type::Varbit(most) => fields.push((name.to_owned(), *most, true)),
        Type::Struct(of) => {
            return of.fields.iter().all(|(member, ty)| flat(&format!("{name}.{member}"), ty, fields));
        }
        _ if ty.wide().is_some() => {
            fields.extend(
                super::place::chunks(ty).into_iter().map(|(part, bits)| (format!("{name}{part}"), bits, false)),
            );
        }
        _ => match ty.bits() {
            Some(bits) => fields.push((name.to_owned(), bits, false)),
            None => return false,
        },
    }
    true
}

/// Types that stand in each other in a header or struct with these fields.
fn depth(fields: &[(String, Type)]) -> usize {
    1 + fields.iter().map(|(_, ty)| ty.depth()).max().unwrap_or(0)
}
