// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A control as steps: groups of units that any stage can do, and steps that need a stage's gate, its table or its
//! register.

use super::effects::{Cells, effects};
use super::place::place;
use super::units::{CountDraft, Draft, Drafts, Source, Units};
use super::uses::Uses;
use super::vector::too_much;
use super::words::{BITS, FLAGS, Op, Piece, low_bits};
use crate::fault::Check;
use crate::ir::{
    ActionId, Apply, BinaryOp, Expr, ExprKind, Extern, FieldId, Program, Stmt, StmtKind, TableId, UnaryOp,
};
use crate::source::Span;

/// The condition of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Literal {
    /// `vector[word] & mask == value`; of bits that never change once they are there.
    Mask { word: u32, mask: u32, value: u32 },
    /// The table was searched and found an entry, or did not.
    Hit(TableId, bool),
}

impl Literal {
    fn word(self) -> u32 {
        if let Self::Mask { word, .. } = self { word } else { BITS }
    }
}

/// All of these hold. They are of one word.
pub(super) type Guard = Vec<Literal>;

/// Something that needs a stage of its own.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub gate: Guard,
    pub table: Option<TableId>,
    /// Actions of the table; without a table, the statements for an open gate.
    pub open: Vec<(Option<ActionId>, Drafts)>,
    /// The statements for a closed gate.
    pub closed: Drafts,
    /// Words of the key: a table's, or of data that are hashed.
    pub keys: Vec<Piece>,
    pub span: Span,
}

impl Step {
    /// The work of the stage, for each action and for a closed gate.
    pub(super) fn rows(&self) -> impl Iterator<Item = &Drafts> {
        self.open.iter().map(|(_, row)| row).chain([&self.closed])
    }
}

/// A part of the program.
#[derive(Debug, Clone)]
pub(super) enum Item {
    Group(Vec<Draft>),
    Step(Box<Step>),
}

/// Makes items of controls.
pub(super) struct Steps<'s, 'u, 'p> {
    pub units: &'s mut Units<'u, 'p>,
    /// The uses in the whole program.
    pub uses: &'p Uses,
    pub items: Vec<Item>,
    /// Tables that were applied.
    pub applied: Vec<TableId>,
}

