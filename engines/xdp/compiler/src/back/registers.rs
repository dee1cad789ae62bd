// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Which register of its lane's bank each variable gets: two that are wanted at the same time get different ones.

use super::code::{Code, Node, Src, Var, source};
use super::live::{Live, VarSet};
use super::open_row::{Item, OpenRow};
use super::schedule::Schedule;
use crate::rows::{Lanes, Register};

/// A variable for which its bank has no register left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Short(pub Var);

/// Gives registers out. `fixed`: variables that must not be moved to the stack, for they are short-lived already.
pub(super) fn registers(
    code: &Code,
    schedule: &Schedule,
    lanes: Lanes,
    fixed: &[Var],
) -> Result<Vec<Option<Register>>, Vec<Short>> {
    let rivals = rivals(code, schedule);
    let mut given: Vec<Option<Register>> = vec![None; code.vars as usize];
    let named = named(code);
    let mut missing = Vec::new();
    for lane in 0..lanes.count() as u8 {
        let members: Vec<Var> =
            (0..code.vars).map(Var).filter(|var| schedule.lane_of[var.index()] == Some(lane)).collect();
        if let Err(short) = bank(&members, &rivals, (lane, lanes.registers()), &mut given) {
            missing.push(worst(short, &members, &rivals, &named, fixed));
        }
    }
    if missing.is_empty() { Ok(given) } else { Err(missing) }
}

/// Colours one bank: variables with the fewest rivals last.
fn bank(
    members: &[Var],
    rivals: &[VarSet],
    (lane, count): (u8, usize),
    given: &mut [Option<Register>],
) -> Result<(), Var> {
    let mut degrees: Vec<usize> = members
        .iter()
        .map(|var| members.iter().filter(|other| rivals[var.index()].contains(**other)).count())
        .collect();
    let mut left = vec![true; members.len()];
    let mut order = Vec::new();
    for _ in members {
        let Some(next) = (0..members.len()).filter(|at| left[*at]).min_by_key(|at| degrees[*at]) else { break };
        left[next] = false;
        order.push(members[next]);
        for (at, other) in members.iter().enumerate() {
            if left[at] && rivals[members[next].index()].contains(*other) {
                degrees[at] -= 1;
            }
        }
    }
    for var in order.into_iter().rev() {
        let mut used = 0u32;
        for other in rivals[var.index()].iter() {
            used |= given[other.index()].filter(|it| it.lane == lane).map_or(0, |it| 1 << it.index);
        }
        let index = (0..count as u8).find(|index| used >> index & 1 == 0).ok_or(var)?;
        given[var.index()] = Some(Register { lane, index });
    }
    Ok(())
}

/// The variable of a bank that is best moved to the stack: one with many rivals, and few nodes that load or store it
/// then.
fn worst(short: Var, members: &[Var], rivals: &[VarSet], named: &[usize], fixed: &[Var]) -> Short {
    let gain = |var: &Var| {
        let rivals = members.iter().filter(|other| rivals[var.index()].contains(**other)).count();
        rivals * GAIN_STEPS / named[var.index()].max(1)
    };
    Short(members.iter().filter(|var| !fixed.contains(var)).copied().max_by_key(gain).unwrap_or(short))
}

/// Number of different fractions of rivals by nodes.
const GAIN_STEPS: usize = 256;

/// By variable, how many nodes read or write it.
fn named(code: &Code) -> Vec<usize> {
    let mut named = vec![0; code.vars as usize];
    for node in code.blocks.iter().flat_map(|block| &block.nodes) {
        node.uses().chain(node.dst).for_each(|var| named[var.index()] += 1);
    }
    named
}

/// By variable, the variables that are live when it gets a value.
fn rivals(code: &Code, schedule: &Schedule) -> Vec<VarSet> {
    let live = Live::of(code);
    let mut rivals = vec![VarSet::new(code.vars); code.vars as usize];
    for (at, scheduled) in schedule.blocks.iter().enumerate() {
        let nodes = &code.blocks[scheduled.block].nodes;
        let mut now = VarSet::new(code.vars);
        if scheduled.falls
            && let Some(next) = schedule.blocks.get(at + 1)
        {
            now.extend(&live.entry[next.block]);
        }
        for row in scheduled.rows.iter().rev() {
            leaving(row, nodes, &live, &mut now);
            for item in &row.items {
                let Some(dst) = item.dst else { continue };
                for other in now.iter().filter(|other| *other != dst) {
                    rivals[dst.index()].insert(other);
                    rivals[other.index()].insert(dst);
                }
                // Two results of one row are in two banks; even an unused result takes a register.
            }
            for item in &row.items {
                if let Some(dst) = item.dst.filter(|_| item.guard.is_none()) {
                    now.remove(dst);
                }
            }
            for item in &row.items {
                for var in reads(item, nodes) {
                    now.insert(var);
                }
            }
        }
    }
    rivals
}

/// Adds the inputs at the targets of a row's branches.
fn leaving(row: &OpenRow, nodes: &[Node], live: &Live, now: &mut VarSet) {
    for item in &row.items {
        if let Some(to) = item.node.and_then(|node| nodes[node].next()) {
            now.extend(&live.entry[to]);
        }
    }
}

fn reads(item: &Item, nodes: &[Node]) -> Vec<Var> {
    let mut reads: Vec<Src> = item.op.sources().collect();
    if let Some(when) = item.guard {
        reads.push(when.test.a);
        reads.extend(source(when.test.b));
    }
    if let Some(node) = item.node {
        reads.extend(nodes[node].reads());
    }
    reads.into_iter().filter_map(|src| if let Src::Var(var) = src { Some(var) } else { None }).collect()
}
