// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Digests. Each call of `digest` sets a bit of its own, and the exit makes a record for the host of words of the vector
//! if one of these bits is 1. A value that a later statement may change is copied where the program calls `digest`.

use std::collections::{BTreeSet, HashMap};

use super::uses::Uses;
use super::vector::{Vector, too_much};
use super::words::{FLAGS, Piece};
use crate::fault::Check;
use crate::ir::{
    ActionId, DigestId, Expr, ExprKind, Extern, Field, FieldId, FieldKind, Program, Standard, Stmt, StmtKind,
};
use crate::source::Span;

/// Words of a record.
pub const RECORD_WORDS: usize = 10;
/// Words of a row of EXIT that say which words of the vector are the record.
pub(super) const DIGEST_WORDS: usize = 2;
/// The first bit of [`FLAGS`] that asks for a record. A record has this bit and those above it.
const FIRST_BIT: u32 = 20;

/// A value of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    /// The same in all messages.
    Const(u128),
    /// Pieces of the record's words, the upper bits first.
    Pieces(Vec<Piece>),
}

/// A call of `digest`, as it stands in records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestCode {
    /// What is sent.
    pub digest: DigestId,
    /// The bit of a record that says that it was sent, from 0 on.
    pub bit: u32,
    values: Vec<Value>,
}

impl DigestCode {
    /// The message's values, of a record with these words.
    #[must_use]
    pub fn values(&self, words: &[u32; RECORD_WORDS]) -> Vec<u128> {
        let value = |value: &Value| match value {
            Value::Const(value) => *value,
            Value::Pieces(pieces) => pieces.iter().fold(0, |all, piece| {
                let word = words.get(piece.word as usize).copied().unwrap_or(0);
                all << piece.width | u128::from((word & piece.mask()) >> piece.low)
            }),
        };
        self.values.iter().map(value).collect()
    }
}

/// A call in the program.
struct Call {
    digest: DigestId,
    /// The field of its bit.
    bit: FieldId,
    /// Constants, and the fields that hold the other values at the exit.
    values: Vec<Result<u128, FieldId>>,
    span: Span,
}

/// A program whose calls of `digest` are assignments.
pub(super) struct Marked {
    pub program: Program,
    calls: Vec<Call>,
}

/// Replaces the calls of `digest` in ingress by assignments; None if ingress does not call it.
pub(super) fn mark(program: &Program) -> Check<Option<Marked>> {
    let mut mark = Mark {
        uses: Uses::of(program),
        program: program.clone(),
        calls: Vec::new(),
        visited: BTreeSet::new(),
        twice: None,
    };
    let mut ingress = std::mem::take(&mut mark.program.ingress);
    mark.block(&mut ingress);
    mark.program.ingress = ingress;
    if let Some(span) = mark.twice {
        return Err(too_much(span, "an action that sends a digest belongs to two tables")
            .help("write an action of its own for each of the tables"));
    }
    let Mark { program, calls, .. } = mark;
    Ok((!calls.is_empty()).then_some(Marked { program, calls }))
}

struct Mark {
    program: Program,
    uses: Uses,
    /// In the order in which a frame meets them.
    calls: Vec<Call>,
    visited: BTreeSet<ActionId>,
    /// A call that a frame may meet twice.
    twice: Option<Span>,
}

impl Mark {
    fn block(&mut self, block: &mut Vec<Stmt>) {
        // Values of fields that are written here and nowhere else.
        let mut known = HashMap::new();
        for mut stmt in std::mem::take(block) {
            match &mut stmt.kind {
                StmtKind::Extern(of) if matches!(**of, Extern::Digest { .. }) => {
                    if let Extern::Digest { digest, data } = &**of {
                        self.call(*digest, (data, &known), stmt.span, block);
                    }
                    continue;
                }
                StmtKind::Assign(to, value) if self.uses.written[*to] == 1 => {
                    known.insert(*to, value.clone());
                }
                StmtKind::If { then, otherwise, .. } => {
                    self.block(then);
                    self.block(otherwise);
                }
                StmtKind::Apply(apply) => {
                    let actions: Vec<_> = self.program.tables[apply.table].actions.iter().map(|of| of.action).collect();
                    actions.into_iter().for_each(|action| self.action(action));
                    self.block(&mut apply.hit);
                    self.block(&mut apply.miss);
                    apply.cases.iter_mut().for_each(|(_, case)| self.block(case));
                    self.block(&mut apply.otherwise);
                }
                _ => {}
            }
            block.push(stmt);
        }
    }

