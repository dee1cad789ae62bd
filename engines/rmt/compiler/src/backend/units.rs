// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Effects as units of a stage. An expression of several operations is computed in stages in front, into temporaries,
//! as far as it needs no parameter.

use super::effects::{Cells, Effects, OLD, RegisterUse, same, too_complex};
use super::hashes::Crc;
use super::place::{arranged, is_second};
use super::steps::{Item, reads};
use super::vector::{Vector, too_much};
use super::words::{ABOUT, BITS, FLAGS, Op, Piece, Predicate, RegisterOp, VERDICT, low_bits};
use crate::fault::{Check, Fault};
use crate::ir::{BinaryOp, Expr, ExprKind, FieldId, MeterId, PORT_ONWARD, Program, Standard, UnaryOp};
use crate::source::Span;

/// Bits of the verdict's word that say that the port counts, and what they are.
const BY_PORT: u32 = 1 << 16;
const VERDICT_BITS: u32 = 18;

/// Where a value of a unit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Piece(Piece),
    /// Bits of an action's parameter: index, lowest bit, bits.
    Param(usize, u32, u32),
    Const(u32),
    /// A CRC of the stage's key.
    Hash(Crc),
}

/// A unit whose parameters have no place yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Draft {
    pub op: Op,
    pub to: Piece,
    pub predicate: Option<Predicate>,
    pub a: Source,
    pub b: Source,
    pub span: Span,
}

/// A register's operation, or a meter's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RegisterDraft {
    pub cells: Cells,
    pub op: RegisterOp,
    pub result: Option<(Piece, bool)>,
    /// Cell: a constant, or a value.
    pub index: Source,
    pub operand: Source,
    pub span: Span,
}

/// A count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CountDraft {
    pub counter: usize,
    /// Cell: a constant, or a value; None for the cell of the entry that was found.
    pub index: Option<Source>,
    pub span: Span,
}

/// The contents of an action's row.
#[derive(Debug, Clone, Default)]
pub(super) struct Drafts {
    pub units: Vec<Draft>,
    pub register: Option<RegisterDraft>,
    pub count: Option<CountDraft>,
    /// Parameters that name a port.
    pub ports: Vec<usize>,
}

/// Part of a value: bits from one source.
#[derive(Debug, Clone)]
struct Leaf {
    kind: LeafKind,
    width: u32,
}

#[derive(Debug, Clone)]
enum LeafKind {
    Const(u128),
    Piece(Piece),
    Param(usize, u32),
    /// The lowest bits of an operation.
    Op(Expr),
}

/// Makes units.
pub(super) struct Units<'u, 'p> {
    pub program: &'u Program,
    pub vector: &'u mut Vector<'p>,
    /// The program sends frames onward by a constant `egress_spec`.
    pub onward: bool,
    /// Parts that compute temporaries, to be done in stages in front, in this order.
    pub before: Vec<Item>,
    /// Temporaries that hold the value of an expression, until a part of the program may change it.
    pub known: Vec<(Expr, Piece)>,
}

impl Units<'_, '_> {
    /// The units of effects.
    pub(super) fn drafts(&mut self, effects: &Effects) -> Check<Drafts> {
        for hash in &effects.hashes {
            self.hash(hash)?;
        }
        let mut drafts = Drafts::default();
        let register = effects.register.as_ref();
        for (field, value) in &effects.writes {
            if let Some(new) = register.and_then(|register| register_result(register, value)) {
                self.result(*field, new, value, register, &mut drafts)?;
                continue;
            }
            if mentions(value, OLD) {
                return Err(too_complex(
                    value,
                    "a value is computed from a register's or a meter's, in the same action",
                ));
            }
            self.write(*field, value, &mut drafts)?;
        }
        drafts.units = merged(drafts.units);
        if let Some(register) = register {
            let result = drafts.register.and_then(|draft| draft.result);
            drafts.register = Some(RegisterDraft { result, ..self.register(register)? });
        }
        if let Some(count) = &effects.count {
            if mentions(&count.index, OLD) {
                return Err(too_complex(&count.index, "a counter's cell is a register's value, in the same action"));
            }
            let index = Some(self.second(&count.index)?);
            drafts.count = Some(CountDraft { counter: count.counter, index, span: count.span });
        }
        Ok(drafts)
    }

