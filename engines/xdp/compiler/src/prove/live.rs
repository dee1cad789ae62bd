// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Variables that are read before they are written, from where a block begins.

use std::collections::BTreeSet;

use crate::back::code::{Code, Node, Src};

/// By block.
pub(super) struct Live(Vec<BTreeSet<usize>>);

impl Live {
    /// The smallest sets that hold, by going round until nothing changes.
    pub(super) fn of(code: &Code) -> Live {
        let mut live = Live(vec![BTreeSet::new(); code.blocks.len()]);
        loop {
            let mut changed = false;
            for block in (0..code.blocks.len()).rev() {
                let now = live.before(&code.blocks[block].nodes);
                changed |= now != live.0[block];
                live.0[block] = now;
            }
            if !changed {
                return live;
            }
        }
    }

    fn before(&self, nodes: &[Node]) -> BTreeSet<usize> {
        let mut now = BTreeSet::new();
        for node in nodes.iter().rev() {
            if node.ends() {
                now.clear();
            }
            if let Some(to) = node.next() {
                now.extend(&self.0[to]);
            }
            // A guarded node may keep the old value.
            if let (Some(dst), None) = (node.dst, node.guard) {
                now.remove(&dst.index());
            }
            now.extend(node.reads().into_iter().filter_map(|src| match src {
                Src::Var(var) => Some(var.index()),
                _ => None,
            }));
        }
        now
    }

    /// Whether one is, where a block begins.
    pub(super) fn contains(&self, block: usize, var: usize) -> bool {
        self.0[block].contains(&var)
    }

    /// All that are, where a block begins.
    pub(super) fn at(&self, block: usize) -> impl Iterator<Item = usize> + use<> {
        self.0[block].clone().into_iter()
    }
}
