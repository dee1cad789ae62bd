// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `bpf_tail_call`. An entry of a program array is the first row of the program plus [`PROGRAM`]; 0 is an empty entry.

use crate::insn::{Cond, Width};
use crate::ir::{Arg, Array, Block, BlockId, Edge, End, Inst, Op, Place, Program, Space};

/// Tells a program that begins with row 0 from none.
pub const PROGRAM: u32 = 1 << 31;

/// Writes the end of a block that is a tail call: looks the entry up.
pub(super) fn write(program: &mut Program, block: usize, array: Array) {
    let slot = program.blocks[block].end_slot;
    let End::TailCall { map, index, otherwise } = program.blocks[block].end.clone() else { return };
    let branch = |cond, width, a, b, then: usize| {
        let then = Edge { to: BlockId(then as u32), args: vec![] };
        let (b, otherwise) = (Arg::Const(b), otherwise.clone());
        End::Branch { cond, width, a, b, then, otherwise, packet_check: None }
    };
    let inside = program.blocks.len();
    program.blocks[block].end = branch(Cond::Lt, Width::W32, index, array.entries.into(), inside);
    let mut insts = Vec::new();
    let mut value = |op| {
        let result = program.fresh();
        insts.push(Inst { op, result: Some(result), slot });
        Arg::Value(result)
    };
    let number = value(Op::low(index, 32));
    let base = array.address_of(number, &mut value);
    let place = Place { space: Space::Map(map), base, offset: 0, bytes: 4 };
    let row = value(Op::Load { place, signed: false, swap: false });
    let end = branch(Cond::Ne, Width::W64, row, 0, inside + 1);
    program.blocks.push(Block { params: vec![], insts, end, end_slot: slot });
    program.blocks.push(Block { params: vec![], insts: vec![], end: End::Begin { row, otherwise }, end_slot: slot });
}