    /// Notes where a register's value goes.
    fn result(
        &mut self,
        field: FieldId,
        new: bool,
        value: &Expr,
        of: Option<&RegisterUse>,
        drafts: &mut Drafts,
    ) -> Check<()> {
        let pieces = self.vector.pieces(field, value.span)?;
        let [to] = pieces[..] else {
            return Err(too_complex(value, "a register's value goes to a field that lies in two words"));
        };
        if drafts.register.is_some() {
            return Err(too_complex(value, "a register's value goes to two fields"));
        }
        let Some(of) = of else { return Ok(()) };
        let (index, operand) = (Source::Const(0), Source::Const(0));
        drafts.register = Some(RegisterDraft {
            cells: of.cells,
            op: RegisterOp::Read,
            result: Some((to, new)),
            index,
            operand,
            span: of.span,
        });
        Ok(())
    }

    /// A direct meter's operation, which has the cell of the entry that was found.
    pub(super) fn entry_meter(&self, meter: MeterId, span: Span) -> RegisterDraft {
        let index = Source::Const(0);
        let operand = self.tokens(meter);
        RegisterDraft { cells: Cells::EntryMeter(meter), op: RegisterOp::Meter, result: None, index, operand, span }
    }

    /// The tokens that a frame takes.
    fn tokens(&self, meter: MeterId) -> Source {
        let length = Source::Piece(Piece { word: ABOUT, low: 0, width: 16 });
        if self.program.meters[meter].bytes { length } else { Source::Const(1) }
    }

    fn register(&mut self, of: &RegisterUse) -> Check<RegisterDraft> {
        let register = match of.cells {
            Cells::Register(register) => register,
            Cells::Meter(meter) => {
                let (index, operand) = (self.second(&of.index)?, self.tokens(meter));
                let op = RegisterOp::Meter;
                return Ok(RegisterDraft { cells: of.cells, op, result: None, index, operand, span: of.span });
            }
            Cells::EntryMeter(meter) => return Ok(self.entry_meter(meter, of.span)),
        };
        let width = self.program.registers[register].width;
        if width > 32 {
            return Err(too_much(of.span, "registers of more than 32 bits"));
        }
        let index = self.second(&of.index)?;
        let draft =
            |op, operand| Ok(RegisterDraft { cells: of.cells, op, result: None, index, operand, span: of.span });
        let Some(value) = &of.value else { return draft(RegisterOp::Read, Source::Const(0)) };
        if !mentions(value, OLD) {
            let operand = self.register_operand(value)?;
            return draft(RegisterOp::Write, operand);
        }
        let wrong = || too_complex(value, "a register's new value is the old one with one operation: + - & | ^");
        if value.kind == ExprKind::Field(OLD) {
            return draft(RegisterOp::Read, Source::Const(0));
        }
        let ExprKind::Binary(op, a, b) = &value.kind else { return Err(wrong()) };
        let is_old = |expr: &Expr| expr.kind == ExprKind::Field(OLD);
        let (op, other) = match (op, is_old(a), is_old(b)) {
            (BinaryOp::Sub, true, false) => (RegisterOp::Sub, b),
            (BinaryOp::Add, true, false) => (RegisterOp::Add, b),
            (BinaryOp::Add, false, true) => (RegisterOp::Add, a),
            (BinaryOp::And, true, false) => (RegisterOp::And, b),
            (BinaryOp::And, false, true) => (RegisterOp::And, a),
            (BinaryOp::Or, true, false) => (RegisterOp::Or, b),
            (BinaryOp::Or, false, true) => (RegisterOp::Or, a),
            (BinaryOp::Xor, true, false) => (RegisterOp::Xor, b),
            (BinaryOp::Xor, false, true) => (RegisterOp::Xor, a),
            _ => return Err(wrong()),
        };
        if mentions(other, OLD) {
            return Err(wrong());
        }
        if width != 32 && matches!(op, RegisterOp::Add | RegisterOp::Sub) {
            return Err(too_complex(value, &format!("registers of {width} bits add modulo 2^32 on the card"))
                .help("make it 32 bits"));
        }
        let operand = self.register_operand(other)?;
        draft(op, operand)
    }

