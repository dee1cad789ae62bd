// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Calls: the callee is inlined at the call.

use super::place::{mismatch, writes};
use super::value::{Place, Shape, Value};
use super::{ActionSymbol, Context, Lower, Return, Scope, Symbol};
use crate::ast::{self, Arg, Call, Decl, DeclKind, Direction, ExprKind as Ast, Stmt, StmtKind as AstStmt};
use crate::fault::{Check, Fault};
use crate::ir::operation::{before_exits, exits};
use crate::ir::{Expr, StmtKind};
use crate::source::Span;
use crate::types::Type;

/// What is inlined.
struct Callee<'a> {
    name: &'a str,
    /// Its type parameters, and the types that they are.
    types: Scope<'a>,
    params: &'a [ast::Param],
    body: &'a [Stmt],
    /// Scopes that it sees.
    depth: usize,
    context: Context,
    result: Option<Type>,
}

impl<'a> Lower<'a> {
    pub(super) fn call(&mut self, call: &'a Call, want: Option<&Type>, span: Span) -> Check<Value> {
        match &call.callee.kind {
            Ast::Name(name) | Ast::Outer(name) => match self.named(&call.callee).transpose()?.unwrap_or(Symbol::Broken)
            {
                Symbol::Action(action) => self.call_action(&action, &call.args, span),
                Symbol::Decl(decl) => match &decl.kind {
                    DeclKind::Function(function) => match &function.body {
                        Some(body) => self.call_function(decl, function, body, call, span),
                        None => self.extern_function(name, call, span),
                    },
                    _ => Err(Fault::new(call.callee.span, format!("`{name}` cannot be called"))
                        .label(super::kind_name(decl))
                        .help("make an instance and apply it")),
                },
                _ => Err(Fault::new(call.callee.span, format!("`{name}` cannot be called"))
                    .label("not an action or function")),
            },
            Ast::Member(base, method) => {
                if let Ast::Name(name) = &base.kind {
                    match self.lookup(name, base.span)? {
                        Symbol::Table(table) if method.text == "apply" => {
                            self.no_arguments(call, span)?;
                            self.apply_table(crate::ir::Apply::plain(table), span)?;
                            return Ok(Value::Void(span));
                        }
                        Symbol::Instance(instance) if method.text == "apply" => {
                            return self.apply_instance(&instance, &call.args, span);
                        }
                        Symbol::Decl(decl) if method.text == "apply" => {
                            let path = self.full_name(&decl.name.text, &decl.annotations);
                            let instance = super::Instance { decl, path, args: Vec::new() };
                            return self.apply_instance(&instance, &call.args, span);
                        }
                        symbol @ (Symbol::Register(..)
                        | Symbol::Counter(_)
                        | Symbol::DirectCounter(_)
                        | Symbol::Meter(_)
                        | Symbol::DirectMeter(_)) => {
                            return self.extern_method(&symbol, method, call, span);
                        }
                        Symbol::Value(_) => {}
                        _ => return Err(no_method(name, method)),
                    }
                }
                self.method(base, method, call, want, span)
            }
            _ => Err(Fault::new(call.callee.span, "this cannot be called")),
        }
    }

    fn no_arguments(&self, call: &Call, span: Span) -> Check<()> {
        if call.args.is_empty() { Ok(()) } else { Err(Fault::new(span, "no arguments are expected here")) }
    }

    /// The table of `t.apply()`.
    pub(super) fn applied_table(&self, call: &Call) -> Check<Option<(usize, Span)>> {
        if let Ast::Member(base, method) = &call.callee.kind
            && method.text == "apply"
            && let Ast::Name(name) = &base.kind
            && let Symbol::Table(table) = self.lookup(name, base.span)?
        {
            self.no_arguments(call, call.callee.span)?;
            return Ok(Some((table, base.span)));
        }
        Ok(None)
    }

