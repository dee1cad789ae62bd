// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Functions of v1model that act on the whole frame, hash, or report to a controller.

use serde::Serialize;

use super::{
    ChecksumData, DigestId, Expr, ExprKind, FieldId, MeterId, Next, ParserOp, Program, Standard, StateId, Stmt,
    StmtKind, Transition,
};
use crate::source::Span;

/// A call of a function of v1model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Extern {
    /// `hash`: `to` is `base` if `max` is 0, else `base` and the hash modulo `max`.
    Hash {
        /// The destination of the result.
        to: FieldId,
        /// How the data is hashed.
        algorithm: HashAlgorithm,
        /// Smallest result.
        base: Expr,
        /// The hashed values, one after the other, with zeros up to a whole byte.
        data: Vec<ChecksumData>,
        /// Number of results.
        max: Expr,
    },
    /// `random`: a number from `low` to `high`, both included.
    Random {
        /// The destination of the number.
        to: FieldId,
        /// Smallest number.
        low: Expr,
        /// Largest number.
        high: Expr,
    },
    /// `digest`: sends a message to the controller.
    Digest {
        /// Its kind.
        digest: DigestId,
        /// A value for each field.
        data: Vec<Expr>,
    },
    /// `clone`: at the end of ingress or egress, copies the frame to the ports of a session. The last call counts.
    Clone {
        /// From egress to egress; else from ingress, as the frame entered.
        from_egress: bool,
        /// The session.
        session: Expr,
        /// Fields whose values at that time the copy keeps.
        keep: Vec<FieldId>,
    },
    /// `resubmit`: at the end of ingress, the frame starts again in its form on entry.
    Resubmit {
        /// Fields that keep their values.
        keep: Vec<FieldId>,
    },
    /// `recirculate`: at the end of egress, the frame starts again in its form on exit.
    Recirculate {
        /// Fields that keep their values.
        keep: Vec<FieldId>,
    },
    /// `truncate`: the frame leaves with at most this many bytes.
    Truncate {
        /// Bytes.
        length: Expr,
    },
    /// `assert`: if the condition does not hold, the frame is dropped and counted.
    Assert {
        /// 1 bit.
        condition: Expr,
    },
    /// `execute_meter`: meters the frame. Behind the meter's end: green.
    Meter {
        /// An indirect meter.
        meter: MeterId,
        /// Cell.
        index: Expr,
        /// The destination of the color: 0 green, 1 yellow, 2 red.
        to: FieldId,
    },
    /// `==` of two varbits: whether they have the same bytes.
    SameVarbit {
        /// The destination of the answer, 1 bit.
        to: FieldId,
        /// A varbit.
        a: FieldId,
        /// Another one.
        b: FieldId,
    },
    /// `read` of a direct meter: meters the frame with the entry whose action runs.
    DirectMeter {
        /// A direct meter.
        meter: MeterId,
        /// The destination of the color.
        to: FieldId,
    },
}

impl Extern {
    /// Its name in v1model.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hash { .. } => "hash",
            Self::Random { .. } => "random",
            Self::Digest { .. } => "digest",
            Self::Clone { .. } => "clone",
            Self::Resubmit { .. } => "resubmit",
            Self::Recirculate { .. } => "recirculate",
            Self::Truncate { .. } => "truncate",
            Self::Assert { .. } => "assert",
            Self::SameVarbit { .. } => "==",
            Self::Meter { .. } | Self::DirectMeter { .. } => "meter",
        }
    }

    /// The field that it writes.
    #[must_use]
    pub fn result(&self) -> Option<FieldId> {
        match self {
            Self::Hash { to, .. }
            | Self::Random { to, .. }
            | Self::Meter { to, .. }
            | Self::DirectMeter { to, .. }
            | Self::SameVarbit { to, .. } => Some(*to),
            _ => None,
        }
    }

    /// Fields that it reads. Fields that a copy of the frame keeps are read when the copy is made.
    #[must_use]
    pub fn reads(&self) -> Vec<FieldId> {
        let mut fields = Vec::new();
        let mut add = |expr: &Expr| {
            expr.walk(&mut |expr| {
                if let ExprKind::Field(field) = expr.kind {
                    fields.push(field);
                }
            });
        };
        match self {
            Self::Hash { base, data, max, .. } => {
                add(base);
                add(max);
                for part in data {
                    if let ChecksumData::Value(value) = part {
                        add(value);
                    }
                }
            }
            Self::Random { low, high, .. } => {
                add(low);
                add(high);
            }
            Self::Digest { data, .. } => data.iter().for_each(add),
            Self::Clone { session, .. } => add(session),
            Self::Truncate { length } => add(length),
            Self::Assert { condition } => add(condition),
            Self::Meter { index, .. } => add(index),
            Self::Resubmit { .. } | Self::Recirculate { .. } | Self::DirectMeter { .. } => {}
            Self::SameVarbit { a, b, .. } => fields.extend([*a, *b]),
        }
        fields.extend(self.kept());
        fields
    }

    /// Fields that a copy of the frame keeps.
    #[must_use]
    pub fn kept(&self) -> &[FieldId] {
        match self {
            Self::Clone { keep, .. } | Self::Resubmit { keep } | Self::Recirculate { keep } => keep,
            _ => &[],
        }
    }

    /// Whether it affects the whole frame: it may be copied, cut, dropped or started again.
    #[must_use]
    pub fn acts_on_frame(&self) -> bool {
        matches!(
            self,
            Self::Clone { .. }
                | Self::Resubmit { .. }
                | Self::Recirculate { .. }
                | Self::Truncate { .. }
                | Self::Assert { .. }
        )
    }
}