    /// An operand of a register: constants but 0 and 1 come from a temporary.
    fn register_operand(&mut self, expr: &Expr) -> Check<Source> {
        match self.second(expr)? {
            Source::Const(value) if value > 1 => self.copied(expr),
            other => Ok(other),
        }
    }

    /// A value as operand B takes it.
    fn second(&mut self, expr: &Expr) -> Check<Source> {
        let source = self.operand(expr)?;
        if is_second(source) { Ok(source) } else { self.copied(expr) }
    }

    /// Copies a value to where operand B sees it.
    fn copied(&mut self, expr: &Expr) -> Check<Source> {
        let known = self.known.iter().find(|(known, to)| is_second(Source::Piece(*to)) && same(known, expr));
        if let Some((_, piece)) = known {
            return Ok(Source::Piece(*piece));
        }
        let to = self.vector.lend(expr.width, true, expr.span)?;
        if is_second(Source::Piece(to)) {
            self.compute(expr, to)?;
            self.known.push((expr.clone(), to));
            return Ok(Source::Piece(to));
        }
        Err(too_complex(expr, NO_COPY).help("use fewer variables, or leave out headers whose fields are not used"))
    }

    fn write(&mut self, field: FieldId, value: &Expr, drafts: &mut Drafts) -> Check<()> {
        if field == Standard::EgressSpec.field() {
            return self.verdict(value, None, drafts);
        }
        let to = self.vector.pieces(field, value.span)?;
        self.assign(&to, value, None, &mut drafts.units)
    }

    /// `egress_spec`, in whose word other bits say that it counts.
    fn verdict(&mut self, value: &Expr, guard: Option<&Expr>, drafts: &mut Drafts) -> Check<()> {
        let span = value.span;
        if let ExprKind::Mux(condition, yes, no) = &value.kind {
            let (then, otherwise) = both(guard, condition);
            self.verdict(yes, Some(&then), drafts)?;
            return self.verdict(no, Some(&otherwise), drafts);
        }
        if value.kind == ExprKind::Field(Standard::EgressSpec.field()) {
            return Ok(());
        }
        let to = |low, width| Piece { word: VERDICT, low, width };
        if let Some(port) = value.value() {
            let immediate = if port == PORT_ONWARD { 0 } else { BY_PORT | port as u32 };
            let predicate = self.predicate(guard)?;
            let (a, b) = (Source::Const(immediate), Source::Const(immediate));
            drafts.units.push(Draft { op: Op::Set, to: to(0, VERDICT_BITS), predicate, a, b, span });
            return Ok(());
        }
        self.assign(&[to(0, 9)], value, guard, &mut drafts.units)?;
        if self.onward {
            let predicate = self.predicate(guard)?;
            let (a, b) = (Source::Const(1), Source::Const(1));
            drafts.units.push(Draft { op: Op::Set, to: to(16, 2), predicate, a, b, span });
        }
        value.walk(&mut |part| {
            if let ExprKind::Param(param) = part.kind {
                drafts.ports.push(param);
            }
        });
        Ok(())
    }

