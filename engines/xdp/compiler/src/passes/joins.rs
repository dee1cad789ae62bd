// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Loads from the stack at joins whose predecessors each stored another value: the stored value becomes a parameter of
//! the block. (What is the same on all ways is found in `stack`.)

use super::dead;
use super::replace::Replace;
use super::stack::{BYTES, Byte, Found, bytes, ends, loaded, step};
use crate::ir::{Arg, Block, BlockId, Inst, Op, Order, Program, Space};

pub(super) fn run(program: &mut Program) -> bool {
    let order = Order::of(program);
    let ends = ends(program, &order);
    let before = program.predecessors();
    let mut changed = false;
    for &block in &order.blocks {
        let ways = &before[block.0 as usize];
        let from: Option<Vec<&Vec<Byte>>> = ways.iter().map(|way| ends[way.0 as usize].as_ref()).collect();
        let Some(from) = from.filter(|from| from.len() > 1) else { continue };
        // Around a loop, a stored value would have to be known before it exists.
        if ways.iter().any(|way| order.dominates(block, *way)) {
            continue;
        }
        for index in 0..program.block(block).insts.len() {
            let Some(given) = given(program.block(block), index, &from) else { continue };
            hand(program, block, index, ways, given);
            changed = true;
        }
    }
    if changed {
        dead::run(program);
    }
    changed
}

/// The value of a load on each incoming edge, if it reads bytes as they were when the block began.
fn given(block: &Block, index: usize, from: &[&Vec<Byte>]) -> Option<Vec<Found>> {
    let Op::Load { place, signed: false, swap } = &block.insts[index].op else { return None };
    let range = bytes(place).filter(|_| place.space == Space::Stack)?;
    block.insts[index].result?;
    // Bytes that the block does not write keep their unknown value.
    let untouched = [0, 1].into_iter().all(|byte| {
        let mut now = vec![Byte::Const(byte); BYTES];
        block.insts[..index].iter().for_each(|inst| step(&mut now, &inst.op));
        now[range.clone()].iter().all(|now| *now == Byte::Const(byte))
    });
    if !untouched {
        return None;
    }
    from.iter().map(|end| loaded(&end[range.clone()], *swap)).collect()
}

/// Makes a load a parameter.
fn hand(program: &mut Program, block: BlockId, index: usize, ways: &[BlockId], given: Vec<Found>) {
    let param = program.fresh();
    let inst = &program.block(block).insts[index];
    let (result, slot) = (inst.result, inst.slot);
    program.block_mut(block).params.push(param);
    for (number, (way, found)) in ways.iter().zip(given).enumerate() {
        // A block that leads here twice is named twice, one after the other.
        let edge = ways[..number].iter().filter(|other| *other == way).count();
        let arg = match found {
            Found::Arg(arg) => arg,
            Found::Op(op) => {
                let value = program.fresh();
                program.block_mut(*way).insts.push(Inst { op, result: Some(value), slot });
                Arg::Value(value)
            }
        };
        let mut edges = program.block_mut(*way).end.edges_mut();
        if let Some(edge) = edges.iter_mut().filter(|edge| edge.to == block).nth(edge) {
            edge.args.push(arg);
        }
    }
    if let Some(result) = result {
        let mut replace = Replace::default();
        replace.set(result, Arg::Value(param));
        replace.apply(program);
    }
}
