// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The flow of control: blocks in a line become one, jumps to jumps lead where those lead, a program's ends stand where
//! it is decided how it ends. (What a block decides that its predecessors know already is in `thread`.)

use std::collections::HashMap;

use super::replace::Replace;
use crate::ir::{Arg, Block, BlockId, Edge, End, Order, Program, ValueId};

pub(super) fn run(program: &mut Program) -> bool {
    let mut changed = tidy(program);
    while forward(program) | exits(program) | line(program) {
        tidy(program);
        changed = true;
    }
    changed
}

/// Drops blocks that nothing leads to and numbers the others in order. Says whether there were such.
pub(super) fn tidy(program: &mut Program) -> bool {
    let order = Order::of(program);
    let dropped = order.blocks.len() < program.blocks.len();
    let mut old: Vec<Option<Block>> = std::mem::take(&mut program.blocks).into_iter().map(Some).collect();
    program.blocks = order.blocks.iter().filter_map(|block| old[block.0 as usize].take()).collect();
    for block in &mut program.blocks {
        for edge in block.end.edges_mut() {
            edge.to = BlockId(order.place(edge.to).unwrap_or_default() as u32);
        }
    }
    dropped
}

/// An operand of a block, for a way into it.
pub(super) fn through(block: &Block, edge: &Edge, arg: Arg) -> Arg {
    match block.params.iter().position(|param| Arg::Value(*param) == arg) {
        Some(index) => edge.args[index],
        None => arg,
    }
}

/// By number, the blocks in which values are used that are parameters of another.
fn used_outside(program: &Program) -> Vec<bool> {
    let mut home: HashMap<ValueId, BlockId> = HashMap::new();
    for (id, block) in program.iter() {
        home.extend(block.params.iter().map(|param| (*param, id)));
    }
    let mut outside = vec![false; program.blocks.len()];
    for (id, block) in program.iter() {
        let insts = block.insts.iter().flat_map(|inst| inst.op.operands());
        for arg in insts.chain(block.end.operands()) {
            if let Arg::Value(value) = arg
                && let Some(home) = home.get(&value).filter(|home| **home != id)
            {
                outside[home.0 as usize] = true;
            }
        }
    }
    outside
}

/// Leads past blocks that only lead on.
fn forward(program: &mut Program) -> bool {
    let outside = used_outside(program);
    let mut changed = false;
    for index in 0..program.blocks.len() {
        let mut end = program.blocks[index].end.clone();
        for edge in end.edges_mut() {
            let over = program.block(edge.to);
            if let End::Jump(next) = &over.end
                && over.insts.is_empty()
                && next.to != edge.to
                && !outside[edge.to.0 as usize]
            {
                let args = next.args.iter().map(|arg| through(over, edge, *arg)).collect();
                *edge = Edge { to: next.to, args };
                changed = true;
            }
        }
        program.blocks[index].end = end;
    }
    changed
}

/// Ends the program where it is decided how: no jumps to exits, and one exit for each verdict to which branches lead.
fn exits(program: &mut Program) -> bool {
    let mut changed = false;
    let mut known: HashMap<u64, BlockId> = HashMap::new();
    for (id, block) in program.iter() {
        if let (Some(verdict), []) = (constant_exit(block), &block.params[..]) {
            known.entry(verdict).or_insert(id);
        }
    }
    for index in 0..program.blocks.len() {
        let mut end = program.blocks[index].end.clone();
        if let End::Jump(edge) = &end {
            let to = program.block(edge.to);
            if let (End::Exit(verdict), true) = (&to.end, to.insts.is_empty()) {
                program.blocks[index].end = End::Exit(through(to, edge, *verdict));
                changed = true;
            }
            continue;
        }
        for edge in end.edges_mut() {
            let to = program.block(edge.to);
            let (End::Exit(verdict), true) = (&to.end, to.insts.is_empty()) else { continue };
            let Arg::Const(verdict) = through(to, edge, *verdict) else { continue };
            let slot = to.end_slot;
            let exit = *known.entry(verdict).or_insert_with(|| {
                let end = End::Exit(Arg::Const(verdict));
                program.blocks.push(Block { params: vec![], insts: vec![], end, end_slot: slot });
                BlockId(program.blocks.len() as u32 - 1)
            });
            if edge.to != exit {
                *edge = Edge { to: exit, args: vec![] };
                changed = true;
            }
        }
        program.blocks[index].end = end;
    }
    changed
}

/// The verdict of a block that does nothing else.
fn constant_exit(block: &Block) -> Option<u64> {
    match block.end {
        End::Exit(Arg::Const(verdict)) if block.insts.is_empty() => Some(verdict),
        _ => None,
    }
}

/// Appends a block to its only predecessor, if that has no other successor.
fn line(program: &mut Program) -> bool {
    let mut replace = Replace::default();
    let mut ways: Vec<usize> = program.predecessors().iter().map(Vec::len).collect();
    let mut changed = false;
    for index in 0..program.blocks.len() {
        while let End::Jump(edge) = program.blocks[index].end.clone() {
            let to = edge.to.0 as usize;
            if ways[to] != 1 || to == index {
                break;
            }
            let empty = Block { params: vec![], insts: vec![], end: End::Exit(Arg::Const(0)), end_slot: 0 };
            let next = std::mem::replace(&mut program.blocks[to], empty);
            for (param, arg) in next.params.iter().zip(&edge.args) {
                replace.set(*param, *arg);
            }
            let block = &mut program.blocks[index];
            block.insts.extend(next.insts);
            (block.end, block.end_slot) = (next.end, next.end_slot);
            ways[to] = 0;
            changed = true;
        }
    }
    replace.apply(program);
    changed
}