    /// Units that give pieces (the upper bits first) a value, where the guard holds.
    fn assign(&mut self, to: &[Piece], value: &Expr, guard: Option<&Expr>, units: &mut Vec<Draft>) -> Check<()> {
        if let ExprKind::Mux(condition, yes, no) = &value.kind {
            let (then, otherwise) = both(guard, condition);
            self.assign(to, yes, Some(&then), units)?;
            return self.assign(to, no, Some(&otherwise), units);
        }
        let leaves = self.flatten(value)?;
        let mut leaves = leaves.into_iter().rev().peekable();
        // From the lowest bit on.
        let (mut used, mut made) = (0, Vec::new());
        for piece in to.iter().rev() {
            let mut filled = 0;
            while filled < piece.width {
                let Some(leaf) = leaves.peek() else { break };
                let width = (piece.width - filled).min(leaf.width - used);
                let part = Piece { word: piece.word, low: piece.low + filled, width };
                let kind = match (cut(leaf, used, width), &leaf.kind) {
                    (Some(kind), _) => kind,
                    (None, LeafKind::Op(inner)) => {
                        let whole = self.materialise(inner)?;
                        LeafKind::Piece(Piece { low: whole.low + used, width, ..whole })
                    }
                    _ => return Err(too_complex(value, "a result that lies in two words")),
                };
                push(&mut made, part, kind, width);
                (filled, used) = (filled + width, used + width);
                if used == leaf.width {
                    used = 0;
                    leaves.next();
                }
            }
        }
        let mut waiting = Vec::new();
        for (to, leaf, width) in made {
            if matches!(leaf, LeafKind::Piece(from) if from == to) {
                continue;
            }
            waiting.push((to, leaf, width));
        }
        if waiting.is_empty() {
            return Ok(());
        }
        let predicate = self.predicate(guard)?;
        for (to, leaf, width) in waiting {
            if let (LeafKind::Op(expr), None) = (&leaf, predicate)
                && let Some(pair) = self.by_bits(expr, to)?
            {
                units.extend(pair);
                continue;
            }
            let (op, a, b) = match leaf {
                LeafKind::Const(of) => (Op::Set, Source::Const(of as u32), Source::Const(of as u32)),
                LeafKind::Piece(from) => (Op::Set, Source::Piece(from), Source::Const(0)),
                LeafKind::Param(param, low) => (Op::Set, Source::Param(param, low, width), Source::Const(0)),
                LeafKind::Op(expr) if matches!(expr.kind, ExprKind::Mux(..)) => {
                    (Op::Set, Source::Piece(self.materialise(&expr)?), Source::Const(0))
                }
                LeafKind::Op(expr) => self.operation(&expr)?,
            };
            units.push(Draft { op, to, predicate, a, b, span: value.span });
        }
        Ok(())
    }

    /// The predicate of a guard.
    fn predicate(&mut self, guard: Option<&Expr>) -> Check<Option<Predicate>> {
        guard.map(|guard| self.bit(guard)).transpose()
    }

    /// A condition as a bit that units can ask for.
    pub(super) fn bit(&mut self, condition: &Expr) -> Check<Predicate> {
        if let ExprKind::Unary(UnaryOp::Not, inner) = &condition.kind {
            let inner = self.bit(inner)?;
            return Ok(Predicate { value: !inner.value, ..inner });
        }
        if let Source::Piece(bit) = self.operand(condition)?
            && bit.width == 1
            && matches!(bit.word, BITS | FLAGS)
        {
            return Ok(Predicate { bit, value: true });
        }
        Ok(Predicate { bit: self.materialise(condition)?, value: true })
    }

    /// Computes a value in a stage in front, into a temporary.
    pub(super) fn materialise(&mut self, expr: &Expr) -> Check<Piece> {
        if let Some((_, piece)) = self.known.iter().find(|(known, _)| same(known, expr)) {
            return Ok(*piece);
        }
        let to = if expr.width == 1 {
            self.vector.lend_bit(expr.span)?
        } else {
            self.vector.lend(expr.width, false, expr.span)?
        };
        self.compute(expr, to)?;
        self.known.push((expr.clone(), to));
        Ok(to)
    }

    /// Computes a value in a stage in front, into this place.
    pub(super) fn compute(&mut self, expr: &Expr, to: Piece) -> Check<()> {
        let mut outside = false;
        expr.walk(&mut |part| outside |= matches!(part.kind, ExprKind::Param(_) | ExprKind::Field(OLD)));
        if outside {
            return Err(too_complex(expr, "an action computes with its parameters in more than one step"));
        }
        if expr.width > 32 {
            return Err(too_complex(expr, "arithmetic on more than 32 bits"));
        }
        let mut units = Vec::new();
        self.assign(&[to], expr, None, &mut units)?;
        if units.iter().any(|unit| reads(unit, to)) {
            self.before.push(Item::Group(units));
            return Ok(());
        }
        // Each goes where there is room, but those of one place stay together.
        let mut groups: Vec<Vec<Draft>> = Vec::new();
        for unit in units {
            match groups.iter_mut().find(|group| group.iter().any(|other| other.to.mask() & unit.to.mask() != 0)) {
                Some(group) => group.push(unit),
                None => groups.push(vec![unit]),
            }
        }
        self.before.extend(groups.into_iter().map(Item::Group));
        Ok(())
    }

