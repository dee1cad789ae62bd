// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Parsers: states, with those of sub-parsers in between.

use std::collections::HashMap;

use super::value::{Place, Shape, Value};
use super::{Context, Instance, Lower, Scope};
use crate::ast::{self, Arg, Call, DeclKind, ExprKind as Ast, ParserDecl};
use crate::fault::{Check, Fault, nearest};
use crate::ir::{
    BinaryOp, Expr, ExprKind, Extern, Match, Next, ParserOp, SelectRow, Standard, State, StateId, Stmt, StmtKind,
    Transition, error,
};
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
        let in_parser = std::mem::replace(&mut self.in_parser, true);
        let returning = std::mem::take(&mut self.returning);
        let (first, _) = self.within(1, vec![scope, Scope::new()], |this| {
            this.deeper(span, |this| this.parser_body(instance, parser, accept, span))
        });
        (self.context, self.in_parser, self.returning) = (context, in_parser, returning);
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
        (self.current, self.ops) = (begin, Vec::new());
        for local in &parser.locals {
            self.parser_local(local)?;
        }
        let (prologue, behind) = (std::mem::take(&mut self.ops), self.current);
        let plain = prologue.is_empty() && behind == begin;
        let mut names: HashMap<&str, Next> = HashMap::from([("accept", accept), ("reject", Next::Reject)]);
        let top = instance.path == instance.decl.name.text;
        for state in declared {
            let name = if top { state.name.text.clone() } else { format!("{}.{}", instance.path, state.name.text) };
            // Without variables the parser begins in `start` itself.
            let id = if plain && state.name.text == "start" {
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
        if !plain {
            self.states[behind].ops = prologue;
            self.states[behind].next = Transition::Direct(start);
        }
        for state in declared {
            let Some(Next::State(id)) = names.get(&state.name.text[..]).copied() else { continue };
            let next = self.scoped(|this| {
                this.state_body(id, &state.body);
                this.transition(state.next.as_ref(), &names)
            });
            match next {
                Ok(next) => {
                    let last = self.current;
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
                match value {
                    Some(value) => {
                        let value = self.expr(value, Some(&ty))?;
                        self.assign(&place, value, decl.span)?;
                    }
                    None => self.invalidate(&place, decl.span),
                }
                self.flush_parser()?;
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

    /// Lowers the statements of a state. A sub-parser or an `if` in them splits it: the transition belongs to the state
    /// `self.current`, whose operations are in `self.ops`.
    fn state_body(&mut self, id: StateId, body: &'a [ast::Stmt]) {
        self.current = id;
        self.ops = Vec::new();
        for stmt in body {
            if let Err(fault) = self.statement(stmt).and_then(|()| self.flush_parser()) {
                self.fail(fault);
            }
        }
    }

    /// Turns the statements so far into operations of the state.
    pub(super) fn flush_parser(&mut self) -> Check<()> {
        let stmts = std::mem::take(&mut self.out);
        self.parser_stmts(stmts)
    }

    fn parser_stmts(&mut self, stmts: Vec<Stmt>) -> Check<()> {
        for stmt in stmts {
            let span = stmt.span;
            match stmt.kind {
                StmtKind::Assign(to, value) => self.ops.push(ParserOp::Assign { to, value, span }),
                StmtKind::If { condition, then, otherwise } => {
                    let (mut first, mut second) = (Ok(()), Ok(()));
                    self.parser_choice(
                        &condition,
                        |this| first = this.parser_stmts(then),
                        |this| second = this.parser_stmts(otherwise),
                    )?;
                    first.and(second)?;
                }
                StmtKind::Extern(of)
                    if !matches!(
                        *of,
                        Extern::Hash { .. } | Extern::Random { .. } | Extern::Meter { .. } | Extern::SameVarbit { .. }
                    ) =>
                {
                    return Err(Fault::missing(span, &format!("`{}` in parsers", of.name()))
                        .help("keep what it needs in metadata, and call it in ingress"));
                }
                StmtKind::Loop { .. } => return Err(Fault::missing(span, "loops in parsers")),
                kind => self.ops.push(ParserOp::Run(Stmt { kind, span })),
            }
        }
        Ok(())
    }

    /// Goes on with one of two sequences of statements.
    pub(super) fn parser_choice(
        &mut self,
        condition: &Expr,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) -> Check<()> {
        self.flush_parser()?;
        let span = condition.span;
        match condition.value() {
            Some(0) => otherwise(self),
            Some(_) => then(self),
            None => {
                let name = self.states[self.current].name.split('$').next().unwrap_or_default().to_owned();
                let [yes, no, behind] = ["$then", "$else", "$behind"]
                    .map(|part| self.new_state(format!("{name}{part}{}", self.states.len()), span));
                let (keys, set, swap) = compared(condition);
                let (fits, other) = if swap { (no, yes) } else { (yes, no) };
                let row = |set, next| SelectRow { keys: vec![set], sets: Vec::new(), next: Next::State(next), span };
                let rows = vec![row(set, fits), row(Match::Ternary(0, 0), other)];
                self.end_state(Transition::Select { keys: vec![keys], rows, span });
                self.current = yes;
                then(self);
                self.flush_parser()?;
                self.end_state(Transition::Direct(Next::State(behind)));
                self.current = no;
                otherwise(self);
                self.flush_parser()?;
                self.end_state(Transition::Direct(Next::State(behind)));
                self.current = behind;
            }
        }
        self.flush_parser()
    }

    fn end_state(&mut self, next: Transition) {
        let state = &mut self.states[self.current];
        state.ops = std::mem::take(&mut self.ops);
        state.next = next;
    }

    /// Puts the states of a sub-parser here.
    pub(super) fn apply_parser(
        &mut self,
        instance: &Instance<'a>,
        parser: &'a ParserDecl,
        args: &'a [Arg],
        span: Span,
    ) -> Check<()> {
        let bound = self.bind(instance, &parser.params, args, None, span)?;
        self.flush_parser()?;
        let before = (self.current, std::mem::take(&mut self.ops));
        let after = self.new_state(format!("{}.$behind{}", instance.path, self.states.len()), span);
        let path = std::mem::replace(&mut self.path, instance.path.clone());
        let first = self.parser(instance, parser, &bound.places, Next::State(after), span);
        self.path = path;
        self.states[before.0].ops = before.1;
        self.states[before.0].next = Transition::Direct(Next::State(first?));
        (self.current, self.ops) = (after, Vec::new());
        self.unbind(bound, span)
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
        self.flush_parser()?;
        let mut lowered = Vec::new();
        for row in rows {
            let any = || made.iter().map(|_| Match::Ternary(0, 0)).collect();
            let mut members = Vec::new();
            let sets: Vec<Match> = match &row.keys.kind {
                Ast::Any => any(),
                Ast::Name(_) if self.named_set(&row.keys).is_some() => {
                    members.extend(self.set_keys(&row.keys, 0, &made)?);
                    any()
                }
                Ast::List(sets) if sets.len() == 1 && self.named_set(&sets[0]).is_some() => {
                    members.extend(self.set_keys(&sets[0], 0, &made)?);
                    any()
                }
                Ast::List(sets) if sets.len() == made.len() => {
                    let mut keysets = Vec::new();
                    for (at, set) in sets.iter().enumerate() {
                        let member = self.set_keys(set, at, &made[at..=at])?;
                        keysets.push(match member {
                            Some(_) => Match::Ternary(0, 0),
                            None => self.keyset(set, &made[at].1)?,
                        });
                        members.extend(member);
                    }
                    keysets
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
            lowered.push(SelectRow { keys: sets, sets: members, next: find(&row.next)?, span: row.keys.span });
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
                let place = match (&args[0].kind, &call.types[..]) {
                    (Ast::Any, [ty]) => {
                        let ty = self.ty(ty)?;
                        self.copy("$skipped", &ty, span)?
                    }
                    (Ast::Any, _) => {
                        return Err(Fault::new(args[0].span, "the type of this header is not known")
                            .help("write `extract<T>(_)`"));
                    }
                    _ => self.writable(args[0])?,
                };
                if let Shape::Element(index, elements) = &place.shape {
                    return self.extract_element(index, elements, args.get(1).copied(), span);
                }
                let Shape::Header(instance, members) = &place.shape else {
                    return Err(Fault::new(args[0].span, format!("a header is expected, this is `{}`", place.ty))
                        .label("not a header"));
                };
                let varies = members.iter().any(|(_, member)| matches!(member.shape, Shape::Varbit(_)));
                self.invalidate_siblings(*instance, span);
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
                self.flush_parser()?;
                self.ops.push(ParserOp::Extract { instance: *instance, varbit, span });
                Ok(Value::Void(span))
            }
            "advance" => {
                let args = self.arguments("advance", &["bits"], &call.args, span)?;
                let bits = self.expr_of(args[0], &Type::Bit(32))?;
                if bits.value().is_some_and(|bits| bits % 8 != 0) {
                    return Err(Fault::missing(args[0].span, "lengths that are not a multiple of 8 bits"));
                }
                self.flush_parser()?;
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
                let value = self.lookahead(&ty, &mut offset, span)?;
                // The program may use only a part: the frame must have the rest as well.
                if !matches!(value, Value::Scalar(..)) && offset > 0 {
                    let kind = ExprKind::Lookahead { offset: offset - 1 };
                    self.read(Value::Scalar(Expr { kind, width: 1, span }, Type::Bit(1)))?;
                }
                Ok(value)
            }
            "length" => {
                self.arguments("length", &[], &call.args, span)?;
                Ok(Value::Scalar(Expr::field(Standard::PacketLength.field(), 32, span), Type::Bit(32)))
            }
            other => Err(Fault::missing(method.span, &format!("`{other}` of packet_in"))),
        }
    }

    /// Reads a value that no other statement uses, because the frame may be too short for it.
    pub(super) fn read(&mut self, value: Value) -> Check<()> {
        let Value::Scalar(expr, ty) = &value else { return Ok(()) };
        let place = self.copy("$read", ty, expr.span)?;
        let span = expr.span;
        self.assign(&place, value, span)
    }

    /// Extracts the element of a stack that an index chooses.
    fn extract_element(
        &mut self,
        index: &Expr,
        elements: &[Place],
        varbit: Option<&'a ast::Expr>,
        span: Span,
    ) -> Check<Value> {
        if let Some(varbit) = varbit {
            return Err(Fault::missing(varbit.span, "a varbit in an element that an index chooses"));
        }
        let mut done = Ok(());
        self.extract_from(index, elements, 0, &mut done, span)?;
        done.map(|()| Value::Void(span))
    }

    /// Extracts the element of this number, or one behind it.
    fn extract_from(
        &mut self,
        index: &Expr,
        elements: &[Place],
        number: usize,
        done: &mut Check<()>,
        span: Span,
    ) -> Check<()> {
        let Some(element) = elements.get(number) else {
            let condition = Expr::constant(0, 1, span);
            self.ops.push(ParserOp::Verify { condition, error: error::STACK_OUT_OF_BOUNDS, span });
            return Ok(());
        };
        let Shape::Header(instance, members) = &element.shape else {
            return Err(Fault::new(span, format!("a header is expected, this is `{}`", element.ty)));
        };
        if members.iter().any(|(_, member)| matches!(member.shape, Shape::Varbit(_))) {
            return Err(Fault::missing(span, "a varbit in an element that an index chooses"));
        }
        let mut rest = Ok(());
        self.parser_choice(
            &Self::chosen(index, number, span),
            |this| {
                this.invalidate_siblings(*instance, span);
                *done = this.flush_parser();
                this.ops.push(ParserOp::Extract { instance: *instance, varbit: None, span });
            },
            |this| {
                let mut done = Ok(());
                rest = this.extract_from(index, elements, number + 1, &mut done, span).and(done);
            },
        )?;
        rest
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
                let values = of.fields.iter().map(|(name, ty)| Ok((name.clone(), self.lookahead(ty, offset, span)?)));
                Ok(Value::Record(values.collect::<Check<_>>()?, span))
            }
            _ if ty.wide().is_some() => {
                let parts = super::place::chunks(ty).into_iter();
                let values = parts.map(|(_, bits)| self.lookahead(&Type::Bit(bits), offset, span));
                Ok(Value::List(values.collect::<Check<_>>()?, span))
            }
            Type::Tuple(of) => {
                let values = of.iter().map(|ty| self.lookahead(ty, offset, span));
                Ok(Value::List(values.collect::<Check<_>>()?, span))
            }
            Type::Stack(of, size) => {
                let values = (0..*size).map(|_| self.lookahead(of, offset, span));
                Ok(Value::List(values.collect::<Check<_>>()?, span))
            }
            _ => Err(Fault::missing(span, &format!("`lookahead` of `{ty}`"))),
        }
    }
}

/// A condition as a key, the keyset that it fits if the condition holds, and whether it is the other way round.
fn compared(condition: &Expr) -> (Expr, Match, bool) {
    if let ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), key, value) = &condition.kind
        && let Some(value) = value.value()
    {
        return ((**key).clone(), Match::Exact(value), *op == BinaryOp::Ne);
    }
    (condition.clone(), Match::Exact(1), false)
}