/// How data is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum HashAlgorithm {
    /// CRC-32 of Ethernet.
    Crc32,
    /// CRC-32 whose polynomial the controller may choose; that of Ethernet.
    Crc32Custom,
    /// CRC-16 with the polynomial 0x8005, reflected (ARC).
    Crc16,
    /// CRC-16 whose polynomial the controller may choose; that of ARC.
    Crc16Custom,
    /// A random number.
    Random,
    /// The first 8 bytes.
    Identity,
    /// Internet checksum (RFC 1071).
    Csum16,
    /// Exclusive or of all 16-bit words.
    Xor16,
}

impl HashAlgorithm {
    /// All of them, in the order of the enumeration of v1model.p4.
    pub const ALL: [Self; 8] = [
        Self::Crc32,
        Self::Crc32Custom,
        Self::Crc16,
        Self::Crc16Custom,
        Self::Random,
        Self::Identity,
        Self::Csum16,
        Self::Xor16,
    ];
}

/// A message that programs send to controllers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Digest {
    /// Name of the struct that it holds.
    pub name: String,
    /// P4Runtime's number.
    pub id: u32,
    /// Its fields: name and bits.
    pub fields: Vec<(String, u32)>,
    /// Its destination.
    pub span: Span,
}

/// A meter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Meter {
    /// Full name.
    pub name: String,
    /// P4Runtime's number.
    pub id: u32,
    /// It meters bytes, not frames.
    pub bytes: bool,
    /// Cells of an indirect meter; None for a direct one.
    pub size: Option<u32>,
    /// Annotations, as written.
    pub annotations: Vec<String>,
    /// The place of its declaration.
    pub span: Span,
}

impl ParserOp {
    /// Its place in the source.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Extract { span, .. }
            | Self::Advance { span, .. }
            | Self::Assign { span, .. }
            | Self::Verify { span, .. } => *span,
            Self::Run(stmt) => stmt.span,
        }
    }

    /// Its expressions.
    pub(crate) fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::Extract { varbit, .. } => varbit.iter_mut().collect(),
            Self::Advance { bits: value, .. } | Self::Assign { value, .. } | Self::Verify { condition: value, .. } => {
                vec![value]
            }
            Self::Run(stmt) => stmt.exprs_mut(),
        }
    }

    /// Fields that it writes, but those of the header that it extracts, and varbits that it reads.
    pub(crate) fn fields_mut(&mut self) -> Vec<&mut FieldId> {
        match self {
            Self::Assign { to, .. } => vec![to],
            Self::Run(stmt) => stmt.fields_mut(),
            Self::Extract { .. } | Self::Advance { .. } | Self::Verify { .. } => Vec::new(),
        }
    }
}

impl Transition {
    /// The states that it may lead to.
    pub(crate) fn states(&self) -> Vec<StateId> {
        let nexts: Vec<Next> = match self {
            Self::Direct(next) => vec![*next],
            Self::Select { rows, .. } => rows.iter().map(|row| row.next).collect(),
        };
        let state = |next| if let Next::State(state) = next { Some(state) } else { None };
        nexts.into_iter().filter_map(state).collect()
    }
}

impl Program {
    /// Calls `visit` for the values that statements of the deparser read.
    pub(crate) fn walk_deparse<'p>(&'p self, visit: &mut impl FnMut(&'p Stmt, &'p Expr)) {
        walk(&self.deparse, &mut |stmt| match &stmt.kind {
            StmtKind::Assign(_, value) => visit(stmt, value),
            StmtKind::If { condition, .. } => visit(stmt, condition),
            _ => {}
        });
    }

    /// All statements of controls and actions.
    pub fn walk<'p>(&'p self, visit: &mut impl FnMut(&'p Stmt)) {
        let actions = self.actions.iter().map(|action| &action.body);
        for block in actions.chain([&self.ingress, &self.egress, &self.deparse]) {
            walk(block, visit);
        }
    }
}