    /// Two units for an operation of two bits that operand B does not see: each is done for one value of the first bit.
    fn by_bits(&mut self, expr: &Expr, to: Piece) -> Check<Option<[Draft; 2]>> {
        let ExprKind::Binary(op, left, right) = &expr.kind else { return Ok(None) };
        if left.width != 1 || right.width != 1 {
            return Ok(None);
        }
        let (Source::Piece(a), Source::Piece(b)) = (self.operand(left)?, self.operand(right)?) else { return Ok(None) };
        if !matches!(a.word, BITS | FLAGS) || is_second(Source::Piece(a)) || is_second(Source::Piece(b)) {
            return Ok(None);
        }
        let constant = |value| (Op::Set, Source::Const(value), Source::Const(value));
        let (same, other) =
            ((Op::Set, Source::Piece(b), Source::Const(0)), (Op::Xor, Source::Piece(b), Source::Const(1)));
        // If the first bit is 0, and if it is 1.
        let (zero, one) = match op {
            BinaryOp::And => (constant(0), same),
            BinaryOp::Or => (same, constant(1)),
            BinaryOp::Xor | BinaryOp::Ne => (same, other),
            BinaryOp::Eq => (other, same),
            _ => return Ok(None),
        };
        let draft = |(op, first, second), value| {
            let predicate = Some(Predicate { bit: a, value });
            Draft { op, to, predicate, a: first, b: second, span: expr.span }
        };
        Ok(Some([draft(zero, false), draft(one, true)]))
    }

