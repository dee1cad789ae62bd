// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Assigns nodes to rows, from the first row on. Among the nodes that may come next, it takes first either the node on
//! which most others wait, or the nodes that the next branch needs, so that the program leaves early. Each block gets
//! the shorter of the two orders.
//!
//! Nothing but memory order, variables and branches holds a node back: what only gives a value is carried out as soon
//! as there is a lane, before the branches that decide whether it is wanted.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Bound;

use super::code::{Block, Code, Node, Var, When};
use super::depend::{Dep, Graph, depend};
use super::live::Live;
use super::open_row::{Banks, OpenRow};
use crate::rows::Lanes;

/// Priority among the nodes that are ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First {
    /// On which most waits.
    Longest,
    /// First the nodes that the next branch needs, among them the one with the longest chain after it.
    Exits,
    /// The program's.
    InTurn,
}

/// The lower, the sooner.
type Rank = (usize, Reverse<usize>);

/// The rows of a program, by block in their order.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    pub blocks: Vec<Scheduled>,
    pub lane_of: Vec<Option<u8>>,
}

/// The rows of a block.
#[derive(Debug, Clone)]
pub(super) struct Scheduled {
    pub block: usize,
    pub rows: Vec<OpenRow>,
    /// The jump at its end leads to the next block and is left out.
    pub falls: bool,
}

/// Schedules blocks in the order in which they will stand. `like`: the core whose rows are wanted; `reach`: how far
/// ahead of the first node that is not in a row yet others may be taken. None: it takes at least `most` rows.
pub(super) fn schedule(
    code: &Code,
    order: &[usize],
    (lanes, like): (Lanes, Lanes),
    reach: usize,
    most: usize,
) -> Option<Schedule> {
    let live = Live::of(code);
    let mut banks = Banks { lanes, like, lane_of: homes(code, lanes), taken: vec![0; lanes.count()] };
    let follows = order.iter().skip(1).map(Some).chain([None]);
    let plans: Vec<Plan> =
        order.iter().zip(follows).map(|(number, next)| Plan::new(code, *number, next.copied(), &live)).collect();
    let mut rows_at_least: usize = plans.iter().map(|plan| plan.rows_at_least(like)).sum();
    let mut blocks = Vec::new();
    for plan in plans {
        let orders = [First::Longest, First::Exits, First::InTurn].map(|first| {
            let mut banks = banks.clone();
            let rows = Filler::new(&plan, &live, &mut banks, (reach, first)).fill()?;
            Some((rows, banks))
        });
        let (rows, after) = orders.into_iter().flatten().min_by_key(|(rows, _)| cost(rows))?;
        rows_at_least += rows.len() - plan.rows_at_least(like);
        if rows_at_least >= most {
            return None;
        }
        banks = after;
        blocks.push(Scheduled { block: plan.number, rows, falls: plan.falls });
    }
    Some(Schedule { blocks, lane_of: banks.lane_of })
}

/// The cost of a schedule: its rows, then the rows carried out until each exit, summed over all exits.
fn cost(rows: &[OpenRow]) -> (usize, usize) {
    let leaves = |row: &OpenRow| row.items.iter().filter(|item| item.node.is_some() && item.op.leaves()).count();
    (rows.len(), rows.iter().zip(1..).map(|(row, number)| number * leaves(row)).sum())
}

/// Lanes of variables that some operation can give only in one lane.
fn homes(code: &Code, lanes: Lanes) -> Vec<Option<u8>> {
    let mut homes = vec![None; code.vars as usize];
    for node in code.blocks.iter().flat_map(|block| &block.nodes) {
        if let (Some(dst), Some(home)) = (node.dst, node.op.lane(lanes)) {
            homes[dst.index()] = Some(home as u8);
        }
    }
    homes
}

/// A block, and the constraints of its order.
struct Plan<'a> {
    number: usize,
    block: &'a Block,
    /// The jump at its end leads to the next block and is left out.
    falls: bool,
    graph: Graph,
    heights: Vec<usize>,
    /// By node, the first branch that needs it.
    exits: Vec<usize>,
    /// By node, the nodes that must come after it.
    after: Vec<Vec<usize>>,
}

