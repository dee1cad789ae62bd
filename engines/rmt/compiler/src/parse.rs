// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Recursive-descent parser: tokens to a syntax tree. Statements are in [`statement`], expressions and types in [`expression`].

mod expression;
mod statement;

use std::collections::HashSet;

use crate::ast::{
    Annotation, Arg, ControlDecl, Decl, DeclKind, Direction, Entry, Expr, Field, Function, Key, Name, Param,
    ParserDecl, Property, PropertyValue, Row, State, Transition, Type,
};
use crate::fault::{Check, Fault};
use crate::source::Span;
use crate::token::{Kind, Token};

/// Words that cannot be names.
const KEYWORDS: [&str; 38] = [
    "_",
    "abstract",
    "action",
    "bit",
    "bool",
    "const",
    "control",
    "default",
    "else",
    "enum",
    "error",
    "exit",
    "extern",
    "false",
    "header",
    "header_union",
    "if",
    "in",
    "inout",
    "int",
    "match_kind",
    "out",
    "package",
    "parser",
    "return",
    "select",
    "string",
    "struct",
    "switch",
    "table",
    "this",
    "transition",
    "true",
    "tuple",
    "typedef",
    "value_set",
    "varbit",
    "void",
];

/// Expressions, statements and types that stand in each other.
const DEPTH: usize = 100;
/// Operators of one expression: they may all stand in each other.
const OPERATORS: usize = 250;

/// Parses a program.
pub(crate) fn parse(tokens: &[Token]) -> Check<Vec<Decl>> {
    let mut parser = Parser { tokens, at: 0, types: HashSet::new(), depth: 0, expression: false, operators: 0 };
    let mut decls = Vec::new();
    while parser.peek().kind != Kind::End {
        if !parser.eat(";") {
            decls.push(parser.decl()?);
        }
    }
    Ok(decls)
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    /// Names of types so far: `(a) -b` and `a b;` mean different things if `a` is one.
    types: HashSet<String>,
    /// The present nesting depth.
    depth: usize,
    /// An expression is being parsed.
    expression: bool,
    /// Its operators so far.
    operators: usize,
}

