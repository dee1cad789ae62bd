// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Statements.

use super::Parser;
use crate::ast::{Case, Stmt, StmtKind};
use crate::fault::{Check, Fault};
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
            "for" | "break" | "continue" if self.is_loop() => {
                return Err(Fault::missing(start, "loops"));
            }
            "@" | "const" => StmtKind::Decl(Box::new(self.decl()?)),
            _ if self.at_declaration() => StmtKind::Decl(Box::new(self.decl()?)),
            _ => self.assignment_or_call()?,
        };
        Ok(Stmt { kind, span: self.since(start) })
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
        self.expect(";")?;
        Ok(kind)
    }
}
