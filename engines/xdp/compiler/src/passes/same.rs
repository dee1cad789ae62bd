// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Common subexpressions: a value that was computed, read or loaded on all paths to a place is not computed again
//! there.
//!
//! Loads of the packet and the stack count as the same while nothing writes there: each block has a *version* of what
//! can change when it begins and each instruction that changes it makes a new one. Loads of shared memory are all kept:
//! the program decides how often it reads.

use std::collections::HashMap;

use super::dead;
use super::replace::Replace;
use crate::ir::{Arg, BinOp, BlockId, Op, Order, Program, Space, Special, ValueId};

pub(super) fn run(program: &mut Program) -> bool {
    let order = Order::of(program);
    let versions = versions(program, &order);
    // The values available at each block: the search starts with the first definitions of its dominators.
    let mut found: HashMap<(Op, Versions), Vec<(BlockId, ValueId)>> = HashMap::new();
    let mut replace = Replace::default();
    for &block in &order.blocks {
        let mut now = versions[block.0 as usize];
        for (index, inst) in program.block_mut(block).insts.iter_mut().enumerate() {
            for arg in inst.op.operands_mut() {
                *arg = replace.get(*arg);
            }
            ordered(&mut inst.op);
            if let (Some(result), Some(read)) = (inst.result, now.of(&inst.op)) {
                let known = found.entry((inst.op.clone(), read)).or_default();
                match known.iter().find(|(above, _)| order.dominates(*above, block)) {
                    Some((_, first)) => replace.set(result, Arg::Value(*first)),
                    None => known.push((block, result)),
                }
            }
            now.change(&inst.op, || Some((block.0, index as u32 + 1)));
        }
    }
    replace.apply(program) && dead::run(program)
}

/// A canonical order for the operands of commutative operations.
fn ordered(op: &mut Op) {
    let key = |arg: &Arg| match arg {
        Arg::Value(value) => (0, u64::from(value.0)),
        Arg::Special(special) => (1, *special as u64),
        Arg::Const(number) => (2, *number),
    };
    if let Op::Bin { op: BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor, a, b, .. } = op
        && key(a) > key(b)
    {
        std::mem::swap(a, b);
    }
}

/// The place of the last change: block and instruction; None: nowhere yet.
type Version = Option<(u32, u32)>;

/// The versions of mutable state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Versions {
    /// The packet's ends.
    ends: Version,
    packet: Version,
    stack: Version,
}

impl Versions {
    /// Those that an operation's result depends on. None: it may differ each time.
    fn of(&self, op: &Op) -> Option<Versions> {
        let none = Versions::default();
        match op {
            op if op.is_pure() => Some(none),
            Op::Read(Special::Time | Special::Random) => None,
            Op::Read(_) => Some(Versions { ends: self.ends, ..none }),
            Op::Load { place, .. } if place.space == Space::Packet => Some(Versions { packet: self.packet, ..none }),
            Op::Load { place, .. } if place.space == Space::Stack => Some(Versions { stack: self.stack, ..none }),
            _ => None,
        }
    }

    /// The effect of an operation.
    fn change(&mut self, op: &Op, new: impl Fn() -> Version) {
        let mut spaces = |space: Space| {
            if matches!(space, Space::Packet | Space::Any) {
                self.packet = new();
            }
            if matches!(space, Space::Stack | Space::Any) {
                self.stack = new();
            }
        };
        match op {
            Op::Store { place, .. } | Op::Atomic { place, .. } => spaces(place.space),
            Op::Call { writes, .. } => writes.iter().for_each(|place| spaces(place.space)),
            Op::Adjust { .. } => (self.ends, self.packet) = (new(), new()),
            _ => {}
        }
    }
}

/// By block, the versions at its beginning: those of its predecessors if they agree, else its own.
fn versions(program: &Program, order: &Order) -> Vec<Versions> {
    let before = program.predecessors();
    let mut begin: Vec<Option<Versions>> = vec![None; program.blocks.len()];
    let mut end = begin.clone();
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &order.blocks {
            let (index, own) = (block.0 as usize, Some((block.0, 0)));
            let ways = before[index].iter().filter_map(|way| end[way.0 as usize]);
            let joined = ways.reduce(|a, b| {
                let join = |a: Version, b: Version| if a == b { a } else { own };
                Versions { ends: join(a.ends, b.ends), packet: join(a.packet, b.packet), stack: join(a.stack, b.stack) }
            });
            let mut now = joined.unwrap_or_default();
            // A version that once differed stays different, or the search might not end.
            if let Some(known) = begin[index] {
                let keep = |known: Version, now: Version| if known == own { own } else { now };
                now.ends = keep(known.ends, now.ends);
                now.packet = keep(known.packet, now.packet);
                now.stack = keep(known.stack, now.stack);
            }
            begin[index] = Some(now);
            for (place, inst) in program.blocks[index].insts.iter().enumerate() {
                now.change(&inst.op, || Some((block.0, place as u32 + 1)));
            }
            changed |= end[index] != Some(now);
            end[index] = Some(now);
        }
    }
    begin.into_iter().map(Option::unwrap_or_default).collect()
}