impl Parser<'_> {
    /// Parses what may stand in itself. The parser and all that walk the tree call themselves for each level, and a program that somebody sends must not take
    /// more stack than there is.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Check<T>) -> Check<T> {
        if self.depth >= DEPTH {
            return Err(Fault::new(self.peek().span, format!("more than {DEPTH} parts stand in each other"))
                .help("name parts of an expression by variables, and write a `switch` for a chain of `else if`"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Parses an expression or a part of one.
    fn part<T>(&mut self, parse: impl FnOnce(&mut Self) -> Check<T>) -> Check<T> {
        let inner = std::mem::replace(&mut self.expression, true);
        if !inner {
            self.operators = 0;
        }
        let result = self.nested(parse);
        self.expression = inner;
        result
    }

    /// Counts an operator of the expression.
    fn operator(&mut self) -> Check<()> {
        self.operators += 1;
        if self.operators > OPERATORS {
            return Err(Fault::new(self.peek().span, format!("more than {OPERATORS} operators in one expression"))
                .help("split it: name parts of it by variables"));
        }
        Ok(())
    }

    fn peek(&self) -> &Token {
        self.ahead(0)
    }

    fn ahead(&self, count: usize) -> &Token {
        &self.tokens[(self.at + count).min(self.tokens.len() - 1)]
    }

    fn is(&self, text: &str) -> bool {
        let token = self.peek();
        &*token.text == text && matches!(token.kind, Kind::Word | Kind::Symbol)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        self.at += usize::from(found);
        found
    }

    fn expected(&self, what: &str) -> Box<Fault> {
        let token = self.peek();
        let found = if token.kind == Kind::End { token.text.to_string() } else { format!("`{}`", token.text) };
        Fault::new(token.span, format!("{what} is expected, but {found} is there")).label(format!("expected {what}"))
    }

    fn expect(&mut self, text: &str) -> Check<Span> {
        if self.is(text) { Ok(self.next().span) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    /// The span from `start` to the token before this one.
    fn since(&self, start: Span) -> Span {
        self.tokens.get(self.at.wrapping_sub(1)).map_or(start, |token| start.to(token.span))
    }

    fn name(&mut self) -> Check<Name> {
        let token = self.peek();
        let reserved = KEYWORDS.contains(&&*token.text);
        if token.kind != Kind::Word || reserved {
            let fault = self.expected("a name");
            return Err(if reserved {
                fault.help("this word belongs to the language: choose another name")
            } else {
                fault
            });
        }
        let token = self.next();
        Ok(Name { text: token.text.to_string(), span: token.span })
    }

    fn annotations(&mut self) -> Check<Vec<Annotation>> {
        let mut found = Vec::new();
        while self.is("@") {
            let start = self.next().span;
            let word = self.next();
            let mut value = String::new();
            let mut text = format!("@{}", word.text);
            let open = self.peek().text.clone();
            let close = match &*open {
                "(" => ")",
                "[" => "]",
                _ => "",
            };
            if !close.is_empty() {
                self.next();
                let mut depth = 1;
                loop {
                    let token = self.next();
                    match &*token.text {
                        _ if token.kind == Kind::End => {
                            return Err(Fault::new(start, format!("this annotation has no `{close}`")));
                        }
                        text if text == &*open => depth += 1,
                        text if text == close => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    value.push_str(&token.text);
                }
                text += &format!("{open}{value}{close}");
            }
            found.push(Annotation { name: word.text.to_string(), value, text, span: self.since(start) });
        }
        Ok(found)
    }

    /// Comma-separated items up to a closing symbol, which is taken too. A comma may stand behind the last one.
    fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Check<T>) -> Check<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.is(close) && !self.eat(",") {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
        Ok(items)
    }

    /// Items up to `}`, which is taken too.
    fn block<T>(&mut self, mut item: impl FnMut(&mut Self) -> Check<T>) -> Check<Vec<T>> {
        let open = self.expect("{")?;
        let mut items = Vec::new();
        while !self.eat("}") {
            if self.peek().kind == Kind::End {
                return Err(self.expected("`}`").also(open, "the block begins here"));
            }
            if !self.eat(";") {
                items.push(item(self)?);
            }
        }
        Ok(items)
    }

    fn decl(&mut self) -> Check<Decl> {
        let annotations = self.annotations()?;
        let start = self.peek().span;
        let word = self.peek().text.clone();
        let mut span = None;
        let (name, kind, semicolon) = match &*word {
            "const" => {
                self.next();
                let ty = self.ty()?;
                let name = self.name()?;
                self.expect("=")?;
                (name, DeclKind::Const(ty, self.expr()?), true)
            }
            "typedef" | "type" => {
                self.next();
                let ty = self.ty()?;
                let name = self.new_type()?;
                (name, if &*word == "type" { DeclKind::NewType(ty) } else { DeclKind::Typedef(ty) }, true)
            }
            "enum" => {
                self.next();
                let underlying = if &*self.ahead(1).text == "{" { None } else { Some(self.ty()?) };
                let name = self.new_type()?;
                span = Some(self.since(start));
                (name, DeclKind::Enum(underlying, self.enumerators()?), false)
            }
            "error" | "match_kind" if &*self.ahead(1).text == "{" => {
                let token = self.next();
                self.expect("{")?;
                let names = self.list("}", Self::name)?;
                let kind = if &*word == "error" { DeclKind::Errors(names) } else { DeclKind::MatchKinds(names) };
                (Name { text: token.text.to_string(), span: token.span }, kind, false)
            }
            "header" | "struct" | "header_union" => {
                self.next();
                let name = self.new_type()?;
                let scope = self.types.clone();
                let types = self.type_params()?;
                span = Some(self.since(start));
                let fields = self.block(Self::field)?;
                self.types = scope;
                let kind = match &*word {
                    "header" => DeclKind::Header(types, fields),
                    "struct" => DeclKind::Struct(types, fields),
                    _ => DeclKind::Union(types, fields),
                };
                (name, kind, false)
            }
            "parser" => return self.parser(annotations),
            "control" => return self.control(annotations),
            "action" => {
                self.next();
                let name = self.name()?;
                self.expect("(")?;
                let params = self.list(")", Self::param)?;
                span = Some(self.since(start));
                (name, DeclKind::Action(params, self.block(Self::statement)?), false)
            }
            "table" => {
                self.next();
                let name = self.name()?;
                span = Some(self.since(start));
                (name, DeclKind::Table(self.block(Self::property)?), false)
            }
            "extern" => return self.external(annotations),
            "package" => {
                self.next();
                let name = self.new_type()?;
                let scope = self.types.clone();
                self.type_params()?;
                self.expect("(")?;
                let params = self.list(")", Self::param)?;
                self.types = scope;
                (name, DeclKind::Package(params), true)
            }
            "value_set" => {
                self.next();
                self.expect("<")?;
                let ty = self.ty()?;
                self.expect(">")?;
                self.expect("(")?;
                let size = self.expr()?;
                self.expect(")")?;
                (self.name()?, DeclKind::ValueSet(ty, size), true)
            }
            _ => return self.typed(annotations),
        };
        let span = span.unwrap_or_else(|| self.since(start));
        if semicolon {
            self.expect(";")?;
        }
        Ok(Decl { annotations, name, kind, span })
    }

    /// A name that is a type from here on.
    fn new_type(&mut self) -> Check<Name> {
        let name = self.name()?;
        self.types.insert(name.text.clone());
        Ok(name)
    }

    /// `<T, H>`, if it is there. The caller ends their scope.
    fn type_params(&mut self) -> Check<Vec<Name>> {
        if self.eat("<") { self.list(">", Self::new_type) } else { Ok(Vec::new()) }
    }

    fn enumerators(&mut self) -> Check<Vec<(Name, Option<Expr>)>> {
        self.expect("{")?;
        self.list("}", |this| {
            let name = this.name()?;
            let value = if this.eat("=") { Some(this.expr()?) } else { None };
            Ok((name, value))
        })
    }

    fn field(&mut self) -> Check<Field> {
        let annotations = self.annotations()?;
        let ty = self.ty()?;
        let name = self.name()?;
        self.expect(";")?;
        Ok(Field { annotations, ty, name })
    }

    fn param(&mut self) -> Check<Param> {
        let annotations = self.annotations()?;
        let direction = match &*self.peek().text {
            "in" => Direction::In,
            "out" => Direction::Out,
            "inout" => Direction::InOut,
            _ => Direction::None,
        };
        if direction != Direction::None {
            self.next();
        }
        let ty = self.ty()?;
        let name = self.name()?;
        let default = if self.eat("=") { Some(self.expr()?) } else { None };
        Ok(Param { annotations, direction, ty, name, default })
    }

    fn parser(&mut self, annotations: Vec<Annotation>) -> Check<Decl> {
        let start = self.next().span;
        let name = self.new_type()?;
        let scope = self.types.clone();
        let types = self.type_params()?;
        self.expect("(")?;
        let params = self.list(")", Self::param)?;
        let constructor = if self.eat("(") { self.list(")", Self::param)? } else { Vec::new() };
        let span = self.since(start);
        let mut locals = Vec::new();
        let states = if self.eat(";") {
            None
        } else {
            let mut states = Vec::new();
            self.block(|this| {
                let annotations = this.annotations()?;
                if this.is("state") {
                    states.push(this.state(annotations)?);
                } else {
                    let mut local = this.decl()?;
                    local.annotations = annotations;
                    locals.push(local);
                }
                Ok(())
            })?;
            Some(states)
        };
        self.types = scope;
        let kind = DeclKind::Parser(Box::new(ParserDecl { types, params, constructor, locals, states }));
        Ok(Decl { annotations, name, kind, span })
    }

    fn state(&mut self, annotations: Vec<Annotation>) -> Check<State> {
        self.expect("state")?;
        let name = self.name()?;
        let open = self.expect("{")?;
        let mut body = Vec::new();
        let mut next = None;
        while !self.eat("}") {
            if self.peek().kind == Kind::End {
                return Err(self.expected("`}`").also(open, "the state begins here"));
            }
            if self.eat("transition") {
                next = Some(self.transition()?);
                self.expect("}").map_err(|fault| fault.help("a transition is the last statement of its state"))?;
                break;
            }
            body.push(self.statement()?);
        }
        Ok(State { annotations, name, body, next })
    }

    fn transition(&mut self) -> Check<Transition> {
        let start = self.peek().span;
        if !self.eat("select") {
            let name = self.name()?;
            self.expect(";")?;
            return Ok(Transition::To(name));
        }
        self.expect("(")?;
        let keys = self.list(")", Self::expr)?;
        let span = self.since(start);
        let rows = self.block(|this| {
            let keys = this.keyset()?;
            this.expect(":")?;
            let next = this.name()?;
            this.expect(";")?;
            Ok(Row { keys, next })
        })?;
        self.eat(";");
        Ok(Transition::Select { keys, rows, span })
    }

    fn control(&mut self, annotations: Vec<Annotation>) -> Check<Decl> {
        let start = self.next().span;
        let name = self.new_type()?;
        let scope = self.types.clone();
        let types = self.type_params()?;
        self.expect("(")?;
        let params = self.list(")", Self::param)?;
        let constructor = if self.eat("(") { self.list(")", Self::param)? } else { Vec::new() };
        let span = self.since(start);
        let mut locals = Vec::new();
        let apply = if self.eat(";") {
            None
        } else {
            let mut apply = None;
            self.block(|this| {
                if this.is("apply") && &*this.ahead(1).text == "{" {
                    this.next();
                    apply = Some(this.block(Self::statement)?);
                } else {
                    locals.push(this.decl()?);
                }
                Ok(())
            })?;
            let missing = || Fault::new(name.span, format!("the control `{}` has no `apply` block", name.text));
            Some(apply.ok_or_else(|| missing().help("write `apply { … }` behind its declarations"))?)
        };
        self.types = scope;
        let kind = DeclKind::Control(Box::new(ControlDecl { types, params, constructor, locals, apply }));
        Ok(Decl { annotations, name, kind, span })
    }

    fn external(&mut self, annotations: Vec<Annotation>) -> Check<Decl> {
        let start = self.next().span;
        // `extern void f(…);` is a function, `extern name { … }` or `extern name<T> { … }` a type.
        let is_type = !self.types.contains(&*self.peek().text) && matches!(&*self.ahead(1).text, "{" | "<");
        if !is_type || matches!(&*self.peek().text, "bit" | "int" | "varbit" | "tuple") {
            let decl = self.typed(annotations)?;
            return match decl.kind {
                DeclKind::Function(_) => Ok(decl),
                _ => Err(Fault::new(decl.span, "an extern is a function, or a type with methods")),
            };
        }
        let name = self.new_type()?;
        let scope = self.types.clone();
        self.type_params()?;
        let span = self.since(start);
        let methods = self.block(|this| {
            let annotations = this.annotations()?;
            // A program implements an abstract method where it makes an instance, which is refused there.
            let is_abstract = this.is("abstract");
            this.at += usize::from(is_abstract);
            if *this.peek().text != *name.text {
                return this.typed(annotations);
            }
            let name = this.name()?;
            let scope = this.types.clone();
            let function = this.function(None)?;
            this.types = scope;
            this.expect(";")?;
            Ok(Decl { annotations, span: name.span, name, kind: DeclKind::Function(Box::new(function)) })
        })?;
        self.types = scope;
        Ok(Decl { annotations, name, kind: DeclKind::Extern(methods), span })
    }

    /// Type parameters and parameters of a function.
    fn function(&mut self, result: Option<Type>) -> Check<Function> {
        let types = self.type_params()?;
        self.expect("(")?;
        let params = self.list(")", Self::param)?;
        Ok(Function { result, types, params, body: None })
    }

    /// A declaration that begins with a type: a variable, a function, an instance.
    fn typed(&mut self, annotations: Vec<Annotation>) -> Check<Decl> {
        let start = self.peek().span;
        // The result of a generic function may be one of its type parameters, which stand behind it: `T lookahead<T>()`.
        let generic = self.ahead(1).kind == Kind::Word && &*self.ahead(2).text == "<";
        if !self.at_type() && !generic {
            return Err(self.unknown_type());
        }
        let scope = self.types.clone();
        let ty = self.ty()?;
        if self.eat("(") {
            let args = self.list(")", Self::arg)?;
            let name = self.name()?;
            let span = self.since(start);
            self.expect(";")?;
            return Ok(Decl { annotations, name, kind: DeclKind::Instance(ty, args), span });
        }
        let name = self.name()?;
        if self.is("(") || self.is("<") {
            let mut function = self.function(Some(ty))?;
            let span = self.since(start);
            if self.is("{") {
                function.body = Some(self.block(Self::statement)?);
            } else {
                self.expect(";")?;
            }
            self.types = scope;
            return Ok(Decl { annotations, name, kind: DeclKind::Function(Box::new(function)), span });
        }
        let value = if self.eat("=") { Some(self.expr()?) } else { None };
        let span = self.since(start);
        self.expect(";")?;
        Ok(Decl { annotations, name, kind: DeclKind::Var(ty, value), span })
    }

    fn arg(&mut self) -> Check<Arg> {
        let named = self.peek().kind == Kind::Word && &*self.ahead(1).text == "=";
        let name = if named { Some(self.name()?) } else { None };
        if named {
            self.expect("=")?;
        }
        Ok(Arg { name, value: self.keyset()? })
    }

    fn property(&mut self) -> Check<Property> {
        let annotations = self.annotations()?;
        let constant = self.eat("const");
        let name = self.name()?;
        self.expect("=")?;
        let value = match &*name.text {
            "key" => PropertyValue::Keys(self.block(|this| {
                let value = this.expr()?;
                this.expect(":")?;
                let kind = this.name()?;
                let annotations = this.annotations()?;
                this.expect(";")?;
                Ok(Key { annotations, value, kind })
            })?),
            "actions" => PropertyValue::Actions(self.block(|this| {
                let annotations = this.annotations()?;
                let action = this.expr()?;
                this.expect(";")?;
                Ok((annotations, action))
            })?),
            "entries" => PropertyValue::Entries(self.block(|this| {
                let mut annotations = this.annotations()?;
                let start = this.peek().span;
                this.eat("const");
                let priority = if this.is("priority") {
                    this.next();
                    this.expect("=")?;
                    let value = this.expr()?;
                    this.expect(":")?;
                    Some(value)
                } else {
                    None
                };
                let keys = this.keyset()?;
                this.expect(":")?;
                let action = this.expr()?;
                let span = this.since(start);
                annotations.extend(this.annotations()?);
                this.expect(";")?;
                Ok(Entry { annotations, priority, keys, action, span })
            })?),
            _ => {
                let value = self.expr()?;
                self.expect(";")?;
                PropertyValue::Expr(value)
            }
        };
        Ok(Property { annotations, constant, name, value })
    }
}
