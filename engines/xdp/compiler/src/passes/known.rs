// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Facts about each value, by the checker's arithmetic on bits and ranges: for all its uses, and for those in a block
//! after a comparison.

use std::collections::HashMap;

use super::length::{LONGEST, Length};
use crate::check::{Scalar, alu, decided, extend, refined};
use crate::insn::{AluOp, Cond, Size, Width};
use crate::ir::{Arg, BinOp, BlockId, End, Op, Order, Program, Special, ValueId};

/// What is known.
#[derive(Debug)]
pub(super) struct Known {
    /// By number.
    values: Vec<Scalar>,
    /// By block, the additional facts from comparisons on all ways to it.
    behind: Vec<HashMap<ValueId, Scalar>>,
    /// By block, the results of comparisons on all ways to it.
    told: Vec<Vec<Told>>,
}

/// A comparison, and its result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub cond: Cond,
    pub width: Width,
    pub a: Arg,
    pub b: Arg,
    pub holds: bool,
}

impl Told {
    /// Facts on one edge of a branch.
    pub(super) fn by(end: &End, then: bool) -> Option<Told> {
        match end {
            End::Branch { cond, width, a, b, .. } => {
                Some(Told { cond: *cond, width: *width, a: *a, b: *b, holds: then })
            }
            _ => None,
        }
    }

    /// The result of another comparison of the same two values, given the result of this one.
    pub(super) fn says(&self, cond: Cond, width: Width, a: Arg, b: Arg) -> Option<bool> {
        let asked = if (self.a, self.b) == (a, b) {
            cond
        } else if (self.a, self.b) == (b, a) {
            cond.swapped()
        } else {
            return None;
        };
        if self.width != width {
            return None;
        }
        if self.cond == asked {
            return Some(self.holds);
        }
        let ((sign, outcomes), (asked_sign, wanted)) = (outcomes(self.cond)?, outcomes(asked)?);
        let outcomes = if self.holds { outcomes } else { !outcomes & 7 };
        // If the byte orders differ, only equality carries over.
        let comparable = sign.is_none() || asked_sign.is_none() || sign == asked_sign || outcomes == EQUAL;
        match outcomes & wanted {
            _ if !comparable => None,
            0 => Some(false),
            both if both == outcomes => Some(true),
            _ => None,
        }
    }
}

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;

/// Which outcomes a condition holds for, and in which order, the signed or the other, where it matters. Bit tests know
/// none.
fn outcomes(cond: Cond) -> Option<(Option<bool>, u8)> {
    Some(match cond {
        Cond::Eq => (None, EQUAL),
        Cond::Ne => (None, LESS | GREATER),
        Cond::Lt => (Some(false), LESS),
        Cond::Le => (Some(false), LESS | EQUAL),
        Cond::Gt => (Some(false), GREATER),
        Cond::Ge => (Some(false), GREATER | EQUAL),
        Cond::Slt => (Some(true), LESS),
        Cond::Sle => (Some(true), LESS | EQUAL),
        Cond::Sgt => (Some(true), GREATER),
        Cond::Sge => (Some(true), GREATER | EQUAL),
        Cond::Set => return None,
    })
}

