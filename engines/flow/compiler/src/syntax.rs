// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The syntax tree of a source: names are not resolved, numbers have no width.

use crate::fault::Span;
use crate::lex::Number;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Debug, Default)]
pub(crate) struct File {
    pub constants: Vec<Name>,
    pub elements: Vec<Element>,
}

#[derive(Debug)]
pub(crate) struct Element {
    pub name: Name,
    pub key: Option<Key>,
    pub states: Vec<Name>,
    pub flow: Vec<Register>,
    pub global: Vec<Register>,
    pub table: Option<Table>,
    pub rows: Vec<Row>,
}

#[derive(Debug)]
pub(crate) struct Key {
    pub span: Span,
    pub fields: Vec<Name>,
    pub biflow: bool,
}

#[derive(Debug)]
pub(crate) struct Register {
    pub name: Name,
    pub initial: Option<(Number, Span)>,
}

#[derive(Debug)]
pub(crate) struct Table {
    pub places: (Number, Span),
    /// `lowest` or `highest`.
    pub evict: Option<(Evict, Span)>,
}

/// The context that is evicted if a table is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evict {
    /// The context with the lowest first register, unsigned.
    Lowest,
    /// The context with the highest first register, unsigned.
    Highest,
}

#[derive(Debug)]
pub(crate) struct Row {
    /// From its first to its last word, or to the end of its first line.
    pub span: Span,
    /// States; empty: all.
    pub states: Vec<Name>,
    pub tests: Vec<Test>,
    pub actions: Vec<Action>,
}

#[derive(Debug)]
pub(crate) enum Operand {
    Name(Name),
    Masked(Name, Number, Span),
    Number(Number, Span),
}

impl Operand {
    pub(crate) fn span(&self) -> Span {
        match self {
            Operand::Name(name) => name.span,
            Operand::Masked(_, _, span) | Operand::Number(_, span) => *span,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    SignedLess,
    SignedGreaterEqual,
    Before,
    NotBefore,
}

#[derive(Debug)]
pub(crate) enum Test {
    Compare { left: Operand, compare: Compare, right: Operand, span: Span },
    Prefix { field: Name, value: (Number, Span), length: (Number, Span), negated: bool },
    Word { name: Name, negated: bool },
}

#[derive(Debug)]
pub(crate) enum Expression {
    Operand(Operand),
    Operation { name: String, a: Operand, b: Option<Operand>, shift: Option<(Number, Span)>, span: Span },
}

/// A time and the state that follows.
#[derive(Debug)]
pub(crate) struct Timeout {
    pub micros: u128,
    pub span: Span,
    pub then: Option<Name>,
}

#[derive(Debug, Default)]
pub(crate) struct Timeouts {
    pub hard: Option<Timeout>,
    pub idle: Option<Timeout>,
}

#[derive(Debug)]
pub(crate) struct Action {
    pub span: Span,
    pub what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    Set(Name, Expression),
    Goto(Name, Timeouts),
    Keep(Timeouts),
    Forget,
    Notify,
    Push(Tag, Operand),
    Pop(Tag),
    Swap(Name),
    Pass,
    Next(Name),
    Port(Operand),
    Opposite,
    Host,
    Drop,
}

/// A tag that can be pushed and popped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// 802.1Q.
    Vlan,
    /// RFC 3032.
    Mpls,
}
