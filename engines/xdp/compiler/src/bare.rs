// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Bare programs as rows: instructions and nothing around them, of which no checker knows anything.
//!
//! The packet says where a program's memory is: its address and its length, 4 bytes each from the packet's first byte
//! on. In the 16 bytes before the memory the program leaves its r0 and, behind that, how it ended: [`ENDED`], or
//! [`STOPPED`] + the slot of the instruction that would have reached outside of the memory and the stack, or would have
//! called deeper than eight functions. The host writes 0 there first and sees when the record changes. It drops its
//! packet.

use std::collections::{BTreeMap, BTreeSet};

use crate::back::{self, BackError, Compiled};
use crate::check::{Access, Facts, InsnFacts, Operand as Known, Region};
use crate::helpers::atomic;
use crate::insn::{AluOp, Callee, Code, CodeError, Cond, Imm64, Insn, Operand, Reg, Size, Width};
use crate::ir::{Arg, BinOp, Block, BlockId, BuildError, Edge, End, Inst, Layout, Op, Place, Program, Space, build};
use crate::object::{self, Attach, Function, Object};
use crate::passes::optimize;
use crate::rows::{Lanes, isa};

/// Bytes before the memory: r0, and how the program ended.
pub const RECORD_BYTES: u32 = 16;
/// It has a result.
pub const ENDED: u64 = 1;
/// It was stopped at the instruction of slot 0; for others, the slot is added.
pub const STOPPED: u64 = 2;
/// Functions that are called one in the other, the program itself among them.
const DEEPEST: usize = 8;
/// The instructions that find the memory come before the program.
const PROLOGUE: usize = 3;

/// A program that has no rows.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum BareError {
    #[error(transparent)]
    Code(#[from] CodeError),
    #[error("instruction {slot} (`{insn}`) {what}")]
    Insn { slot: usize, insn: Insn, what: &'static str },
    #[error(
        "functions that are called take {bytes} bytes of stack, one in the other; the core has {}",
        isa::SIZE_STACK
    )]
    Stack { bytes: u32 },
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Back(#[from] BackError),
}

/// Makes rows of a program.
///
/// # Errors
/// It is none, calls helpers or names maps, or is too long.
pub fn compile(bytes: &[u8], lanes: Lanes) -> Result<Compiled, BareError> {
    let code = Code::decode(bytes)?;
    for (slot, insn) in code.iter() {
        if let Some(what) = refused(insn) {
            return Err(BareError::Insn { slot, insn, what });
        }
    }
    let source = source(bytes)?;
    let depth = deepest(&source.code, PROLOGUE, DEEPEST);
    let frame = frame(&source.code);
    let stack = frame * depth as u32;
    if depth > 1 && stack > isa::SIZE_STACK {
        return Err(BareError::Stack { bytes: stack });
    }
    let facts = facts(&source, frame);
    let mut form = build(&Object::default(), &source, &facts, &Layout::default())?;
    guard(&mut form, &source.code);
    atomic::expand(&mut form);
    optimize(&mut form);
    Ok(back::compile(&form, &back::Options { lanes, stack: stack.min(isa::SIZE_STACK) })?)
}

/// The reason why a bare program may not have this instruction.
fn refused(insn: Insn) -> Option<&'static str> {
    match insn {
        Insn::Call(Callee::Helper(_)) => Some("calls a helper; a bare program has none"),
        Insn::LoadImm64 { imm, .. } if !matches!(imm, Imm64::Value(_)) => {
            Some("names a map or a function; a bare program has none")
        }
        _ => None,
    }
}

/// The program, after the code that finds its memory.
fn source(bytes: &[u8]) -> Result<object::Program, CodeError> {
    let load = |dst, base, offset| Insn::Load { size: Size::B4, signed: false, dst, base, offset };
    let prologue = [load(Reg::R2, Reg::R1, 0), load(Reg::R1, Reg::R2, 0), load(Reg::R2, Reg::R2, 4)];
    let mut all: Vec<u8> = prologue.iter().flat_map(|insn| insn.encode().0).collect();
    all.extend_from_slice(bytes);
    let code = Code::decode(&all)?;
    let called: BTreeSet<usize> = code.iter().filter_map(|(slot, insn)| callee(&code, slot, insn)).collect();
    let starts: Vec<usize> = [0].into_iter().chain(called).collect();
    let ends = starts[1..].iter().copied().chain([code.len()]);
    let function = |(start, end)| Function { name: "bare".into(), section: "bare".into(), slots: start..end };
    let functions = starts.iter().copied().zip(ends).map(function).collect();
    let lines = vec![None; code.len()];
    Ok(object::Program { name: "bare".into(), section: "bare".into(), attach: Attach::Xdp, code, functions, lines })
}

