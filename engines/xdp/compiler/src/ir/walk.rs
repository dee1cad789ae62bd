// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Iterates over operands and edges in all kinds of instructions, for every pass.

use super::{Arg, BinOp, Block, BlockId, Edge, End, Op, Place, Program, Special, ValueId};
use crate::insn::Width;

impl Op {
    /// A number more.
    pub fn sum(a: Arg, by: i64) -> Op {
        Op::Bin { op: BinOp::Add, width: Width::W64, a, b: Arg::Const(by.cast_unsigned()) }
    }

    /// The lower bits, with the others 0, as a 32-bit move does.
    pub fn low(a: Arg, bits: u8) -> Op {
        Op::Field { shift: 0, bits, left: 0, a }
    }

    /// All operands, the bases of places among them.
    pub fn operands(&self) -> Vec<Arg> {
        match self {
            Op::Read(_) => vec![],
            Op::Bin { a, b, .. } | Op::Set { a, b, .. } => vec![*a, *b],
            Op::SignExtend { a, .. } | Op::Swap { a, .. } | Op::Field { a, .. } => vec![*a],
            Op::Load { place, .. } => vec![place.base],
            Op::Store { place, value, .. } => vec![place.base, *value],
            Op::Atomic { place, value, expected, .. } => [place.base, *value].into_iter().chain(*expected).collect(),
            Op::Adjust { by, .. } => vec![*by],
            Op::Call { args, reads, writes, .. } => {
                args.iter().copied().chain(reads.iter().chain(writes).map(|place| place.base)).collect()
            }
        }
    }

    /// The same, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Arg> {
        match self {
            Op::Read(_) => vec![],
            Op::Bin { a, b, .. } | Op::Set { a, b, .. } => vec![a, b],
            Op::SignExtend { a, .. } | Op::Swap { a, .. } | Op::Field { a, .. } => vec![a],
            Op::Load { place, .. } => vec![&mut place.base],
            Op::Store { place, value, .. } => vec![&mut place.base, value],
            Op::Atomic { place, value, expected, .. } => {
                [&mut place.base, value].into_iter().chain(expected.as_mut()).collect()
            }
            Op::Adjust { by, .. } => vec![by],
            Op::Call { args, reads, writes, .. } => {
                let bases = reads.iter_mut().chain(writes).map(|place| &mut place.base);
                args.iter_mut().chain(bases).collect()
            }
        }
    }

    /// All places that it names.
    pub fn places_mut(&mut self) -> Vec<&mut Place> {
        match self {
            Op::Load { place, .. } | Op::Store { place, .. } | Op::Atomic { place, .. } => vec![place],
            Op::Call { reads, writes, .. } => reads.iter_mut().chain(writes).collect(),
            _ => vec![],
        }
    }

    /// Whether it has no effect except its result, which is the same at any place.
    pub fn is_pure(&self) -> bool {
        matches!(self, Op::Bin { .. } | Op::SignExtend { .. } | Op::Swap { .. } | Op::Field { .. } | Op::Set { .. })
    }

    /// Whether it can be removed if its result is unused.
    pub fn is_idle(&self) -> bool {
        self.is_pure() || matches!(self, Op::Read(_) | Op::Load { .. })
    }
}

impl End {
    /// The ways out.
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            End::Jump(edge) => vec![edge],
            End::Branch { then, otherwise, .. } => vec![then, otherwise],
            End::TailCall { otherwise, .. } | End::Begin { otherwise, .. } => vec![otherwise],
            End::Exit(_) => vec![],
        }
    }

    /// The same, to be changed.
    pub fn edges_mut(&mut self) -> Vec<&mut Edge> {
        match self {
            End::Jump(edge) => vec![edge],
            End::Branch { then, otherwise, .. } => vec![then, otherwise],
            End::TailCall { otherwise, .. } | End::Begin { otherwise, .. } => vec![otherwise],
            End::Exit(_) => vec![],
        }
    }

    /// All operands, including those that edges pass on.
    pub fn operands(&self) -> Vec<Arg> {
        let own: &[Arg] = match self {
            End::Jump(_) => &[],
            End::Branch { a, b, .. } => &[*a, *b],
            End::Exit(verdict) => &[*verdict],
            End::TailCall { index: own, .. } | End::Begin { row: own, .. } => &[*own],
        };
        own.iter().copied().chain(self.edges().into_iter().flat_map(|edge| edge.args.iter().copied())).collect()
    }

    /// The same, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Arg> {
        match self {
            End::Jump(edge) => edge.args.iter_mut().collect(),
            End::Branch { a, b, then, otherwise, .. } => {
                [a, b].into_iter().chain(&mut then.args).chain(&mut otherwise.args).collect()
            }
            End::Exit(verdict) => vec![verdict],
            End::TailCall { index: own, otherwise, .. } | End::Begin { row: own, otherwise } => {
                [own].into_iter().chain(&mut otherwise.args).collect()
            }
        }
    }
}

impl Block {
    /// All operands, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Arg> {
        let insts = self.insts.iter_mut().flat_map(|inst| inst.op.operands_mut());
        insts.chain(self.end.operands_mut()).collect()
    }
}

impl Program {
    /// A new value's number.
    pub fn fresh(&mut self) -> ValueId {
        self.values += 1;
        ValueId(self.values - 1)
    }

    /// The block of that number.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.0 as usize]
    }

    /// The same, to be changed.
    pub fn block_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.blocks[id.0 as usize]
    }

    /// All blocks with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        self.blocks.iter().enumerate().map(|(index, block)| (BlockId(index as u32), block))
    }

    /// The blocks that lead to each block, by its number; a block that leads there twice is listed twice.
    pub fn predecessors(&self) -> Vec<Vec<BlockId>> {
        let mut predecessors = vec![Vec::new(); self.blocks.len()];
        for (id, block) in self.iter() {
            for edge in block.end.edges() {
                predecessors[edge.to.0 as usize].push(id);
            }
        }
        predecessors
    }

    /// How many instructions a machine must carry out, branches, exits and tail calls among them. Operands that the
    /// core provides do not count, and neither does an exit without further work: the branch to it carries the verdict.
    pub fn size(&self) -> usize {
        let one = |block: &Block| {
            let free = |op: &Op| matches!(op, Op::Read(special) if !matches!(special, Special::Time | Special::Random));
            let insts = block.insts.iter().filter(|inst| !free(&inst.op)).count();
            let end = match block.end {
                End::Jump(_) => 0,
                End::Exit(Arg::Const(_)) => usize::from(insts > 0),
                End::Exit(_) | End::Branch { .. } | End::TailCall { .. } | End::Begin { .. } => 1,
            };
            insts + end
        };
        self.blocks.iter().map(one).sum()
    }
}
