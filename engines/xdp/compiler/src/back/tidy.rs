// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Simplifies the flow between blocks: jumps to jumps, runs with one way in, endings that are copied to their
//! predecessors, and nodes that are unused or unreachable.

use super::code::{Block, Code, Node, To, inverse};
use super::live::{Live, VarSet};
use crate::rows::{Do, Test};

/// A block of up to this many nodes is copied after a jump to it.
const COPIED: usize = 2;

/// Tidies a program; whether something has changed.
pub(super) fn tidy(code: &mut Code) -> bool {
    let before = code.clone();
    thread(code);
    unforked(code);
    turn(code);
    join(code);
    unwanted(code);
    compact(code);
    *code != before
}

/// The real target of a way, past blocks that only jump.
fn destination(code: &Code, mut to: To) -> To {
    for _ in 0..code.blocks.len() {
        let To::Block(block) = to else { break };
        let [Node { op: Do::Jump(next), guard: None, .. }] = code.blocks[block].nodes.as_slice() else { break };
        to = *next;
    }
    to
}

fn thread(code: &mut Code) {
    for block in 0..code.blocks.len() {
        for node in 0..code.blocks[block].nodes.len() {
            if let Some(to) = code.blocks[block].nodes[node].target() {
                let to = destination(code, to);
                if let Some(target) = code.blocks[block].nodes[node].target_mut() {
                    *target = to;
                }
            }
        }
    }
}

/// Branches to where the program goes anyway.
fn unforked(code: &mut Code) {
    for block in &mut code.blocks {
        while let [.., branch, last] = block.nodes.as_slice() {
            let same = branch.target().is_some() && branch.target() == last.target() && last.ends();
            if !same {
                break;
            }
            let at = block.nodes.len() - 2;
            block.nodes.remove(at);
        }
    }
}

/// Turns a branch at a block's end round when what it leads to can follow the block and the other way cannot, or is
/// shorter.
fn turn(code: &mut Code) {
    let entries = code.entries();
    for block in 0..code.blocks.len() {
        let [.., Node { op: Do::Branch(test, taken), guard: None, .. }, Node { op: Do::Jump(other), guard: None, .. }] =
            code.blocks[block].nodes.as_slice()
        else {
            continue;
        };
        let (test, taken, other) = (*test, *taken, *other);
        let weight = |to| match to {
            To::Block(to) if entries[to] == 1 && to != block => 2 + longest(code, to, block, code.blocks.len().min(64)),
            To::Block(_) => 1,
            To::Exit(_) => 0,
        };
        let Some(cond) = inverse(test.cond).filter(|_| weight(taken) > weight(other)) else { continue };
        let count = code.blocks[block].nodes.len();
        code.blocks[block].nodes[count - 2].op = Do::Branch(Test { cond, ..test }, other);
        code.blocks[block].nodes[count - 1].op = Do::Jump(taken);
    }
}

/// Nodes on the longest way onward from a block that does not return, within the search depth.
fn longest(code: &Code, from: usize, before: usize, depth: usize) -> usize {
    let block = &code.blocks[from];
    // The first two ways are enough of a picture; more would take exponential time.
    let on = if depth == 0 {
        0
    } else {
        block
            .next()
            .last()
            .filter(|next| *next != before && *next != from)
            .map_or(0, |next| longest(code, next, from, depth - 1))
    };
    block.nodes.len() + on
}

/// Appends blocks that have no other way in, and small endings, to the blocks that jump to them.
fn join(code: &mut Code) {
    for block in 0..code.blocks.len() {
        loop {
            let entries = code.entries();
            let Some(Node { op: Do::Jump(To::Block(next)), guard: None, .. }) = code.blocks[block].nodes.last() else {
                break;
            };
            let next = *next;
            let ending = |nodes: &[Node]| nodes.len() <= COPIED && nodes.iter().all(|node| node.next().is_none());
            let only = entries[next] == 1;
            if next == block || !only && !ending(&code.blocks[next].nodes) {
                break;
            }
            let nodes =
                if only { std::mem::take(&mut code.blocks[next].nodes) } else { code.blocks[next].nodes.clone() };
            code.blocks[block].nodes.pop();
            code.blocks[block].nodes.extend(nodes);
        }
    }
}

/// Removes nodes that only write a variable that is never read.
pub(super) fn unwanted(code: &mut Code) {
    let live = Live::of(code);
    for block in &mut code.blocks {
        let mut now = VarSet::new(code.vars);
        let mut kept: Vec<Node> = Vec::with_capacity(block.nodes.len());
        for node in std::mem::take(&mut block.nodes).into_iter().rev() {
            if node.harmless() && node.dst.is_some_and(|dst| !now.contains(dst)) {
                continue;
            }
            live.before(&node, &mut now);
            kept.push(node);
        }
        kept.reverse();
        block.nodes = kept;
    }
}

/// Takes out blocks that nothing leads to.
fn compact(code: &mut Code) {
    let mut numbers = vec![None; code.blocks.len()];
    let mut open = vec![0];
    while let Some(block) = open.pop() {
        if numbers[block].is_none() {
            numbers[block] = Some(0);
            open.extend(code.blocks[block].next());
        }
    }
    let mut kept: Vec<Block> = Vec::new();
    for (number, block) in numbers.iter_mut().zip(&mut code.blocks) {
        if number.is_some() {
            *number = Some(kept.len());
            kept.push(std::mem::take(block));
        }
    }
    for node in kept.iter_mut().flat_map(|block| &mut block.nodes) {
        if let Some(To::Block(to)) = node.target_mut() {
            *to = numbers[*to].unwrap_or(0);
        }
    }
    code.blocks = kept;
}
