// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Replaces branches by guards. A row's guards depend on comparisons of the same row, so the guarded code is short: a
//! few operations that the other side then executes without effect.

use super::code::Src;
use super::code::{Code, Node, To, Var, When, source};
use super::live::{Live, VarSet};
use crate::rows::{Do, Lanes};

/// Replaces branches by guards; whether there were such.
pub fn absorb(code: &mut Code, lanes: Lanes) -> bool {
    for block in 0..code.blocks.len() {
        for at in (0..code.blocks[block].nodes.len()).rev() {
            if side(code, block, at, lanes) || around(code, block, at, lanes) {
                return true;
            }
        }
    }
    false
}

/// How many nodes may be taken along: guarded, and without guard.
fn most(lanes: Lanes) -> (usize, usize) {
    match lanes.count() {
        // A guard needs another lane for its comparison.
        1 => (0, 1),
        2 => (2, 2),
        count => (count, count),
    }
}

/// Nodes in a form that both sides can execute. `wanted`: variables that the other side reads.
fn guarded(nodes: &[Node], when: When, wanted: &VarSet, lanes: Lanes) -> Option<Vec<Node>> {
    let deciding =
        |var: Var| when.test.a == Src::Var(var) || source(when.test.b).is_some_and(|src| src == Src::Var(var));
    let (mut guards, mut free) = most(lanes);
    let mut out = Vec::new();
    for node in nodes {
        if node.dst.is_some_and(deciding) {
            return None;
        }
        let mut node = node.clone();
        if node.is_pure() && node.dst.is_some_and(|dst| !wanted.contains(dst)) {
            free = free.checked_sub(1)?;
        } else {
            if node.guard.is_some() || matches!(node.op, Do::Request { .. } | Do::Args { .. } | Do::Adjust { .. }) {
                return None;
            }
            guards = guards.checked_sub(1)?;
            node.guard = Some(when);
        }
        out.push(node);
    }
    Some(out)
}

/// A short block that only this branch leads to: its nodes come before the branch, which then leads to the block's
/// targets.
fn side(code: &mut Code, block: usize, at: usize, lanes: Lanes) -> bool {
    let branch = &code.blocks[block].nodes[at];
    let (Some(when), Some(To::Block(to))) = (branch.leaves_when(), branch.target()) else { return false };
    if branch.ends() || to == block || code.entries()[to] != 1 {
        return false;
    }
    let Some((last, nodes)) = code.blocks[to].nodes.split_last() else { return false };
    let exit = match last {
        Node { op: Do::Jump(_), guard: None, .. } => None,
        Node { op: Do::Exit(_), guard: None, .. } if lanes.count() > 1 => Some(last.clone()),
        _ => return false,
    };
    // Variables that the fall-through path reads.
    let live = Live::of(code);
    let mut wanted = VarSet::new(code.vars);
    for node in code.blocks[block].nodes[at + 1..].iter().rev() {
        live.before(node, &mut wanted);
    }
    let Some(nodes) = guarded(nodes, when, &wanted, lanes) else { return false };
    let new = match exit {
        Some(exit) => Node { guard: Some(when), ..exit },
        None => {
            let mut branch = code.blocks[block].nodes[at].clone();
            if let (Some(target), Some(next)) = (branch.target_mut(), last.target()) {
                *target = next;
            }
            branch
        }
    };
    let all = &mut code.blocks[block].nodes;
    all.splice(at..=at, nodes.into_iter().chain([new]));
    code.blocks[to].nodes = vec![Node::new(Do::Jump(To::Exit(0)), None, 0)];
    true
}

/// A branch over the rest of its block: the rest is guarded, and the branch goes.
fn around(code: &mut Code, block: usize, at: usize, lanes: Lanes) -> bool {
    let all = &code.blocks[block].nodes;
    let (Some(branch), Some(last)) = (all.get(at), all.last()) else { return false };
    let (Some(when), true) = (branch.leaves_when(), last.ends() && !branch.ends()) else { return false };
    let same = match (&branch.op, &last.op) {
        (Do::Branch(_, a) | Do::Jump(a), Do::Jump(b)) => a == b,
        _ => false,
    };
    if !same {
        return false;
    }
    let rest = &all[at + 1..all.len() - 1];
    let wanted = match last.next() {
        Some(next) => Live::of(code).entry[next].clone(),
        None => VarSet::new(code.vars),
    };
    let Some(nodes) = guarded(rest, when.inverted(), &wanted, lanes) else { return false };
    let end = all.len() - 1;
    code.blocks[block].nodes.splice(at..end, nodes);
    true
}