    /// Methods of values.
    fn method(
        &mut self,
        base: &'a ast::Expr,
        method: &ast::Name,
        call: &'a Call,
        want: Option<&Type>,
        span: Span,
    ) -> Check<Value> {
        if let Some(size) = self.size_method(base, method, call)? {
            return Ok(Value::Scalar(Expr::constant(size.into(), 32, span), Type::Bit(32)));
        }
        let value = self.raw(base, None)?;
        let Value::Place(place) = &value else { return Err(no_method(&value.type_name(), method)) };
        if let Shape::Element(index, elements) = &place.shape {
            return self.element_method(index, elements, method, call, span);
        }
        match (&place.shape, &method.text[..]) {
            (Shape::Header(instance, _), "isValid") => {
                self.no_arguments(call, span)?;
                Ok(Value::Scalar(self.validity(*instance, span), Type::Bool))
            }
            (Shape::Header(instance, _), "setValid" | "setInvalid") => {
                self.no_arguments(call, span)?;
                if !place.writable {
                    return Err(
                        Fault::new(base.span, "this header cannot be changed").label("a parameter of direction `in`")
                    );
                }
                self.set_valid(*instance, method.text == "setValid", span);
                Ok(Value::Void(span))
            }
            (Shape::Struct(_), "isValid") if Self::is_union(place) => {
                self.no_arguments(call, span)?;
                Ok(Value::Scalar(self.union_validity(place, span), Type::Bool))
            }
            (Shape::Stack(..), "push_front" | "pop_front") => self.shift_stack(place, method, call, span),
            (Shape::Packet, _) if place.ty == Type::PacketIn => self.packet_in(method, call, want, span),
            (Shape::Packet, "emit") => Err(Fault::new(span, "`emit` stands in the deparser alone")
                .help("emit headers in the last control of V1Switch")),
            _ => Err(no_method(&value.type_name(), method)),
        }
    }

    /// Methods of an element of a stack that an index chooses.
    fn element_method(
        &mut self,
        index: &Expr,
        elements: &[Place],
        method: &ast::Name,
        call: &'a Call,
        span: Span,
    ) -> Check<Value> {
        self.no_arguments(call, span)?;
        let index = self.keep(index.clone());
        match &method.text[..] {
            "isValid" => {
                let mut any = Expr::constant(0, 1, span);
                for (number, element) in elements.iter().enumerate() {
                    let valid = self.union_validity(element, span);
                    any = Expr::mux(Self::chosen(&index, number, span), valid, any, span);
                }
                Ok(Value::Scalar(any, Type::Bool))
            }
            "setValid" | "setInvalid" => {
                self.for_element(&index, elements.to_vec(), span, |this, element| match element.shape {
                    Shape::Header(instance, _) if element.writable => {
                        this.set_valid(instance, method.text == "setValid", span);
                        Ok(())
                    }
                    Shape::Header(..) => Err(Fault::new(span, "this header cannot be changed")),
                    _ => Err(no_method(&element.ty.to_string(), method)),
                })?;
                Ok(Value::Void(span))
            }
            _ => Err(no_method(&elements[0].ty.to_string(), method)),
        }
    }

    /// `minSizeInBits` and the like, of a type or a value: its size without, or with, the maxima of varbits.
    fn size_method(&mut self, base: &'a ast::Expr, method: &ast::Name, call: &'a Call) -> Check<Option<u32>> {
        let (most, unit) = match &method.text[..] {
            "minSizeInBits" => (false, 1),
            "minSizeInBytes" => (false, 8),
            "maxSizeInBits" => (true, 1),
            "maxSizeInBytes" => (true, 8),
            _ => return Ok(None),
        };
        self.no_arguments(call, method.span)?;
        let ty = match self.named(base) {
            Some(symbol) => match symbol? {
                Symbol::Type(ty) => Some(ty),
                _ => None,
            },
            None => None,
        };
        let ty = match ty {
            Some(ty) => ty,
            None => match self.raw(base, None)? {
                Value::Place(place) => place.ty,
                other => return Err(no_method(&other.type_name(), method)),
            },
        };
        let none = || Fault::new(method.span, format!("`{ty}` has no size"));
        Ok(Some(ty.size(most).ok_or_else(none)?.div_ceil(unit)))
    }

