// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The order constraints between the operations of a block.

use std::collections::HashMap;

use super::code::{At, Block, Node, Src, Touch, Var};
use super::live::Live;
use crate::rows::{Asks, Do, Window};

/// A node that must come before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dep {
    pub on: usize,
    /// It has to be in a row before, not in the same one.
    pub strict: bool,
    /// It is a branch, and the same row will do when the other node is guarded by it.
    pub guardable: bool,
}

/// By node, its predecessors.
#[derive(Debug, Clone, Default)]
pub(super) struct Graph {
    pub before: Vec<Vec<Dep>>,
}

impl Graph {
    /// The minimum number of rows from each node to the end of the block, along its successors.
    pub(super) fn heights(&self) -> Vec<usize> {
        let mut heights = vec![0; self.before.len()];
        for (index, deps) in self.before.iter().enumerate().rev() {
            for dep in deps {
                let rows = usize::from(dep.strict && !dep.guardable);
                heights[dep.on] = heights[dep.on].max(heights[index] + rows);
            }
        }
        heights
    }

    /// By node, the first branch of the block that it must precede, or that it is.
    pub(super) fn exits(&self, block: &Block) -> Vec<usize> {
        let leaves = |(index, node): (usize, &Node)| if node.op.leaves() { index } else { usize::MAX };
        let mut exits: Vec<usize> = block.nodes.iter().enumerate().map(leaves).collect();
        for (index, deps) in self.before.iter().enumerate().rev() {
            for dep in deps {
                exits[dep.on] = exits[dep.on].min(exits[index]);
            }
        }
        exits
    }
}

/// The graph of a block.
pub(super) fn depend(block: &Block, live: &Live) -> Graph {
    let mut builder = Builder::new(live);
    for (index, node) in block.nodes.iter().enumerate() {
        builder.node(index, node);
    }
    builder.graph
}

/// An earlier access to memory. `version` tells whether its base still has the same value.
struct Access {
    node: usize,
    touch: Touch,
    version: usize,
    waits: bool,
}

struct Builder<'a> {
    live: &'a Live,
    graph: Graph,
    /// By variable, the nodes that may have given it its value.
    defs: HashMap<Var, Vec<usize>>,
    /// By variable, the nodes that have read it since.
    uses: HashMap<Var, Vec<usize>>,
    accesses: Vec<Access>,
    branches: Vec<(usize, Node)>,
    /// Nodes that do more than give a value.
    acted: Vec<usize>,
    /// The last tail call; if it finds a program, nothing happens after it.
    tail_call: Option<usize>,
    /// The last request, arguments of the next one, the last move of the packet, the last read of the clock.
    request: Option<usize>,
    /// The last request whose answer the context waits for.
    waited: Option<usize>,
    args: Vec<usize>,
    adjust: Option<usize>,
    clock: Option<usize>,
    /// Nodes that have used the packet's place since its last move.
    looked: Vec<usize>,
}

const STRICT: (bool, bool) = (true, false);
const SAME_ROW: (bool, bool) = (false, false);
const GUARDABLE: (bool, bool) = (true, true);

