// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Reads of the packet's place that are out of date: between them and their use the packet may have moved. No pointer
//! is used so, for the checker knows them void; but an address that was copied as a number is what it was.

use std::collections::HashSet;

use super::{BlockId, Inst, Op, Program, Special, ValueId};

/// Values that are out of date where each block begins.
pub struct Stale {
    reads: HashSet<ValueId>,
    entry: Vec<HashSet<ValueId>>,
}

impl Stale {
    /// Computes it for a program.
    pub fn of(program: &Program) -> Stale {
        let insts = || program.blocks.iter().flat_map(|block| &block.insts);
        let adjusts = insts().any(|inst| matches!(inst.op, Op::Adjust { .. }));
        let reads = if adjusts { insts().filter_map(reads_place).collect() } else { HashSet::new() };
        let mut stale = Stale { reads, entry: vec![HashSet::new(); program.blocks.len()] };
        let mut open: Vec<BlockId> = program.iter().map(|(id, _)| id).collect();
        while let Some(id) = open.pop() {
            let block = program.block(id);
            let mut now = stale.at(id);
            block.insts.iter().for_each(|inst| stale.step(&mut now, inst));
            for edge in block.end.edges() {
                let entry = &mut stale.entry[edge.to.0 as usize];
                let before = entry.len();
                entry.extend(&now);
                if entry.len() > before {
                    open.push(edge.to);
                }
            }
        }
        stale
    }

    /// The stale values at the start of a block.
    pub fn at(&self, block: BlockId) -> HashSet<ValueId> {
        self.entry[block.0 as usize].clone()
    }

    /// From before an instruction to after it.
    pub fn step(&self, now: &mut HashSet<ValueId>, inst: &Inst) {
        if matches!(inst.op, Op::Adjust { .. }) {
            now.clone_from(&self.reads);
        }
        if let Some(value) = reads_place(inst) {
            now.remove(&value);
        }
    }
}

/// The packet position that an instruction reads, if it reads one.
fn reads_place(inst: &Inst) -> Option<ValueId> {
    use Special::{Data, DataEnd, DataMeta, Len};
    inst.result.filter(|_| matches!(inst.op, Op::Read(Data | DataEnd | DataMeta | Len)))
}
