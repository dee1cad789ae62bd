// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Expressions, keysets and types.

use super::Parser;
use crate::ast::{Call, Expr, ExprKind, Name, Type, TypeKind};
use crate::fault::{Check, Fault, nearest};
use crate::token::Kind;

/// Operators of two values, from the weakest to the strongest. `>>` is two tokens.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["++", "+", "-", "|+|", "|-|"],
    &["*", "/", "%"],
];

impl Parser<'_> {
    /// Whether a type begins here.
    pub(super) fn at_type(&self) -> bool {
        let token = self.peek();
        match &*token.text {
            "bool" | "bit" | "int" | "varbit" | "tuple" | "void" | "string" | "match_kind" => true,
            "list" => &*self.ahead(1).text == "<",
            "error" => &*self.ahead(1).text != ".",
            text => token.kind == Kind::Word && self.types.contains(text),
        }
    }

    /// The fault of a declaration that does not begin with a type.
    pub(super) fn unknown_type(&self) -> Box<Fault> {
        let token = self.peek();
        if token.kind != Kind::Word {
            return self.expected("a declaration");
        }
        let fault = Fault::new(token.span, format!("there is no type `{}`", token.text)).label("unknown type");
        match nearest(&token.text, self.types.iter().map(String::as_str)) {
            Some(name) => fault.help(format!("did you mean `{name}`?")),
            None => fault.help("a type is declared before it is used"),
        }
    }

    pub(super) fn ty(&mut self) -> Check<Type> {
        self.nested(Self::any_type)
    }

    fn any_type(&mut self) -> Check<Type> {
        let start = self.peek().span;
        let word = self.next();
        let kind = match &*word.text {
            "bool" => TypeKind::Bool,
            "error" => TypeKind::Error,
            "match_kind" => TypeKind::MatchKind,
            "void" => TypeKind::Void,
            "string" => TypeKind::Text,
            "_" => TypeKind::Any,
            "bit" if !self.is("<") => TypeKind::Bit(None),
            "bit" => TypeKind::Bit(Some(self.width()?)),
            "int" if !self.is("<") => TypeKind::Integer,
            "int" => TypeKind::Signed(self.width()?),
            "varbit" => TypeKind::Varbit(self.width()?),
            "tuple" => {
                self.expect("<")?;
                TypeKind::Tuple(self.list(">", Self::ty)?)
            }
            "list" if self.eat("<") => {
                let of = self.ty()?;
                self.expect(">")?;
                TypeKind::List(Box::new(of))
            }
            _ if word.kind == Kind::Word => {
                self.at -= 1;
                let name = self.name()?;
                let args = if self.eat("<") { self.list(">", Self::ty)? } else { Vec::new() };
                TypeKind::Named(name.text, args)
            }
            _ => {
                self.at -= 1;
                return Err(self.expected("a type"));
            }
        };
        let mut ty = Type { kind, span: self.since(start) };
        while self.eat("[") {
            let size = self.expr()?;
            self.expect("]")?;
            ty = Type { kind: TypeKind::Stack(Box::new(ty), Box::new(size)), span: self.since(start) };
        }
        Ok(ty)
    }

    /// `<8>` or `<(W + 1)>`.
    fn width(&mut self) -> Check<Box<Expr>> {
        self.expect("<")?;
        let width = self.part(Self::unary)?;
        self.expect(">")?;
        Ok(Box::new(width))
    }

    /// A keyset: an expression, a mask, a range, `default`, `_`, or several in parentheses.
    pub(super) fn keyset(&mut self) -> Check<Expr> {
        self.nested(Self::any_keyset)
    }

    fn any_keyset(&mut self) -> Check<Expr> {
        let start = self.peek().span;
        if self.eat("default") || self.eat("_") {
            return Ok(Expr { kind: ExprKind::Any, span: start });
        }
        if self.is("(") && self.several() {
            self.next();
            let keys = self.list(")", Self::keyset)?;
            return Ok(Expr { kind: ExprKind::List(keys), span: self.since(start) });
        }
        let value = self.expr()?;
        let kind = if self.eat("&&&") {
            ExprKind::Mask(Box::new(value), Box::new(self.expr()?))
        } else if self.eat("..") {
            ExprKind::Range(Box::new(value), Box::new(self.expr()?))
        } else {
            return Ok(value);
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    /// Whether the parenthesis here holds keysets, not an expression: it has a comma, mask, range or `_` that is in no
    /// inner one.
    fn several(&self) -> bool {
        let mut depth = 0;
        for token in &self.tokens[self.at..] {
            match &*token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth -= 1;
                    if depth == 0 {
                        return false;
                    }
                }
                "," | "&&&" | ".." | "_" | "default" if depth == 1 => return true,
                ";" => return false,
                _ => {}
            }
        }
        false
    }

    pub(super) fn expr(&mut self) -> Check<Expr> {
        self.part(Self::choice)
    }

    fn choice(&mut self) -> Check<Expr> {
        let start = self.peek().span;
        let condition = self.binary(0)?;
        if !self.eat("?") {
            return Ok(condition);
        }
        let yes = self.expr()?;
        self.expect(":")?;
        let no = self.expr()?;
        Ok(Expr { kind: ExprKind::Mux(Box::new(condition), Box::new(yes), Box::new(no)), span: self.since(start) })
    }

    fn binary(&mut self, level: usize) -> Check<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let start = self.peek().span;
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.at_operator(operator)) {
            self.operator()?;
            self.next();
            if *operator == ">>" {
                self.next();
            }
            let right = self.binary(level + 1)?;
            let kind = ExprKind::Binary((*operator).to_owned(), Box::new(left), Box::new(right));
            left = Expr { kind, span: self.since(start) };
        }
        Ok(left)
    }

    fn at_operator(&self, operator: &str) -> bool {
        let shift = self.is(">") && &*self.ahead(1).text == ">" && self.peek().span.end == self.ahead(1).span.start;
        match operator {
            ">>" => shift,
            ">" => self.is(">") && !shift,
            _ => self.is(operator),
        }
    }

    fn unary(&mut self) -> Check<Expr> {
        let start = self.peek().span;
        for operator in ["!", "~", "-", "+"] {
            if self.eat(operator) {
                let value = self.part(Self::unary)?;
                let kind = ExprKind::Unary(operator.to_owned(), Box::new(value));
                return Ok(Expr { kind, span: self.since(start) });
            }
        }
        if self.is("(") {
            self.next();
            if self.at_type() && !matches!(&*self.ahead(1).text, "." | "(") {
                let ty = self.ty()?;
                self.expect(")")?;
                let value = self.part(Self::unary)?;
                return Ok(Expr { kind: ExprKind::Cast(ty, Box::new(value)), span: self.since(start) });
            }
            self.at -= 1;
        }
        self.postfix()
    }

    /// The target of an assignment, or a call.
    pub(super) fn place(&mut self) -> Check<Expr> {
        self.part(Self::postfix)
    }

    fn postfix(&mut self) -> Check<Expr> {
        let start = self.peek().span;
        let mut value = self.primary()?;
        loop {
            if matches!(&*self.peek().text, "." | "[" | "(") {
                self.operator()?;
            }
            let kind = if self.eat(".") {
                ExprKind::Member(Box::new(value), self.name()?)
            } else if self.eat("[") {
                let index = self.expr()?;
                if self.eat(":") {
                    let low = self.expr()?;
                    self.expect("]")?;
                    ExprKind::Slice(Box::new(value), Box::new(index), Box::new(low))
                } else {
                    self.expect("]")?;
                    ExprKind::Index(Box::new(value), Box::new(index))
                }
            } else if self.is("(") || self.type_arguments() {
                let types = if self.eat("<") { self.list(">", Self::ty)? } else { Vec::new() };
                self.expect("(")?;
                let args = self.list(")", Self::arg)?;
                ExprKind::Call(Box::new(Call { callee: value, types, args }))
            } else {
                return Ok(value);
            };
            value = Expr { kind, span: self.since(start) };
        }
    }

    /// Whether `<` begins type arguments: a type follows it.
    fn type_arguments(&self) -> bool {
        let next = self.ahead(1);
        let ty = matches!(&*next.text, "bool" | "bit" | "int" | "varbit" | "tuple" | "error" | "string" | "list" | "_");
        self.is("<") && (ty || (next.kind == Kind::Word && self.types.contains(&*next.text)))
    }

    fn primary(&mut self) -> Check<Expr> {
        let token = self.peek().clone();
        let kind = match (&*token.text, token.kind) {
            ("true", _) => ExprKind::Bool(true),
            ("false", _) => ExprKind::Bool(false),
            ("error", _) => ExprKind::Name("error".into()),
            (text, Kind::Number) => ExprKind::Number(text.to_owned()),
            (text, Kind::Text) => ExprKind::Text(text.trim_matches('"').to_owned()),
            ("(", _) => {
                self.next();
                let mut value = self.expr()?;
                self.expect(")")?;
                value.span = self.since(token.span);
                return Ok(value);
            }
            ("{", _) => return self.braces(),
            (".", _) => {
                self.next();
                let name = self.name()?;
                return Ok(Expr { kind: ExprKind::Outer(name.text), span: self.since(token.span) });
            }
            ("...", _) => ExprKind::Rest,
            (_, Kind::Word) => {
                let name = self.name()?;
                return Ok(Expr { kind: ExprKind::Name(name.text), span: name.span });
            }
            _ => return Err(self.expected("a value")),
        };
        self.next();
        Ok(Expr { kind, span: token.span })
    }

    /// `{a, b}`, `{x = a, y = b}` or `{#}`.
    fn braces(&mut self) -> Check<Expr> {
        let start = self.expect("{")?;
        if self.peek().kind == Kind::Hash {
            self.next();
            self.expect("}")?;
            return Ok(Expr { kind: ExprKind::Invalid, span: self.since(start) });
        }
        let record = self.peek().kind == Kind::Word && &*self.ahead(1).text == "=";
        let kind = if record {
            ExprKind::Record(self.list("}", |this| {
                if this.is("...") {
                    let name = Name { text: "...".into(), span: this.peek().span };
                    return Ok((name, this.expr()?));
                }
                let name = this.name()?;
                this.expect("=")?;
                Ok((name, this.expr()?))
            })?)
        } else {
            ExprKind::List(self.list("}", Self::expr)?)
        };
        Ok(Expr { kind, span: self.since(start) })
    }
}