    /// The operation of an expression, and its operands.
    fn operation(&mut self, expr: &Expr) -> Check<(Op, Source, Source)> {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, a) => Ok((Op::Xor, self.operand(a)?, Source::Const(low_bits(expr.width)))),
            ExprKind::Unary(UnaryOp::Neg, a) => Ok((Op::Sub, Source::Const(0), self.operand(a)?)),
            ExprKind::Binary(op, left, right) => {
                let (mut a, mut b) = (self.operand(left)?, self.operand(right)?);
                // Operand A is a word of the vector, also for an operation of a constant and a parameter.
                match (a, b) {
                    (Source::Const(_), Source::Param(..)) => a = Source::Piece(self.materialise(left)?),
                    (Source::Param(..), Source::Const(_)) => b = Source::Piece(self.materialise(right)?),
                    _ => {}
                }
                if let (Source::Piece(_), Source::Piece(_)) = (a, b)
                    && !is_second(a)
                    && !is_second(b)
                {
                    b = self.copied(right)?;
                }
                let made = match op {
                    BinaryOp::Add => (Op::Add, a, b),
                    BinaryOp::Sub => (Op::Sub, a, b),
                    BinaryOp::And => (Op::And, a, b),
                    BinaryOp::Or => (Op::Or, a, b),
                    BinaryOp::Xor => (Op::Xor, a, b),
                    BinaryOp::Eq => (Op::Eq, a, b),
                    BinaryOp::Ne => (Op::Ne, a, b),
                    BinaryOp::Lt => (Op::Lt, a, b),
                    BinaryOp::Le => (Op::Le, a, b),
                    _ => return Err(too_complex(expr, "this operation")),
                };
                if arranged(made.0, made.1, made.2).is_none() {
                    return Err(too_complex(expr, "a unit computes with no value of the vector")
                        .help("copy one of the values to a metadata field in a table or control in front"));
                }
                Ok(made)
            }
            _ => Err(too_complex(expr, "this value")),
        }
    }

    /// A value that a unit can take.
    pub(super) fn operand(&mut self, expr: &Expr) -> Check<Source> {
        let leaves = self.flatten(expr)?;
        if leaves.iter().all(|leaf| matches!(leaf.kind, LeafKind::Const(_))) {
            let value = leaves.iter().fold(0u128, |value, leaf| {
                let LeafKind::Const(part) = leaf.kind else { return value };
                value.checked_shl(leaf.width).unwrap_or(0) | part
            });
            return u32::try_from(value)
                .map(Source::Const)
                .map_err(|_| too_complex(expr, "a constant of more than 32 bits"));
        }
        let mut rest = leaves.into_iter().skip_while(|leaf| matches!(leaf.kind, LeafKind::Const(0)));
        match (rest.next(), rest.next()) {
            (Some(Leaf { kind: LeafKind::Piece(piece), .. }), None) => Ok(Source::Piece(piece)),
            (Some(Leaf { kind: LeafKind::Param(param, low), width }), None) if width <= 32 => {
                Ok(Source::Param(param, low, width))
            }
            (Some(Leaf { kind: LeafKind::Op(inner), width }), None) => {
                let piece = self.materialise(&inner)?;
                Ok(Source::Piece(Piece { width: width.min(piece.width), ..piece }))
            }
            _ => Ok(Source::Piece(self.materialise(expr)?)),
        }
    }

    /// A value as parts from one source each, the upper bits first.
    fn flatten(&mut self, expr: &Expr) -> Check<Vec<Leaf>> {
        let zeros = |width| Leaf { kind: LeafKind::Const(0), width };
        Ok(match &expr.kind {
            ExprKind::Const(value) => vec![Leaf { kind: LeafKind::Const(*value), width: expr.width }],
            ExprKind::Field(field) if *field != OLD => {
                let pieces = self.vector.pieces(*field, expr.span)?;
                let there: u32 = pieces.iter().map(|piece| piece.width).sum();
                let missing = (there < expr.width).then(|| zeros(expr.width - there));
                let leaf = |piece: Piece| Leaf { kind: LeafKind::Piece(piece), width: piece.width };
                missing.into_iter().chain(pieces.into_iter().map(leaf)).collect()
            }
            ExprKind::Param(param) => vec![Leaf { kind: LeafKind::Param(*param, 0), width: expr.width }],
            ExprKind::Concat(a, b) => {
                let mut leaves = self.flatten(a)?;
                leaves.extend(self.flatten(b)?);
                leaves
            }
            ExprKind::Slice(a, low) => self.sliced(a, *low, expr)?,
            ExprKind::Resize(a) if a.width > expr.width => self.sliced(a, 0, expr)?,
            ExprKind::Resize(a) => {
                let mut leaves = vec![zeros(expr.width - a.width)];
                leaves.extend(self.flatten(a)?);
                leaves
            }
            ExprKind::Binary(op @ (BinaryOp::Shl | BinaryOp::Shr), a, b) => {
                let by = b.value().ok_or_else(|| too_complex(expr, "a shift by a value that is not a constant"))?;
                let by = u32::try_from(by).unwrap_or(u32::MAX).min(expr.width);
                if by == expr.width {
                    return Ok(vec![zeros(by)]);
                }
                let (low, kept) = if *op == BinaryOp::Shl { (0, by) } else { (by, 0) };
                let part = Expr { kind: ExprKind::Slice(a.clone(), low), width: expr.width - by, span: expr.span };
                let mut leaves = self.sliced(a, low, &part)?;
                if kept > 0 {
                    leaves.push(zeros(by));
                } else {
                    leaves.insert(0, zeros(by));
                }
                leaves
            }
            _ => vec![Leaf { kind: LeafKind::Op(expr.clone()), width: expr.width }],
        })
    }

    /// Bits of a value, as many as `expr` has.
    fn sliced(&mut self, of: &Expr, low: u32, expr: &Expr) -> Check<Vec<Leaf>> {
        let (mut made, mut at) = (Vec::new(), 0);
        for leaf in self.flatten(of)?.into_iter().rev() {
            let (from, to) = (at.max(low), (at + leaf.width).min(low + expr.width));
            if from < to {
                let kind = cut(&leaf, from - at, to - from);
                let kind = match (kind, &leaf.kind) {
                    (Some(kind), _) => kind,
                    (None, LeafKind::Op(inner)) => {
                        let piece = self.materialise(inner)?;
                        LeafKind::Piece(Piece { low: piece.low + from - at, width: to - from, ..piece })
                    }
                    _ => return Err(too_complex(expr, "this part of a value")),
                };
                made.push(Leaf { kind, width: to - from });
            }
            at += leaf.width;
        }
        made.reverse();
        Ok(made)
    }
}

const NO_COPY: &str = "a value must be copied to the last words of the vector, which are taken";