    fn action(&mut self, action: ActionId) {
        if !self.visited.insert(action) {
            let bits: Vec<_> = self.calls.iter().map(|call| call.bit).collect();
            let body = &self.program.actions[action].body;
            self.twice = self.twice.or_else(|| find(body, &bits));
            return;
        }
        let mut body = std::mem::take(&mut self.program.actions[action].body);
        self.block(&mut body);
        self.program.actions[action].body = body;
    }

    fn field(&mut self, name: String, width: u32, span: Span) -> FieldId {
        self.program.fields.push(Field { name, width, kind: FieldKind::Metadata, span });
        self.program.fields.len() - 1
    }

    fn call(
        &mut self,
        digest: DigestId,
        (data, known): (&[Expr], &HashMap<FieldId, Expr>),
        span: Span,
        block: &mut Vec<Stmt>,
    ) {
        let name = format!("$digest{}", self.calls.len());
        let mut values = Vec::new();
        for (at, value) in data.iter().enumerate() {
            let own = match value.kind {
                ExprKind::Field(field) => known.get(&field),
                _ => None,
            };
            values.push(match own.unwrap_or(value).kind {
                ExprKind::Const(value) => Ok(value),
                ExprKind::Field(field) if self.stays(field) => Err(field),
                _ => {
                    let copy = self.field(format!("{name}.{at}"), value.width, span);
                    block.push(Stmt { kind: StmtKind::Assign(copy, value.clone()), span });
                    Err(copy)
                }
            });
        }
        let bit = self.field(name, 1, span);
        block.push(Stmt { kind: StmtKind::Assign(bit, Expr::constant(1, 1, span)), span });
        self.calls.push(Call { digest, bit, values, span });
    }

    /// Whether a field has the value at the exit that it has in ingress.
    fn stays(&self, field: FieldId) -> bool {
        let known = match self.program.fields[field].kind {
            FieldKind::Header { varbit, .. } => !varbit,
            FieldKind::Standard(standard) => matches!(
                standard,
                Standard::IngressPort | Standard::PacketLength | Standard::ParserError | Standard::ChecksumError
            ),
            FieldKind::Valid(_) | FieldKind::Metadata | FieldKind::Local => true,
        };
        known && self.uses.written[field] == 0
    }
}

/// A statement that sets one of these bits.
fn find(block: &[Stmt], bits: &[FieldId]) -> Option<Span> {
    block.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Assign(to, _) if bits.contains(to) => Some(stmt.span),
        StmtKind::If { then, otherwise, .. } => find(then, bits).or_else(|| find(otherwise, bits)),
        _ => None,
    })
}

impl Marked {
    /// Notes that the exit reads the bits and the values.
    pub(super) fn note(&self, uses: &mut Uses) {
        for call in &self.calls {
            let fields = call.values.iter().filter_map(|value| value.err());
            fields.chain([call.bit]).for_each(|field| uses.read[field] += 1);
        }
    }

    /// Gives the bits their places.
    pub(super) fn place(&self, vector: &mut Vector) -> Check<()> {
        for call in &self.calls {
            let bit = vector.bit(FLAGS, call.span)?;
            vector.name(call.bit, bit);
        }
        Ok(())
    }

    /// The calls as they stand in records, and the words of the row of EXIT.
    pub(super) fn codes(&self, vector: &mut Vector) -> Check<(Vec<DigestCode>, [u32; DIGEST_WORDS])> {
        let (mut codes, mut words, mut mask) = (Vec::new(), Vec::new(), 0);
        for call in &self.calls {
            let mut values = Vec::new();
            for value in &call.values {
                values.push(match *value {
                    Ok(value) => Value::Const(value),
                    Err(field) => {
                        let mut pieces = vector.pieces(field, call.span)?;
                        for piece in &mut pieces {
                            let at = words.iter().position(|word| *word == piece.word).unwrap_or_else(|| {
                                words.push(piece.word);
                                words.len() - 1
                            });
                            piece.word = at as u32;
                        }
                        Value::Pieces(pieces)
                    }
                });
            }
            if words.len() > RECORD_WORDS {
                let what = format!("the digests of the program are in {} vector words", words.len());
                return Err(too_much(call.span, &what).help(format!("a record has room for {RECORD_WORDS}: send less")));
            }
            let bit = vector.pieces(call.bit, call.span)?.first().map_or(0, |piece| piece.low);
            mask |= 1 << bit;
            codes.push(DigestCode { digest: call.digest, bit: bit - FIRST_BIT, values });
        }
        let mut row = [0, mask];
        for (at, word) in words.iter().enumerate() {
            row[at / 6] |= word << (5 * (at % 6));
        }
        Ok((codes, row))
    }
}
