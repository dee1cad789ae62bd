// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The effect of a sequence of statements, as assignments that all read the values from before it.

use std::collections::HashMap;

use super::hashes::{HashUse, Hashed, hashed};
use super::uses::Uses;
use super::vector::too_much;
use crate::fault::{Check, Fault};
use crate::fold::mask;
use crate::ir::{
    BinaryOp, ChecksumData, CounterId, Expr, ExprKind, Extern, FieldId, FieldKind, HashAlgorithm, MeterId, Program,
    RegisterId, Standard, Stmt, StmtKind,
};
use crate::source::Span;

/// Stands for the old value of the register that the statements read, or for the color that a meter gives.
pub(super) const OLD: FieldId = usize::MAX;

/// The cells of a register or a meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cells {
    Register(RegisterId),
    /// An indirect meter.
    Meter(MeterId),
    /// A direct meter: the cell is that of the entry that was found.
    EntryMeter(MeterId),
}

/// The operation of a register or a meter.
#[derive(Debug, Clone)]
pub(super) struct RegisterUse {
    pub cells: Cells,
    pub index: Expr,
    /// The new value, in which [`OLD`] is the old one; None if it is only read.
    pub value: Option<Expr>,
    pub span: Span,
}

/// A counter that counts the frame.
#[derive(Debug, Clone)]
pub(super) struct CountUse {
    pub counter: CounterId,
    pub index: Expr,
    pub span: Span,
}

/// What statements do.
#[derive(Debug, Clone, Default)]
pub(super) struct Effects {
    /// Fields and their new values, in terms of the values before.
    pub writes: Vec<(FieldId, Expr)>,
    pub register: Option<RegisterUse>,
    pub count: Option<CountUse>,
    /// CRCs that values read; a later one may read an earlier one.
    pub hashes: Vec<HashUse>,
}

/// Replaces fields by what they are.
fn substitute(expr: &Expr, values: &HashMap<FieldId, Expr>) -> Expr {
    expr.replace(&|field| values.get(&field).cloned())
}

/// A number that a value is not above.
fn most(expr: &Expr) -> u128 {
    match &expr.kind {
        ExprKind::Const(value) => *value,
        ExprKind::Resize(of) => most(of).min(mask(expr.width)),
        ExprKind::Concat(upper, lower) if upper.value() == Some(0) => most(lower),
        _ => mask(expr.width),
    }
}

struct Walk<'p> {
    program: &'p Program,
    values: HashMap<FieldId, Expr>,
    /// Fields in the order in which they were first written.
    order: Vec<FieldId>,
    register: Option<RegisterUse>,
    count: Option<CountUse>,
    hashes: Vec<HashUse>,
    in_if: bool,
}

/// The effects of statements without tables. `all` is how often the whole program reads fields: local fields that
/// nobody else reads are left out.
pub(super) fn effects(program: &Program, stmts: &[Stmt], all: &Uses) -> Check<Effects> {
    let mut walk = Walk {
        program,
        values: HashMap::new(),
        order: Vec::new(),
        register: None,
        count: None,
        hashes: Vec::new(),
        in_if: false,
    };
    walk.block(stmts)?;
    let own = Uses::of_block(program, stmts);
    let matters = |field: &FieldId| match program.fields[*field].kind {
        FieldKind::Header { .. } | FieldKind::Standard(Standard::EgressSpec) => true,
        // A value that these statements alone read has been put in place of the field.
        FieldKind::Local => all.read[*field] > own.read[*field],
        FieldKind::Valid(_) | FieldKind::Metadata | FieldKind::Standard(_) => all.read[*field] > 0,
    };
    let mut writes = Vec::new();
    for field in walk.order.iter().filter(|field| matters(field)) {
        let value = walk.values[field].clone();
        if value.kind == ExprKind::Field(*field) {
            continue;
        }
        writes.push((*field, value));
    }
    Ok(Effects { writes, register: walk.register, count: walk.count, hashes: walk.hashes })
}

