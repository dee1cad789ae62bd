// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Removes unused results: those that no effect depends on, including those that only feed each other around a loop.

use crate::ir::{Arg, End, Program, ValueId};

/// Drops instructions and parameters whose values are not used.
pub(super) fn run(program: &mut Program) -> bool {
    let wanted = wanted(program);
    let mut changed = false;
    for block in &mut program.blocks {
        let before = block.insts.len();
        block.insts.retain(|inst| !inst.op.is_idle() || inst.result.is_some_and(|result| wanted[result.0 as usize]));
        changed |= block.insts.len() != before;
        for inst in &mut block.insts {
            // An instruction with an effect may have an unused result.
            inst.result = inst.result.filter(|result| wanted[result.0 as usize]);
        }
    }
    let kept: Vec<Vec<bool>> = program
        .blocks
        .iter()
        .map(|block| block.params.iter().map(|param| wanted[param.0 as usize]).collect())
        .collect();
    for block in &mut program.blocks {
        for edge in block.end.edges_mut() {
            let mut kept = kept[edge.to.0 as usize].iter();
            edge.args.retain(|_| kept.next().copied().unwrap_or(true));
        }
    }
    for (block, kept) in program.blocks.iter_mut().zip(kept) {
        let before = block.params.len();
        let mut kept = kept.into_iter();
        block.params.retain(|_| kept.next().unwrap_or(true));
        changed |= block.params.len() != before;
    }
    changed
}

/// By number, whether an effect depends on the value.
fn wanted(program: &Program) -> Vec<bool> {
    let mut wanted = vec![false; program.values as usize];
    let mut open: Vec<ValueId> = Vec::new();
    // The operands of each value; for a parameter, the arguments of the edges.
    let mut sources: Vec<Vec<Arg>> = vec![vec![]; program.values as usize];
    let mut want = |arg: Arg, open: &mut Vec<ValueId>| {
        if let Arg::Value(value) = arg
            && !std::mem::replace(&mut wanted[value.0 as usize], true)
        {
            open.push(value);
        }
    };
    for block in &program.blocks {
        for inst in &block.insts {
            match inst.result {
                Some(result) if inst.op.is_idle() => sources[result.0 as usize] = inst.op.operands(),
                _ if inst.op.is_idle() => {}
                _ => inst.op.operands().into_iter().for_each(|arg| want(arg, &mut open)),
            }
        }
        match &block.end {
            End::Branch { a, b, .. } => [*a, *b].into_iter().for_each(|arg| want(arg, &mut open)),
            End::Exit(arg) | End::TailCall { index: arg, .. } | End::Begin { row: arg, .. } => want(*arg, &mut open),
            End::Jump(_) => {}
        }
        for edge in block.end.edges() {
            for (param, arg) in program.block(edge.to).params.iter().zip(&edge.args) {
                sources[param.0 as usize].push(*arg);
            }
        }
    }
    while let Some(value) = open.pop() {
        for arg in std::mem::take(&mut sources[value.0 as usize]) {
            want(arg, &mut open);
        }
    }
    wanted
}
