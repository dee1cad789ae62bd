// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Copies that go away because both sides can be one variable.

use super::code::{Code, Node, Src, Var};
use super::live::{Live, VarSet};
use crate::insn::Width;
use crate::rows::{Do, Lanes, Second};

/// Makes one variable of the sides of each copy that are never both wanted with different values, and takes the copies
/// out.
pub(super) fn coalesce(code: &mut Code, lanes: Lanes) {
    let mut classes = Classes::of(code, lanes);
    for block in &code.blocks {
        for node in &block.nodes {
            if let Some((to, from)) = copied(node) {
                classes.join(to, from);
            }
        }
    }
    let leaders: Vec<Var> = (0..code.vars).map(|var| classes.leader(Var(var))).collect();
    let rename = |src: Src| match src {
        Src::Var(var) => Src::Var(leaders[var.index()]),
        other => other,
    };
    for block in &mut code.blocks {
        for node in &mut block.nodes {
            super::rename::node(node, &rename);
        }
        block.nodes.retain(|node| copied(node).is_none_or(|(to, from)| to != from));
    }
}

/// Both sides of a copy of a variable.
fn copied(node: &Node) -> Option<(Var, Var)> {
    match (node.op, node.dst, node.guard) {
        (Do::Move { width: Width::W64, from: Second::Source(Src::Var(from)) }, Some(to), None) => Some((to, from)),
        _ => None,
    }
}

/// Variables that are one.
struct Classes {
    parent: Vec<u32>,
    /// By leader: the variables that hold another value while this one is live.
    rivals: Vec<VarSet>,
    /// The lane in which their register has to be.
    homes: Vec<Option<usize>>,
}

impl Classes {
    fn of(code: &Code, lanes: Lanes) -> Classes {
        let count = code.vars as usize;
        let mut classes = Classes {
            parent: (0..code.vars).collect(),
            rivals: vec![VarSet::new(code.vars); count],
            homes: vec![None; count],
        };
        let live = Live::of(code);
        for block in &code.blocks {
            let mut now = VarSet::new(code.vars);
            for node in block.nodes.iter().rev() {
                if let Some(dst) = node.dst {
                    let same = copied(node).map(|(_, from)| from);
                    for other in now.iter().filter(|other| *other != dst && Some(*other) != same) {
                        classes.rivals[dst.index()].insert(other);
                        classes.rivals[other.index()].insert(dst);
                    }
                    classes.homes[dst.index()] = classes.homes[dst.index()].or(node.op.lane(lanes));
                }
                live.before(node, &mut now);
            }
        }
        classes
    }

    fn leader(&mut self, var: Var) -> Var {
        let mut at = var.0;
        while self.parent[at as usize] != at {
            let up = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = up;
            at = up;
        }
        Var(at)
    }

    fn join(&mut self, a: Var, b: Var) {
        let (a, b) = (self.leader(a), self.leader(b));
        let homes = (self.homes[a.index()], self.homes[b.index()]);
        let apart = matches!(homes, (Some(x), Some(y)) if x != y);
        if a == b || apart || self.rivals[a.index()].contains(b) {
            return;
        }
        let of_b = self.rivals[b.index()].clone();
        for other in of_b.iter() {
            self.rivals[other.index()].insert(a);
        }
        self.rivals[a.index()].extend(&of_b);
        self.homes[a.index()] = homes.0.or(homes.1);
        self.parent[b.index()] = a.0;
    }
}
