// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Statements.

use super::Parser;
use crate::ast::{Case, Decl, DeclKind, For, Stmt, StmtKind};
use crate::fault::Check;
use crate::token::Kind;

/// Assignments with an operator; `>>=` is two tokens.
const COMPOUND: [&str; 11] = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", "|+|=", "|-|="];

impl Parser<'_> {
    pub(super) fn statement(&mut self) -> Check<Stmt> {
        self.nested(Self::any_statement)
    }

    fn any_statement(&mut self) -> Check<Stmt> {
        let start = self.peek().span;
        let word = self.peek().text.clone();
        let kind = match &*word {
            ";" => {
                self.next();
                StmtKind::Empty
            }
            "{" => StmtKind::Block(self.block(Self::statement)?),
            "if" => {
                self.next();
                self.expect("(")?;
                let condition = self.expr()?;
                self.expect(")")?;
                let then = self.statement()?;
                let otherwise = if self.eat("else") { Some(Box::new(self.statement()?)) } else { None };
                return Ok(Stmt { kind: StmtKind::If(condition, Box::new(then), otherwise), span: start });
            }
            "switch" => {
                self.next();
                self.expect("(")?;
                let value = self.expr()?;
                self.expect(")")?;
                let cases = self.block(|this| {
                    let label = this.keyset()?;
                    this.expect(":")?;
                    let block = if this.is("{") { Some(this.block(Self::statement)?) } else { None };
                    Ok(Case { label, block })
                })?;
                return Ok(Stmt { kind: StmtKind::Switch(value, cases), span: start });
            }
            "exit" => {
                self.next();
                self.expect(";")?;
                StmtKind::Exit
            }
            "return" => {
                self.next();
                let value = if self.is(";") { None } else { Some(self.expr()?) };
                self.expect(";")?;
                StmtKind::Return(value)
            }
            "for" if self.is_loop() => self.for_loop()?,
            "break" | "continue" if self.is_loop() => {
                self.next();
                self.expect(";")?;
                if &*word == "break" { StmtKind::Break } else { StmtKind::Continue }
            }
            "@" if self.is_annotated_block()? => StmtKind::Block(self.block(Self::statement)?),
            "@" | "const" => StmtKind::Decl(Box::new(self.decl()?)),
            _ if self.at_declaration() => StmtKind::Decl(Box::new(self.decl()?)),
            _ => self.assignment_or_call()?,
        };
        Ok(Stmt { kind, span: self.since(start) })
    }

    /// `for (init; condition; update) body`, or `for (T name in items) body`.
    fn for_loop(&mut self) -> Check<StmtKind> {
        self.next();
        self.expect("(")?;
        self.annotations()?;
        let start = self.at;
        if self.at_type() {
            let ty = self.ty()?;
            let name = self.name()?;
            if self.eat("in") {
                let items = self.keyset()?;
                self.expect(")")?;
                let span = ty.span.to(name.span);
                let decl = Decl { annotations: Vec::new(), name, kind: DeclKind::Var(ty, None), span };
                return Ok(StmtKind::ForIn(Box::new(decl), items, Box::new(self.statement()?)));
            }
            self.at = start;
        }
        let init = self.parts_of_loop(";")?;
        let condition = if self.is(";") { None } else { Some(self.expr()?) };
        self.expect(";")?;
        let update = self.parts_of_loop(")")?;
        let body = self.statement()?;
        Ok(StmtKind::For(Box::new(For { init, condition, update, body })))
    }

    /// Declarations, assignments and calls with commas in between, up to a symbol, which is taken too.
    fn parts_of_loop(&mut self, close: &str) -> Check<Vec<Stmt>> {
        self.list(close, |this| {
            let start = this.peek().span;
            let kind = if this.at_declaration() {
                let ty = this.ty()?;
                let name = this.name()?;
                let value = if this.eat("=") { Some(this.expr()?) } else { None };
                let span = this.since(start);
                StmtKind::Decl(Box::new(Decl { annotations: Vec::new(), name, kind: DeclKind::Var(ty, value), span }))
            } else {
                this.bare_assignment_or_call()?
            };
            Ok(Stmt { kind, span: this.since(start) })
        })
    }

    /// Whether annotations and then a block begin here. If so, takes the annotations: `@atomic` and the like ask for
    /// nothing that is not so anyway.
    fn is_annotated_block(&mut self) -> Check<bool> {
        let before = self.at;
        self.annotations()?;
        let found = self.is("{");
        if !found {
            self.at = before;
        }
        Ok(found)
    }

    fn is_loop(&self) -> bool {
        matches!(&*self.ahead(1).text, "(" | ";") && !self.types.contains(&*self.peek().text)
    }

    /// Whether a declaration begins here: a type is followed by a name, or by arguments and a name.
    fn at_declaration(&self) -> bool {
        if !self.at_type() {
            return false;
        }
        // `ty.apply(…)` is a call of a control by its type, `E.member` a value.
        self.peek().kind != Kind::Word || !matches!(&*self.ahead(1).text, "." | "=")
    }

    fn assignment_or_call(&mut self) -> Check<StmtKind> {
        let kind = self.bare_assignment_or_call()?;
        self.expect(";")?;
        Ok(kind)
    }

    /// An assignment or a call without `;`.
    fn bare_assignment_or_call(&mut self) -> Check<StmtKind> {
        let place = self.place()?;
        let kind = if self.eat("=") {
            StmtKind::Assign(place, None, self.expr()?)
        } else if let Some(operator) = COMPOUND.iter().find(|operator| self.is(operator)) {
            self.next();
            StmtKind::Assign(place, Some(operator.trim_end_matches('=').to_owned()), self.expr()?)
        } else if self.is(">") && &*self.ahead(1).text == ">=" {
            self.next();
            self.next();
            StmtKind::Assign(place, Some(">>".to_owned()), self.expr()?)
        } else if matches!(place.kind, crate::ast::ExprKind::Call(_)) {
            StmtKind::Call(place)
        } else {
            return Err(self.expected("`=` or a call"));
        };
        Ok(kind)
    }
}
