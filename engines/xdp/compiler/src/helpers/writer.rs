// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Writes code into a program, in place of an instruction.

use crate::insn::{Cond, Width};
use crate::ir::{Arg, BinOp, Block, BlockId, Edge, End, Inst, Op, Place, Program, Space, Special, ValueId};

/// What nothing reads.
const UNSET: Arg = Arg::Const(0);

pub(super) struct Writer<'a> {
    program: &'a mut Program,
    /// The block that is being filled.
    at: usize,
    /// The block after the code; it receives the instruction's result.
    behind: usize,
    slot: usize,
}

impl<'a> Writer<'a> {
    /// Removes an instruction from a block. All instructions after it become a new block.
    pub(super) fn cut(program: &'a mut Program, block: usize, at: usize) -> Writer<'a> {
        let behind = program.blocks.len();
        let from = &mut program.blocks[block];
        let insts = from.insts.split_off(at + 1);
        let (slot, result) = from.insts.pop().map_or((from.end_slot, None), |inst| (inst.slot, inst.result));
        let end = std::mem::replace(&mut from.end, End::Exit(UNSET));
        let end_slot = std::mem::replace(&mut from.end_slot, slot);
        let params = vec![result.unwrap_or_else(|| program.fresh())];
        program.blocks.push(Block { params, insts, end, end_slot });
        Writer { program, at: block, behind, slot }
    }

    /// Adds an instruction and gives its result.
    pub(super) fn value(&mut self, op: Op) -> Arg {
        let result = self.program.fresh();
        self.push(op, Some(result));
        Arg::Value(result)
    }

    /// Adds an instruction whose result is unused.
    pub(super) fn effect(&mut self, op: Op) {
        self.push(op, None);
    }

    fn push(&mut self, op: Op, result: Option<ValueId>) {
        let slot = self.slot;
        self.program.blocks[self.at].insts.push(Inst { op, result, slot });
    }

    /// Arithmetic on 64 bits.
    pub(super) fn bin(&mut self, op: BinOp, a: Arg, b: Arg) -> Arg {
        self.value(Op::Bin { op, width: Width::W64, a, b })
    }

    pub(super) fn add(&mut self, a: Arg, b: Arg) -> Arg {
        self.bin(BinOp::Add, a, b)
    }

    pub(super) fn sub(&mut self, a: Arg, b: Arg) -> Arg {
        self.bin(BinOp::Sub, a, b)
    }

    /// The lower half with its sign.
    pub(super) fn int(&mut self, a: Arg) -> Arg {
        match a {
            Arg::Const(number) => Arg::Const(i64::from(number as u32 as i32).cast_unsigned()),
            a => self.value(Op::SignExtend { bits: 32, width: Width::W64, a }),
        }
    }

    /// The lower half.
    pub(super) fn low(&mut self, a: Arg) -> Arg {
        self.value(Op::low(a, 32))
    }

    pub(super) fn read(&mut self, special: Special) -> Arg {
        self.value(Op::Read(special))
    }

    /// A number of this many bytes.
    pub(super) fn load(&mut self, space: Space, base: Arg, offset: i32, bytes: u32) -> Arg {
        self.value(Op::Load { place: Place { space, base, offset, bytes }, signed: false, swap: false })
    }

    pub(super) fn store(&mut self, space: Space, base: Arg, offset: i32, bytes: u32, value: Arg) {
        self.effect(Op::Store { place: Place { space, base, offset, bytes }, swap: false, value });
    }

    /// A new block, and its parameters.
    pub(super) fn block<const N: usize>(&mut self) -> (usize, [Arg; N]) {
        let params = std::array::from_fn::<_, N, _>(|_| self.program.fresh());
        let end_slot = self.slot;
        self.program.blocks.push(Block { params: params.to_vec(), insts: vec![], end: End::Exit(UNSET), end_slot });
        (self.program.blocks.len() - 1, params.map(Arg::Value))
    }

    /// The block that is being filled.
    pub(super) fn here(&self) -> usize {
        self.at
    }

    /// From here on another block is filled.
    pub(super) fn go(&mut self, block: usize) {
        self.at = block;
    }

    /// Leads to a block.
    pub(super) fn jump(&mut self, to: usize, args: &[Arg]) {
        self.end(End::Jump(edge(to, args)));
    }

    /// Goes on where a comparison of 64 bits holds; gives the block where it does not.
    pub(super) fn when(&mut self, cond: Cond, a: Arg, b: Arg) -> usize {
        let ((then, []), (otherwise, [])) = (self.block(), self.block());
        let (then_edge, otherwise_edge) = (edge(then, &[]), edge(otherwise, &[]));
        let width = Width::W64;
        self.end(End::Branch { cond, width, a, b, then: then_edge, otherwise: otherwise_edge, packet_check: None });
        self.go(then);
        otherwise
    }

    /// Ends a path through the code with the result of the instruction.
    pub(super) fn done(&mut self, result: Arg) {
        self.jump(self.behind, &[result]);
    }

    fn end(&mut self, end: End) {
        self.program.blocks[self.at].end = end;
    }
}

fn edge(to: usize, args: &[Arg]) -> Edge {
    Edge { to: BlockId(to as u32), args: args.to_vec() }
}
