// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Parsers: states, with those of sub-parsers in between.

use std::collections::HashMap;

use super::value::{Place, Shape, Value};
use super::{Context, Instance, Lower, Scope};
use crate::ast::{self, Arg, Call, DeclKind, ExprKind as Ast, ParserDecl};
use crate::fault::{Check, Fault, nearest};
use crate::ir::{Expr, ExprKind, Match, Next, ParserOp, SelectRow, State, StateId, StmtKind, Transition};
use crate::source::Span;
use crate::types::Type;

impl<'a> Lower<'a> {
    /// Lowers the states of a parser; `places` are its parameters. Gives the state that it begins in.
    pub(super) fn parser(
        &mut self,
        instance: &Instance<'a>,
        parser: &'a ParserDecl,
        places: &[Place],
        accept: Next,
        span: Span,
    ) -> Check<StateId> {
        let scope = self.parameter_scope(instance, &parser.params, &parser.constructor, places, span)?;
        let context = std::mem::replace(&mut self.context, Context::Parser);
        let returning = std::mem::take(&mut self.returning);
        let (first, _) = self.within(1, vec![scope, Scope::new()], |this| {
            this.deeper(span, |this| this.parser_body(instance, parser, accept, span))
        });
        (self.context, self.returning) = (context, returning);
        first
    }

    fn parser_body(
        &mut self,
        instance: &Instance<'a>,
        parser: &'a ParserDecl,
        accept: Next,
        span: Span,
    ) -> Check<StateId> {
        let declared = parser.states.as_deref().unwrap_or_default();
        let begin = self.new_state(format!("{}.$begin", instance.path), span);
        for local in &parser.locals {
            self.parser_local(local)?;
        }
        let prologue = std::mem::take(&mut self.ops);
        let mut names: HashMap<&str, Next> = HashMap::from([("accept", accept), ("reject", Next::Reject)]);
        let top = instance.path == instance.decl.name.text;
        for state in declared {
            let name = if top { state.name.text.clone() } else { format!("{}.{}", instance.path, state.name.text) };
            // Without variables the parser begins in `start` itself.
            let id = if prologue.is_empty() && state.name.text == "start" {
                self.states[begin].name.clone_from(&name);
                self.states[begin].span = state.name.span;
                begin
            } else {
                self.new_state(name, state.name.span)
            };
            if names.insert(&state.name.text, Next::State(id)).is_some() {
                return Err(Fault::new(state.name.span, format!("the state `{}` is declared twice", state.name.text)));
            }
        }
        let Some(start) = names.get("start").copied() else {
            return Err(
                Fault::new(span, "the parser has no state `start`").help("a parser begins in the state `start`")
            );
        };
        if !prologue.is_empty() {
            self.states[begin].ops = prologue;
            self.states[begin].next = Transition::Direct(start);
        }
        for state in declared {
            let Some(Next::State(id)) = names.get(&state.name.text[..]).copied() else { continue };
            let (last, next) = self.scoped(|this| {
                let last = this.state_body(id, &state.body);
                (last, this.transition(state.next.as_ref(), &names))
            });
            match next {
                Ok(next) => {
                    self.states[last].ops = std::mem::take(&mut self.ops);
                    self.states[last].next = next;
                }
                Err(fault) => self.fail(fault),
            }
        }
        Ok(begin)
    }

    fn new_state(&mut self, name: String, span: Span) -> StateId {
        self.states.push(State { name, ops: Vec::new(), next: Transition::Direct(Next::Reject), span });
        self.states.len() - 1
    }

    fn parser_local(&mut self, decl: &'a ast::Decl) -> Check<()> {
        match &decl.kind {
            DeclKind::Var(ty, value) => {
                let ty = self.ty(ty)?;
                let place = self.copy(&decl.name.text, &ty, decl.name.span)?;
                if let Some(value) = value {
                    let value = self.expr(value, Some(&ty))?;
                    self.assign(&place, value, decl.span)?;
                    self.flush_parser(decl.span)?;
                }
                self.declare(&decl.name, super::Symbol::Value(Value::Place(place)));
                Ok(())
            }
            DeclKind::Instance(ty, args) => {
                let symbol = self.instance(decl, ty, args)?;
                self.declare(&decl.name, symbol);
                Ok(())
            }
            _ => self.declaration(decl),
        }
    }

