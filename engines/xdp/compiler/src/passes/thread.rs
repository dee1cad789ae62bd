// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Branches whose outcome is known on one of the ways to them: that way leads on directly, with a copy of what little
//! stands before the branch. The check of a lookup's result in an array thus becomes a check of its index, carried out
//! once, and values selected by the same comparison are selected together.

use super::flow::{through, tidy};
use super::known::{Known, Told};
use super::replace::Replace;
use crate::check::decided;
use crate::ir::{Arg, Block, BlockId, Edge, End, Inst, Op, Order, Program, ValueId};

/// Most instructions that are copied for one way, and most ways in one go.
const COPIED: usize = 4;
const COPIES: usize = 16;

pub(super) fn run(program: &mut Program) -> bool {
    let mut copies = 0;
    let mut changed = false;
    while one(program, &mut copies) {
        tidy(program);
        changed = true;
    }
    changed
}

/// Redirects one way, if there is one.
fn one(program: &mut Program, copies: &mut usize) -> bool {
    let order = Order::of(program);
    let known = Known::of(program, &order);
    for &from in &order.blocks {
        for index in 0..program.block(from).end.edges().len() {
            let edge = program.block(from).end.edges()[index].clone();
            // Around a loop the block that decides would be in the middle of it.
            if order.dominates(edge.to, from) || !is_short(program.block(edge.to), *copies) {
                continue;
            }
            let Some(way) = outcome(program, &known, from, index, &edge) else { continue };
            if !hand_on(program, &order, edge.to) {
                continue;
            }
            let Some(next) = lead(program, &edge, way, copies) else { continue };
            if let Some(edge) = program.block_mut(from).end.edges_mut().into_iter().nth(index) {
                *edge = next;
            }
            return true;
        }
    }
    false
}

/// Whether a block has few instructions, all of which can be duplicated.
fn is_short(block: &Block, copies: usize) -> bool {
    let plain = |inst: &Inst| inst.op.is_idle() || matches!(inst.op, Op::Store { .. });
    block.insts.is_empty() || copies < COPIES && block.insts.len() <= COPIED && block.insts.iter().all(plain)
}

/// The result of the branch at the end of an edge's target block, for paths along that edge.
fn outcome(program: &Program, known: &Known, from: BlockId, index: usize, edge: &Edge) -> Option<bool> {
    let block = program.block(edge.to);
    let End::Branch { cond, width, a, b, .. } = &block.end else { return None };
    let (a, b) = (through(block, edge, *a), through(block, edge, *b));
    let last = Told::by(&program.block(from).end, index == 0);
    let told = || known.told(from).iter().chain(&last).find_map(|told| told.says(*cond, *width, a, b));
    decided(*cond, *width, &known.at(from, a), &known.at(from, b)).or_else(told)
}

/// The way on: directly, or through a copy of the block's instructions.
fn lead(program: &mut Program, edge: &Edge, way: bool, copies: &mut usize) -> Option<Edge> {
    let block = program.block(edge.to).clone();
    let End::Branch { then, otherwise, .. } = &block.end else { return None };
    let next = if way { then } else { otherwise };
    let mut replace = Replace::default();
    for (param, arg) in block.params.iter().zip(&edge.args) {
        replace.set(*param, *arg);
    }
    let mut insts = block.insts.clone();
    for inst in &mut insts {
        for arg in inst.op.operands_mut() {
            *arg = replace.get(*arg);
        }
        if let Some(result) = inst.result {
            let copy = program.fresh();
            replace.set(result, Arg::Value(copy));
            inst.result = Some(copy);
        }
    }
    let next = Edge { to: next.to, args: next.args.iter().map(|arg| replace.get(*arg)).collect() };
    if insts.is_empty() {
        return Some(next);
    }
    *copies += 1;
    program.blocks.push(Block { params: vec![], insts, end: End::Jump(next), end_slot: block.end_slot });
    Some(Edge { to: BlockId(program.blocks.len() as u32 - 1), args: vec![] })
}

/// Turns the values of a block that later blocks use into parameters of these, so that other blocks can jump there as
/// well. Says whether that was possible: whether all uses are behind blocks to which nothing else leads.
fn hand_on(program: &mut Program, order: &Order, over: BlockId) -> bool {
    let ways = program.predecessors();
    let block = program.block(over);
    let next = block.end.edges().into_iter().map(|edge| edge.to);
    let own: Vec<BlockId> = next.filter(|to| ways[to.0 as usize].iter().all(|way| *way == over)).collect();
    let results = block.insts.iter().filter_map(|inst| inst.result);
    let values: Vec<ValueId> = block.params.iter().copied().chain(results).collect();
    let mut wanted: Vec<(BlockId, ValueId)> = Vec::new();
    for &block in order.blocks.iter().filter(|block| **block != over) {
        let insts = program.block(block).insts.iter().flat_map(|inst| inst.op.operands());
        for arg in insts.chain(program.block(block).end.operands()) {
            let Some(value) = values.iter().copied().find(|value| Arg::Value(*value) == arg) else { continue };
            let Some(behind) = own.iter().copied().find(|own| order.dominates(*own, block)) else { return false };
            if !wanted.contains(&(behind, value)) {
                wanted.push((behind, value));
            }
        }
    }
    for (behind, value) in wanted {
        let new = program.fresh();
        let mut replace = Replace::default();
        replace.set(value, Arg::Value(new));
        for &block in order.blocks.iter().filter(|block| order.dominates(behind, **block)) {
            for arg in program.block_mut(block).operands_mut() {
                *arg = replace.get(*arg);
            }
        }
        program.block_mut(behind).params.push(new);
        for edge in program.block_mut(over).end.edges_mut().into_iter().filter(|edge| edge.to == behind) {
            edge.args.push(Arg::Value(value));
        }
    }
    true
}
