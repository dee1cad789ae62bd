// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Type parameters: each use of a generic struct is a type of its own, and each call of a generic function has types
//! that are given or follow from its arguments.

use std::collections::HashMap;

use super::call::is_default;
use super::value::{Place, Value};
use super::{Lower, Scope, Symbol};
use crate::ast::{self, Call, Decl, DeclKind, Function, Name, TypeKind};
use crate::fault::{Check, Fault};
use crate::source::Span;
use crate::types::Type;

/// Letters of the name of a generic type, with the types that it was made with.
const NAME: usize = 4096;

impl<'a> Lower<'a> {
    /// A struct, header or header union with these types in place of its parameters.
    pub(super) fn with_types(&mut self, decl: &'a Decl, args: &'a [ast::Type], span: Span) -> Check<Type> {
        let (DeclKind::Header(params, _) | DeclKind::Struct(params, _) | DeclKind::Union(params, _)) = &decl.kind
        else {
            return Err(
                Fault::new(span, format!("`{}` is not a type of values", decl.name.text)).label(super::kind_name(decl))
            );
        };
        if params.len() != args.len() {
            return Err(Fault::new(span, format!("`{}` has {} type parameters", decl.name.text, params.len()))
                .label(format!("{} types are given", args.len())));
        }
        let args: Vec<Type> = args.iter().map(|arg| self.ty(arg)).collect::<Check<_>>()?;
        let shown: Vec<String> = args.iter().map(ToString::to_string).collect();
        let name = format!("{}<{}>", decl.name.text, shown.join(", "));
        // A struct that holds itself with longer and longer types has no end.
        if name.len() > NAME {
            return Err(Fault::new(span, format!("the name of this type has more than {NAME} letters"))
                .label("its type parameters are written out"));
        }
        if let Some(known) = self.made_types.get(&name) {
            return Ok(known.clone());
        }
        let scope = types_scope(params, &args);
        let (made, _) =
            self.within(1, vec![scope], |this| this.deeper(span, |this| this.fields_type(decl, name.clone())));
        let made = made?;
        if made.depth() > super::TYPES {
            return Err(Fault::new(span, format!("more than {} types stand in each other", super::TYPES)));
        }
        self.made_types.insert(name, made.clone());
        Ok(made)
    }

    /// The type parameters of a function, as types: those of the call, or those of its arguments.
    pub(super) fn type_arguments(
        &mut self,
        decl: &'a Decl,
        function: &'a Function,
        call: &'a Call,
        span: Span,
    ) -> Check<Scope<'a>> {
        let name = &decl.name.text;
        if !call.types.is_empty() {
            if call.types.len() != function.types.len() {
                return Err(Fault::new(span, format!("`{name}` has {} type parameters", function.types.len())));
            }
            let types: Vec<Type> = call.types.iter().map(|ty| self.ty(ty)).collect::<Check<_>>()?;
            return Ok(types_scope(&function.types, &types));
        }
        if function.types.is_empty() {
            return Ok(Scope::new());
        }
        let mut known: HashMap<String, Type> = HashMap::new();
        let args = self.declared_arguments(name, &function.params, &call.args, span)?;
        for (param, arg) in function.params.iter().zip(args).filter(|(param, arg)| !is_default(param, arg)) {
            // Only its type counts here: the call makes its statements.
            let (value, _) = self.capture(|this| this.deeper(span, |this| this.expr(arg, None)));
            let given = match value? {
                Value::Scalar(_, ty) | Value::Place(Place { ty, .. }) => ty,
                _ => continue,
            };
            find_types(&param.ty, &given, &function.types, &mut known);
        }
        let mut types = Vec::new();
        for param in &function.types {
            let found = known.get(&param.text).cloned();
            types.push(found.ok_or_else(|| {
                Fault::new(span, format!("the type `{}` of `{name}` does not follow from the arguments", param.text))
                    .help(format!("write it: `{name}<…>(…)`"))
            })?);
        }
        Ok(types_scope(&function.types, &types))
    }
}

/// Names of types that stand for these types.
pub(super) fn types_scope<'a>(names: &[Name], types: &[Type]) -> Scope<'a> {
    names.iter().zip(types).map(|(name, ty)| (name.text.clone(), Symbol::Type(ty.clone()))).collect()
}

/// Finds type parameters in a parameter's type, given the type of its argument.
fn find_types(declared: &ast::Type, given: &Type, names: &[Name], known: &mut HashMap<String, Type>) {
    match (&declared.kind, given) {
        (TypeKind::Named(name, args), _) if args.is_empty() && names.iter().any(|of| of.text == *name) => {
            known.entry(name.clone()).or_insert_with(|| given.clone());
        }
        (TypeKind::Stack(of, _), Type::Stack(given, _)) => find_types(of, given, names, known),
        (TypeKind::Tuple(of), Type::Tuple(given)) => {
            of.iter().zip(given.iter()).for_each(|(of, given)| find_types(of, given, names, known));
        }
        _ => {}
    }
}
