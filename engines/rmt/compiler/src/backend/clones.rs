// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Clones. A call of `clone` sets the number of a session, and the exit sends the frame's clones to the session's ports.
//! They leave without a second pass through egress, so egress may do nothing to them.

use super::vector::{Vector, too_much};
use super::words::Piece;
use crate::fault::{Check, Fault};
use crate::ir::{
    BinaryOp, Expr, ExprKind, Extern, Field, FieldId, FieldKind, ParserOp, Program, Standard, Stmt, StmtKind, UnaryOp,
};
use crate::source::Span;

/// Bits of a session's number.
const SESSION_BITS: u32 = 16;
/// Values of `instance_type`: a frame from outside, and the copies of a frame.
const NORMAL: u128 = 0;
const INGRESS_CLONE: u128 = 1;
const EGRESS_CLONE: u128 = 2;
const REPLICATION: u128 = 5;

/// A program whose calls of `clone` are assignments.
pub(super) struct Cloning {
    pub program: Program,
    /// The number of the frame's session, 0 for none.
    pub session: FieldId,
    /// The clones are the frame as it leaves, else as it came.
    pub from_egress: bool,
    span: Span,
}

/// Replaces the calls of `clone` by assignments; None if the program does not clone.
///
/// # Errors
/// The program's clones do not leave as the card would send them.
pub(super) fn mark(program: &Program) -> Check<Option<Cloning>> {
    let mut calls = Vec::new();
    program.walk(&mut |stmt| {
        if let Some(from_egress) = kind(stmt) {
            calls.push((from_egress, stmt.span));
        }
    });
    let Some(&(from_egress, span)) = calls.first() else { return Ok(None) };
    if let Some((_, other)) = calls.iter().find(|(other, _)| *other != from_egress) {
        return Err(too_much(*other, "the program clones frames both of ingress and of egress")
            .also(span, "another call")
            .help("clone all of them in ingress, or all of them in egress"));
    }
    let mut program = program.clone();
    let session = program.fields.len();
    let field = Field { name: "$session".to_owned(), width: SESSION_BITS, kind: FieldKind::Metadata, span };
    program.fields.push(field);
    let groups = super::copies::has_groups(&program);
    check_clones(&program, from_egress)?;
    if from_egress {
        check_of_egress(&program, groups, span)?;
    } else {
        check_of_ingress(&program, span)?;
    }
    let own = if groups { vec![NORMAL, REPLICATION] } else { vec![NORMAL] };
    program.egress = of_instances(&program.egress, &own);
    for action in &mut program.actions {
        assign(&mut action.body, session);
    }
    assign(&mut program.ingress, session);
    assign(&mut program.egress, session);
    Ok(Some(Cloning { program, session, from_egress, span }))
}

impl Cloning {
    /// The halfword of the vector that holds the session.
    pub(super) fn half(&self, vector: &mut Vector) -> Check<u32> {
        match vector.pieces(self.session, self.span)?[..] {
            [Piece { word, low, width: SESSION_BITS }] if low % 16 == 0 => Ok(2 * word + u32::from(low == 0)),
            _ => Err(too_much(self.span, "the session is not half a vector word")),
        }
    }
}

/// Whether a statement clones the frame of egress, or that of ingress; None if it clones none.
fn kind(stmt: &Stmt) -> Option<bool> {
    match &stmt.kind {
        StmtKind::Extern(of) => match **of {
            Extern::Clone { from_egress, .. } => Some(from_egress),
            _ => None,
        },
        _ => None,
    }
}

/// Replaces the calls in statements.
fn assign(stmts: &mut [Stmt], to: FieldId) {
    for stmt in stmts {
        match &mut stmt.kind {
            StmtKind::Extern(of) => {
                if let Extern::Clone { session, .. } = &**of {
                    stmt.kind = StmtKind::Assign(to, number(session));
                }
            }
            StmtKind::If { then, otherwise, .. } => {
                assign(then, to);
                assign(otherwise, to);
            }
            StmtKind::Loop { body, .. } => assign(body, to),
            StmtKind::Apply(apply) => {
                assign(&mut apply.hit, to);
                assign(&mut apply.miss, to);
                assign(&mut apply.otherwise, to);
                apply.cases.iter_mut().for_each(|(_, case)| assign(case, to));
            }
            _ => {}
        }
    }
}

/// A session's number with the bits that the card has for it. No session has a number with more bits.
fn number(session: &Expr) -> Expr {
    let mut inner = session;
    while let ExprKind::Resize(of) = &inner.kind
        && of.width <= inner.width
    {
        inner = of;
    }
    match inner.value() {
        Some(value) => Expr::constant(if value >> SESSION_BITS == 0 { value } else { 0 }, SESSION_BITS, inner.span),
        None if inner.width == SESSION_BITS => inner.clone(),
        None if inner.width < SESSION_BITS => {
            Expr { kind: ExprKind::Resize(Box::new(inner.clone())), width: SESSION_BITS, span: inner.span }
        }
        None => Expr { kind: ExprKind::Slice(Box::new(inner.clone()), 0), width: SESSION_BITS, span: inner.span },
    }
}

/// The statements that frames of these instance types meet, as far as conditions ask for nothing else.
fn of_instances(stmts: &[Stmt], instances: &[u128]) -> Vec<Stmt> {
    let mut found = Vec::new();
    for stmt in stmts {
        let StmtKind::If { condition, then, otherwise } = &stmt.kind else {
            found.push(stmt.clone());
            continue;
        };
        let mut answers = instances.iter().map(|instance| holds(condition, *instance));
        let first = answers.next().flatten();
        match first.filter(|first| answers.all(|answer| answer == Some(*first))) {
            Some(true) => found.extend(of_instances(then, instances)),
            Some(false) => found.extend(of_instances(otherwise, instances)),
            None => {
                let (then, otherwise) = (of_instances(then, instances), of_instances(otherwise, instances));
                let kind = StmtKind::If { condition: condition.clone(), then, otherwise };
                found.push(Stmt { kind, span: stmt.span });
            }
        }
    }
    found
}