    /// Arguments in the order of the parameters.
    pub(super) fn arguments(
        &self,
        what: &str,
        params: &[&str],
        args: &'a [Arg],
        span: Span,
    ) -> Check<Vec<&'a ast::Expr>> {
        let params: Vec<_> = params.iter().map(|name| (*name, None)).collect();
        in_order_of(what, &params, args, span)
    }

    /// Arguments in the order of declared parameters, or the values that these have by default.
    pub(super) fn declared_arguments(
        &self,
        what: &str,
        params: &'a [ast::Param],
        args: &'a [Arg],
        span: Span,
    ) -> Check<Vec<&'a ast::Expr>> {
        let params: Vec<_> = params.iter().map(|param| (&param.name.text[..], param.default.as_ref())).collect();
        in_order_of(what, &params, args, span)
    }

    fn call_action(&mut self, action: &ActionSymbol<'a>, args: &'a [Arg], span: Span) -> Check<Value> {
        let decl = action.decl;
        let DeclKind::Action(params, body) = &decl.kind else { return Ok(Value::Void(span)) };
        if !matches!(self.context, Context::Control | Context::Action) {
            return Err(Fault::new(span, "actions are called in controls and actions alone"));
        }
        let callee = Callee {
            name: &decl.name.text,
            types: Scope::new(),
            params,
            body,
            depth: action.depth,
            context: Context::Action,
            result: None,
        };
        self.inline(&callee, args, span)
    }

    fn call_function(
        &mut self,
        decl: &'a Decl,
        function: &'a ast::Function,
        body: &'a [Stmt],
        call: &'a Call,
        span: Span,
    ) -> Check<Value> {
        let types = self.type_arguments(decl, function, call, span)?;
        let (result, _) =
            self.within(1, vec![types.clone()], |this| function.result.as_ref().map(|ty| this.ty(ty)).transpose());
        let result = result?.filter(|ty| *ty != Type::Void);
        let callee = Callee {
            name: &decl.name.text,
            types,
            params: &function.params,
            body,
            depth: 1,
            context: if self.context == Context::Pure { Context::Pure } else { Context::Function },
            result,
        };
        self.inline(&callee, &call.args, span)
    }

    /// Inlines the body of an action or function. Arguments of direction `in` replace their parameters, unless the body
    /// writes the fields that they read.
    fn inline(&mut self, callee: &Callee<'a>, args: &'a [Arg], span: Span) -> Check<Value> {
        let args = self.declared_arguments(callee.name, callee.params, args, span)?;
        let (mut scope, mut ins, mut outs) = (Scope::new(), Vec::<(String, Value)>::new(), Vec::new());
        for (param, arg) in callee.params.iter().zip(args) {
            let (ty, _) = self.within(callee.depth, vec![callee.types.clone()], |this| this.ty(&param.ty));
            let ty = ty?;
            if matches!(param.direction, Direction::None | Direction::In) {
                let (value, stmts) = self.capture(|this| {
                    let value = if is_default(param, arg) {
                        this.default_argument(arg, &ty, callee.depth, callee.types.clone())?
                    } else {
                        this.expr(arg, Some(&ty))?
                    };
                    this.argument(value, &ty)
                });
                self.settle_before(ins.iter_mut().map(|(_, value)| value), &stmts)?;
                self.out.extend(stmts);
                ins.push((param.name.text.clone(), value?));
                continue;
            }
            let (place, stmts) = self.capture(|this| this.writable(arg));
            self.settle_before(ins.iter_mut().map(|(_, value)| value), &stmts)?;
            self.out.extend(stmts);
            let place = place?;
            if place.ty != ty {
                return Err(mismatch(&ty.to_string(), &Value::Place(place)));
            }
            let copy = self.copy(&format!("{}.{}", callee.name, param.name.text), &ty, span)?;
            if param.direction == Direction::InOut {
                self.assign(&copy, Value::Place(place.clone()), span)?;
            } else {
                self.invalidate(&copy, span);
            }
            scope.insert(param.name.text.clone(), Symbol::Value(Value::Place(copy.clone())));
            outs.push((place, copy));
        }
        let result = match &callee.result {
            Some(ty) => Some(self.copy(&format!("{}.$result", callee.name), ty, span)?),
            None => None,
        };
        let with = |ins: &[(String, Value)]| {
            let mut scope = scope.clone();
            scope.extend(ins.iter().map(|(name, value)| (name.clone(), Symbol::Value(value.clone()))));
            scope
        };
        let faults = self.faults.len();
        let mut stmts = self.inlined(callee, with(&ins), result.clone(), span)?;
        let mut written = Vec::new();
        writes(&self.program, &stmts, &mut written);
        let conflict = |value: &Value| match value {
            Value::Scalar(expr, _) => expr.reads(&written),
            Value::Place(place) => place.fields().iter().any(|field| written.contains(field)),
            _ => false,
        };
        if self.faults.len() == faults && ins.iter().any(|(_, value)| conflict(value)) {
            for (_, value) in &mut ins {
                *value = match value.clone() {
                    Value::Scalar(expr, ty) => Value::Scalar(self.keep(expr), ty),
                    Value::Place(place) => {
                        let copy = self.copy("$argument", &place.ty, span)?;
                        self.assign(&copy, Value::Place(place), span)?;
                        Value::Place(copy.read_only())
                    }
                    other => other,
                };
            }
            stmts = self.inlined(callee, with(&ins), result.clone(), span)?;
        }
        let (done, back) = self.capture(|this| {
            outs.into_iter().try_for_each(|(place, copy)| this.assign(&place, Value::Place(copy), span))
        });
        done?;
        self.count(exits(&stmts) * back.len(), span)?;
        before_exits(&mut stmts, &back);
        self.out.extend(stmts);
        self.out.extend(back);
        Ok(result.map_or(Value::Void(span), |place| Value::Place(Place { span, ..place.read_only() })))
    }

    /// The value that a parameter has by default: a constant, whose names are those of its declaration.
    pub(super) fn default_argument(
        &mut self,
        value: &'a ast::Expr,
        ty: &Type,
        depth: usize,
        types: Scope<'a>,
    ) -> Check<Value> {
        let (value, _) = self.within(depth, vec![types], |this| {
            let value = this.expr(value, Some(ty))?;
            this.constant_of(value, ty)
        });
        value
    }

    /// A value as an argument of this type.
    fn argument(&mut self, value: Value, ty: &Type) -> Check<Value> {
        if ty.bits().is_some() {
            return Ok(Value::Scalar(self.scalar(value, ty)?, ty.clone()));
        }
        match value {
            Value::Place(place) if place.ty == *ty => Ok(Value::Place(place.read_only())),
            value @ Value::Integer(..) if *ty == Type::Integer => Ok(value),
            value @ Value::Text(_) if *ty == Type::Text => Ok(value),
            value @ (Value::List(..) | Value::Record(..) | Value::Invalid(_) | Value::Rest(_)) => {
                let span = value.span();
                let copy = self.copy("$argument", ty, span)?;
                self.assign(&copy, value, span)?;
                Ok(Value::Place(copy.read_only()))
            }
            other => Err(mismatch(&ty.to_string(), &other)),
        }
    }

    /// The statements of a body.
    fn inlined(
        &mut self,
        callee: &Callee<'a>,
        scope: Scope<'a>,
        result: Option<Place>,
        span: Span,
    ) -> Check<Vec<crate::ir::Stmt>> {
        let returning = Return { flag: None, value: result, ty: callee.result.clone() };
        let before = (std::mem::replace(&mut self.returning, returning), self.context);
        let loops = std::mem::take(&mut self.loops);
        self.context = callee.context;
        let (done, _) = self.within(callee.depth, vec![callee.types.clone(), scope], |this| {
            this.deeper(span, |this| Ok(this.capture(|this| this.body(callee.body)).1))
        });
        (self.returning, self.context) = before;
        self.loops = loops;
        done
    }

    /// A body that `return` ends.
    pub(super) fn body(&mut self, body: &'a [Stmt]) {
        if returns_early(body)
            && let Some(first) = body.first()
        {
            let flag = self.temporary(1, first.span);
            self.emit(StmtKind::Assign(flag, Expr::constant(0, 1, first.span)), first.span);
            self.returning.flag = Some(flag);
        }
        self.block(body);
    }
}

