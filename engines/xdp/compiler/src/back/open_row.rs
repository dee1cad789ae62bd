// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A row that is being filled: the free resources, and the lane of each operation.

use super::code::{At, Node, NodeOp, Src, Var, When, inverse};
use crate::rows::{Do, Lanes, Window, isa};

/// An operation in a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    /// Its index in the block; None for a comparison that only serves guards.
    pub node: Option<usize>,
    pub op: NodeOp,
    pub dst: Option<Var>,
    pub guard: Option<When>,
}

/// The places of the variables' registers, as far as they are known, and the number of registers in use in each lane.
#[derive(Debug, Clone)]
pub(super) struct Banks {
    pub lanes: Lanes,
    /// The core whose rows are wanted: this one, or one with fewer lanes.
    pub like: Lanes,
    pub lane_of: Vec<Option<u8>>,
    pub taken: Vec<usize>,
}

/// Bytes of a window: of the packet from a base on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    base: Src,
    first: i32,
    end: i32,
}

/// A row that is being filled.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct OpenRow {
    pub items: Vec<Item>,
    /// By item, its lane.
    pub lanes: Vec<u8>,
    packet: Option<Span>,
    stack: Option<Span>,
}

impl OpenRow {
    /// Whether no other node can go into it.
    pub(super) fn is_full(&self, banks: &Banks) -> bool {
        self.items.len() == banks.like.count() && self.items.iter().all(|item| item.node.is_some())
    }

    /// The row with one more node, if it fits. `room`: by lane, how many registers are free for results.
    pub(super) fn with(
        &self,
        index: usize,
        node: &Node,
        guard: Option<When>,
        banks: &Banks,
        room: &[usize],
    ) -> Option<OpenRow> {
        let mut row = self.clone();
        row.reach(node)?;
        let item = Item { node: Some(index), op: node.op, dst: node.dst, guard };
        // A comparison that was there for guards only goes into the branch that asks the same.
        let same = |it: &Item| it.node.is_none() && node.op.test().is_some() && it.op.test() == node.op.test();
        match row.items.iter().position(same) {
            Some(at) => row.items[at] = item,
            None => row.items.push(item),
        }
        if let Some(when) = guard
            && row.provider(when).is_none()
        {
            let op = Do::Compare(when.test);
            row.items.push(Item { node: None, op, dst: None, guard: None });
        }
        if row.items.len() > banks.like.count() {
            return None;
        }
        let count = |wanted: fn(&NodeOp) -> bool| row.items.iter().filter(|item| wanted(&item.op)).count();
        let adjusts = count(|op| matches!(op, Do::Adjust { .. }));
        let redirects = count(|op| matches!(op, Do::Redirect { .. }));
        if adjusts > 1 || redirects > 1 {
            return None;
        }
        row.lanes = assign(&row.items, banks, room)?;
        Some(row)
    }

    /// The item whose comparison decides about a guard, and which outcome is wanted.
    pub(super) fn provider(&self, when: When) -> Option<(usize, bool)> {
        self.items.iter().enumerate().find_map(|(at, item)| {
            let test = item.op.test()?;
            let other = inverse(test.cond).map(|cond| crate::rows::Test { cond, ..*test });
            if *test == when.test {
                Some((at, when.wanted))
            } else {
                (other == Some(when.test)).then_some((at, !when.wanted))
            }
        })
    }

    /// Widens the windows to a node's accesses through them.
    fn reach(&mut self, node: &Node) -> Option<()> {
        let (window, place, bytes) = match &node.op {
            Do::Load { window, place, bytes, .. } | Do::Store { window, place, bytes, .. } => {
                (*window, *place, i32::from(bytes.count))
            }
            Do::Request { asks, .. } => {
                let Some(key) = asks.key() else { return Some(()) };
                // A key takes the window to its end, and begins in its first word.
                (key.window, key.place, key.window.bytes().cast_signed() - key.place.offset.rem_euclid(window_word()))
            }
            _ => return Some(()),
        };
        let span = if window == Window::Packet { &mut self.packet } else { &mut self.stack };
        let At { base, offset } = place;
        let (first, end) = match span {
            Some(known) if known.base != base => return None,
            Some(known) => (known.first.min(offset), known.end.max(offset + bytes)),
            None => (offset, offset + bytes),
        };
        *span = Some(Span { base, first, end });
        (end - first.div_euclid(window_word()) * window_word() <= window.bytes().cast_signed()).then_some(())
    }