impl<'a> Builder<'a> {
    fn new(live: &'a Live) -> Builder<'a> {
        Builder {
            live,
            graph: Graph::default(),
            defs: HashMap::new(),
            uses: HashMap::new(),
            accesses: vec![],
            branches: vec![],
            acted: vec![],
            tail_call: None,
            request: None,
            waited: None,
            args: vec![],
            adjust: None,
            clock: None,
            looked: vec![],
        }
    }

    /// The present node comes after another.
    fn after(&mut self, on: usize, (strict, guardable): (bool, bool)) {
        let Some(deps) = self.graph.before.last_mut() else { return };
        match deps.iter_mut().find(|dep| dep.on == on) {
            Some(dep) => {
                // The stricter one counts.
                dep.guardable =
                    if dep.strict && strict { dep.guardable && guardable } else { dep.guardable || guardable };
                dep.strict |= strict;
            }
            None => deps.push(Dep { on, strict, guardable }),
        }
    }

    fn all_after(&mut self, nodes: &[usize], how: (bool, bool)) {
        for on in nodes {
            self.after(*on, how);
        }
    }

    fn node(&mut self, index: usize, node: &Node) {
        self.graph.before.push(vec![]);
        self.registers(index, node);
        self.memory(index, node);
        self.outside(index, node);
        self.packet(index, node);
        self.control(index, node);
    }

    fn registers(&mut self, index: usize, node: &Node) {
        for var in node.uses() {
            let defs = self.defs.get(&var).cloned().unwrap_or_default();
            self.all_after(&defs, STRICT);
            self.uses.entry(var).or_default().push(index);
        }
        let Some(dst) = node.dst else { return };
        let uses = self.uses.remove(&dst).unwrap_or_default();
        for on in uses.into_iter().filter(|on| *on != index) {
            self.after(on, SAME_ROW);
        }
        let live = self.live;
        let leaving: Vec<usize> = self
            .branches
            .iter()
            .filter(|(_, branch)| branch.next().is_some_and(|to| live.entry[to].contains(dst)))
            .map(|(at, _)| *at)
            .collect();
        self.all_after(&leaving, GUARDABLE);
        let defs = self.defs.remove(&dst).unwrap_or_default();
        self.all_after(&defs, STRICT);
        let mut now = if node.guard.is_some() { defs } else { vec![] };
        now.push(index);
        self.defs.insert(dst, now);
    }

    /// Which of the values that a base has had it has now.
    fn version(&self, touch: &Touch) -> usize {
        match touch.at {
            Some((At { base: Src::Var(var), .. }, _)) => {
                self.defs.get(&var).and_then(|defs| defs.last()).map_or(0, |def| def + 1)
            }
            _ => self.adjust.map_or(0, |adjust| adjust + 1),
        }
    }

    fn memory(&mut self, index: usize, node: &Node) {
        let waits = matches!(node.op, Do::Request { .. });
        for touch in node.touches() {
            let version = self.version(&touch);
            let mut found = Vec::new();
            for before in &self.accesses {
                if !(before.touch.writes || touch.writes) || !overlap(before, &touch, version) {
                    continue;
                }
                // A load sees what was there before its row. A request reads memory after its row.
                let same_row = !before.touch.writes && !before.waits;
                found.push((before.node, if same_row { SAME_ROW } else { STRICT }));
            }
            for (on, how) in found.into_iter().filter(|(on, _)| *on != index) {
                self.after(on, how);
            }
            self.accesses.push(Access { node: index, touch, version, waits });
        }
    }

    fn outside(&mut self, index: usize, node: &Node) {
        match node.op {
            Do::Redirect { .. } => {
                self.all_after(&Vec::from_iter(self.request), STRICT);
                self.request = Some(index);
            }
            Do::Args { .. } => {
                self.all_after(&Vec::from_iter(self.request), STRICT);
                self.args.push(index);
            }
            Do::Request { answer, .. } => {
                let args = std::mem::take(&mut self.args);
                self.all_after(&args, SAME_ROW);
                self.all_after(&Vec::from_iter(self.request.into_iter().chain(self.clock)), STRICT);
                self.request = Some(index);
                self.waited = if answer { Some(index) } else { self.waited };
            }
            _ if node.reads_clock() => {
                self.all_after(&Vec::from_iter(self.request.into_iter().chain(self.clock)), STRICT);
                self.clock = Some(index);
            }
            _ => {}
        }
    }

    fn packet(&mut self, index: usize, node: &Node) {
        let in_packet = node.touches().iter().any(|touch| touch.window == Window::Packet);
        if node.adjusts().is_some() {
            let looked = std::mem::take(&mut self.looked);
            self.all_after(&looked, SAME_ROW);
            let written: Vec<usize> = self.accesses.iter().filter(|it| it.touch.writes).map(|it| it.node).collect();
            self.all_after(&written, STRICT);
            self.all_after(&Vec::from_iter(self.adjust.into_iter().chain(self.request)), STRICT);
            self.adjust = Some(index);
        } else if in_packet || node.reads_packet_place() || matches!(node.op, Do::Request { .. }) {
            self.all_after(&Vec::from_iter(self.adjust), STRICT);
            self.looked.push(index);
        }
    }

    fn control(&mut self, index: usize, node: &Node) {
        let leaves = node.op.leaves();
        let branches: Vec<usize> = self.branches.iter().map(|(at, _)| *at).collect();
        if leaves {
            // In one row the lower lane's counts.
            self.all_after(&branches, SAME_ROW);
            let waits = Vec::from_iter(self.waited.into_iter().chain(self.adjust));
            self.all_after(&waits, STRICT);
            self.wanted(index, node);
            self.branches.push((index, node.clone()));
        } else if !node.harmless() {
            let how = if matches!(node.op, Do::Adjust { .. } | Do::Args { .. }) { STRICT } else { GUARDABLE };
            self.all_after(&branches, how);
            self.all_after(&Vec::from_iter(self.tail_call), STRICT);
            if matches!(node.op, Do::Request { asks: Asks::TailCall, .. }) {
                let acted = self.acted.clone();
                self.all_after(&acted, STRICT);
                self.tail_call = Some(index);
            }
            self.acted.push(index);
        }
    }

    /// A branch comes after all side effects before it and after all values that its target reads.
    fn wanted(&mut self, index: usize, node: &Node) {
        let live = node.next().map(|to| &self.live.entry[to]);
        let mut wanted: Vec<usize> = Vec::new();
        for (var, defs) in &self.defs {
            if live.is_some_and(|live| live.contains(*var)) {
                wanted.extend(defs);
            }
        }
        wanted.extend(&self.acted);
        if node.ends() {
            wanted.extend(0..index);
        }
        self.all_after(&wanted, SAME_ROW);
    }
}

/// Whether two accesses may meet.
fn overlap(before: &Access, touch: &Touch, version: usize) -> bool {
    if before.touch.window != touch.window {
        return false;
    }
    let (Some((a, a_bytes)), Some((b, b_bytes))) = (before.touch.at, touch.at) else { return true };
    if a.base != b.base || before.version != version && a.base != Src::Zero {
        return true;
    }
    let ends = |at: At, bytes: u32| i64::from(at.offset) + i64::from(bytes);
    i64::from(a.offset) < ends(b, b_bytes) && i64::from(b.offset) < ends(a, a_bytes)
}
