// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From [`crate::ir`] to lane operations. Values become variables of the same number; a block's parameters become
//! copies, on each way to it into a variable of its own and from there at its beginning, most of which `coalesce`
//! removes.

mod memory;
mod request;

use std::collections::{HashMap, HashSet};

use super::code::{Block, Code, Node, NodeOp, Src, To, Var, copy, mirrored};
use crate::insn::{Cond, Width};
use crate::ir::{self, Arg, BinOp, Edge, End, Inst, Op, Program, Special, Stale, ValueId};
use crate::rows::{Alu, Asks, Do, REDIRECT, Second, Test};

/// Lowers a program.
pub(super) fn lower(program: &Program) -> Code {
    let mut lower = Lower::new(program);
    for (index, block) in program.blocks.iter().enumerate() {
        lower.slot = block.insts.first().map_or(block.end_slot, |inst| inst.slot);
        for param in &block.params {
            let from = Src::Var(lower.entries[param]);
            lower.give(copy(from), Some(*param));
        }
        for inst in &block.insts {
            lower.slot = inst.slot;
            lower.inst(inst);
        }
        lower.slot = block.end_slot;
        lower.end(&block.end);
        lower.code.blocks[index] = Block { nodes: std::mem::take(&mut lower.nodes) };
    }
    lower.code
}

struct Lower<'a> {
    code: Code,
    /// Nodes of the block that is being lowered.
    nodes: Vec<Node>,
    slot: usize,
    defs: HashMap<ValueId, &'a Op>,
    /// Values that are specials, which need no copy.
    specials: HashMap<ValueId, Special>,
    /// Values that are known from their definition.
    numbers: HashMap<ValueId, u64>,
    /// The variables in which the ways to a block pass its parameters.
    entries: HashMap<ValueId, Var>,
    /// The same by block, in the order of its parameters.
    targets: Vec<Vec<Var>>,
}