fn callee(code: &Code, slot: usize, insn: Insn) -> Option<usize> {
    matches!(insn, Insn::Call(Callee::Local(_))).then(|| code.target(slot)).flatten()
}

/// The depth of nested calls from a function that begins at a slot; `most` at most.
fn deepest(code: &Code, start: usize, most: usize) -> usize {
    if most <= 1 {
        return 1;
    }
    let (mut open, mut seen, mut below) = (vec![start], BTreeSet::new(), BTreeMap::new());
    while let Some(slot) = open.pop() {
        let Some(insn) = code.get(slot).filter(|_| seen.insert(slot)) else { continue };
        if let Some(callee) = callee(code, slot, insn) {
            below.entry(callee).or_insert_with(|| deepest(code, callee, most - 1));
        } else if insn.jump_offset().is_some() {
            open.extend(code.target(slot));
        }
        if insn.falls_through() {
            open.push(slot + insn.slots());
        }
    }
    1 + below.into_values().max().unwrap_or(0)
}

/// Bytes of stack that each function has: as far down as one reaches from r10, all that there are where that is not
/// seen.
fn frame(code: &Code) -> u32 {
    let mut deepest = 0i64;
    for (slot, insn) in code.iter() {
        let reach = match insn {
            Insn::Load { base: Reg::FP, offset, .. } => i64::from(offset),
            Insn::Store { base: Reg::FP, offset, src, .. } if src != Operand::Reg(Reg::FP) => i64::from(offset),
            Insn::Atomic { base: Reg::FP, offset, src, .. } if src != Reg::FP => i64::from(offset),
            Insn::Alu { op: AluOp::Mov, width: Width::W64, dst, src: Operand::Reg(Reg::FP) } => {
                match code.get(slot + 1) {
                    Some(Insn::Alu { op: AluOp::Add, width: Width::W64, dst: same, src: Operand::Imm(by) })
                        if same == dst =>
                    {
                        by.into()
                    }
                    _ => i64::MIN,
                }
            }
            insn if reads_frame(insn) => i64::MIN,
            _ => 0,
        };
        deepest = deepest.min(reach);
    }
    u32::try_from(deepest.saturating_neg()).unwrap_or(isa::SIZE_STACK).next_multiple_of(8).min(isa::SIZE_STACK)
}

/// Whether r10 is among the operands.
fn reads_frame(insn: Insn) -> bool {
    match insn {
        Insn::Alu { src, .. } => src == Operand::Reg(Reg::FP),
        Insn::MovSx { src, .. } | Insn::Atomic { src, .. } => src == Reg::FP,
        Insn::Store { base, src, .. } => base == Reg::FP || src == Operand::Reg(Reg::FP),
        Insn::Branch { left, right, .. } => left == Reg::FP || right == Operand::Reg(Reg::FP),
        _ => false,
    }
}

/// Facts that hold without a checker: the prologue, and accesses of the stack through r10.
fn facts(source: &object::Program, frame: u32) -> Facts {
    let access = |region, offset: i16, size: Size| {
        let offset = i64::from(offset);
        (
            0,
            Access {
                region: Some(region),
                outside: false,
                offset: (offset, offset),
                bytes: size.bytes(),
                writes: true,
                proofs: BTreeSet::new(),
            },
        )
    };
    let mut insns = vec![InsnFacts { reached: true, ..InsnFacts::default() }; source.code.len()];
    insns[0].left = Some(Known::Context);
    insns[1].accesses.push(access(Region::Packet, 0, Size::B4));
    insns[2].accesses.push(access(Region::Packet, 4, Size::B4));
    for (slot, insn) in source.code.iter() {
        let reached = match insn {
            Insn::Load { size, base: Reg::FP, offset, .. } | Insn::Store { size, base: Reg::FP, offset, .. } => {
                Some((size, offset))
            }
            Insn::Atomic { width, base: Reg::FP, offset, .. } => {
                Some((if width == Width::W64 { Size::B8 } else { Size::B4 }, offset))
            }
            _ => None,
        };
        if let Some((size, offset)) = reached {
            let inside = i64::from(offset) >= -i64::from(frame) && i64::from(offset) + i64::from(size.bytes()) <= 0;
            if inside {
                insns[slot].accesses.push(access(Region::Stack(0), offset, size));
            }
        }
    }
    Facts { insns, stack: vec![frame; source.functions.len()], ..Facts::default() }
}