impl Walk<'_> {
    fn block(&mut self, stmts: &[Stmt]) -> Check<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn set(&mut self, field: FieldId, value: Expr) {
        if !self.order.contains(&field) {
            self.order.push(field);
        }
        self.values.insert(field, value);
    }

    fn stmt(&mut self, stmt: &Stmt) -> Check<()> {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Assign(to, value) => {
                let value = Expr { span, ..substitute(value, &self.values) };
                self.set(*to, value);
            }
            StmtKind::RegisterRead { register, index, to } => {
                let index = substitute(index, &self.values);
                self.use_cells(Cells::Register(*register), &index, span)?;
                let size = self.program.registers[*register].size;
                let read = match self.register.as_ref().and_then(|used| used.value.clone()) {
                    // Behind the end nothing is written, and 0 is read.
                    Some(_) if most(&index) >= size.into() => {
                        let text = "a register that is read behind a write, whose index may be behind its end";
                        return Err(too_much(span, text).help("use the value that was written"));
                    }
                    Some(written) => written,
                    None => Expr::field(OLD, self.program.registers[*register].width, span),
                };
                self.set(*to, read);
            }
            StmtKind::RegisterWrite { register, index, value } => {
                let (index, value) = (substitute(index, &self.values), substitute(value, &self.values));
                self.use_cells(Cells::Register(*register), &index, span)?;
                if let Some(used) = &mut self.register {
                    used.value = Some(value);
                }
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = substitute(condition, &self.values);
                let outer = std::mem::replace(&mut self.in_if, true);
                let before = self.values.clone();
                self.block(then)?;
                let yes = std::mem::replace(&mut self.values, before.clone());
                self.block(otherwise)?;
                let no = std::mem::replace(&mut self.values, before);
                self.in_if = outer;
                for field in self.order.clone() {
                    let width = self.program.fields[field].width;
                    let same = || Expr::field(field, width, span);
                    let (yes, no) = (yes.get(&field).cloned(), no.get(&field).cloned());
                    if let (None, None) = (&yes, &no) {
                        continue;
                    }
                    let (yes, no) = (yes.unwrap_or_else(same), no.unwrap_or_else(same));
                    let value = if yes == no { yes } else { Expr::mux(condition.clone(), yes, no, span) };
                    self.values.insert(field, value);
                }
            }
            StmtKind::Loop { .. } => {
                return Err(too_much(span, "a loop whose turns do not follow from constants")
                    .help("count with a variable of the loop from a constant to a constant"));
            }
            StmtKind::CopyVarbit(..) => return Err(too_much(span, "a varbit is copied")),
            StmtKind::Count { counter, index } => {
                let index = substitute(index, &self.values);
                self.use_counter(*counter, index, span)?;
            }
            StmtKind::Extern(of) => match &**of {
                Extern::Hash { to, algorithm, base, data, max } => {
                    let data = self.hashed_values(data, span)?;
                    let value = self.hash(*algorithm, data, (base, max), (self.program.fields[*to].width, span))?;
                    self.set(*to, value);
                }
                Extern::Meter { meter, index, to } => {
                    let index = substitute(index, &self.values);
                    self.meter(Cells::Meter(*meter), index, *to, span)?;
                }
                Extern::DirectMeter { meter, to } => {
                    self.meter(Cells::EntryMeter(*meter), Expr::constant(0, 32, span), *to, span)?;
                }
                other => return Err(too_much(span, &format!("the function `{}`", other.name()))),
            },
            StmtKind::Exit => return Err(too_much(span, "`exit`").help("put what follows into the other branch")),
            StmtKind::Apply(_) => return Err(too_much(span, "a table in this place")),
        }
        Ok(())
    }

    /// The values that a hash is of.
    fn hashed_values(&self, data: &[ChecksumData], span: Span) -> Check<Vec<Expr>> {
        let value = |part: &ChecksumData| match part {
            ChecksumData::Value(value) => Ok(substitute(value, &self.values)),
            ChecksumData::Varbit(_) => Err(too_much(span, "the hash of a varbit")),
        };
        data.iter().map(value).collect()
    }

    /// The result of `hash` from `base` on, one of `max`, of `width` bits.
    fn hash(
        &mut self,
        algorithm: HashAlgorithm,
        data: Vec<Expr>,
        (base, max): (&Expr, &Expr),
        (width, span): (u32, Span),
    ) -> Check<Expr> {
        let base = substitute(base, &self.values).resize(width, false, span);
        let Some(max) = substitute(max, &self.values).value() else {
            return Err(too_much(span, "the number of results of a hash is not a constant"));
        };
        if max == 0 {
            return Ok(base);
        }
        let value = match hashed(algorithm, &data, span)? {
            Hashed::Value(value) => value,
            Hashed::Crc(crc) => {
                let field = OLD - 1 - self.hashes.len();
                self.hashes.push(HashUse { field, crc, data, span });
                Expr::field(field, crc.width(), span)
            }
        };
        let bits = max.trailing_zeros();
        let value = if max >> value.width != 0 {
            value
        } else if !max.is_power_of_two() {
            return Err(too_much(span, &format!("a hash modulo {max}, which is no power of two"))
                .help(format!("write {}", max.next_power_of_two())));
        } else if bits == 0 {
            Expr::constant(0, width, span)
        } else {
            value.slice(bits - 1, 0, span)
        };
        Ok(Expr::binary(BinaryOp::Add, value.resize(width, false, span), base, span))
    }

    fn use_counter(&mut self, counter: CounterId, index: Expr, span: Span) -> Check<()> {
        if self.in_if {
            return Err(too_much(span, "a counter under a condition of an action")
                .help("decide which action runs by the table, or by an `if` around its `apply()`"));
        }
        if let Some(used) = &self.count {
            return Err(too_much(span, "a second counter, or a second count of one")
                .also(used.span, "the first one")
                .help("a stage of the card counts a frame once: use another table's action"));
        }
        self.count = Some(CountUse { counter, index, span });
        Ok(())
    }

    /// The color that a meter gives.
    fn meter(&mut self, cells: Cells, index: Expr, to: FieldId, span: Span) -> Check<()> {
        // A frame takes its tokens once.
        if let Some(used) = self.register.as_ref().filter(|used| used.cells == cells) {
            return Err(too_much(span, "a second use of one meter").also(used.span, "the first one"));
        }
        self.use_cells(cells, &index, span)?;
        self.set(to, Expr::field(OLD, self.program.fields[to].width, span));
        Ok(())
    }

    fn use_cells(&mut self, cells: Cells, index: &Expr, span: Span) -> Check<()> {
        if self.in_if {
            return Err(too_much(span, "a register or meter under a condition of an action")
                .help("decide which action runs by the table, or by an `if` around its `apply()`"));
        }
        match &self.register {
            None => self.register = Some(RegisterUse { cells, index: index.clone(), value: None, span }),
            Some(used) if used.cells == cells && same(&used.index, index) => {}
            Some(used) => {
                return Err(too_much(span, "a second register or meter, or a second cell of one")
                    .also(used.span, "the first one")
                    .help("a stage of the card has one access to a register or meter: use another table's action"));
            }
        }
        Ok(())
    }
}

