// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Syntax trees of P4-16, as the parser finds them.

use crate::source::Span;

/// A name and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

/// An annotation: `@name("x")`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Annotation {
    pub name: String,
    /// The text between its parentheses: tokens with no space between them.
    pub value: String,
    /// All of it.
    pub text: String,
    pub span: Span,
}

/// A type as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Type {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TypeKind {
    Bool,
    Error,
    MatchKind,
    Void,
    Text,
    /// `_`
    Any,
    /// `int` without bits.
    Integer,
    Bit(Option<Box<Expr>>),
    Signed(Box<Expr>),
    Varbit(Box<Expr>),
    Named(String, Vec<Type>),
    Stack(Box<Type>, Box<Expr>),
    Tuple(Vec<Type>),
    /// `list<T>`: only loops take its values.
    List(Box<Type>),
}

/// An expression, a keyset of `select`, or the default of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ExprKind {
    Number(String),
    Bool(bool),
    Text(String),
    Name(String),
    Member(Box<Expr>, Name),
    Index(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, Box<Expr>, Box<Expr>),
    Unary(String, Box<Expr>),
    Binary(String, Box<Expr>, Box<Expr>),
    Cast(Type, Box<Expr>),
    Mux(Box<Expr>, Box<Expr>, Box<Expr>),
    Call(Box<Call>),
    List(Vec<Expr>),
    Record(Vec<(Name, Expr)>),
    /// `{#}`: a header or header union that is not valid.
    Invalid,
    /// `...`: values that are 0, at the end of a list.
    Rest,
    /// `.name`: a name of the outermost scope.
    Outer(String),
    /// `default` or `_`.
    Any,
    /// `value &&& mask`
    Mask(Box<Expr>, Box<Expr>),
    /// `low .. high`
    Range(Box<Expr>, Box<Expr>),
}

/// A call, or an instance without a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub callee: Expr,
    pub types: Vec<Type>,
    pub args: Vec<Arg>,
}

/// An argument; `_` is [`ExprKind::Any`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arg {
    pub name: Option<Name>,
    pub value: Expr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    None,
    In,
    Out,
    InOut,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Param {
    pub annotations: Vec<Annotation>,
    pub direction: Direction,
    pub ty: Type,
    pub name: Name,
    pub default: Option<Expr>,
}

/// A field of a header or struct.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub annotations: Vec<Annotation>,
    pub ty: Type,
    pub name: Name,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StmtKind {
    /// Place, operator in front of `=` (or none), value.
    Assign(Expr, Option<String>, Expr),
    Call(Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    Block(Vec<Stmt>),
    Exit,
    Return(Option<Expr>),
    /// `for (init; condition; update) body`
    For(Box<For>),
    /// `for (T name in items) body`; the items are a list, a stack or a range.
    ForIn(Box<Decl>, Expr, Box<Stmt>),
    Break,
    Continue,
    Switch(Expr, Vec<Case>),
    Decl(Box<Decl>),
    Empty,
}

/// A loop with a condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct For {
    pub init: Vec<Stmt>,
    /// None: the loop ends by `break` alone.
    pub condition: Option<Expr>,
    pub update: Vec<Stmt>,
    pub body: Stmt,
}

/// A case of `switch`: without a block it falls to the next one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    /// [`ExprKind::Any`]: `default`.
    pub label: Expr,
    pub block: Option<Vec<Stmt>>,
}

/// A declaration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decl {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    pub kind: DeclKind,
    /// All of its head.
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DeclKind {
    Const(Type, Expr),
    Var(Type, Option<Expr>),
    Typedef(Type),
    NewType(Type),
    Enum(Option<Type>, Vec<(Name, Option<Expr>)>),
    Errors(Vec<Name>),
    MatchKinds(Vec<Name>),
    /// Type parameters and fields of a header, header union or struct.
    Header(Vec<Name>, Vec<Field>),
    Union(Vec<Name>, Vec<Field>),
    Struct(Vec<Name>, Vec<Field>),
    Parser(Box<ParserDecl>),
    Control(Box<ControlDecl>),
    Action(Vec<Param>, Vec<Stmt>),
    Table(Vec<Property>),
    Extern(Vec<Decl>),
    Function(Box<Function>),
    Package(Vec<Param>),
    Instance(Type, Vec<Arg>),
    /// Type of its members, and how many of them it must hold.
    ValueSet(Type, Expr),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParserDecl {
    pub types: Vec<Name>,
    pub params: Vec<Param>,
    pub constructor: Vec<Param>,
    pub locals: Vec<Decl>,
    /// None: only a type.
    pub states: Option<Vec<State>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ControlDecl {
    pub types: Vec<Name>,
    pub params: Vec<Param>,
    pub constructor: Vec<Param>,
    pub locals: Vec<Decl>,
    /// None: only a type.
    pub apply: Option<Vec<Stmt>>,
}

/// A function, an extern function or method (without a body), or the constructor of an extern (without a type).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Function {
    pub result: Option<Type>,
    pub types: Vec<Name>,
    pub params: Vec<Param>,
    pub body: Option<Vec<Stmt>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    pub body: Vec<Stmt>,
    /// None: to reject.
    pub next: Option<Transition>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Transition {
    To(Name),
    Select { keys: Vec<Expr>, rows: Vec<Row>, span: Span },
}

/// A row of `select`; several keysets are an [`ExprKind::List`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub keys: Expr,
    pub next: Name,
}

/// A property of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Property {
    pub annotations: Vec<Annotation>,
    pub constant: bool,
    pub name: Name,
    pub value: PropertyValue,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PropertyValue {
    Keys(Vec<Key>),
    Actions(Vec<(Vec<Annotation>, Expr)>),
    Entries(Vec<Entry>),
    Expr(Expr),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub annotations: Vec<Annotation>,
    pub value: Expr,
    pub kind: Name,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub annotations: Vec<Annotation>,
    pub priority: Option<Expr>,
    pub keys: Expr,
    pub action: Expr,
    pub span: Span,
}