    /// The packet window: base, and the first word from there.
    pub(super) fn packet_window(&self) -> Option<(Src, i32)> {
        self.packet.map(|span| (span.base, span.first.div_euclid(window_word())))
    }

    /// The first word of the stack window.
    pub(super) fn stack_window(&self) -> Option<i32> {
        self.stack.map(|span| span.first.div_euclid(window_word()))
    }
}

fn window_word() -> i32 {
    isa::SIZE_WINDOW_WORD.cast_signed()
}

/// Assigns a lane to each item: an operation that only one lane has goes there, a result goes to the lane of its
/// variable's register, and branches keep the program's order from the lowest lane up.
fn assign(items: &[Item], banks: &Banks, room: &[usize]) -> Option<Vec<u8>> {
    let count = banks.lanes.count();
    let fixed = |item: &Item| {
        let bank = item.dst.and_then(|dst| banks.lane_of[dst.index()]);
        bank.or(item.op.lane(banks.lanes).map(|lane| lane as u8))
    };
    let mut order: Vec<usize> = (0..items.len()).collect();
    // The most bound first: fixed, branches in their order, results, the others.
    order.sort_by_key(|at| {
        let item = &items[*at];
        let class = if fixed(item).is_some() {
            0
        } else if item.op.leaves() {
            1
        } else if item.dst.is_some() {
            2
        } else {
            3
        };
        (class, item.node)
    });
    let mut search =
        Search { items, banks, room, fixed: items.iter().map(fixed).collect(), lanes: vec![None; items.len()] };
    let mut free = vec![true; count];
    search.place(&order, &mut free).then(|| search.lanes.into_iter().flatten().collect())
}

struct Search<'a> {
    items: &'a [Item],
    banks: &'a Banks,
    room: &'a [usize],
    fixed: Vec<Option<u8>>,
    lanes: Vec<Option<u8>>,
}

impl Search<'_> {
    fn place(&mut self, order: &[usize], free: &mut [bool]) -> bool {
        let Some((at, rest)) = order.split_first() else { return true };
        for lane in self.candidates(*at) {
            if free[usize::from(lane)] && self.in_order(*at, lane) {
                free[usize::from(lane)] = false;
                self.lanes[*at] = Some(lane);
                if self.place(rest, free) {
                    return true;
                }
                self.lanes[*at] = None;
                free[usize::from(lane)] = true;
            }
        }
        false
    }

    /// The lanes that an item can have, the best first.
    fn candidates(&self, at: usize) -> Vec<u8> {
        if let Some(lane) = self.fixed[at] {
            return vec![lane];
        }
        let item = &self.items[at];
        let mut lanes: Vec<u8> = (0..self.banks.lanes.count() as u8).collect();
        if matches!(item.op, Do::Store { .. }) {
            lanes.truncate(Lanes::STORING);
        } else if self.banks.like.registers() <= self.banks.lanes.registers() {
            // The lanes of the other core have as many registers, so its rows need no more lanes than it has.
            lanes.retain(|lane| !self.spare(*lane));
        }
        if item.op.leaves() {
            return lanes;
        }
        let taken = |lane: &u8| self.banks.taken[usize::from(*lane)];
        if item.dst.is_some() {
            lanes.retain(|lane| self.room[usize::from(*lane)] > 0);
            lanes.sort_by_key(|lane| (self.spare(*lane), taken(lane)));
        } else {
            // Operations without a result leave the lanes that have free registers to others.
            lanes.sort_by_key(|lane| (self.spare(*lane), std::cmp::Reverse(taken(lane))));
        }
        lanes
    }

    /// Whether the target core lacks this lane. The last lane, which multiplies, represents the core's last one.
    fn spare(&self, lane: u8) -> bool {
        usize::from(lane) >= self.banks.like.multiplier() && usize::from(lane) != self.banks.lanes.multiplier()
    }

    /// Whether branches stay in the program's order. The first solution has them so anyway, as the same lanes in order
    /// are tried earlier: this spares the search all other orders.
    fn in_order(&self, at: usize, lane: u8) -> bool {
        let item = &self.items[at];
        !item.op.leaves()
            || self.items.iter().zip(&self.lanes).all(|(other, other_lane)| {
                other_lane
                    .is_none_or(|other_lane| !other.op.leaves() || (other.node < item.node) == (other_lane < lane))
            })
    }
}