    /// Lowers the statements of a state; a sub-parser in them splits it. Gives the state that the transition belongs to, whose operations are in `self.ops`.
    fn state_body(&mut self, id: StateId, body: &'a [ast::Stmt]) -> StateId {
        self.current = id;
        self.ops = Vec::new();
        for stmt in body {
            let span = stmt.span;
            if let Err(fault) = self.statement(stmt).and_then(|()| self.flush_parser(span)) {
                self.fail(fault);
            }
        }
        self.current
    }

    /// Turns the statements so far into operations of the state.
    pub(super) fn flush_parser(&mut self, span: Span) -> Check<()> {
        for stmt in std::mem::take(&mut self.out) {
            match stmt.kind {
                StmtKind::Assign(to, value) => self.ops.push(ParserOp::Assign { to, value, span: stmt.span }),
                _ => {
                    return Err(Fault::missing(span, "statements of this kind in parsers")
                        .help("a parser decides by `select`, and assigns"));
                }
            }
        }
        Ok(())
    }

    /// Puts the states of a sub-parser here.
    pub(super) fn apply_parser(
        &mut self,
        instance: &Instance<'a>,
        parser: &'a ParserDecl,
        args: &'a [Arg],
        span: Span,
    ) -> Check<()> {
        let places = self.bind(instance, &parser.params, args, None, span)?;
        self.flush_parser(span)?;
        let before = (self.current, std::mem::take(&mut self.ops));
        let after = self.new_state(format!("{}.$behind{}", instance.path, self.states.len()), span);
        let path = std::mem::replace(&mut self.path, instance.path.clone());
        let first = self.parser(instance, parser, &places, Next::State(after), span);
        self.path = path;
        self.states[before.0].ops = before.1;
        self.states[before.0].next = Transition::Direct(Next::State(first?));
        (self.current, self.ops) = (after, Vec::new());
        Ok(())
    }

    fn transition(&mut self, next: Option<&'a ast::Transition>, names: &HashMap<&str, Next>) -> Check<Transition> {
        let find = |name: &ast::Name| {
            names.get(&name.text[..]).copied().ok_or_else(|| {
                let fault =
                    Fault::new(name.span, format!("the parser has no state `{}`", name.text)).label("unknown state");
                match nearest(&name.text, names.keys().copied()) {
                    Some(near) => fault.help(format!("did you mean `{near}`?")),
                    None => fault.help("its states are those that it declares, `accept` and `reject`"),
                }
            })
        };
        let (keys, rows, span) = match next {
            None => return Ok(Transition::Direct(Next::Reject)),
            Some(ast::Transition::To(name)) => return Ok(Transition::Direct(find(name)?)),
            Some(ast::Transition::Select { keys, rows, span }) => (keys, rows, *span),
        };
        let mut made = Vec::new();
        for key in keys {
            let value = self.expr(key, None)?;
            made.push(self.typed(value)?);
        }
        self.flush_parser(span)?;
        let mut lowered = Vec::new();
        for row in rows {
            if let Some(set) = self.value_set_of(&row.keys, &made)? {
                let keys = made.iter().map(|_| Match::Ternary(0, 0)).collect();
                lowered.push(SelectRow { keys, set: Some(set), next: find(&row.next)?, span: row.keys.span });
                continue;
            }
            let sets: Vec<Match> = match &row.keys.kind {
                Ast::Any => made.iter().map(|_| Match::Ternary(0, 0)).collect(),
                Ast::List(sets) if sets.len() == made.len() => {
                    sets.iter().zip(&made).map(|(set, (_, ty))| self.keyset(set, ty)).collect::<Check<_>>()?
                }
                Ast::List(sets) => {
                    return Err(Fault::new(row.keys.span, format!("{} values are compared here", made.len()))
                        .label(format!("this row has {}", sets.len()))
                        .also(span, "what is compared"));
                }
                _ if made.len() == 1 => vec![self.keyset(&row.keys, &made[0].1)?],
                _ => {
                    return Err(Fault::new(row.keys.span, format!("{} values are compared here", made.len()))
                        .label("this row has one")
                        .help("write them in parentheses: `(a, b): state;`"));
                }
            };
            lowered.push(SelectRow { keys: sets, set: None, next: find(&row.next)?, span: row.keys.span });
        }
        Ok(Transition::Select { keys: made.into_iter().map(|(value, _)| value).collect(), rows: lowered, span })
    }

