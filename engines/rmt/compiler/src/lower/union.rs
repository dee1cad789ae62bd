// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Header unions: at most one member is valid.

use super::Lower;
use super::value::{Place, Shape};
use crate::ast::{Decl, Field};
use crate::fault::{Check, Fault};
use crate::ir::{BinaryOp, Expr, InstanceId, StmtKind};
use crate::source::Span;
use crate::types::{Struct, Type};

impl<'a> Lower<'a> {
    pub(super) fn union_type(&mut self, decl: &'a Decl, fields: &'a [Field], name: String) -> Check<Type> {
        let fields_of = self.members(fields)?;
        for ((_, ty), field) in fields_of.iter().zip(fields) {
            if !matches!(ty, Type::Header(_)) {
                return Err(Fault::new(field.ty.span, format!("a header union consists of headers, not of `{ty}`")));
            }
        }
        if fields_of.is_empty() {
            return Err(Fault::new(decl.name.span, "a header union has one member at least"));
        }
        // Headers hold numbers alone.
        let depth = 2;
        let of = Struct { name, fields: fields_of, header: 0, depth };
        Ok(Type::Union(of.into()))
    }

    /// Notes that of these headers at most one is valid.
    pub(super) fn note_siblings(&mut self, members: &[(String, Place)]) {
        let headers: Vec<InstanceId> = members.iter().flat_map(|(_, member)| member.headers()).collect();
        for header in &headers {
            let others = headers.iter().copied().filter(|other| other != header).collect();
            self.siblings.insert(*header, others);
        }
    }

    /// Makes the other members of a header's union invalid.
    pub(super) fn invalidate_siblings(&mut self, header: InstanceId, span: Span) {
        for other in self.siblings.get(&header).cloned().unwrap_or_default() {
            let valid = self.program.instances[other].valid;
            self.emit(StmtKind::Assign(valid, Expr::constant(0, 1, span)), span);
        }
    }

    /// Whether a header, or a member of a header union, is valid.
    pub(super) fn union_validity(&self, place: &Place, span: Span) -> Expr {
        let mut any = Expr::constant(0, 1, span);
        for header in place.headers() {
            any = Expr::binary(BinaryOp::Or, any, self.validity(header, span), span);
        }
        any
    }

    /// Whether a place is a header union.
    pub(super) fn is_union(place: &Place) -> bool {
        matches!((&place.shape, &place.ty), (Shape::Struct(_), Type::Union(_)))
    }
}