/// Whether an argument of [`Lower::declared_arguments`] is the value that its parameter has by default.
pub(super) fn is_default(param: &ast::Param, arg: &ast::Expr) -> bool {
    param.default.as_ref().is_some_and(|default| std::ptr::eq(default, arg))
}

/// Arguments in the order of parameters, each with the value that it has by default.
pub(super) fn in_order_of<'a>(
    what: &str,
    params: &[(&str, Option<&'a ast::Expr>)],
    args: &'a [Arg],
    span: Span,
) -> Check<Vec<&'a ast::Expr>> {
    let names: Vec<&str> = params.iter().map(|(name, _)| *name).collect();
    let wrong =
        |text: String| Err(Fault::new(span, text).help(format!("it takes {}: {}", params.len(), names.join(", "))));
    let needed = params.iter().filter(|(_, default)| default.is_none()).count();
    if args.len() > params.len() || args.len() < needed {
        return wrong(format!("`{what}` takes {} arguments, {} are given", params.len(), args.len()));
    }
    let positional = args.iter().all(|arg| arg.name.is_none());
    for (index, arg) in args.iter().enumerate().filter(|_| !positional) {
        let Some(name) = &arg.name else {
            return Err(Fault::new(arg.value.span, "some arguments of this call have names, this one has none")
                .help("give all arguments names, or none"));
        };
        if !names.contains(&&name.text[..]) {
            return Err(Fault::new(name.span, format!("`{what}` has no parameter `{}`", name.text)).help(format!(
                "it takes {}: {}",
                params.len(),
                names.join(", ")
            )));
        }
        if args[..index].iter().any(|other| other.name.as_ref().is_some_and(|other| other.text == name.text)) {
            return Err(Fault::new(name.span, format!("the argument `{}` is given twice", name.text)));
        }
    }
    let mut found = Vec::new();
    for (index, (param, default)) in params.iter().enumerate() {
        let arg = if positional {
            args.get(index)
        } else {
            args.iter().find(|arg| arg.name.as_ref().is_some_and(|name| name.text == *param))
        };
        match arg.map(|arg| &arg.value).or(*default) {
            Some(value) => found.push(value),
            None => return wrong(format!("the argument `{param}` of `{what}` is missing")),
        }
    }
    Ok(found)
}

