// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Checks types and lowers the syntax tree to [`ir::Program`], in one walk: what is applied, called or instantiated is inlined where it is used.

mod call;
mod checksum;
mod control;
mod controller;
mod declare;
mod deparser;
mod expression;
mod externs;
mod generic;
mod list;
mod literal;
mod loops;
mod operation;
mod parser;
mod place;
mod program;
mod settle;
mod stack;
mod statement;
mod table;
mod union;
mod unroll;
mod value;

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::{self, Annotation, Decl, DeclKind};
use crate::fault::{Check, Fault, nearest};
use crate::ir::{self, FieldId, FieldKind, StmtKind};
use crate::source::{Sources, Span};
use crate::types::Type;
use value::{Place, Value};

pub(crate) use program::lower;

/// Calls in calls: more are a circle.
const DEPTH: usize = 64;

/// Statements of a program, calls replaced by what they call. Calls that double on each level are no circle, but never end.
const STATEMENTS: usize = 1 << 17;
/// Fields of all variables.
const FIELDS: usize = 1 << 16;
/// Cells of all registers and counters: memory of whoever runs the program.
const CELLS: u64 = 1 << 24;
/// Types in types.
const TYPES: usize = 64;

/// The meaning of a name.
#[derive(Clone)]
enum Symbol<'a> {
    Value(Value),
    Type(Type),
    /// A function, control, parser, package or extern.
    Decl(&'a Decl),
    Action(ActionSymbol<'a>),
    Table(usize),
    Register(usize, Type),
    Counter(usize),
    DirectCounter(usize),
    Meter(usize),
    DirectMeter(usize),
    /// An action profile or selector.
    Profile(usize),
    ValueSet(usize),
    /// A control or parser that has been instantiated.
    Instance(Rc<Instance<'a>>),
    /// The package.
    Main,
    /// Something whose declaration has a fault.
    Broken,
}

/// An action and where it was declared.
#[derive(Clone)]
struct ActionSymbol<'a> {
    decl: &'a Decl,
    /// Scopes that it sees.
    depth: usize,
    /// Its full name.
    name: String,
}

/// A control or parser that has been instantiated.
struct Instance<'a> {
    decl: &'a Decl,
    /// Path of its name.
    path: String,
    /// Values of its constructor's parameters.
    args: Vec<(String, Symbol<'a>)>,
}

type Scope<'a> = HashMap<String, Symbol<'a>>;

/// How `return` ends what is being inlined.
#[derive(Clone, Default)]
struct Return {
    /// 1 as soon as it has returned; None: nothing follows a return.
    flag: Option<FieldId>,
    /// Where the value goes.
    value: Option<Place>,
    /// Its type.
    ty: Option<Type>,
}

/// Where statements stand: not all are allowed everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    Parser,
    Control,
    Action,
    /// A function that a parser, a control or an action calls.
    Function,
    /// A checksum control, the deparser, constants, and functions that these call: no statement has effects.
    Pure,
}

struct Lower<'a> {
    sources: &'a Sources,
    program: ir::Program,
    scopes: Vec<Scope<'a>>,
    faults: Vec<Fault>,
    /// All header stacks.
    stacks: Vec<stack::Stack>,
    /// The other members of the header union, for each header that is in one.
    siblings: HashMap<ir::InstanceId, Vec<ir::InstanceId>>,
    /// Statements of the block that is being lowered.
    out: Vec<ir::Stmt>,
    /// Path of the control that is being lowered.
    path: String,
    returning: Return,
    context: Context,
    /// A parser is lowered, or a function that one calls.
    in_parser: bool,
    depth: usize,
    /// Calls and statements that were made so far.
    made: usize,
    /// Actions of tables, by full name.
    actions: HashMap<String, ir::ActionId>,
    /// Controls that were applied, with the places that they work on and their scopes.
    applied: HashMap<String, control::Applied<'a>>,
    /// Numbers of P4Info that are given out.
    ids: HashMap<u32, String>,
    /// The statements that compute the keys of each table, which run in front of its application.
    keys: Vec<Vec<ir::Stmt>>,
    /// States of the parser so far.
    states: Vec<ir::State>,
    /// Operations of the state that is being lowered.
    ops: Vec<ir::ParserOp>,
    /// That state.
    current: ir::StateId,
    /// Members of structs with `@field_list`, each with the numbers of its lists.
    field_lists: HashMap<String, Vec<(String, Vec<u128>)>>,
    /// Kinds of match of the members of each struct: `@match`.
    match_kinds: HashMap<String, Vec<ir::MatchKind>>,
    /// Fields of the metadata that are on field lists, with the list's number.
    listed: Vec<(u128, FieldId)>,
    /// Generic types by name, with the types that they were made with.
    made_types: HashMap<String, Type>,
    /// The loops that are being lowered, innermost last.
    loops: Vec<loops::Leave>,
    /// Counts the turns of loops.
    turns: Option<FieldId>,
    /// A turn of a loop over constants is lowered.
    in_turn: bool,
}