/// Whether two expressions are the same, wherever they are written.
pub(super) fn same(a: &Expr, b: &Expr) -> bool {
    let plain = |expr: &Expr| {
        let mut text = Vec::new();
        expr.walk(&mut |part| text.push((std::mem::discriminant(&part.kind), part.width, leaf(part))));
        text
    };
    plain(a) == plain(b)
}

fn leaf(expr: &Expr) -> (u128, Option<BinaryOp>) {
    match &expr.kind {
        ExprKind::Const(value) => (*value, None),
        ExprKind::Field(field) => (*field as u128, None),
        ExprKind::Param(param) => (*param as u128, None),
        ExprKind::Lookahead { offset } | ExprKind::Slice(_, offset) => ((*offset).into(), None),
        ExprKind::Unary(op, _) => (*op as u128, None),
        ExprKind::Binary(op, ..) => (0, Some(*op)),
        ExprKind::Concat(..) | ExprKind::Resize(_) | ExprKind::SignExtend(_) | ExprKind::Mux(..) => (0, None),
    }
}

/// The fault of an expression that the units of a stage cannot compute.
pub(super) fn too_complex(expr: &Expr, why: &str) -> Box<Fault> {
    too_much(expr.span, why).help("a unit of the card takes two values of at most 32 bits that lie in one word: use a variable in a control, not in an action")
}