impl<'a> Plan<'a> {
    fn new(code: &'a Code, number: usize, next: Option<usize>, live: &Live) -> Self {
        let block = &code.blocks[number];
        let falls = block.nodes.last().is_some_and(|last| last.ends() && last.next().is_some() && last.next() == next);
        let graph = depend(block, live);
        let (heights, exits) = (graph.heights(), graph.exits(block));
        let mut after = vec![vec![]; block.nodes.len()];
        for (at, deps) in graph.before.iter().enumerate() {
            deps.iter().for_each(|dep| after[dep.on].push(at));
        }
        Plan { number, block, falls, graph, heights, exits, after }
    }

    /// How many nodes there are, without a jump that is left out.
    fn count(&self) -> usize {
        self.block.nodes.len() - usize::from(self.falls)
    }

    /// No order has fewer rows: each node of a chain takes one, and a row has no more nodes than lanes.
    fn rows_at_least(&self, like: Lanes) -> usize {
        let chain = self.heights[..self.count()].iter().max().map_or(0, |height| height + 1 - usize::from(self.falls));
        chain.max(self.count().div_ceil(like.count()))
    }
}

/// Fills the rows of one block.
struct Filler<'a> {
    plan: &'a Plan<'a>,
    /// By node, its row.
    rows: Vec<Option<usize>>,
    /// By node, the number of its predecessors that are not in a row yet.
    waits: Vec<usize>,
    /// Nodes that wait for no other, in the order in which they are tried.
    ready: BTreeSet<(Rank, usize)>,
    /// By variable, how many nodes that are not in a row yet read it; the block's end counts.
    readers: Vec<usize>,
    /// By variable, whether it has a register now.
    held: Vec<bool>,
    live: &'a Live,
    banks: &'a mut Banks,
    reach: usize,
    first: First,
}

impl<'a> Filler<'a> {
    fn new(plan: &'a Plan<'a>, live: &'a Live, banks: &'a mut Banks, (reach, first): (usize, First)) -> Self {
        let nodes = &plan.block.nodes;
        let mut readers = vec![0; banks.lane_of.len()];
        for node in nodes {
            for var in readings(node, live) {
                readers[var] += 1;
            }
        }
        let mut held = vec![false; readers.len()];
        banks.taken.fill(0);
        for var in live.entry[plan.number].iter() {
            held[var.index()] = true;
            if let Some(lane) = banks.lane_of[var.index()] {
                banks.taken[usize::from(lane)] += 1;
            }
        }
        let rows = vec![None; nodes.len()];
        let waits = plan.graph.before.iter().map(Vec::len).collect();
        let mut filler = Filler { plan, rows, waits, ready: BTreeSet::new(), readers, held, live, banks, reach, first };
        filler.ready = (0..plan.count()).filter(|at| filler.waits[*at] == 0).map(|at| (filler.rank(at), at)).collect();
        filler
    }

    /// None: some node fits into no row.
    fn fill(&mut self) -> Option<Vec<OpenRow>> {
        let mut rows = Vec::new();
        while self.rows[..self.plan.count()].iter().any(Option::is_none) {
            let mut row = self.row(rows.len());
            if row.items.is_empty() {
                row = self.forced(rows.len())?;
            }
            self.close(&row);
            rows.push(row);
        }
        Some(rows)
    }

    /// The priority of a ready node.
    fn rank(&self, at: usize) -> Rank {
        match self.first {
            First::Longest => (0, Reverse(self.plan.heights[at])),
            First::Exits => (self.plan.exits[at], Reverse(self.plan.heights[at])),
            First::InTurn => (0, Reverse(0)),
        }
    }

    /// A row as full as can be.
    fn row(&mut self, number: usize) -> OpenRow {
        let mut row = OpenRow::default();
        let first = self.rows.iter().position(Option::is_none).unwrap_or(0);
        let end = first.saturating_add(self.reach);
        loop {
            let before = row.items.len();
            let mut last = None;
            while let Some(next) = self.next(last) {
                if row.is_full(self.banks) {
                    return row;
                }
                last = Some(next);
                let (_, at) = next;
                if at >= end {
                    continue;
                }
                let Some(guard) = self.guard(at, number) else { continue };
                let room = self.room(&row, at);
                if let Some(fuller) = row.with(at, &self.plan.block.nodes[at], guard, self.banks, &room) {
                    row = fuller;
                    self.put(next, number);
                }
            }
            if row.items.len() == before {
                return row;
            }
        }
    }