fn no_method(of: &str, method: &ast::Name) -> Box<Fault> {
    Fault::new(method.span, format!("`{of}` has no method `{}`", method.text)).label("unknown method")
}

/// Whether a statement contains a `return`.
pub(super) fn has_return(stmt: &Stmt) -> bool {
    match &stmt.kind {
        AstStmt::Return(_) => true,
        AstStmt::If(_, then, otherwise) => has_return(then) || otherwise.as_deref().is_some_and(has_return),
        AstStmt::Block(stmts) => stmts.iter().any(has_return),
        AstStmt::Switch(_, cases) => cases.iter().filter_map(|case| case.block.as_ref()).flatten().any(has_return),
        AstStmt::For(of) => has_return(&of.body),
        AstStmt::ForIn(_, _, body) => has_return(body),
        _ => false,
    }
}

/// Whether statements follow one that may return.
fn returns_early(stmts: &[Stmt]) -> bool {
    let early = |stmt: &Stmt| match &stmt.kind {
        AstStmt::If(_, then, otherwise) => {
            let parts = std::iter::once(&**then).chain(otherwise.as_deref());
            parts.into_iter().any(|part| returns_early(std::slice::from_ref(part)))
        }
        AstStmt::Block(stmts) => returns_early(stmts),
        // The next turn follows.
        AstStmt::For(_) | AstStmt::ForIn(..) => has_return(stmt),
        AstStmt::Switch(_, cases) => {
            cases.iter().filter_map(|case| case.block.as_ref()).any(|block| returns_early(block))
        }
        _ => false,
    };
    let last = stmts.len().saturating_sub(1);
    stmts.iter().enumerate().any(|(index, stmt)| (index < last && has_return(stmt)) || early(stmt))
}
