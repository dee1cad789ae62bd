// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Multicast groups. The card makes the copies of a frame behind its last stage, so egress works once for all of them.

use super::vector::{Vector, too_much};
use super::words::Piece;
use crate::fault::Check;
use crate::ir::{FieldId, PORT_DROP, Program, Standard, Stmt, StmtKind};

/// Whether the program chooses multicast groups.
pub fn has_groups(program: &Program) -> bool {
    let mut found = false;
    program.walk(&mut |stmt| found |= stmt.chooses_group());
    found
}

/// The halfword of the vector that holds the group.
pub fn group(program: &Program, vector: &mut Vector) -> Check<u32> {
    let span = program.parser.states[0].span;
    match vector.pieces(Standard::McastGrp.field(), span)?[..] {
        [Piece { word, low, width: 16 }] if low % 16 == 0 => Ok(2 * word + u32::from(low == 0)),
        _ => Err(too_much(span, "`mcast_grp` is not half a vector word")),
    }
}

/// Checks that egress does the same to all copies of a frame, and only what it may do behind the choice of a group: to
/// drop the frame is to take its group away.
pub fn check_egress(stmts: &[Stmt]) -> Check<()> {
    let group = Standard::McastGrp.field();
    let differs: [FieldId; 4] =
        [Standard::EgressSpec, Standard::EgressPort, Standard::EgressRid, Standard::InstanceType].map(Standard::field);
    let drops = |stmt: &Stmt| {
        matches!(&stmt.kind, StmtKind::Assign(to, value)
        if *to == Standard::EgressSpec.field() && value.value() == Some(PORT_DROP))
    };
    let ungroups = |stmt: &Stmt| {
        matches!(&stmt.kind, StmtKind::Assign(to, value)
        if *to == group && value.value() == Some(0))
    };
    for (at, stmt) in stmts.iter().enumerate() {
        let looks = match &stmt.kind {
            StmtKind::Assign(_, value) => value.reads(&differs),
            StmtKind::If { condition, then, otherwise } => {
                check_egress(then)?;
                check_egress(otherwise)?;
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