/// Whether a condition holds for this instance type; None if other fields decide.
fn holds(condition: &Expr, instance: u128) -> Option<bool> {
    let instance_of = |expr: &Expr| expr.kind == ExprKind::Field(Standard::InstanceType.field());
    match &condition.kind {
        ExprKind::Const(value) => Some(*value != 0),
        ExprKind::Unary(UnaryOp::Not, of) if condition.width == 1 => holds(of, instance).map(|is| !is),
        ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) => {
            let value = match (a.value(), b.value()) {
                (None, Some(value)) if instance_of(a) => value,
                (Some(value), None) if instance_of(b) => value,
                _ => return None,
            };
            Some((value == instance) == (*op == BinaryOp::Eq))
        }
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if condition.width == 1 => {
            let decides = *op == BinaryOp::Or;
            match (holds(a, instance), holds(b, instance)) {
                (Some(one), _) | (_, Some(one)) if one == decides => Some(decides),
                (Some(_), Some(_)) => Some(!decides),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Checks that egress does nothing to clones.
fn check_clones(program: &Program, from_egress: bool) -> Check<()> {
    let instance = if from_egress { EGRESS_CLONE } else { INGRESS_CLONE };
    let mut wrong = None;
    crate::ir::walk(&of_instances(&program.egress, &[instance]), &mut |stmt| {
        let is_own = |field: FieldId| matches!(program.fields[field].kind, FieldKind::Metadata | FieldKind::Local);
        let matters = match &stmt.kind {
            StmtKind::Assign(to, _) => !is_own(*to),
            StmtKind::Extern(of) => of.result().is_none_or(|to| !is_own(to)),
            StmtKind::If { .. } => false,
            _ => true,
        };
        if matters && wrong.is_none() {
            wrong = Some(stmt.span);
        }
    });
    wrong.map_or(Ok(()), |span| Err(acts_on_clones(span, instance)))
}

fn acts_on_clones(span: Span, instance: u128) -> Box<Fault> {
    too_much(span, "egress does this to clones, too").help(format!(
        "the card sends clones as they are: put it into `if (standard_metadata.instance_type != {instance})`"
    ))
}

/// Checks that a frame that passes parser and deparser without ingress is the frame that came.
fn check_of_ingress(program: &Program, span: Span) -> Check<()> {
    let text = "a clone of ingress would not leave as the frame came";
    // The card makes no such clones of a controller's frames.
    let of_controller = |instance: usize| {
        let mut notes = program.headers[program.instances[instance].header].annotations.iter();
        notes.any(|note| note.contains("controller_header") && note.contains("packet_out"))
    };
    for op in program.parser.states.iter().flat_map(|state| &state.ops) {
        let wrong = match op {
            ParserOp::Extract { instance, span, .. } => {
                let emitted = program.deparser.iter().any(|emit| emit.instance == *instance);
                (!emitted && !of_controller(*instance)).then_some((*span, "which the deparser does not emit: emit it"))
            }
            ParserOp::Assign { to, span, .. } => {
                let of_header = matches!(program.fields[*to].kind, FieldKind::Header { .. } | FieldKind::Valid(_));
                of_header.then_some((*span, "which the parser changes: change it in ingress"))
            }
            _ => None,
        };
        if let Some((place, help)) = wrong {
            return Err(too_much(span, text).also(place, "a part of a header").help(format!("a header, {help}")));
        }
    }
    match program.deparse.first() {
        Some(stmt) => Err(too_much(span, text).also(stmt.span, "the deparser does this").help("do it in ingress")),
        None => Ok(()),
    }
}

/// Checks that a clone of egress has the bytes of the frame.
fn check_of_egress(program: &Program, groups: bool, span: Span) -> Check<()> {
    if groups {
        return Err(too_much(span, "egress clones the copies of multicast groups").help("clone in ingress"));
    }
    let mut drops = None;
    crate::ir::walk(&program.egress, &mut |stmt| {
        if matches!(&stmt.kind, StmtKind::Assign(to, _) if *to == Standard::EgressSpec.field()) {
            drops = Some(stmt.span);
        }
    });
    if let Some(at) = drops {
        return Err(too_much(span, "egress clones frames and drops some")
            .also(at, "the drop")
            .help("drop in ingress: the card clones only frames that leave"));
    }
    // The metadata of a clone is 0.
    let plain = |field: FieldId| matches!(program.fields[field].kind, FieldKind::Header { .. } | FieldKind::Valid(_));
    let others: Vec<FieldId> = (0..program.fields.len()).filter(|field| !plain(*field)).collect();
    let mut reads = None;
    program.walk_deparse(&mut |stmt, value| {
        if value.reads(&others) {
            reads = Some(stmt.span);
        }
    });
    for sum in &program.update {
        let data = |value: &crate::ir::ChecksumData| matches!(value, crate::ir::ChecksumData::Value(value) if value.reads(&others));
        if sum.condition.reads(&others) || sum.data.iter().any(data) {
            reads = Some(sum.span);
        }
    }
    match reads {
        Some(at) => Err(too_much(span, "clones of egress would get other bytes than their frame")
            .also(at, "this reads metadata, which is 0 in a clone")
            .help("decide by fields of headers")),
        None => Ok(()),
    }
}
