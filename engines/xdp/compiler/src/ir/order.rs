// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The order of blocks and which ones dominate which: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm"
//! (2001).

use super::{BlockId, Program};

/// The control flow between blocks.
#[derive(Debug, Clone)]
pub struct Order {
    /// Reachable blocks in reverse postorder: each before its successors, except along the edges that close loops.
    pub blocks: Vec<BlockId>,
    /// By block: its place in `blocks`. None: it cannot be reached.
    place: Vec<Option<usize>>,
    /// By place in `blocks`: the place of the closest block on all ways there. The first is its own.
    dominator: Vec<usize>,
}

impl Order {
    /// Computes it for a program.
    pub fn of(program: &Program) -> Order {
        let blocks = reverse_postorder(program);
        let mut place = vec![None; program.blocks.len()];
        for (index, block) in blocks.iter().enumerate() {
            place[block.0 as usize] = Some(index);
        }
        let predecessors = program.predecessors();
        let mut dominator = vec![usize::MAX; blocks.len()];
        dominator[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for (index, block) in blocks.iter().enumerate().skip(1) {
                let known = predecessors[block.0 as usize]
                    .iter()
                    .filter_map(|before| place[before.0 as usize])
                    .filter(|before| dominator[*before] != usize::MAX);
                let new = known.reduce(|a, b| meet(&dominator, a, b)).unwrap_or(0);
                changed |= dominator[index] != new;
                dominator[index] = new;
            }
        }
        Order { blocks, place, dominator }
    }

    /// Whether a block can be reached.
    pub fn reaches(&self, block: BlockId) -> bool {
        self.place[block.0 as usize].is_some()
    }

    /// The closest block that all ways to this one pass.
    pub fn dominator(&self, block: BlockId) -> Option<BlockId> {
        let place = self.place[block.0 as usize].filter(|place| *place > 0)?;
        Some(self.blocks[self.dominator[place]])
    }

    /// Whether all ways to `block` pass `above`, or it is that block.
    pub fn dominates(&self, above: BlockId, block: BlockId) -> bool {
        let (Some(above), Some(mut at)) = (self.place[above.0 as usize], self.place[block.0 as usize]) else {
            return false;
        };
        while at > above {
            at = self.dominator[at];
        }
        at == above
    }

    /// The place of a block in `blocks`.
    pub fn place(&self, block: BlockId) -> Option<usize> {
        self.place[block.0 as usize]
    }
}

fn meet(dominator: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        if a > b {
            a = dominator[a];
        } else {
            b = dominator[b];
        }
    }
    a
}

fn reverse_postorder(program: &Program) -> Vec<BlockId> {
    let mut seen = vec![false; program.blocks.len()];
    let mut order = Vec::new();
    let mut open = vec![(BlockId(0), 0)];
    seen[0] = true;
    while let Some((block, next)) = open.last_mut() {
        let edges = program.block(*block).end.edges();
        match edges.get(*next) {
            Some(edge) => {
                *next += 1;
                if !std::mem::replace(&mut seen[edge.to.0 as usize], true) {
                    open.push((edge.to, 0));
                }
            }
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}
