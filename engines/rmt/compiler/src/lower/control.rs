// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Controls: their declarations are lowered once, their `apply` block where they are applied.

use super::call::is_default;
use super::expression::symbol_kind;
use super::value::{Place, Shape, Value};
use super::{ActionSymbol, Context, Instance, Lower, Scope, Symbol};
use crate::ast::{self, Arg, ControlDecl, Decl, DeclKind, Direction};
use crate::fault::{Check, Fault};
use crate::ir::operation::{before_exits, exits, walk};
use crate::ir::{Counter, CounterUnit, Meter, Register, Stmt, StmtKind};
use crate::source::Span;
use crate::types::Type;

/// A control that was applied.
#[derive(Clone)]
pub(super) struct Applied<'a> {
    /// For each parameter the variable that it is.
    params: Vec<Place>,
    /// For each parameter, whether it is a variable of its own and not one of the caller.
    own: Vec<bool>,
    /// Its parameters and declarations.
    scopes: Vec<Scope<'a>>,
}

/// The variables that the parameters of a control or parser are.
pub(super) struct Bound {
    pub places: Vec<Place>,
    /// For each parameter, whether it is a variable of its own and not one of the caller.
    own: Vec<bool>,
    /// Parameters whose values go back to arguments at the end.
    outs: Vec<(Place, Place)>,
    /// Variables of the caller that stand for a parameter now, and the values that they get back at the end.
    saved: Vec<(Place, Place)>,
}

impl<'a> Lower<'a> {
    /// Applies an instance of a control, or inlines a parser.
    pub(super) fn apply_instance(&mut self, instance: &Instance<'a>, args: &'a [Arg], span: Span) -> Check<Value> {
        match &instance.decl.kind {
            DeclKind::Control(control) if self.context == Context::Control => {
                self.apply_control(instance, control, args, span)?;
            }
            DeclKind::Parser(parser) if self.context == Context::Parser => {
                self.apply_parser(instance, parser, args, span)?;
            }
            _ => {
                return Err(Fault::new(span, format!("{} cannot be applied here", super::kind_name(instance.decl)))
                    .help("parsers are applied in parsers, controls in the `apply` block of controls"));
            }
        }
        Ok(Value::Void(span))
    }

    fn apply_control(
        &mut self,
        instance: &Instance<'a>,
        control: &'a ControlDecl,
        args: &'a [Arg],
        span: Span,
    ) -> Check<()> {
        // Without tables and objects, nothing of a control belongs to the variables of its first application.
        let has_objects =
            control.locals.iter().any(|local| matches!(local.kind, DeclKind::Table(_) | DeclKind::Instance(..)));
        let known = self.applied.get(&instance.path).cloned().filter(|_| has_objects);
        let bound = self.bind(instance, &control.params, args, known.as_ref(), span)?;
        let path = std::mem::replace(&mut self.path, instance.path.clone());
        let scopes = match known {
            Some(known) => known.scopes,
            None => self.control_scopes(instance, control, &bound.places, span)?,
        };
        let (scopes, mut stmts) = self.capture(|this| this.deeper(span, |this| Ok(this.apply_block(control, scopes))));
        self.path = path;
        let applied = Applied { params: bound.places.clone(), own: bound.own.clone(), scopes: scopes? };
        self.applied.insert(instance.path.clone(), applied);
        let moves = !bound.outs.is_empty() || !bound.saved.is_empty();
        let (done, back) = self.capture(|this| this.unbind(bound, span));
        done?;
        if moves {
            if let Some(exit) = self.exit_of_action(&stmts) {
                return Err(Fault::missing(span, "a control whose tables run `exit` applied to different variables")
                    .also(exit, "the `exit`")
                    .help("make an instance for each of them"));
            }
            self.count(exits(&stmts) * back.len(), span)?;
            before_exits(&mut stmts, &back);
        }
        self.out.extend(stmts);
        self.out.extend(back);
        Ok(())
    }

