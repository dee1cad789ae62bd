// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Removes parameters that are the same on all ways to their block, which makes the builder's form minimal.

use super::replace::Replace;
use crate::ir::{Arg, BlockId, Program};

/// Replaces parameters by the passed values, until none is left.
pub(super) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    while let Some((block, index, arg)) = same(program) {
        let param = program.block_mut(block).params.remove(index);
        for from in &mut program.blocks {
            for edge in from.end.edges_mut().into_iter().filter(|edge| edge.to == block) {
                edge.args.remove(index);
            }
        }
        let mut replace = Replace::default();
        replace.set(param, arg);
        replace.apply(program);
        changed = true;
    }
    changed
}

/// A parameter for which all edges hand on the same, or itself.
fn same(program: &Program) -> Option<(BlockId, usize, Arg)> {
    let mut given: Vec<Vec<Given>> =
        program.blocks.iter().map(|block| vec![Given::Nothing; block.params.len()]).collect();
    for block in &program.blocks {
        for edge in block.end.edges() {
            let to = edge.to.0 as usize;
            for (index, arg) in edge.args.iter().enumerate() {
                if *arg != Arg::Value(program.blocks[to].params[index]) {
                    given[to][index] = given[to][index].and(*arg);
                }
            }
        }
    }
    given.iter().enumerate().find_map(|(block, params)| {
        params.iter().enumerate().find_map(|(index, given)| match given {
            Given::One(arg) => Some((BlockId(block as u32), index, *arg)),
            _ => None,
        })
    })
}

/// The arguments that edges pass to a parameter.
#[derive(Clone, Copy)]
enum Given {
    Nothing,
    One(Arg),
    Several,
}

impl Given {
    fn and(self, arg: Arg) -> Given {
        match self {
            Given::Nothing => Given::One(arg),
            Given::One(known) if known == arg => self,
            _ => Given::Several,
        }
    }
}