impl<'a> Lower<'a> {
    /// Reports a fault.
    #[expect(clippy::boxed_local, reason = "faults come in boxes, as they are the errors of nearly every function")]
    fn fail(&mut self, fault: Box<Fault>) {
        if !fault.message.is_empty() {
            self.faults.push(*fault);
        }
    }

    /// Reports the fault of a declaration, whose name is then no fault where it is used.
    fn fail_to_declare(&mut self, decl: &Decl, fault: Box<Fault>) {
        self.fail(fault);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(decl.name.text.clone(), Symbol::Broken);
        }
    }

    /// The text of a span without line breaks.
    fn text(&self, span: Span) -> String {
        self.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn find(&self, name: &str) -> Option<&Symbol<'a>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn lookup(&self, name: &str, span: Span) -> Check<Symbol<'a>> {
        match self.find(name) {
            Some(Symbol::Broken) => return Err(Fault::silent(span)),
            Some(symbol) => return Ok(symbol.clone()),
            None => {}
        }
        let fault = Fault::new(span, format!("there is no `{name}` here")).label("unknown name");
        let known = self.scopes.iter().flat_map(|scope| scope.keys().map(String::as_str));
        Err(match nearest(name, known) {
            Some(near) => fault.help(format!("did you mean `{near}`?")),
            None => fault.help("declare it in this control, or before it"),
        })
    }

    /// Gives a name a meaning in the innermost scope.
    fn declare(&mut self, name: &ast::Name, symbol: Symbol<'a>) {
        let known = self.scopes.last_mut().is_some_and(|scope| scope.insert(name.text.clone(), symbol).is_some());
        if known {
            self.fail(
                Fault::new(name.span, format!("`{}` is declared twice", name.text))
                    .label("declared again here")
                    .help("choose another name"),
            );
        }
    }

    /// Full name of something of the control that is being lowered; `@name` replaces the last part, or all if it begins with a dot.
    fn full_name(&self, name: &str, annotations: &[Annotation]) -> String {
        let given = annotations.iter().find(|annotation| annotation.name == "name");
        let name = given.map_or(name, |annotation| &annotation.value[..]).trim_matches('"');
        match name.strip_prefix('.') {
            Some(whole) => whole.to_owned(),
            None if self.path.is_empty() => name.to_owned(),
            None => format!("{}.{name}", self.path),
        }
    }

    /// Makes a field.
    fn field(&mut self, name: String, width: u32, kind: FieldKind, span: Span) -> FieldId {
        self.program.fields.push(ir::Field { name, width, kind, span });
        self.program.fields.len() - 1
    }

    /// Makes a field for a value between two statements.
    fn temporary(&mut self, width: u32, span: Span) -> FieldId {
        let name = format!("$t{}", self.program.fields.len());
        self.field(name, width, FieldKind::Local, span)
    }

    fn emit(&mut self, kind: StmtKind, span: Span) {
        self.made += 1;
        self.out.push(ir::Stmt { kind, span });
    }

    /// Runs `work` with an empty block, and gives the statements that it makes.
    fn capture<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, Vec<ir::Stmt>) {
        let before = std::mem::take(&mut self.out);
        let result = work(self);
        (result, std::mem::replace(&mut self.out, before))
    }

    /// Runs `work` in an inner scope.
    fn scoped<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(Scope::new());
        let result = work(self);
        self.scopes.pop();
        result
    }

    /// Runs `work` where only the outermost `depth` scopes are seen, and those of `inner`.
    fn within<T>(
        &mut self,
        depth: usize,
        inner: Vec<Scope<'a>>,
        work: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<Scope<'a>>) {
        let hidden = self.scopes.split_off(depth.min(self.scopes.len()));
        self.scopes.extend(inner);
        let result = work(self);
        let inner = self.scopes.split_off(depth.min(self.scopes.len()));
        self.scopes.extend(hidden);
        (result, inner)
    }

    /// Counts statements that calls make.
    fn count(&mut self, statements: usize, span: Span) -> Check<()> {
        self.made += statements;
        if self.made <= STATEMENTS {
            return Ok(());
        }
        Err(Fault::new(span, format!("the program has more than {STATEMENTS} statements"))
            .label("counted with those of all calls")
            .help("each call counts with all that it calls: call less often"))
    }

    /// Runs `work` one call deeper.
    fn deeper<T>(&mut self, span: Span, work: impl FnOnce(&mut Self) -> Check<T>) -> Check<T> {
        if self.depth >= DEPTH {
            return Err(Fault::new(span, format!("more than {DEPTH} calls stand in each other"))
                .help("P4 has no recursion: a call must not lead back to itself"));
        }
        self.count(1, span)?;
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// Checks that the program has no more cells than whoever runs it has room for.
    fn check_cells(&self, span: Span) -> Check<()> {
        let registers = self.program.registers.iter().map(|register| u64::from(register.size));
        let counters = self.program.counters.iter().map(|counter| u64::from(counter.size.unwrap_or(0)));
        let meters = self.program.meters.iter().map(|meter| u64::from(meter.size.unwrap_or(0)));
        let cells: u64 = registers.chain(counters).chain(meters).sum();
        if cells > CELLS {
            return Err(Fault::new(span, format!("registers, counters and meters have {cells} cells together"))
                .help(format!("a program has {CELLS} at most")));
        }
        Ok(())
    }

    /// A number of P4Info: `@id`, or one that follows from the name. `prefix` is the kind's.
    fn p4info_id(&mut self, prefix: u32, name: &str, annotations: &[Annotation], span: Span) -> u32 {
        let given = annotations.iter().find(|annotation| annotation.name == "id");
        let mut id = prefix << 24 | (name_hash(name) & 0xFF_FFFF);
        if let Some(given) = given {
            match literal::plain(&given.value) {
                Some(value) if value >> 24 == 0 || value >> 24 == prefix => id = prefix << 24 | (value & 0xFF_FFFF),
                _ => self.fail(
                    Fault::new(given.span, format!("`{}` is not a number for this kind", given.value))
                        .help(format!("its upper byte is 0 or {prefix:#04x}, and it has 32 bits")),
                ),
            }
            if let Some(other) = self.ids.get(&id) {
                let text = format!("`{other}` has the same @id");
                self.fail(Fault::new(span, text).help("give each a number of its own"));
            }
        }
        while self.ids.contains_key(&id) {
            id = prefix << 24 | (id.wrapping_add(1) & 0xFF_FFFF);
        }
        self.ids.insert(id, name.to_owned());
        id
    }
}

