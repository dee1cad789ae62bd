// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Which variables are still to be read.

use super::code::{Code, Node, Var};

/// A set of variables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct VarSet(Vec<u64>);

impl VarSet {
    /// An empty set for this many variables.
    pub(super) fn new(vars: u32) -> VarSet {
        VarSet(vec![0; (vars as usize).div_ceil(64)])
    }

    /// Puts one in.
    pub(super) fn insert(&mut self, var: Var) {
        self.0[var.index() / 64] |= 1 << (var.index() % 64);
    }

    /// Takes one out.
    pub(super) fn remove(&mut self, var: Var) {
        self.0[var.index() / 64] &= !(1 << (var.index() % 64));
    }

    /// Whether one is in it.
    pub(super) fn contains(&self, var: Var) -> bool {
        self.0[var.index() / 64] >> (var.index() % 64) & 1 == 1
    }

    /// Puts all of another set in; whether that was more.
    pub(super) fn extend(&mut self, other: &VarSet) -> bool {
        let mut more = false;
        for (word, new) in self.0.iter_mut().zip(&other.0) {
            more |= new & !*word != 0;
            *word |= new;
        }
        more
    }

    /// All that are in it, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = Var> + '_ {
        self.0.iter().zip(0..).flat_map(|(word, index)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(Var(index * 64 + bit))
            })
        })
    }
}

/// The variables that are read before they are written, from each block's beginning on.
#[derive(Debug, Clone)]
pub(super) struct Live {
    pub entry: Vec<VarSet>,
}

impl Live {
    /// The live variables of a program.
    pub(super) fn of(code: &Code) -> Live {
        let mut live = Live { entry: vec![VarSet::new(code.vars); code.blocks.len()] };
        let mut more = true;
        while more {
            more = false;
            for (index, block) in code.blocks.iter().enumerate().rev() {
                let mut now = VarSet::new(code.vars);
                for node in block.nodes.iter().rev() {
                    live.before(node, &mut now);
                }
                more |= live.entry[index].extend(&now);
            }
        }
        live
    }

    /// Computes the variables live before a node from those live after it.
    pub(super) fn before(&self, node: &Node, now: &mut VarSet) {
        if node.ends() {
            *now = VarSet(vec![0; now.0.len()]);
        }
        if let Some(to) = node.next() {
            now.extend(&self.entry[to]);
        }
        if let Some(dst) = node.dst.filter(|_| node.guard.is_none()) {
            now.remove(dst);
        }
        for var in node.uses() {
            now.insert(var);
        }
    }
}