    /// A method of `packet_in`.
    pub(super) fn packet_in(
        &mut self,
        method: &ast::Name,
        call: &'a Call,
        want: Option<&Type>,
        span: Span,
    ) -> Check<Value> {
        if self.context != Context::Parser {
            return Err(Fault::new(span, "frames are read in parsers alone"));
        }
        match &method.text[..] {
            "extract" => {
                let params: &[&str] = if call.args.len() > 1 { &["hdr", "bits"] } else { &["hdr"] };
                let args = self.arguments("extract", params, &call.args, span)?;
                if matches!(args[0].kind, Ast::Any) {
                    return Err(Fault::missing(args[0].span, "`extract(_)`")
                        .help("write `advance(…)` with the bits of the header"));
                }
                let place = self.writable(args[0])?;
                let Shape::Header(instance, members) = &place.shape else {
                    return Err(Fault::new(args[0].span, format!("a header is expected, this is `{}`", place.ty))
                        .label("not a header"));
                };
                let varies = members.iter().any(|(_, member)| matches!(member.shape, Shape::Varbit(_)));
                let varbit = match args.get(1) {
                    Some(bits) if varies => Some(self.expr_of(bits, &Type::Bit(32))?),
                    Some(bits) => {
                        return Err(
                            Fault::new(bits.span, format!("`{}` has no varbit", place.ty)).help("leave the length out")
                        );
                    }
                    None if varies => {
                        return Err(Fault::new(span, format!("`{}` has a varbit, whose length is missing", place.ty))
                            .help("write `extract(header, bits)`"));
                    }
                    None => None,
                };
                self.flush_parser(span)?;
                self.ops.push(ParserOp::Extract { instance: *instance, varbit, span });
                Ok(Value::Void(span))
            }
            "advance" => {
                let args = self.arguments("advance", &["bits"], &call.args, span)?;
                let bits = self.expr_of(args[0], &Type::Bit(32))?;
                if bits.value().is_some_and(|bits| bits % 8 != 0) {
                    return Err(Fault::missing(args[0].span, "lengths that are not a multiple of 8 bits"));
                }
                self.flush_parser(span)?;
                self.ops.push(ParserOp::Advance { bits, span });
                Ok(Value::Void(span))
            }
            "lookahead" => {
                let ty = match (&call.types[..], want) {
                    ([ty], _) => self.ty(ty)?,
                    ([], Some(ty)) => ty.clone(),
                    _ => return Err(Fault::new(span, "`lookahead` needs a type").help("write `lookahead<bit<16>>()`")),
                };
                let mut offset = 0;
                self.lookahead(&ty, &mut offset, span)
            }
            other => Err(Fault::missing(method.span, &format!("`{other}` of packet_in"))),
        }
    }

    /// Bits of the frame as a value of this type.
    fn lookahead(&self, ty: &Type, offset: &mut u32, span: Span) -> Check<Value> {
        if let Some(width) = ty.bits() {
            let value = Expr { kind: ExprKind::Lookahead { offset: *offset }, width, span };
            *offset += width;
            return Ok(Value::Scalar(value, ty.clone()));
        }
        match ty {
            Type::Header(of) | Type::Struct(of) => {
                let values = of.fields.iter().map(|(_, ty)| self.lookahead(ty, offset, span));
                Ok(Value::List(values.collect::<Check<_>>()?, span))
            }
            _ => Err(Fault::missing(span, &format!("`lookahead` of `{ty}`"))),
        }
    }
}