/// The number of `exit` in statements.
pub(crate) fn exits(stmts: &[Stmt]) -> usize {
    let mut count = 0;
    walk(stmts, &mut |stmt| count += usize::from(matches!(stmt.kind, StmtKind::Exit)));
    count
}

/// Puts statements in front of each `exit`.
pub(crate) fn before_exits(stmts: &mut Vec<Stmt>, what: &[Stmt]) {
    for stmt in std::mem::take(stmts) {
        let mut stmt = stmt;
        match &mut stmt.kind {
            StmtKind::If { then, otherwise, .. } => {
                before_exits(then, what);
                before_exits(otherwise, what);
            }
            StmtKind::Loop { body, .. } => before_exits(body, what),
            StmtKind::Apply(apply) => {
                let cases = apply.cases.iter_mut().map(|(_, block)| block);
                for block in [&mut apply.hit, &mut apply.miss, &mut apply.otherwise].into_iter().chain(cases) {
                    before_exits(block, what);
                }
            }
            StmtKind::Exit => stmts.extend_from_slice(what),
            _ => {}
        }
        stmts.push(stmt);
    }
}

/// Calls `visit` for statements and all in them.
pub(crate) fn walk<'p>(stmts: &'p [Stmt], visit: &mut impl FnMut(&'p Stmt)) {
    for stmt in stmts {
        visit(stmt);
        match &stmt.kind {
            StmtKind::If { then, otherwise, .. } => {
                walk(then, visit);
                walk(otherwise, visit);
            }
            StmtKind::Loop { body, .. } => walk(body, visit),
            StmtKind::Apply(apply) => {
                let cases = apply.cases.iter().map(|(_, block)| block);
                for block in [&apply.hit, &apply.miss, &apply.otherwise].into_iter().chain(cases) {
                    walk(block, visit);
                }
            }
            _ => {}
        }
    }
}

impl ParserOp {
    /// It may give the frame a multicast group.
    #[must_use]
    pub fn chooses_group(&self) -> bool {
        match self {
            Self::Assign { to, value, .. } => *to == Standard::McastGrp.field() && value.value() != Some(0),
            Self::Run(stmt) => stmt.chooses_group(),
            Self::Extract { .. } | Self::Advance { .. } | Self::Verify { .. } => false,
        }
    }
}

impl Stmt {
    /// Expressions of a statement that neither branches nor applies a table.
    pub(crate) fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            StmtKind::Assign(_, value) => vec![value],
            StmtKind::RegisterRead { index, .. } | StmtKind::Count { index, .. } => vec![index],
            StmtKind::RegisterWrite { index, value, .. } => vec![index, value],
            StmtKind::Extern(of) => match &mut **of {
                Extern::Hash { base, data, max, .. } => {
                    let data = data.iter_mut().filter_map(|part| match part {
                        ChecksumData::Value(value) => Some(value),
                        ChecksumData::Varbit(_) => None,
                    });
                    data.chain([base, max]).collect()
                }
                Extern::Random { low, high, .. } => vec![low, high],
                Extern::Meter { index, .. } => vec![index],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Fields that a statement writes that neither branches nor applies a table, and varbits that it reads.
    pub(crate) fn fields_mut(&mut self) -> Vec<&mut FieldId> {
        match &mut self.kind {
            StmtKind::Assign(to, _) | StmtKind::RegisterRead { to, .. } => vec![to],
            StmtKind::CopyVarbit(to, from) => vec![to, from],
            StmtKind::Extern(of) => match &mut **of {
                Extern::Hash { to, data, .. } => {
                    let data = data.iter_mut().filter_map(|part| match part {
                        ChecksumData::Value(_) => None,
                        ChecksumData::Varbit(field) => Some(field),
                    });
                    data.chain([to]).collect()
                }
                Extern::Random { to, .. } | Extern::Meter { to, .. } => vec![to],
                Extern::SameVarbit { to, a, b } => vec![to, a, b],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Whether it may choose a multicast group.
    #[must_use]
    pub fn chooses_group(&self) -> bool {
        let group = Standard::McastGrp.field();
        match &self.kind {
            StmtKind::Assign(field, value) => *field == group && value.value() != Some(0),
            StmtKind::RegisterRead { to, .. } => *to == group,
            StmtKind::Extern(of) => of.result() == Some(group),
            _ => false,
        }
    }
}