impl Steps<'_, '_, '_> {
    /// Lowers statements that are done where the guard holds.
    pub(super) fn block(&mut self, stmts: &[Stmt], guard: &Guard) -> Check<()> {
        let mut rest = stmts;
        while let Some(first) = rest.first() {
            let plain = rest.iter().take_while(|stmt| is_plain(stmt)).count();
            if plain > 0 {
                self.run(&rest[..plain], guard)?;
                rest = &rest[plain..];
                continue;
            }
            match &first.kind {
                StmtKind::Apply(apply) => self.apply(apply, guard, first.span)?,
                StmtKind::If { condition, then, otherwise } => self.choice(condition, then, otherwise, guard)?,
                _ => return Err(too_much(first.span, "this statement")),
            }
            rest = &rest[1..];
        }
        Ok(())
    }

    /// Statements without tables.
    fn run(&mut self, stmts: &[Stmt], guard: &Guard) -> Check<()> {
        if let Some(at) = behind_meter(self.units.program, stmts) {
            self.run(&stmts[..at], guard)?;
            return self.run(&stmts[at..], guard);
        }
        let drafts = self.drafts(stmts)?;
        let span = stmts[0].span;
        if drafts.register.is_some() || drafts.count.is_some() {
            self.step(guard.clone(), None, vec![(None, drafts)], Vec::new(), span);
            return Ok(());
        }
        for units in split(drafts.units) {
            let apart = |unit: &Draft| units.iter().all(|other| other == unit || !reads(other, unit.to));
            if guard.is_empty() && units.iter().all(apart) {
                // Each goes where there is room.
                self.items.extend(units.into_iter().map(|unit| Item::Group(vec![unit])));
            } else if guard.is_empty() && place(&units).is_some() {
                self.items.push(Item::Group(units));
            } else {
                let drafts = Drafts { units, ..Drafts::default() };
                self.step(guard.clone(), None, vec![(None, drafts)], Vec::new(), span);
            }
        }
        self.units.vector.release();
        Ok(())
    }

    fn step(
        &mut self,
        gate: Guard,
        table: Option<TableId>,
        open: Vec<(Option<ActionId>, Drafts)>,
        keys: Vec<Piece>,
        span: Span,
    ) {
        self.items.push(Item::Step(Box::new(Step { gate, table, open, closed: Drafts::default(), keys, span })));
        self.units.vector.release();
    }

    /// The units of statements; groups in front compute their inputs.
    fn drafts(&mut self, stmts: &[Stmt]) -> Check<Drafts> {
        let effects = effects(self.units.program, stmts, self.uses)?;
        let drafts = self.units.drafts(&effects)?;
        self.flush();
        Ok(drafts)
    }

    fn flush(&mut self) {
        self.units.known.clear();
        self.items.append(&mut self.units.before);
    }

    fn apply(&mut self, apply: &Apply, guard: &Guard, span: Span) -> Check<()> {
        let table = &self.units.program.tables[apply.table];
        if self.applied.contains(&apply.table) {
            return Err(too_much(span, &format!("`{}` is applied twice", table.name)).also(table.span, "the table"));
        }
        self.applied.push(apply.table);
        if !apply.cases.is_empty() || !apply.otherwise.is_empty() {
            return Err(too_much(span, "a switch over the action that ran")
                .help("let the actions write a metadata field, and compare that"));
        }
        let mut keys = Vec::new();
        for key in &table.keys {
            keys.extend(self.units.vector.pieces(key.field, key.span)?);
        }
        let mut open = Vec::new();
        for action in &table.actions {
            let body = &self.units.program.actions[action.action].body;
            let mut drafts = self.drafts(body)?;
            if let Some(counter) = table.counter {
                if let Some(other) = drafts.count {
                    return Err(too_much(other.span, "a counter in an action of a table that has its own")
                        .also(table.span, "the table")
                        .help("a stage of the card counts a frame once: use another table's action"));
                }
                drafts.count = Some(CountDraft { counter, index: None, span: table.span });
            }
            let used = drafts.register.map(|draft| (draft.cells, draft.span));
            match (table.meter, used) {
                (Some(meter), None) => drafts.register = Some(self.units.entry_meter(meter, table.span)),
                (of, Some((Cells::EntryMeter(meter), _))) if of == Some(meter) => {}
                (of, Some((cells, span))) if of.is_some() || matches!(cells, Cells::EntryMeter(_)) => {
                    return Err(too_much(span, "a register or meter in an action of a table that has another one")
                        .also(table.span, "the table")
                        .help(
                            "a stage of the card has one access to a register or meter: use another table's action",
                        ));
                }
                _ => {}
            }
            open.push((Some(action.action), drafts));
        }
        self.step(guard.clone(), Some(apply.table), open, keys, span);
        if apply.hit.is_empty() && apply.miss.is_empty() {
            return Ok(());
        }
        if guard.is_empty() {
            return self.branches(vec![Literal::Hit(apply.table, true)], &apply.hit, &apply.miss, guard);
        }
        // A table that found an entry was searched: the gate in front of it was open.
        self.block(&apply.hit, &vec![Literal::Hit(apply.table, true)])?;
        if !apply.miss.is_empty() {
            let mut missed = self.in_bits(guard, span)?;
            missed.push(Literal::Hit(apply.table, false));
            self.block(&apply.miss, &missed)?;
        }
        Ok(())
    }

    fn choice(&mut self, condition: &Expr, then: &[Stmt], otherwise: &[Stmt], guard: &Guard) -> Check<()> {
        let both = self.and(guard, condition)?;
        self.branches(both, then, otherwise, guard)
    }

    /// `then` where `both` holds, `otherwise` where only `guard` does.
    fn branches(&mut self, both: Guard, then: &[Stmt], otherwise: &[Stmt], guard: &Guard) -> Check<()> {
        if otherwise.is_empty() {
            return self.block(then, &both);
        }
        if guard.is_empty() && otherwise.iter().all(is_plain) {
            // The first stage of `then` does the other branch if its gate is closed.
            let closed = self.drafts(otherwise)?;
            self.units.vector.keep();
            let first = self.items.len();
            self.block(then, &both)?;
            let step = self.items[first..].iter_mut().find_map(|item| match item {
                Item::Step(step) if !step.gate.is_empty() => Some(step),
                _ => None,
            });
            match step {
                Some(step) if step.gate == both => step.closed = closed,
                _ => {
                    self.step(both, None, vec![(None, Drafts::default())], Vec::new(), otherwise[0].span);
                    if let Some(Item::Step(step)) = self.items.last_mut() {
                        step.closed = closed;
                    }
                }
            }
            return Ok(());
        }
        let span = otherwise[0].span;
        let opposite = match both[..] {
            [Literal::Mask { word, mask, value }] if mask.count_ones() == 1 && guard.is_empty() => {
                vec![Literal::Mask { word, mask, value: value ^ mask }]
            }
            [Literal::Hit(table, hit)] if guard.is_empty() => vec![Literal::Hit(table, !hit)],
            _ => {
                let mut outer = self.in_bits(guard, span)?;
                let bit = self.units.vector.bit(BITS, span)?;
                let (a, b) = (Source::Const(1), Source::Const(1));
                let set = Draft { op: Op::Set, to: bit, predicate: None, a, b, span };
                let open = Drafts { units: vec![set], ..Drafts::default() };
                self.step(both.clone(), None, vec![(None, open)], Vec::new(), span);
                outer.push(Literal::Mask { word: BITS, mask: bit.mask(), value: 0 });
                outer
            }
        };
        self.block(then, &both)?;
        self.block(otherwise, &opposite)
    }

    /// A guard and a condition.
    fn and(&mut self, guard: &Guard, condition: &Expr) -> Check<Guard> {
        let mut terms = Vec::new();
        conjunction(condition, &mut terms);
        let (mut masks, mut others) = (guard.clone(), Vec::new());
        for term in terms {
            match self.literal(&term)? {
                Some(literal) => masks.push(literal),
                None => others.push(term),
            }
        }
        let word = match masks.first().map(|literal| literal.word()) {
            Some(word) if masks.iter().all(|literal| literal.word() == word) => word,
            _ => BITS,
        };
        let word = if others.is_empty() || word == FLAGS { word } else { BITS };
        let mut all = if masks.iter().all(|literal| literal.word() == word) {
            masks
        } else {
            self.in_bits(&masks, condition.span)?
        };
        for term in others {
            let bit = self.units.vector.bit(word, term.span)?;
            self.units.compute(&term, bit)?;
            all.push(Literal::Mask { word, mask: bit.mask(), value: bit.mask() });
        }
        self.flush();
        self.units.vector.release();
        Ok(all)
    }

    /// A term as bits of one word that the program does not change.
    fn literal(&mut self, term: &Expr) -> Check<Option<Literal>> {
        let (field, value) = match &term.kind {
            ExprKind::Field(field) => (*field, 1),
            ExprKind::Unary(UnaryOp::Not, inner) => match inner.kind {
                ExprKind::Field(field) if inner.width == 1 => (field, 0),
                _ => return Ok(None),
            },
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) => {
                match (&a.kind, b.value(), &b.kind, a.value()) {
                    (ExprKind::Field(field), Some(value), _, _) | (_, _, ExprKind::Field(field), Some(value))
                        if *op == BinaryOp::Eq || a.width == 1 =>
                    {
                        (*field, if *op == BinaryOp::Eq { value } else { value ^ 1 })
                    }
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        if self.uses.written[field] > 0 {
            return Ok(None);
        }
        let pieces = self.units.vector.pieces(field, term.span)?;
        let [piece] = pieces[..] else { return Ok(None) };
        let fits = u32::try_from(value).ok().filter(|value| *value <= low_bits(piece.width));
        Ok(fits.map(|value| Literal::Mask { word: piece.word, mask: piece.mask(), value: value << piece.low }))
    }

    /// The same guard, by bits of [`BITS`].
    fn in_bits(&mut self, guard: &Guard, span: Span) -> Check<Guard> {
        let (mut made, mut group) = (Vec::new(), Vec::new());
        for literal in guard {
            let Literal::Mask { word, mask, value } = *literal else {
                made.push(*literal);
                continue;
            };
            if word == BITS {
                made.push(*literal);
                continue;
            }
            // A comparison for each run of bits of the mask.
            let mut rest = mask;
            while rest != 0 {
                let low = rest.trailing_zeros();
                let width = (rest >> low).trailing_ones();
                rest &= !(low_bits(width) << low);
                let bit = self.units.vector.bit(BITS, span)?;
                let a = Source::Piece(Piece { word, low, width });
                let b = Source::Const(value >> low & low_bits(width));
                group.push(Draft { op: Op::Eq, to: bit, predicate: None, a, b, span });
                made.push(Literal::Mask { word: BITS, mask: bit.mask(), value: bit.mask() });
            }
        }
        if !group.is_empty() {
            self.items.push(Item::Group(group));
        }
        Ok(made)
    }
}

/// The first statement that reads a color which a meter in front of it gives, or that is a second access to a register
/// or a meter beside a meter's. Stages behind the meter's do it.
fn behind_meter(program: &Program, stmts: &[Stmt]) -> Option<usize> {
    let (mut colors, mut accessed): (Vec<FieldId>, bool) = (Vec::new(), false);
    for (at, stmt) in stmts.iter().enumerate() {
        let read = Uses::of_block(program, std::slice::from_ref(stmt)).read;
        if colors.iter().any(|color| read[*color] > 0) {
            return Some(at);
        }
        match &stmt.kind {
            StmtKind::RegisterRead { .. } | StmtKind::RegisterWrite { .. } if !colors.is_empty() => return Some(at),
            StmtKind::RegisterRead { .. } | StmtKind::RegisterWrite { .. } => accessed = true,
            StmtKind::Extern(of) => {
                if let Extern::Meter { to, .. } = **of {
                    if accessed {
                        return Some(at);
                    }
                    accessed = true;
                    colors.push(to);
                }
            }
            _ => {}
        }
    }
    None
}

/// Units that all read the values from before them, as groups for one stage each: a unit is in no later group than one
/// that writes what it reads. Units that read each other's places stay together, even if they are more than a stage
/// has.
fn split(units: Vec<Draft>) -> Vec<Vec<Draft>> {
    let (mut rest, mut groups, mut group) = (units, Vec::new(), Vec::new());
    while !rest.is_empty() {
        // For each unit, those that must not come behind it, itself included; the fewest first.
        let closure = |first: usize| {
            let mut found = vec![first];
            let mut at = 0;
            while at < found.len() {
                let to = rest[found[at]].to;
                let more: Vec<usize> =
                    (0..rest.len()).filter(|unit| !found.contains(unit) && reads(&rest[*unit], to)).collect();
                found.extend(more);
                at += 1;
            }
            found
        };
        let mut next = (0..rest.len()).map(closure).min_by_key(Vec::len).unwrap_or_default();
        if !group.is_empty() && place(group.iter().chain(next.iter().map(|unit| &rest[*unit]))).is_none() {
            groups.push(std::mem::take(&mut group));
        }
        next.sort_unstable();
        for unit in next.into_iter().rev() {
            group.push(rest.remove(unit));
        }
    }
    if !group.is_empty() {
        groups.push(group);
    }
    groups
}

/// Whether a unit reads bits of a place.
pub(super) fn reads(unit: &Draft, place: Piece) -> bool {
    let meets = |piece: Piece| piece.word == place.word && piece.mask() & place.mask() != 0;
    let source = |source| matches!(source, Source::Piece(piece) if meets(piece));
    source(unit.a) || source(unit.b) || unit.predicate.is_some_and(|predicate| meets(predicate.bit))
}

/// The terms that `&&` joins.
fn conjunction(expr: &Expr, terms: &mut Vec<Expr>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::And, a, b) if expr.width == 1 => {
            conjunction(a, terms);
            conjunction(b, terms);
        }
        _ => terms.push(expr.clone()),
    }
}

/// Whether units can do a statement, and the one register or meter access and count of a stage: no table, and no
/// register, meter or counter under a condition.
fn is_plain(stmt: &Stmt) -> bool {
    let inside = |stmt: &Stmt| {
        let once = match &stmt.kind {
            StmtKind::RegisterRead { .. } | StmtKind::RegisterWrite { .. } | StmtKind::Count { .. } => true,
            StmtKind::Extern(of) => matches!(**of, Extern::Meter { .. } | Extern::DirectMeter { .. }),
            _ => false,
        };
        is_plain(stmt) && !once
    };
    match &stmt.kind {
        StmtKind::Apply(_) => false,
        StmtKind::If { then, otherwise, .. } => then.iter().all(inside) && otherwise.iter().all(inside),
        _ => true,
    }
}