    /// An `exit` in an action of a table that statements apply.
    fn exit_of_action(&self, stmts: &[Stmt]) -> Option<Span> {
        let mut found = None;
        walk(stmts, &mut |stmt| {
            let StmtKind::Apply(apply) = &stmt.kind else { return };
            for action in &self.program.tables[apply.table].actions {
                walk(&self.program.actions[action.action].body, &mut |stmt| {
                    if stmt.kind == StmtKind::Exit {
                        found = Some(stmt.span);
                    }
                });
            }
        });
        found
    }

    /// The variables that the parameters of a control or parser are. A variable of the caller stands for a parameter of
    /// direction `out` or `inout` if that is possible: no other parameter is that variable, and the control's tables,
    /// which work on the variables of its first application, work on this one. Else the parameter has a variable of its
    /// own, or that of the first application, and the value goes there and back.
    pub(super) fn bind(
        &mut self,
        instance: &Instance<'a>,
        params: &'a [ast::Param],
        args: &'a [Arg],
        before: Option<&Applied<'a>>,
        span: Span,
    ) -> Check<Bound> {
        let args = self.declared_arguments(&instance.decl.name.text, params, args, span)?;
        let mut bound = Bound { places: Vec::new(), own: Vec::new(), outs: Vec::new(), saved: Vec::new() };
        let moved = |param: &ast::Param| matches!(param.direction, Direction::Out | Direction::InOut);
        let mut outs = Vec::new();
        for (param, arg) in params.iter().zip(&args) {
            outs.push(if moved(param) { Some(self.writable(arg)?) } else { None });
        }
        let fields: Vec<Vec<usize>> = outs.iter().map(|out| out.as_ref().map_or(Vec::new(), Place::fields)).collect();
        // Values of arguments, which go to parameters when all of them are known.
        let mut values: Vec<(Place, Value)> = Vec::new();
        let mut empty: Vec<Place> = Vec::new();
        for (index, (param, arg)) in params.iter().zip(args).enumerate() {
            let ty = self.ty(&param.ty)?;
            let known = before.map(|before| (before.params[index].clone(), before.own[index]));
            let name = format!("{}.{}", instance.path, param.name.text);
            if ty != Type::PacketIn && matches!(param.direction, Direction::None | Direction::In) {
                let value = if is_default(param, arg) {
                    self.default_argument(arg, &ty, 1, Scope::new())?
                } else {
                    self.expr(arg, Some(&ty))?
                };
                let place = match known {
                    Some((place, _)) => place,
                    None => self.copy(&name, &ty, span)?,
                };
                self.assign(&place, value, span)?;
                bound.places.push(place);
                bound.own.push(true);
                continue;
            }
            let place = match outs[index].take() {
                Some(place) => place,
                None => self.writable(arg)?,
            };
            if place.ty != ty {
                return Err(super::place::mismatch(&ty.to_string(), &Value::Place(place)));
            }
            let own = &fields[index];
            let others = fields.iter().enumerate().filter(|(other, _)| *other != index).flat_map(|(_, of)| of);
            let moves = matches!(place.shape, Shape::Element(..))
                || self.stands_for_element(&place)
                || others.into_iter().any(|field| own.contains(field))
                || known.as_ref().is_some_and(|(known, _)| known.fields() != *own);
            if !moves {
                if param.direction == Direction::Out {
                    empty.push(place.clone());
                }
                bound.places.push(place);
                bound.own.push(false);
                continue;
            }
            let (own, is_own) = match known {
                Some(known) => known,
                None => (self.copy(&name, &ty, span)?, true),
            };
            if !is_own {
                bound.saved.push((own.clone(), self.copy("$saved", &ty, span)?));
            }
            if param.direction == Direction::Out {
                empty.push(own.clone());
            } else {
                let value = self.copy("$value", &ty, span)?;
                self.assign(&value, Value::Place(place.clone()), span)?;
                values.push((own.clone(), Value::Place(value)));
            }
            bound.outs.push((place, own.clone()));
            bound.places.push(own);
            bound.own.push(is_own);
        }
        for (variable, saved) in &bound.saved {
            self.assign(saved, Value::Place(variable.clone()), span)?;
        }
        for place in empty {
            self.invalidate(&place, span);
        }
        for (place, value) in values {
            self.assign(&place, value, span)?;
        }
        Ok(bound)
    }