/// Inserts comparisons before accesses to unknown places, and code that passes on the result before ends.
fn guard(form: &mut Program, code: &Code) {
    // The prologue's loads come first.
    let loads = |inst: &Inst| inst.result.filter(|_| matches!(inst.op, Op::Load { .. }));
    let found: Vec<_> = form.blocks.iter().flat_map(|block| &block.insts).filter_map(loads).take(2).collect();
    let [start, bytes] = found[..] else { return };
    for block in 0..form.blocks.len() {
        let before = &mut form.blocks[block];
        let (insts, end) =
            (std::mem::take(&mut before.insts), std::mem::replace(&mut before.end, End::Exit(Arg::Const(0))));
        let slot = before.end_slot;
        let mut writer = Writer { form, at: block, slot, start: Arg::Value(start), bytes: Arg::Value(bytes) };
        for inst in insts {
            writer.slot = inst.slot;
            if let Op::Load { place, .. } | Op::Store { place, .. } | Op::Atomic { place, .. } = &inst.op
                && place.space == Space::Any
            {
                writer.bound(place);
            }
            writer.form.blocks[writer.at].insts.push(inst);
        }
        writer.slot = slot;
        match (end, code.get(slot)) {
            (End::Exit(r0), Some(Insn::Exit)) => writer.finish(r0, ENDED),
            // A call that would be too deep.
            (End::Exit(_), _) => writer.stop(),
            (end, _) => writer.end(end),
        }
    }
}

/// Writes into a block and its continuations.
struct Writer<'a> {
    form: &'a mut Program,
    at: usize,
    slot: usize,
    /// The beginning of the memory, and its length.
    start: Arg,
    bytes: Arg,
}

impl Writer<'_> {
    /// A new block, still empty.
    fn block(&mut self) -> usize {
        self.form.blocks.push(Block {
            params: vec![],
            insts: vec![],
            end: End::Exit(Arg::Const(0)),
            end_slot: self.slot,
        });
        self.form.blocks.len() - 1
    }

    fn end(&mut self, end: End) {
        self.form.blocks[self.at].end = end;
        self.form.blocks[self.at].end_slot = self.slot;
    }

    fn bin(&mut self, op: BinOp, a: Arg, b: Arg) -> Arg {
        let result = self.form.fresh();
        let op = Op::Bin { op, width: Width::W64, a, b };
        self.form.blocks[self.at].insts.push(Inst { op, result: Some(result), slot: self.slot });
        Arg::Value(result)
    }

    /// Goes on in one block when `a < b`, else in another.
    fn below(&mut self, a: Arg, b: Arg, then: usize, otherwise: usize) {
        let edge = |to: usize| Edge { to: BlockId(to as u32), args: vec![] };
        let (then, otherwise) = (edge(then), edge(otherwise));
        self.end(End::Branch { cond: Cond::Lt, width: Width::W64, a, b, then, otherwise, packet_check: None });
    }

    /// Goes on where a place is in the memory or the stack; else the program is stopped.
    fn bound(&mut self, place: &Place) {
        let address = self.bin(BinOp::Add, place.base, Arg::Const(i64::from(place.offset).cast_unsigned()));
        let (more, stack, stop, inside) = (self.block(), self.block(), self.block(), self.block());
        // The first and the last byte are compared separately, so that an address far away does not wrap into the
        // range.
        let first = self.bin(BinOp::Sub, address, self.start);
        self.below(first, self.bytes, more, stack);
        self.at = more;
        let last = self.bin(BinOp::Add, first, Arg::Const(u64::from(place.bytes) - 1));
        self.below(last, self.bytes, inside, stack);
        self.at = stack;
        let distance = self.bin(BinOp::Sub, address, Arg::Const(isa::ADDRESS_STACK.into()));
        self.below(distance, Arg::Const(u64::from(isa::SIZE_STACK - place.bytes) + 1), inside, stop);
        self.at = stop;
        self.stop();
        self.at = inside;
    }

    /// Stops the program at this instruction.
    fn stop(&mut self) {
        let slot = self.slot.saturating_sub(PROLOGUE) as u64;
        self.finish(Arg::Const(0), STOPPED + slot);
    }

    /// Hands the result over, then how the program has ended, and drops the packet.
    fn finish(&mut self, r0: Arg, how: u64) {
        const DROP: Arg = Arg::Const(1);
        // Like a map's: no access of the program reaches the bytes before its memory.
        let place = |offset| Place { space: Space::Map(0), base: self.start, offset, bytes: 8 };
        for (offset, value) in [(-16, r0), (-8, Arg::Const(how))] {
            let op = Op::Store { place: place(offset), swap: false, value };
            self.form.blocks[self.at].insts.push(Inst { op, result: None, slot: self.slot });
        }
        self.end(End::Exit(DROP));
    }
}
