// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Numbers and addresses that lowering has put into variables more than once: in a run of nodes the first one serves
//! for all. (Of the program's own values the passes have found those that are the same.)

use std::collections::HashMap;

use super::code::{Code, Node, NodeOp, Src, Var};
use super::rename;
use crate::rows::Do;

/// Removes later nodes of each block that compute the result of an earlier one.
pub(super) fn reuse(code: &mut Code) {
    let once = given_once(code);
    let constant = |src: Src| !matches!(src, Src::Var(var) if !once[var.index()]);
    let mut same: HashMap<Var, Var> = HashMap::new();
    for block in &mut code.blocks {
        let mut known: Vec<(NodeOp, Var)> = Vec::new();
        block.nodes.retain_mut(|node| {
            let Some(dst) = node.dst.filter(|dst| once[dst.index()] && lasts(node)) else { return true };
            if !node.reads().into_iter().all(constant) {
                return true;
            }
            rename::reads(node, &|src| renamed(&same, src));
            match known.iter().find(|(op, _)| *op == node.op) {
                Some((_, first)) => {
                    same.insert(dst, *first);
                    false
                }
                None => {
                    known.push((node.op, dst));
                    true
                }
            }
        });
    }
    for node in code.blocks.iter_mut().flat_map(|block| &mut block.nodes) {
        rename::reads(node, &|src| renamed(&same, src));
    }
}

/// Whether the result of a node depends only on its inputs and stays valid: memory changes, and so does the packet's
/// place.
fn lasts(node: &Node) -> bool {
    node.is_pure() && node.guard.is_none() && !matches!(node.op, Do::Load { .. }) && !node.reads_packet_place()
}

fn renamed(same: &HashMap<Var, Var>, src: Src) -> Src {
    match src {
        Src::Var(var) => same.get(&var).map_or(src, |first| Src::Var(*first)),
        other => other,
    }
}

/// By variable, whether one node gives it its value, and no other: then it has the same value wherever it is read.
fn given_once(code: &Code) -> Vec<bool> {
    let mut counts = vec![0u32; code.vars as usize];
    for dst in code.blocks.iter().flat_map(|block| &block.nodes).filter_map(|node| node.dst) {
        counts[dst.index()] += 1;
    }
    counts.into_iter().map(|count| count == 1).collect()
}