    /// The values of parameters go back.
    pub(super) fn unbind(&mut self, bound: Bound, span: Span) -> Check<()> {
        let mut results = Vec::new();
        for (argument, param) in bound.outs {
            let result = if bound.saved.is_empty() {
                param
            } else {
                let result = self.copy("$result", &param.ty, span)?;
                self.assign(&result, Value::Place(param), span)?;
                result
            };
            results.push((argument, result));
        }
        for (variable, saved) in bound.saved {
            self.assign(&variable, Value::Place(saved), span)?;
        }
        for (argument, result) in results {
            self.assign(&argument, Value::Place(result), span)?;
        }
        Ok(())
    }

    /// Lowers the declarations of a control. `self.path` is its own.
    pub(super) fn control_scopes(
        &mut self,
        instance: &Instance<'a>,
        control: &'a ControlDecl,
        params: &[Place],
        span: Span,
    ) -> Check<Vec<Scope<'a>>> {
        if !control.types.is_empty() {
            return Err(Fault::missing(span, "controls with type parameters"));
        }
        let scope = self.parameter_scope(instance, &control.params, &control.constructor, params, span)?;
        let ((), scopes) = self.within(1, vec![scope, Scope::new()], |this| {
            for decl in &control.locals {
                if let Err(fault) = this.local(decl) {
                    this.fail_to_declare(decl, fault);
                }
            }
            this.check_unused(&control.locals);
        });
        Ok(scopes)
    }

    /// Names of parameters.
    pub(super) fn parameter_scope(
        &mut self,
        instance: &Instance<'a>,
        params: &'a [ast::Param],
        constructor: &'a [ast::Param],
        places: &[Place],
        span: Span,
    ) -> Check<Scope<'a>> {
        let mut scope = Scope::new();
        for (param, place) in params.iter().zip(places) {
            let read_only = place.ty != Type::PacketIn && matches!(param.direction, Direction::None | Direction::In);
            let place = if read_only { place.clone().read_only() } else { place.clone() };
            scope.insert(param.name.text.clone(), Symbol::Value(Value::Place(place)));
        }
        if constructor.len() != instance.args.len() {
            return Err(Fault::new(
                span,
                format!("`{}` needs {} arguments to be made", instance.decl.name.text, constructor.len()),
            )
            .help("make an instance of it with these arguments, and apply the instance"));
        }
        scope.extend(instance.args.iter().cloned());
        Ok(scope)
    }

    /// Lowers the `apply` block of a control into the current block.
    pub(super) fn apply_block(&mut self, control: &'a ControlDecl, scopes: Vec<Scope<'a>>) -> Vec<Scope<'a>> {
        let returning = std::mem::take(&mut self.returning);
        let loops = std::mem::take(&mut self.loops);
        let context = std::mem::replace(&mut self.context, Context::Control);
        let ((), scopes) = self.within(1, scopes, |this| {
            for decl in &control.locals {
                if let Err(fault) = this.initialise(decl) {
                    this.fail(fault);
                }
            }
            this.body(control.apply.as_deref().unwrap_or_default());
        });
        (self.returning, self.context) = (returning, context);
        self.loops = loops;
        scopes
    }

    /// A declaration of a control.
    fn local(&mut self, decl: &'a Decl) -> Check<()> {
        match &decl.kind {
            DeclKind::Var(ty, _) => {
                let ty = self.ty(ty)?;
                let name = self.full_name(&decl.name.text, &[]);
                let place = self.copy(&name, &ty, decl.name.span)?;
                self.declare(&decl.name, Symbol::Value(Value::Place(place)));
            }
            DeclKind::Action(..) => {
                let name = self.full_name(&decl.name.text, &decl.annotations);
                let symbol = ActionSymbol { decl, depth: self.scopes.len(), name };
                self.declare(&decl.name, Symbol::Action(symbol));
            }
            DeclKind::Table(properties) => {
                let table = self.table(decl, properties)?;
                self.declare(&decl.name, Symbol::Table(table));
            }
            DeclKind::Instance(ty, args) => {
                let symbol = self.instance(decl, ty, args)?;
                self.declare(&decl.name, symbol);
            }
            _ => self.declaration(decl)?,
        }
        Ok(())
    }

    /// Variables of a control begin anew each time it is applied.
    fn initialise(&mut self, decl: &'a Decl) -> Check<()> {
        let DeclKind::Var(ty, value) = &decl.kind else { return Ok(()) };
        let Some(Symbol::Value(Value::Place(place))) = self.find(&decl.name.text).cloned() else { return Ok(()) };
        match value {
            Some(value) => {
                let ty = self.ty(ty)?;
                let value = self.expr(value, Some(&ty))?;
                self.assign(&place, value, decl.span)
            }
            None => {
                self.invalidate(&place, decl.span);
                Ok(())
            }
        }
    }

    /// The meaning of an instance.
    pub(super) fn instance(&mut self, decl: &'a Decl, ty: &'a ast::Type, args: &'a [Arg]) -> Check<Symbol<'a>> {
        let ast::TypeKind::Named(of, types) = &ty.kind else {
            return Err(Fault::new(ty.span, "this type has no instances"));
        };
        let name = self.full_name(&decl.name.text, &decl.annotations);
        let Symbol::Decl(known) = self.lookup(of, ty.span)? else {
            return Err(
                Fault::new(ty.span, format!("`{of}` has no instances")).label("not a control, parser or extern")
            );
        };
        if matches!(known.kind, DeclKind::Extern(_)) {
            return self.extern_instance(decl, of, types, args, name);
        }
        let args = self.constructor_arguments(known, &name, args, decl.span)?;
        Ok(Symbol::Instance(Instance { decl: known, path: name, args }.into()))
    }

    /// The arguments that a control or parser is made with: constants, and instances of externs, controls and parsers.
    /// `path` is the full name of the instance.
    pub(super) fn constructor_arguments(
        &mut self,
        of: &'a Decl,
        path: &str,
        args: &'a [Arg],
        span: Span,
    ) -> Check<Vec<(String, Symbol<'a>)>> {
        let name = &of.name.text;
        let params = match &of.kind {
            DeclKind::Control(control) => &control.constructor,
            DeclKind::Parser(parser) => &parser.constructor,
            _ => return Err(Fault::new(span, format!("`{name}` has no instances")).label(super::kind_name(of))),
        };
        let values = self.declared_arguments(name, params, args, span)?;
        let mut bound = Vec::new();
        for (param, value) in params.iter().zip(values) {
            let is_object = match &param.ty.kind {
                ast::TypeKind::Named(of, _) => match self.lookup(of, param.ty.span)? {
                    Symbol::Decl(decl) => {
                        matches!(decl.kind, DeclKind::Extern(_) | DeclKind::Control(_) | DeclKind::Parser(_))
                    }
                    _ => false,
                },
                _ => false,
            };
            let symbol = if is_object {
                let symbol = match self.made_here(value, &format!("{path}.{}", param.name.text))? {
                    Some(made) => Some(made),
                    None => self.named(value).transpose()?.filter(|symbol| !matches!(symbol, Symbol::Value(_))),
                };
                let symbol = symbol.ok_or_else(|| {
                    Fault::missing(value.span, "externs that are made as an argument")
                        .help("declare the instance in front of it, and give its name")
                })?;
                if !self.is_object(&symbol, &param.ty)? {
                    let wanted = self.text(param.ty.span);
                    let kind = match &symbol {
                        Symbol::Register(_, cell) => format!("`register<{cell}>`"),
                        other => symbol_kind(other).split(':').next().unwrap_or_default().to_owned(),
                    };
                    return Err(Fault::new(value.span, format!("mismatched types: `{wanted}` is expected"))
                        .label(format!("this is {kind}"))
                        .also(param.ty.span, "its parameter"));
                }
                symbol
            } else {
                let ty = self.ty(&param.ty)?;
                let value = if is_default(param, value) {
                    self.default_argument(value, &ty, 1, Scope::new())?
                } else {
                    self.expr(value, Some(&ty))?
                };
                Symbol::Value(self.constant_of(value, &ty)?)
            };
            bound.push((param.name.text.clone(), symbol));
        }
        Ok(bound)
    }

    /// The instance of a control or parser that an argument makes: `name()`. Its name is that of the parameter.
    fn made_here(&mut self, value: &'a ast::Expr, path: &str) -> Check<Option<Symbol<'a>>> {
        let ast::ExprKind::Call(call) = &value.kind else { return Ok(None) };
        let Some(Symbol::Decl(of)) = self.named(&call.callee).transpose()? else { return Ok(None) };
        if !matches!(of.kind, DeclKind::Control(_) | DeclKind::Parser(_)) {
            return Ok(None);
        }
        let args = self.constructor_arguments(of, path, &call.args, value.span)?;
        Ok(Some(Symbol::Instance(Instance { decl: of, path: path.to_owned(), args }.into())))
    }

    /// Whether a control or parser has the parameters of a declaration that is only a type, made with these types.
    fn has_parameters(&mut self, of: &'a Decl, declared: &'a Decl, types: &'a [ast::Type]) -> Check<bool> {
        let (params, names, wanted) = match (&of.kind, &declared.kind) {
            (DeclKind::Control(of), DeclKind::Control(declared)) if declared.apply.is_none() => {
                (&of.params, &declared.types, &declared.params)
            }
            (DeclKind::Parser(of), DeclKind::Parser(declared)) if declared.states.is_none() => {
                (&of.params, &declared.types, &declared.params)
            }
            _ => return Ok(false),
        };
        let types: Vec<Type> = types.iter().map(|ty| self.ty(ty)).collect::<Check<_>>()?;
        if params.len() != wanted.len() || names.len() != types.len() {
            return Ok(false);
        }
        let (same, _) = self.within(1, vec![super::generic::types_scope(names, &types)], |this| {
            for (param, wanted) in params.iter().zip(wanted) {
                if param.direction != wanted.direction || this.ty(&param.ty)? != this.ty(&wanted.ty)? {
                    return Ok(false);
                }
            }
            Ok(true)
        });
        same
    }

    /// Whether an instance is of the extern, control or parser that a parameter's type names.
    fn is_object(&mut self, symbol: &Symbol<'a>, ty: &'a ast::Type) -> Check<bool> {
        let ast::TypeKind::Named(of, types) = &ty.kind else { return Ok(false) };
        let (Symbol::Decl(declared), of) = (self.lookup(of, ty.span)?, &of[..]) else { return Ok(false) };
        Ok(match symbol {
            Symbol::Register(_, cell) => match &types[..] {
                [of_cell] | [of_cell, _] => of == "register" && self.ty(of_cell)? == *cell,
                _ => false,
            },
            Symbol::Counter(_) => of == "counter",
            Symbol::DirectCounter(_) => of == "direct_counter",
            Symbol::Meter(_) => of == "meter",
            Symbol::DirectMeter(_) => of == "direct_meter",
            Symbol::Profile(_) => matches!(of, "action_profile" | "action_selector"),
            Symbol::Instance(instance) => {
                std::ptr::eq(instance.decl, declared) || self.has_parameters(instance.decl, declared, types)?
            }
            _ => false,
        })
    }

    fn extern_instance(
        &mut self,
        decl: &'a Decl,
        of: &str,
        types: &'a [ast::Type],
        args: &'a [Arg],
        name: String,
    ) -> Check<Symbol<'a>> {
        let span = decl.span;
        let annotations = super::shown(&decl.annotations);
        match of {
            "register" => {
                let args = self.arguments(of, &["size"], args, span)?;
                let size = self.constant_u32(args[0])?;
                let ty = match types {
                    [ty] | [ty, _] => self.ty(ty)?,
                    _ => {
                        return Err(
                            Fault::new(span, "`register` needs a type").help("write `register<bit<32>>(1024) r;`")
                        );
                    }
                };
                let width = ty.bits().ok_or_else(|| Fault::missing(types[0].span, &format!("registers of `{ty}`")))?;
                let id = self.p4info_id(0x16, &name, &decl.annotations, span);
                self.program.registers.push(Register { name, id, width, size, annotations, span });
                self.check_cells(span)?;
                Ok(Symbol::Register(self.program.registers.len() - 1, ty))
            }
            "counter" | "direct_counter" => {
                let direct = of == "direct_counter";
                let params: &[&str] = if direct { &["type"] } else { &["size", "type"] };
                let args = self.arguments(of, params, args, span)?;
                let size = if direct { None } else { Some(self.constant_u32(args[0])?) };
                let unit = match self.constant(args[args.len() - 1])? {
                    unit if unit == 0.into() => CounterUnit::Packets,
                    unit if unit == 1.into() => CounterUnit::Bytes,
                    _ => CounterUnit::PacketsAndBytes,
                };
                let id = self.p4info_id(if direct { 0x13 } else { 0x12 }, &name, &decl.annotations, span);
                self.program.counters.push(Counter { name, id, unit, size, annotations, span });
                self.check_cells(span)?;
                let counter = self.program.counters.len() - 1;
                Ok(if direct { Symbol::DirectCounter(counter) } else { Symbol::Counter(counter) })
            }
            "meter" | "direct_meter" => {
                let direct = of == "direct_meter";
                let params: &[&str] = if direct { &["type"] } else { &["size", "type"] };
                let args = self.arguments(of, params, args, span)?;
                let size = if direct { None } else { Some(self.constant_u32(args[0])?) };
                let bytes = self.constant(args[args.len() - 1])? == 1.into();
                let id = self.p4info_id(if direct { 0x15 } else { 0x14 }, &name, &decl.annotations, span);
                self.program.meters.push(Meter { name, id, bytes, size, annotations, span });
                self.check_cells(span)?;
                let meter = self.program.meters.len() - 1;
                Ok(if direct { Symbol::DirectMeter(meter) } else { Symbol::Meter(meter) })
            }
            "action_profile" | "action_selector" => {
                Ok(Symbol::Profile(self.new_profile(of, args, name, &decl.annotations, span)?))
            }
            _ => Err(Fault::missing(span, &format!("the extern `{of}`"))),
        }
    }

    /// Checks actions that no table refers to: their bodies are otherwise checked only at calls.
    fn check_unused(&mut self, locals: &'a [Decl]) {
        for decl in locals {
            let Some(Symbol::Action(action)) = self.find(&decl.name.text).cloned() else { continue };
            if !self.actions.contains_key(&action.name) && matches!(decl.kind, DeclKind::Action(..)) {
                let before = (self.program.fields.len(), self.program.instances.len(), self.stacks.len());
                let (turns, siblings) = (self.turns, self.siblings.clone());
                if let Err(fault) = self.action_body(&action, &[]) {
                    self.fail(fault);
                }
                // Variables of the action are made anew where it is called.
                self.program.fields.truncate(before.0);
                self.program.instances.truncate(before.1);
                self.stacks.truncate(before.2);
                (self.turns, self.siblings) = (turns, siblings);
            }
        }
    }
}
