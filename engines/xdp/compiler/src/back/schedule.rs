// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Which node goes into which row: from the first row on, of what may come next that first on which most waits; or what the next branch needs, so
//! that who leaves there does so early. Each block gets the order that makes it shorter.
//!
//! Nothing but memory order, variables and branches holds a node back: what only gives a value is carried out as soon as there is a lane, before
//! the branches that decide whether it is wanted.

use super::code::{Block, Code, Node, When};
use super::depend::{Dep, Graph, depend};
use super::live::Live;
use super::open_row::{Banks, OpenRow};
use crate::rows::Lanes;

/// How far ahead of the first node that is not in a row yet others may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reach(pub usize);

/// What comes first of the nodes that may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First {
    /// On which most waits.
    Longest,
    /// What is needed for the next branch, and of that on which most waits.
    Exits,
    /// The program's.
    InTurn,
}

/// The rows of a program, by block in the order in which they stand.
#[derive(Debug, Clone)]
pub struct Schedule {
    pub blocks: Vec<Scheduled>,
    pub lane_of: Vec<Option<u8>>,
}

/// The rows of a block.
#[derive(Debug, Clone)]
pub struct Scheduled {
    pub block: usize,
    pub rows: Vec<OpenRow>,
    /// The jump at its end leads to the block behind it and is left out.
    pub falls: bool,
}

/// Schedules blocks in the order in which they will stand.
pub fn schedule(code: &Code, order: &[usize], lanes: Lanes, reach: Reach) -> Schedule {
    let live = Live::of(code);
    let mut banks = Banks { lanes, lane_of: homes(code, lanes), taken: vec![0; lanes.count()] };
    let mut blocks = Vec::new();
    for (at, number) in order.iter().enumerate() {
        let block = &code.blocks[*number];
        let falls = block
            .nodes
            .last()
            .is_some_and(|last| last.ends() && last.next().is_some() && last.next() == order.get(at + 1).copied());
        let orders = [First::Longest, First::Exits, First::InTurn].map(|first| {
            let mut banks = banks.clone();
            let rows = Filler::new(block, falls, &live, *number, &mut banks, (reach, first)).fill();
            (rows, banks)
        });
        let Some((rows, after)) = orders.into_iter().min_by_key(|(rows, _)| cost(rows)) else { continue };
        banks = after;
        blocks.push(Scheduled { block: *number, rows, falls });
    }
    Schedule { blocks, lane_of: banks.lane_of }
}

/// What a schedule costs: its rows, then those that are carried out until it is left, on all ways.
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

/// Fills the rows of one block.
struct Filler<'a> {
    block: &'a Block,
    graph: Graph,
    heights: Vec<usize>,
    /// By node, the first branch that needs it.
    exits: Vec<usize>,
    /// By node, its row.
    rows: Vec<Option<usize>>,
    /// How many nodes there are, without a jump that is left out.
    count: usize,
    /// By variable, how many nodes that are not in a row yet read it; the block's end counts.
    readers: Vec<usize>,
    /// By variable, whether it has a register now.
    held: Vec<bool>,
    live: &'a Live,
    banks: &'a mut Banks,
    reach: Reach,
    first: First,
}

impl<'a> Filler<'a> {
    fn new(
        block: &'a Block,
        falls: bool,
        live: &'a Live,
        number: usize,
        banks: &'a mut Banks,
        (reach, first): (Reach, First),
    ) -> Self {
        let graph = depend(block, live);
        let (heights, exits) = (graph.heights(), graph.exits(block));
        let mut readers = vec![0; banks.lane_of.len()];
        for node in &block.nodes {
            for var in readings(node, live) {
                readers[var] += 1;
            }
        }
        let mut held = vec![false; readers.len()];
        banks.taken.fill(0);
        for var in live.entry[number].iter() {
            held[var.index()] = true;
            if let Some(lane) = banks.lane_of[var.index()] {
                banks.taken[usize::from(lane)] += 1;
            }
        }
        let count = block.nodes.len() - usize::from(falls);
        let rows = vec![None; block.nodes.len()];
        Filler { block, graph, heights, exits, rows, count, readers, held, live, banks, reach, first }
    }

    fn fill(&mut self) -> Vec<OpenRow> {
        let mut rows = Vec::new();
        while self.rows[..self.count].iter().any(Option::is_none) {
            let mut row = self.row(rows.len(), true);
            if row.items.is_empty() {
                // Registers are short: something has to go on all the same.
                row = self.row(rows.len(), false);
            }
            self.close(&row);
            rows.push(row);
        }
        rows
    }

    /// A row as full as can be.
    fn row(&mut self, number: usize, tight: bool) -> OpenRow {
        let mut row = OpenRow::default();
        let first = self.rows.iter().position(Option::is_none).unwrap_or(0);
        let end = first.saturating_add(self.reach.0).min(self.count);
        let mut waiting: Vec<usize> = (first..end).filter(|at| self.rows[*at].is_none()).collect();
        waiting.sort_by_key(|at| match self.first {
            First::Longest => (0, std::cmp::Reverse(self.heights[*at]), *at),
            First::Exits => (self.exits[*at], std::cmp::Reverse(self.heights[*at]), *at),
            First::InTurn => (0, std::cmp::Reverse(0), *at),
        });
        let mut more = true;
        while more {
            more = false;
            for at in &waiting {
                if self.rows[*at].is_some() {
                    continue;
                }
                let node = &self.block.nodes[*at];
                let Some(guard) = self.ready(*at, number) else { continue };
                if let Some(fuller) = row.with(*at, node, guard, self.banks, tight) {
                    row = fuller;
                    self.rows[*at] = Some(number);
                    more = true;
                    if !tight {
                        return row;
                    }
                }
            }
        }
        row
    }

    /// Whether all that has to be before a node is, and with which guard it may be in this row.
    fn ready(&self, at: usize, row: usize) -> Option<Option<When>> {
        let mut guard = self.block.nodes[at].guard;
        for Dep { on, strict, guardable } in &self.graph.before[at] {
            let before = self.rows[*on]?;
            if before == row && *strict {
                let when = self.block.nodes[*on].leaves_when().filter(|_| *guardable)?.inverted();
                if self.banks.lanes.count() == 1 || guard.is_some_and(|guard| guard != when) {
                    return None;
                }
                guard = Some(when);
            }
        }
        Some(guard)
    }

    /// Says where the row's results are, and which registers are free behind it.
    fn close(&mut self, row: &OpenRow) {
        for (item, lane) in row.items.iter().zip(&row.lanes) {
            let Some(node) = item.node else { continue };
            for var in readings(&self.block.nodes[node], self.live) {
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

/// The variables that have to be there for a node: what it reads, and what is read where it leads.
fn readings(node: &Node, live: &Live) -> Vec<usize> {
    let mut vars: Vec<usize> = node.uses().map(super::code::Var::index).collect();
    if let Some(to) = node.next() {
        vars.extend(live.entry[to].iter().map(super::code::Var::index));
    }
    vars
}
