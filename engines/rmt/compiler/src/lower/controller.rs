// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Objects that controllers change beside entries: action profiles, value sets, and headers of the frames that they
//! send and receive.

use num_traits::ToPrimitive;

use super::{Lower, Symbol, literal, shown};
use crate::ast::{self, Annotation, Arg, Decl, ExprKind as Ast, Field};
use crate::fault::{Check, Fault};
use crate::ir::{
    ControllerField, ControllerHeader, Expr, HashAlgorithm, MatchKind, Profile, Selector, SetKeys, ValueKey, ValueSet,
};
use crate::source::Span;
use crate::types::Type;

/// Bits of the hash of a selector that are used at most.
const SELECTOR_BITS: u32 = 64;

impl<'a> Lower<'a> {
    /// A new action profile or selector. Gives its index.
    pub(super) fn new_profile(
        &mut self,
        of: &str,
        args: &'a [Arg],
        name: String,
        annotations: &[Annotation],
        span: Span,
    ) -> Check<usize> {
        let selects = of == "action_selector";
        let params: &[&str] = if selects { &["algorithm", "size", "outputWidth"] } else { &["size"] };
        let args = self.arguments(of, params, args, span)?;
        let size = self.constant_u32(args[usize::from(selects)])?;
        let selector = match selects {
            true => {
                let algorithm = self.constant(args[0])?;
                let algorithm = algorithm.to_usize().and_then(|index| HashAlgorithm::ALL.get(index).copied());
                let algorithm =
                    algorithm.ok_or_else(|| Fault::new(args[0].span, "an algorithm of HashAlgorithm is expected"))?;
                Some(Selector { algorithm, width: self.constant_u32(args[2])?.min(SELECTOR_BITS) })
            }
            false => None,
        };
        let id = self.p4info_id(0x11, &name, annotations, span);
        self.program.profiles.push(Profile { name, id, size, selector, annotations: shown(annotations), span });
        Ok(self.program.profiles.len() - 1)
    }

    /// Notes how the members of a struct match in value sets.
    pub(super) fn note_match_kinds(&mut self, name: &str, fields: &[Field]) -> Check<()> {
        let kind = |field: &Field| match field.annotations.iter().find(|annotation| annotation.name == "match") {
            Some(annotation) => match annotation.value.trim() {
                "exact" => Ok(MatchKind::Exact),
                "lpm" => Ok(MatchKind::Lpm),
                "ternary" => Ok(MatchKind::Ternary),
                "range" => Ok(MatchKind::Range),
                "optional" => Ok(MatchKind::Optional),
                other => Err(Fault::new(annotation.span, format!("there is no match kind `{other}`"))
                    .help("members of value sets are exact, lpm, ternary, range or optional")),
            },
            None => Ok(MatchKind::Exact),
        };
        let kinds = fields.iter().map(kind).collect::<Check<_>>()?;
        self.match_kinds.insert(name.to_owned(), kinds);
        Ok(())
    }

    /// A value set.
    pub(super) fn value_set(&mut self, decl: &'a Decl, ty: &'a ast::Type, size: &'a ast::Expr) -> Check<Symbol<'a>> {
        let of = self.ty(ty)?;
        let missing = || Fault::missing(ty.span, &format!("value sets of `{of}`"));
        let parts: Vec<(String, Type)> = match &of {
            Type::Struct(of) => of.fields.clone(),
            Type::Tuple(parts) => {
                parts.iter().enumerate().map(|(index, ty)| (format!("f{index}"), ty.clone())).collect()
            }
            ty => vec![(String::new(), ty.clone())],
        };
        let kinds = match &of {
            Type::Struct(of) => self.match_kinds.get(&of.name).cloned().unwrap_or_default(),
            _ => Vec::new(),
        };
        let mut keys = Vec::new();
        for (index, (name, ty)) in parts.into_iter().enumerate() {
            let width = ty.bits().ok_or_else(missing)?;
            keys.push(ValueKey { name, width, kind: kinds.get(index).copied().unwrap_or(MatchKind::Exact) });
        }
        let size = self.constant_u32(size)?;
        let name = self.full_name(&decl.name.text, &decl.annotations);
        let id = self.p4info_id(0x03, &name, &decl.annotations, decl.span);
        let annotations = shown(&decl.annotations);
        self.program.value_sets.push(ValueSet { name, id, size, keys, annotations, span: decl.span });
        Ok(Symbol::ValueSet(self.program.value_sets.len() - 1))
    }

    /// The value set that an expression names.
    pub(super) fn named_set(&self, expr: &ast::Expr) -> Option<usize> {
        match &expr.kind {
            Ast::Name(name) => match self.find(name) {
                Some(Symbol::ValueSet(set)) => Some(*set),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value set that a part of a row of `select` names, for keys from `first` on.
    pub(super) fn set_keys(&self, part: &ast::Expr, first: usize, keys: &[(Expr, Type)]) -> Check<Option<SetKeys>> {
        let Some(set) = self.named_set(part) else { return Ok(None) };
        let widths: Vec<u32> = self.program.value_sets[set].keys.iter().map(|key| key.width).collect();
        let given: Vec<u32> = keys.iter().map(|(value, _)| value.width).collect();
        if widths != given {
            return Err(Fault::new(part.span, "the members of this value set have other widths")
                .label(format!("values of {widths:?} bits"))
                .help(format!("{given:?} bits are compared here")));
        }
        Ok(Some(SetKeys { set, first, count: keys.len() }))
    }

    /// Notes a header with `@controller_header`.
    pub(super) fn controller_header(&mut self, decl: &Decl, fields: &[Field], shown_fields: &[(String, u32, bool)]) {
        let given = decl.annotations.iter().find(|annotation| annotation.name == "controller_header");
        let Some(given) = given else { return };
        if fields.len() != shown_fields.len() {
            let text = "a controller header has numbers of at most 128 bits as its fields";
            self.fail(Fault::new(decl.name.span, text).help("write each part of a struct as a field"));
            return;
        }
        let name = given.value.trim_matches('"').to_owned();
        let made = fields.iter().zip(shown_fields).zip(1..).map(|((field, (name, width, _)), place)| {
            let has = |name: &str| field.annotations.iter().find(|annotation| annotation.name == name);
            ControllerField {
                id: has("id").and_then(|id| literal::plain(&id.value)).unwrap_or(place),
                name: name.clone(),
                width: *width,
                padding: has("padding").is_some(),
                annotations: shown(&field.annotations),
            }
        });
        let fields: Vec<_> = made.collect();
        if let Some((name, ..)) = shown_fields.iter().find(|(_, _, varbit)| *varbit) {
            let text = format!("`{name}` is a varbit, which a controller header cannot have");
            self.fail(Fault::new(decl.name.span, text).help("give the field a fixed width"));
        }
        let id = self.p4info_id(0x04, &name, &decl.annotations, decl.span);
        let annotations = shown(&decl.annotations);
        self.program.controller_headers.push(ControllerHeader { name, id, fields, annotations });
    }
}