impl Known {
    pub(super) fn of(program: &Program, order: &Order) -> Known {
        let mut known = Known {
            values: vec![Scalar::ANY; program.values as usize],
            behind: vec![HashMap::new(); program.blocks.len()],
            told: vec![vec![]; program.blocks.len()],
        };
        let before = program.predecessors();
        let mut lengths: Vec<Option<Length>> = vec![None; program.blocks.len()];
        for (place, &block) in order.blocks.iter().enumerate() {
            let ways: Vec<BlockId> =
                before[block.0 as usize].iter().copied().filter(|way| order.reaches(*way)).collect();
            if let Some(above) = order.dominator(block) {
                known.behind[block.0 as usize] = known.behind[above.0 as usize].clone();
                known.told[block.0 as usize] = known.told[above.0 as usize].clone();
            }
            if let [only] = ways[..] {
                known.learn(program, only, block);
            }
            // A back edge brings facts that are not known yet.
            if ways.iter().all(|way| order.place(*way).is_some_and(|way| way < place)) {
                for (index, param) in program.block(block).params.iter().enumerate() {
                    let given = ways.iter().flat_map(|way| {
                        let edges = program.block(*way).end.edges().into_iter().filter(|edge| edge.to == block);
                        edges.map(|edge| known.at(*way, edge.args[index])).collect::<Vec<_>>()
                    });
                    let joined = given.reduce(|a, b| a.join(&b));
                    known.values[param.0 as usize] = joined.unwrap_or(Scalar::ANY);
                }
            }
            let mut length = known.length(block, &ways, &lengths);
            for inst in &program.block(block).insts {
                let told = length.step(inst, |arg| known.at(block, arg));
                if let Some(result) = inst.result {
                    known.values[result.0 as usize] = told.unwrap_or_else(|| known.result(block, &inst.op));
                }
            }
            lengths[block.0 as usize] = Some(length);
        }
        known
    }

    /// The packet's length at the beginning of a block. A back edge brings facts that are not known yet.
    fn length(&self, block: BlockId, ways: &[BlockId], ends: &[Option<Length>]) -> Length {
        let end = |way: &BlockId| ends[way.0 as usize];
        match ways {
            _ if block == BlockId(0) => Length::ANY,
            [only] => end(only).unwrap_or(Length::ANY),
            _ => {
                let settled = |way| Some(end(way)?.settled(|value| self.at(*way, Arg::Value(value))));
                let all: Option<Vec<Length>> = ways.iter().map(settled).collect();
                all.and_then(|all| all.into_iter().reduce(Length::join)).unwrap_or(Length::ANY)
            }
        }
    }

    /// Facts in `to`, which has no other predecessor, from the comparison at the end of `from`.
    fn learn(&mut self, program: &Program, from: BlockId, to: BlockId) {
        let End::Branch { cond, width, a, b, then, otherwise, .. } = &program.block(from).end else { return };
        if then.to == otherwise.to {
            return;
        }
        self.told[to.0 as usize].extend(Told::by(&program.block(from).end, then.to == to));
        let (x, y) = refined(*cond, then.to == to, *width, &self.at(from, *a), &self.at(from, *b));
        for (arg, scalar) in [(a, x), (b, y)] {
            if let Arg::Value(value) = arg {
                // Contradictory facts mean that the edge is never taken; other passes remove it.
                if scalar.wide.umin <= scalar.wide.umax && scalar.wide.smin <= scalar.wide.smax {
                    self.behind[to.0 as usize].insert(*value, scalar);
                }
            }
        }
    }

    /// The results of comparisons on all ways to a block.
    pub(super) fn told(&self, block: BlockId) -> &[Told] {
        &self.told[block.0 as usize]
    }

    /// The result of a comparison in a block, if it is known.
    pub(super) fn outcome(&self, block: BlockId, cond: Cond, width: Width, a: Arg, b: Arg) -> Option<bool> {
        let told = || self.told(block).iter().find_map(|told| told.says(cond, width, a, b));
        decided(cond, width, &self.at(block, a), &self.at(block, b)).or_else(told)
    }

    /// Facts about an operand in a block.
    pub(super) fn at(&self, block: BlockId, arg: Arg) -> Scalar {
        match arg {
            Arg::Const(number) => Scalar::of(number),
            Arg::Special(special) => of_special(special),
            Arg::Value(value) => {
                let behind = self.behind[block.0 as usize].get(&value);
                behind.copied().unwrap_or_else(|| self.values.get(value.0 as usize).copied().unwrap_or(Scalar::ANY))
            }
        }
    }