/// Whether a program needs more words for copies.
pub(super) fn lacks_copies(fault: &Fault) -> bool {
    fault.message.contains(NO_COPY)
}

/// Joins units that copy adjacent bits to adjacent bits, or that write constants to them.
fn merged(units: Vec<Draft>) -> Vec<Draft> {
    let mut made: Vec<Draft> = Vec::new();
    for unit in units {
        let joined = made.iter().position(|other| join(other, &unit).or_else(|| join(&unit, other)).is_some());
        match joined {
            Some(at) => {
                let other = made.remove(at);
                // The longer unit may fit others.
                made = merged(made.into_iter().chain(join(&other, &unit).or_else(|| join(&unit, &other))).collect());
            }
            None => made.push(unit),
        }
    }
    made
}

/// One unit for two, if the second one writes the bits above those of the first one.
fn join(low: &Draft, high: &Draft) -> Option<Draft> {
    let next = |a: Piece, b: Piece| a.word == b.word && a.low + a.width == b.low;
    let plain = low.op == Op::Set && high.op == Op::Set && low.predicate == high.predicate;
    if !plain || !next(low.to, high.to) {
        return None;
    }
    let to = Piece { width: low.to.width + high.to.width, ..low.to };
    let (a, b) = match (low.a, high.a) {
        (Source::Const(a), Source::Const(b)) => {
            let value = a & low_bits(low.to.width) | b << low.to.width;
            (Source::Const(value), Source::Const(value))
        }
        (Source::Piece(a), Source::Piece(b)) if a.width == low.to.width && next(a, b) => {
            (Source::Piece(Piece { width: a.width + b.width, ..a }), low.b)
        }
        _ => return None,
    };
    Some(Draft { to, a, b, ..*low })
}

/// Adds a part of an assignment: place, source, bits of the source. Zeros above a copied value are written with it, as
/// the machine extends operands by zeros.
fn push(made: &mut Vec<(Piece, LeafKind, u32)>, part: Piece, kind: LeafKind, width: u32) {
    if let (LeafKind::Const(0), Some((to, LeafKind::Piece(_) | LeafKind::Param(..), _))) = (&kind, made.last_mut())
        && (to.word, to.low + to.width) == (part.word, part.low)
    {
        to.width += part.width;
        return;
    }
    made.push((part, kind, width));
}

/// Bits of a leaf; None if they are not the lowest ones of an operation, or not all of one whose upper bits depend on
/// all others.
fn cut(leaf: &Leaf, low: u32, width: u32) -> Option<LeafKind> {
    Some(match &leaf.kind {
        LeafKind::Const(value) => LeafKind::Const(value.checked_shr(low).unwrap_or(0) & crate::fold::mask(width)),
        LeafKind::Piece(piece) => LeafKind::Piece(Piece { low: piece.low + low, width, ..*piece }),
        LeafKind::Param(param, from) => LeafKind::Param(*param, from + low),
        LeafKind::Op(expr) if low == 0 && width == leaf.width => LeafKind::Op(expr.clone()),
        LeafKind::Op(_) => return None,
    })
}

/// `guard` and the condition; `guard` and its opposite.
fn both(guard: Option<&Expr>, condition: &Expr) -> (Expr, Expr) {
    let span = condition.span;
    let with = |part: Expr| match guard {
        Some(guard) => Expr::binary(BinaryOp::And, guard.clone(), part, span),
        None => part,
    };
    (with(condition.clone()), with(condition.clone().negate()))
}

/// Whether an expression reads a field.
fn mentions(expr: &Expr, field: FieldId) -> bool {
    expr.reads(&[field])
}

/// Whether a value is the register's: its new one, or the old one.
fn register_result(register: &RegisterUse, value: &Expr) -> Option<bool> {
    let low = match &value.kind {
        ExprKind::Resize(inner) if inner.width > value.width => &**inner,
        ExprKind::Slice(inner, 0) => &**inner,
        _ => value,
    };
    match &register.value {
        Some(new) if mentions(new, OLD) && same(new, low) => Some(new.kind != ExprKind::Field(OLD)),
        _ => (low.kind == ExprKind::Field(OLD)).then_some(false),
    }
}