    /// A row with one node, for the case that registers are short and the schedule must still advance: the first node
    /// in the program's order, which needs the fewest registers.
    fn forced(&mut self, number: usize) -> Option<OpenRow> {
        let room = vec![usize::MAX; self.banks.lanes.count()];
        let mut ready: Vec<_> = self.ready.iter().copied().collect();
        ready.sort_by_key(|(_, at)| *at);
        for next in ready {
            let (_, at) = next;
            let Some(guard) = self.guard(at, number) else { continue };
            if let Some(row) = OpenRow::default().with(at, &self.plan.block.nodes[at], guard, self.banks, &room) {
                self.put(next, number);
                return Some(row);
            }
        }
        None
    }

    /// The next ready node.
    fn next(&self, last: Option<(Rank, usize)>) -> Option<(Rank, usize)> {
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        self.ready.range((from, Bound::Unbounded)).next().copied()
    }

    /// Puts a node into a row: others may now be ready.
    fn put(&mut self, node: (Rank, usize), number: usize) {
        let (_, at) = node;
        self.ready.remove(&node);
        self.rows[at] = Some(number);
        for next in &self.plan.after[at] {
            self.waits[*next] -= 1;
            if self.waits[*next] == 0 && *next < self.plan.count() {
                self.ready.insert((self.rank(*next), *next));
            }
        }
    }

    /// The guard with which a node may be in this row, if it may.
    fn guard(&self, at: usize, row: usize) -> Option<Option<When>> {
        let mut guard = self.plan.block.nodes[at].guard;
        for Dep { on, strict, guardable } in &self.plan.graph.before[at] {
            let before = self.rows[*on]?;
            if before == row && *strict {
                let when = self.plan.block.nodes[*on].leaves_when().filter(|_| *guardable)?.inverted();
                if self.banks.like.count() == 1 || guard.is_some_and(|guard| guard != when) {
                    return None;
                }
                guard = Some(when);
            }
        }
        Some(guard)
    }

    /// By lane, how many registers are free for the results of a row with one more node: those too that the row is the
    /// last to read.
    fn room(&self, row: &OpenRow, more: usize) -> Vec<usize> {
        let registers = self.banks.lanes.registers();
        let mut room: Vec<usize> = self.banks.taken.iter().map(|taken| registers.saturating_sub(*taken)).collect();
        if room.iter().all(|room| *room > 0) {
            return room;
        }
        let nodes = || row.items.iter().filter_map(|item| item.node).chain([more]).map(|at| &self.plan.block.nodes[at]);
        let mut read: Vec<usize> = nodes().flat_map(|node| node.uses().map(Var::index).collect::<Vec<_>>()).collect();
        read.sort_unstable();
        for reads in read.chunk_by(|a, b| a == b) {
            let var = reads[0];
            let last = self.held[var] && self.readers[var] == reads.len();
            if let Some(lane) = self.banks.lane_of[var].filter(|_| last) {
                room[usize::from(lane)] += 1;
            }
        }
        room
    }

    /// Records the registers of the row's results, and the registers that are free after it.
    fn close(&mut self, row: &OpenRow) {
        for (item, lane) in row.items.iter().zip(&row.lanes) {
            let Some(node) = item.node else { continue };
            for var in readings(&self.plan.block.nodes[node], self.live) {
                self.readers[var] -= 1;
                self.release(var);
            }
            if let Some(dst) = item.dst {
                let lane_of = &mut self.banks.lane_of[dst.index()];
                *lane_of = lane_of.or(Some(*lane));
                if !std::mem::replace(&mut self.held[dst.index()], true) {
                    self.banks.taken[usize::from(*lane)] += 1;
                }
                self.release(dst.index());
            }
        }
    }

    fn release(&mut self, var: usize) {
        let gone = self.readers[var] == 0 && std::mem::replace(&mut self.held[var], false);
        if let Some(lane) = self.banks.lane_of[var].filter(|_| gone) {
            self.banks.taken[usize::from(lane)] = self.banks.taken[usize::from(lane)].saturating_sub(1);
        }
    }
}

/// The variables that a node needs: those that it reads, and those that are live at its target.
fn readings(node: &Node, live: &Live) -> Vec<usize> {
    let mut vars: Vec<usize> = node.uses().map(Var::index).collect();
    if let Some(to) = node.next() {
        vars.extend(live.entry[to].iter().map(Var::index));
    }
    vars
}