    /// Facts about an instruction's result.
    pub(super) fn result(&self, block: BlockId, op: &Op) -> Scalar {
        let at = |arg: &Arg| self.at(block, *arg);
        match op {
            Op::Read(special) => of_special(*special),
            Op::Bin { op, width, a, b } => binary(*op, *width, &at(a), &at(b)),
            Op::SignExtend { bits, width, a } => extend(size(u32::from(*bits) / 8), *width, &at(a)),
            Op::Swap { bytes, a } => match at(a).constant() {
                Some(number) => Scalar::of(number.swap_bytes() >> (64 - 8 * u32::from(*bytes))),
                None => Scalar::of_size(size((*bytes).into())),
            },
            Op::Field { shift, bits, left, a } => {
                let number = |number: u64| Scalar::of(number);
                let right = alu(AluOp::Rsh, Width::W64, &at(a), &number((*shift).into()));
                let cut = alu(AluOp::And, Width::W64, &right, &number((1 << bits) - 1));
                alu(AluOp::Lsh, Width::W64, &cut, &number((*left).into()))
            }
            Op::Set { .. } => Scalar::up_to(1),
            Op::Load { place, signed: true, .. } if matches!(place.bytes, 1 | 2 | 4) => {
                Scalar::of_signed(size(place.bytes))
            }
            Op::Load { place, signed: false, .. } | Op::Atomic { place, .. } if place.bytes < 8 => {
                Scalar::up_to((1 << (8 * place.bytes)) - 1)
            }
            _ => Scalar::ANY,
        }
    }
}

fn size(bytes: u32) -> Size {
    match bytes {
        1 => Size::B1,
        2 => Size::B2,
        4 => Size::B4,
        _ => Size::B8,
    }
}

/// Bounds that hold for every packet (engines/xdp/core.md).
fn of_special(special: Special) -> Scalar {
    match special {
        Special::Len => Scalar::up_to(LONGEST),
        Special::Time => Scalar::ANY,
        Special::Data | Special::DataEnd | Special::DataMeta => Scalar::between(0x1_0000, 0x1_1000),
        Special::Stack => Scalar::between(0x2_0000, 0x2_0200),
        Special::Queue => Scalar::of(0),
        Special::Ifindex | Special::Egress | Special::Cpu | Special::Random => Scalar::up_to(u32::MAX.into()),
    }
}

/// Division, which goes beyond the checker's arithmetic; that is limited to Linux'.
fn binary(op: BinOp, width: Width, a: &Scalar, b: &Scalar) -> Scalar {
    let op = match op {
        BinOp::Add => AluOp::Add,
        BinOp::Sub => AluOp::Sub,
        BinOp::Mul => AluOp::Mul,
        BinOp::And => AluOp::And,
        BinOp::Or => AluOp::Or,
        BinOp::Xor => AluOp::Xor,
        BinOp::Lsh => AluOp::Lsh,
        BinOp::Rsh => AluOp::Rsh,
        BinOp::Arsh => AluOp::Arsh,
        BinOp::Div | BinOp::Mod | BinOp::Sdiv | BinOp::Smod => return divided(op, width, a, b),
    };
    let result = alu(op, width, a, b);
    if width == Width::W32 && result == Scalar::ANY { Scalar::up_to(u32::MAX.into()) } else { result }
}

fn divided(op: BinOp, width: Width, a: &Scalar, b: &Scalar) -> Scalar {
    let (x, y) = (a.range(width), b.range(width));
    match op {
        BinOp::Div if y.umin > 0 => Scalar::between(x.umin / y.umax, x.umax / y.umin),
        BinOp::Div => Scalar::up_to(x.umax),
        BinOp::Mod if y.umin > 0 && x.umax < y.umin => Scalar::between(x.umin, x.umax),
        BinOp::Mod if y.umin > 0 => Scalar::up_to(x.umax.min(y.umax - 1)),
        BinOp::Mod => Scalar::up_to(x.umax),
        _ if width == Width::W32 => Scalar::up_to(u32::MAX.into()),
        _ => Scalar::ANY,
    }
}
