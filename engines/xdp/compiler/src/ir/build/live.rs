// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Registers that are still read after a point: where runs meet, they become parameters of the block.

use super::flow::{Flow, Way};
use crate::check::find_helper;
use crate::insn::{AluOp, AtomicOp, Callee, Insn, Operand, Reg};
use crate::object::Program;

/// Functions that are called one in the other, the program itself among them.
pub(super) const DEEPEST: usize = 8;

/// Registers of frames one inside the other, by depth: 8 frames of 11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Set(u128);

/// A register of the frame at a depth, as an index.
pub(super) fn variable(depth: usize, reg: Reg) -> usize {
    depth * Reg::COUNT + reg.index()
}

/// How many variables there are.
pub(super) const VARIABLES: usize = DEEPEST * Reg::COUNT;

impl Set {
    /// A frame's r10 never changes and needs no parameter.
    fn insert(&mut self, depth: usize, reg: Reg) {
        if reg != Reg::FP {
            self.0 |= 1 << variable(depth, reg);
        }
    }

    /// Removes one, and returns whether it was present.
    fn take(&mut self, depth: usize, reg: Reg) -> bool {
        let bit = 1 << variable(depth, reg);
        let there = self.0 & bit != 0;
        self.0 &= !bit;
        there
    }

    /// All, by index.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..VARIABLES).filter(move |index| self.0 >> index & 1 == 1)
    }
}

/// Registers read before they are written, by run.
pub(super) fn live(program: &Program, flow: &Flow) -> Vec<Set> {
    let mut live = vec![Set::default(); flow.runs.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for run in (0..flow.runs.len()).rev() {
            let new = before(program, flow, &live, run);
            changed |= live[run] != new;
            live[run] = new;
        }
    }
    live
}

fn before(program: &Program, flow: &Flow, live: &[Set], run: usize) -> Set {
    let depth = flow.frames[flow.runs[run].frame].depth;
    let behind = flow.next(run).into_iter().fold(0, |set, next| set | live[next].0);
    let mut set = Set(behind);
    match flow.runs[run].way {
        Way::Exit => set.insert(depth, Reg::R0),
        Way::Branch { slot, .. } => {
            if let Some(Insn::Branch { left, right, .. }) = program.code.get(slot) {
                set.insert(depth, left);
                if let Operand::Reg(right) = right {
                    set.insert(depth, right);
                }
            }
        }
        Way::Enter(_) => {
            let inner: Vec<Reg> = Reg::range(Reg::R0, Reg::FP).filter(|reg| set.take(depth + 1, *reg)).collect();
            for reg in Reg::range(Reg::R1, Reg::R5).filter(|reg| inner.contains(reg)) {
                set.insert(depth, reg);
            }
        }
        Way::Leave(_) => {
            let taken: Vec<Reg> = Reg::range(Reg::R0, Reg::R5).filter(|reg| set.take(depth - 1, *reg)).collect();
            if taken.contains(&Reg::R0) {
                set.insert(depth, Reg::R0);
            }
        }
        Way::TailCall { .. } => {
            for reg in Reg::range(Reg::R0, Reg::R5) {
                set.take(depth, reg);
            }
            set.insert(depth, Reg::R3);
        }
        Way::To(_) => {}
    }
    for slot in flow.runs[run].slots.iter().rev() {
        if let Some(insn) = program.code.get(*slot) {
            step(&mut set, depth, insn);
        }
    }
    set
}

/// From after an instruction to before it.
fn step(set: &mut Set, depth: usize, insn: Insn) {
    if let Insn::Call(_) = insn {
        for reg in Reg::range(Reg::R0, Reg::R5) {
            set.take(depth, reg);
        }
    } else if let Some(dst) = insn.writes() {
        set.take(depth, dst);
    }
    for reg in reads(insn) {
        set.insert(depth, reg);
    }
}

/// The registers that an instruction reads, jumps and exits aside.
fn reads(insn: Insn) -> Vec<Reg> {
    let of = |operand| if let Operand::Reg(reg) = operand { vec![reg] } else { vec![] };
    match insn {
        Insn::Alu { op: AluOp::Mov, src, .. } => of(src),
        Insn::Alu { dst, src, .. } => [of(src), vec![dst]].concat(),
        Insn::Neg { dst, .. } | Insn::Swap { dst, .. } => vec![dst],
        Insn::MovSx { src, .. } => vec![src],
        Insn::Load { base, .. } => vec![base],
        Insn::Store { base, src, .. } => [of(src), vec![base]].concat(),
        Insn::Atomic { op: AtomicOp::Cmpxchg, base, src, .. } => vec![base, src, Reg::R0],
        Insn::Atomic { base, src, .. } => vec![base, src],
        Insn::Call(Callee::Helper(number)) => Reg::range(Reg::R1, Reg::R5).take(arguments(number)).collect(),
        _ => vec![],
    }
}

/// Helpers whose format defines how many of the five registers they read.
const TRACE_PRINTK: u32 = 6;

/// How many registers a helper reads.
pub(super) fn arguments(number: u32) -> usize {
    match number {
        TRACE_PRINTK => 5,
        number => find_helper(number).map_or(5, |helper| helper.args.len()),
    }
}
