// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Multicast groups. The card makes the copies of a frame behind its last stage, so egress works once for all of them.

use super::vector::{Vector, too_much};
use super::words::Piece;
use crate::fault::Check;
use crate::ir::{BinaryOp, Expr, ExprKind, FieldId, PORT_DROP, Program, Standard, Stmt, StmtKind};

/// Whether the program chooses multicast groups.
pub(super) fn has_groups(program: &Program) -> bool {
    let mut found = false;
    program.walk(&mut |stmt| found |= stmt.chooses_group());
    found
}

/// The halfword of the vector that holds the group.
pub(super) fn group(program: &Program, vector: &mut Vector) -> Check<u32> {
    let span = program.parser.states[0].span;
    match vector.pieces(Standard::McastGrp.field(), span)?[..] {
        [Piece { word, low, width: 16 }] if low % 16 == 0 => Ok(2 * word + u32::from(low == 0)),
        _ => Err(too_much(span, "`mcast_grp` is not half a vector word")),
    }
}

/// The statements of egress as they are for a frame before its copies are made, and whether no copy goes to the port at
/// which the frame came. Egress may say so itself: `if (egress_port == ingress_port) mark_to_drop`. The card leaves
/// such copies out where it makes them, and the statement is for frames without a group.
pub(super) fn egress(program: &Program) -> Check<(Vec<Stmt>, bool)> {
    let (mut stmts, mut prunes) = (Vec::new(), false);
    let mut others = Vec::new();
    for stmt in &program.egress {
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise }
                if is_own_port(condition) && otherwise.is_empty() && is_drop(then) =>
            {
                let group = Expr::field(Standard::McastGrp.field(), 16, stmt.span);
                let alone = Expr::binary(BinaryOp::Eq, group, Expr::constant(0, 16, stmt.span), stmt.span);
                let condition = Expr::binary(BinaryOp::And, alone, condition.clone(), stmt.span);
                let kind = StmtKind::If { condition, then: then.clone(), otherwise: Vec::new() };
                stmts.push(Stmt { kind, ..stmt.clone() });
                prunes = true;
            }
            _ => {
                stmts.push(stmt.clone());
                others.push(stmt.clone());
            }
        }
    }
    check(&others)?;
    Ok((stmts, prunes))
}

/// `egress_port == ingress_port`.
fn is_own_port(condition: &Expr) -> bool {
    let is = |expr: &Expr, field: Standard| expr.kind == ExprKind::Field(field.field());
    let both = |a: &Expr, b: &Expr| is(a, Standard::EgressPort) && is(b, Standard::IngressPort);
    matches!(&condition.kind, ExprKind::Binary(BinaryOp::Eq, a, b) if both(a, b) || both(b, a))
}

/// Whether a statement is the first half of `mark_to_drop`, which drops the frame.
fn drops(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Assign(to, value)
        if *to == Standard::EgressSpec.field() && value.value() == Some(PORT_DROP))
}

/// Whether it is the second half, which takes the frame's group away.
fn ungroups(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Assign(to, value)
        if *to == Standard::McastGrp.field() && value.value() == Some(0))
}

/// Whether statements are `mark_to_drop` and nothing else.
fn is_drop(stmts: &[Stmt]) -> bool {
    matches!(stmts, [first, second] if drops(first) && ungroups(second))
}

/// Checks that egress does the same to all copies of a frame, and only what it may do behind the choice of a group: to
/// drop the frame is to take its group away.
fn check(stmts: &[Stmt]) -> Check<()> {
    let group = Standard::McastGrp.field();
    let differs: [FieldId; 4] =
        [Standard::EgressSpec, Standard::EgressPort, Standard::EgressRid, Standard::InstanceType].map(Standard::field);
    for (at, stmt) in stmts.iter().enumerate() {
        let looks = match &stmt.kind {
            StmtKind::Assign(_, value) => value.reads(&differs),
            StmtKind::If { condition, then, otherwise } => {
                check(then)?;
                check(otherwise)?;
                condition.reads(&differs)
            }
            StmtKind::Extern(of) => of.reads().iter().any(|field| differs.contains(field)),
            _ => false,
        };
        if looks {
            let text = "egress looks at what differs between the copies of a multicast group";
            return Err(too_much(stmt.span, text)
                .help("the card makes the copies behind egress: leave ports and `egress_rid` to the group"));
        }
        let before = at.checked_sub(1).map(|at| &stmts[at]);
        let writes = matches!(&stmt.kind, StmtKind::Assign(to, _) if *to == group) || stmt.chooses_group();
        if writes && !(ungroups(stmt) && before.is_some_and(drops)) {
            return Err(too_much(stmt.span, "egress chooses a multicast group").help("choose it in ingress"));
        }
        if drops(stmt) && !stmts.get(at + 1).is_some_and(ungroups) {
            let text = "egress sets `egress_spec` to drop a frame that may have a multicast group";
            return Err(too_much(stmt.span, text).help("call `mark_to_drop`"));
        }
    }
    Ok(())
}