impl<'a> Lower<'a> {
    fn new(program: &'a Program) -> Lower<'a> {
        let mut code = Code { blocks: vec![Block::default(); program.blocks.len()], vars: program.values };
        let insts = || program.blocks.iter().flat_map(|block| &block.insts);
        let defs: HashMap<_, _> = insts().filter_map(|inst| Some((inst.result?, &inst.op))).collect();
        let redirected = |op: &Op| match op {
            Op::Call { helper, args, .. } => request::redirects(helper, args),
            _ => false,
        };
        let numbers =
            defs.iter().filter(|(_, op)| redirected(op)).map(|(value, _)| (*value, REDIRECT.into())).collect();
        let specials = specials(program);
        let params = program.blocks.iter().flat_map(|block| &block.params);
        let entries: HashMap<_, _> = params.map(|param| (*param, code.fresh())).collect();
        let of_block = |block: &ir::Block| block.params.iter().map(|param| entries[param]).collect();
        let targets = program.blocks.iter().map(of_block).collect();
        Lower { code, nodes: vec![], slot: 0, defs, specials, numbers, entries, targets }
    }

    fn push(&mut self, op: NodeOp, dst: Option<Var>) {
        self.nodes.push(Node::new(op, dst, self.slot));
    }

    /// An operation whose result is a value of the program, or unused.
    fn give(&mut self, op: NodeOp, result: Option<ValueId>) {
        let dst = match result {
            Some(ValueId(number)) => Var(number),
            None => self.code.fresh(),
        };
        self.push(op, op.has_result().then_some(dst));
    }

    /// An operation whose result goes into a new variable.
    fn value(&mut self, op: NodeOp) -> Src {
        let var = self.code.fresh();
        self.push(op, Some(var));
        Src::Var(var)
    }

    /// A number in a register.
    fn constant(&mut self, number: u64) -> Src {
        if number == 0 {
            return Src::Zero;
        }
        let (low, high) = (number as u32, (number >> 32) as u32);
        if low == 0 {
            return self.value(Do::MoveHigh { a: Src::Zero, imm: high });
        }
        let width = if imm(Width::W64, number).is_some() { Width::W64 } else { Width::W32 };
        let lower = self.value(Do::Move { width, from: Second::Imm(low.cast_signed()) });
        if width == Width::W64 || high == 0 { lower } else { self.value(Do::MoveHigh { a: lower, imm: high }) }
    }

    /// An operand, or the number that it is known to be.
    fn known(&self, arg: Arg) -> Arg {
        match arg {
            Arg::Value(value) => self.numbers.get(&value).map_or(arg, |number| Arg::Const(*number)),
            other => other,
        }
    }

    fn src(&mut self, arg: Arg) -> Src {
        match self.known(arg) {
            Arg::Value(value) => match self.specials.get(&value) {
                Some(special) => Src::Special(*special),
                None => Src::Var(Var(value.0)),
            },
            Arg::Special(special) => Src::Special(special),
            Arg::Const(number) => self.constant(number),
        }
    }

    fn second(&mut self, width: Width, arg: Arg) -> Second<Src> {
        if let Arg::Const(number) = self.known(arg)
            && let Some(imm) = imm(width, number)
        {
            return Second::Imm(imm);
        }
        Second::Source(self.src(arg))
    }

    fn test(&mut self, cond: Cond, width: Width, a: Arg, b: Arg) -> Test<Src> {
        let (cond, a, b) = if matches!(a, Arg::Const(_)) { (mirrored(cond), b, a) } else { (cond, a, b) };
        Test { cond, width, a: self.src(a), b: self.second(width, b) }
    }

    fn inst(&mut self, inst: &Inst) {
        let result = inst.result;
        match &inst.op {
            Op::Read(special) => {
                if result.is_some_and(|result| !self.specials.contains_key(&result)) {
                    self.give(copy(Src::Special(*special)), result);
                }
            }
            Op::Bin { op, width, a, b } => self.bin(*op, *width, (*a, *b), result),
            Op::SignExtend { bits, width, a } => {
                let a = self.src(*a);
                self.give(Do::Extend { bits: *bits, width: *width, a }, result);
            }
            Op::Swap { bytes, a } => {
                let a = self.src(*a);
                self.give(Do::Swap { bytes: *bytes, a }, result);
            }
            Op::Field { shift, bits, left, a } => {
                let a = self.src(*a);
                self.give(Do::Field { shift: *shift, bits: *bits, left: *left, a }, result);
            }
            Op::Set { cond, width, a, b } => {
                let test = self.test(*cond, *width, *a, *b);
                self.give(Do::Set(test), result);
            }
            Op::Load { place, signed, swap } => self.load(place, *signed, *swap, result),
            Op::Store { place, swap, value } => self.store(place, *swap, *value),
            Op::Atomic { op, place, value, expected } => self.atomic(*op, place, *value, *expected, result),
            Op::Adjust { what, by, .. } => {
                let by = self.src(*by);
                self.give(Do::Adjust { what: *what, by }, result);
            }
            Op::Call { helper, map, args, reads, writes } => {
                self.call(helper, *map, args, (reads, writes), result);
            }
        }
    }

    fn bin(&mut self, op: BinOp, width: Width, (a, b): (Arg, Arg), result: Option<ValueId>) {
        let divide = |signed, remainder| Asks::Divide { signed, remainder, width };
        let op = match op {
            BinOp::Add => Alu::Add,
            BinOp::Sub => Alu::Sub,
            BinOp::Mul => Alu::Mul,
            BinOp::And => Alu::And,
            BinOp::Or => Alu::Or,
            BinOp::Xor => Alu::Xor,
            BinOp::Lsh => Alu::Lsh,
            BinOp::Rsh => Alu::Rsh,
            BinOp::Arsh => Alu::Arsh,
            BinOp::Div | BinOp::Sdiv | BinOp::Mod | BinOp::Smod => {
                let asks = divide(matches!(op, BinOp::Sdiv | BinOp::Smod), matches!(op, BinOp::Mod | BinOp::Smod));
                let (a, b) = (self.src(a), self.src(b));
                self.give(Do::Request { asks, answer: true, a, b }, result);
                return;
            }
        };
        let commutes = matches!(op, Alu::Add | Alu::Mul | Alu::And | Alu::Or | Alu::Xor);
        let (a, b) = if commutes && matches!(a, Arg::Const(_)) { (b, a) } else { (a, b) };
        // A mask without an upper half is an operand at 32 bits, and leaves none.
        let masks = op == Alu::And && matches!(b, Arg::Const(mask) if u32::try_from(mask).is_ok());
        let width = if masks { Width::W32 } else { width };
        let (a, b) = (self.src(a), self.second(width, b));
        self.give(Do::Alu { op, width, a, b }, result);
    }

    fn end(&mut self, end: &End) {
        match end {
            End::Jump(edge) => self.jump(edge),
            End::Exit(arg) => {
                let end = match self.known(*arg) {
                    Arg::Const(verdict) => Do::Jump(To::Exit(verdict_of(verdict))),
                    _ => Do::Exit(self.src(*arg)),
                };
                self.push(end, None);
            }
            End::Branch { cond, width, a, b, then, otherwise, packet_check } => {
                let ordered = !matches!(cond, Cond::Eq | Cond::Ne | Cond::Set);
                let test = match packet_check {
                    // A check for a number of bytes is a check of the length.
                    Some((bytes, there)) if ordered => Test {
                        cond: if *there { Cond::Ge } else { Cond::Lt },
                        width: Width::W64,
                        a: Src::Special(Special::Len),
                        b: Second::Imm(bytes.cast_signed()),
                    },
                    _ => self.test(*cond, *width, *a, *b),
                };
                let to = self.way(then);
                self.push(Do::Branch(test, to), None);
                self.jump(otherwise);
            }
            End::Begin { row, otherwise } => {
                let a = self.src(*row);
                self.give(Do::Request { asks: Asks::TailCall, answer: true, a, b: Src::Zero }, None);
                self.jump(otherwise);
            }
            // All arrays that the target has were replaced; others have no entry.
            End::TailCall { otherwise, .. } => self.jump(otherwise),
        }
    }

    /// Copies of an edge's arguments into the parameters of its block, and the jump.
    fn jump(&mut self, edge: &Edge) {
        self.copies(edge);
        self.push(Do::Jump(To::Block(edge.to.0 as usize)), None);
    }

    fn copies(&mut self, edge: &Edge) {
        let params = self.targets.get(edge.to.0 as usize).cloned().unwrap_or_default();
        for (param, arg) in params.into_iter().zip(&edge.args) {
            let op = match self.known(*arg) {
                Arg::Const(number) if imm(Width::W64, number).is_some() => {
                    Do::Move { width: Width::W64, from: self.second(Width::W64, *arg) }
                }
                _ => copy(self.src(*arg)),
            };
            self.push(op, Some(param));
        }
    }

    /// The target of a branch: a separate block if there is something to copy.
    fn way(&mut self, edge: &Edge) -> To {
        if edge.args.is_empty() {
            return To::Block(edge.to.0 as usize);
        }
        let here = std::mem::take(&mut self.nodes);
        self.jump(edge);
        let nodes = std::mem::replace(&mut self.nodes, here);
        self.code.blocks.push(Block { nodes });
        To::Block(self.code.blocks.len() - 1)
    }
}

/// Reads that give the special's value at each use; this excludes the clock, and the packet's place before it moved.
fn specials(program: &Program) -> HashMap<ValueId, Special> {
    let insts = program.blocks.iter().flat_map(|block| &block.insts);
    let mut specials: HashMap<ValueId, Special> = insts
        .filter_map(|inst| match inst.op {
            Op::Read(Special::Time | Special::Random) => None,
            Op::Read(special) => Some((inst.result?, special)),
            _ => None,
        })
        .collect();
    let stale = Stale::of(program);
    for (id, block) in program.iter() {
        let mut now = stale.at(id);
        let mut used = |now: &HashSet<ValueId>, arg: Arg| {
            if let Arg::Value(value) = arg
                && now.contains(&value)
            {
                specials.remove(&value);
            }
        };
        for inst in &block.insts {
            inst.op.operands().into_iter().for_each(|arg| used(&now, arg));
            stale.step(&mut now, inst);
        }
        block.end.operands().into_iter().for_each(|arg| used(&now, arg));
    }
    specials
}

/// A constant as a verdict: verdicts that do not exist become XDP_ABORTED.
fn verdict_of(number: u64) -> u8 {
    u8::try_from(number as u32).ok().filter(|verdict| *verdict <= REDIRECT).unwrap_or(0)
}

/// A number as an immediate of an operation of that width.
fn imm(width: Width, number: u64) -> Option<i32> {
    match width {
        Width::W32 => Some((number as u32).cast_signed()),
        Width::W64 => i32::try_from(number.cast_signed()).ok(),
    }
}