/// Annotations as P4Info shows them.
fn shown(annotations: &[Annotation]) -> Vec<String> {
    let shown = annotations
        .iter()
        .filter(|annotation| !matches!(&*annotation.name, "name" | "id" | "defaultonly" | "tableonly"));
    shown.map(|annotation| annotation.text.clone()).collect()
}

/// One-at-a-time hash (B. Jenkins, Dr. Dobb's 1997), which other compilers of P4 take for the numbers of P4Info: programs keep their numbers.
fn name_hash(name: &str) -> u32 {
    let mut hash: u32 = 0;
    for byte in name.bytes() {
        hash = hash.wrapping_add(u32::from(byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// The kind of a declaration, for messages.
fn kind_name(decl: &Decl) -> &'static str {
    match decl.kind {
        DeclKind::Parser(_) => "a parser",
        DeclKind::Control(_) => "a control",
        DeclKind::Extern(_) => "an extern",
        DeclKind::Function(_) => "a function",
        DeclKind::Package(_) => "a package",
        _ => "a declaration",
    }
}

#[cfg(test)]
mod tests {
    use super::name_hash;

    /// Numbers that p4c has given to names of a public tutorial.
    #[test]
    fn numbers_are_those_of_other_compilers() {
        assert_eq!(0x0200_0000 | name_hash("MyIngress.ipv4_lpm") & 0xFF_FFFF, 37_375_156);
        assert_eq!(0x0100_0000 | name_hash("NoAction") & 0xFF_FFFF, 21_257_015);
    }
}
