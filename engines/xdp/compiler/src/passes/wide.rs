// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Neighbours as one: two stores of constants, or of what two loads of neighbours gave, to places side by side are one
//! store, of up to eight bytes. A copy of a MAC address thus becomes one load and one store of six bytes.

use std::collections::HashMap;

use super::dead;
use crate::ir::{Arg, Block, Op, Place, Program, Space, ValueId};

/// Most bytes that are moved at once.
const MOST: u32 = 8;

pub(super) fn run(program: &mut Program) -> bool {
    let mut uses: HashMap<ValueId, usize> = HashMap::new();
    for block in &program.blocks {
        for arg in block.insts.iter().flat_map(|inst| inst.op.operands()).chain(block.end.operands()) {
            if let Arg::Value(value) = arg {
                *uses.entry(value).or_default() += 1;
            }
        }
    }
    let mut changed = false;
    for block in &mut program.blocks {
        while let Some(merge) = find(block, &uses) {
            merge.apply(block);
            changed = true;
        }
    }
    if changed {
        dead::run(program);
    }
    changed
}

/// Two stores that become one, in place of the later.
struct Merge {
    /// By index in the block.
    gone: usize,
    stays: usize,
    store: Op,
    /// The load of both values, in place of the earlier; the other one's index.
    load: Option<(usize, Op, usize)>,
}

impl Merge {
    fn apply(self, block: &mut Block) {
        block.insts[self.stays].op = self.store;
        let mut gone = vec![self.gone];
        if let Some((at, op, other)) = self.load {
            block.insts[at].op = op;
            gone.push(other);
        }
        gone.sort_unstable();
        for index in gone.into_iter().rev() {
            block.insts.remove(index);
        }
    }
}

fn find(block: &Block, uses: &HashMap<ValueId, usize>) -> Option<Merge> {
    let stores: Vec<(usize, &Place, Arg)> = block
        .insts
        .iter()
        .enumerate()
        .filter_map(|(index, inst)| match &inst.op {
            Op::Store { place, swap: false, value } => Some((index, place, *value)),
            _ => None,
        })
        .collect();
    for (number, &(later, place, value)) in stores.iter().enumerate() {
        for &(earlier, other, other_value) in stores[..number].iter().rev() {
            let Some(both) = beside(place, other) else { continue };
            // The earlier one moves down to the later.
            if !block.insts[earlier + 1..later].iter().all(|inst| passes(&inst.op, other, true)) {
                continue;
            }
            let (low, high, low_bytes) = if place.offset < other.offset {
                (value, other_value, place.bytes)
            } else {
                (other_value, value, other.bytes)
            };
            if let (Arg::Const(low), Arg::Const(high)) = (low, high) {
                let mask = (1u64 << (8 * low_bytes)) - 1;
                let value = low & mask | high << (8 * low_bytes);
                if !is_operand(&both, value) {
                    continue;
                }
                let store = Op::Store { place: both, swap: false, value: Arg::Const(value) };
                return Some(Merge { gone: earlier, stays: later, store, load: None });
            }
            if let Some((value, load)) = loads(block, low, high, low_bytes, uses) {
                let store = Op::Store { place: both, swap: false, value };
                return Some(Merge { gone: earlier, stays: later, store, load: Some(load) });
            }
        }
    }
    None
}

/// Whether a number is stored without being brought into a register first: 32 bits are, with their sign, into packet
/// and stack. Elsewhere a store takes a register in any case.
fn is_operand(place: &Place, number: u64) -> bool {
    let above = 64 - 8 * place.bytes;
    let signed = (number << above).cast_signed() >> above;
    place.bytes <= 4 || i32::try_from(signed).is_ok() || !matches!(place.space, Space::Packet | Space::Stack)
}

/// The place that two beside each other are together.
fn beside(a: &Place, b: &Place) -> Option<Place> {
    let (low, high) = if a.offset < b.offset { (a, b) } else { (b, a) };
    let touch = i64::from(low.offset) + i64::from(low.bytes) == i64::from(high.offset);
    let bytes = low.bytes + high.bytes;
    let fits = a.space == b.space && a.base == b.base && touch && bytes <= MOST;
    fits.then_some(Place { bytes, ..*low })
}

/// Two loads of neighbours that nothing else uses, as one in place of the earlier.
fn loads(
    block: &Block,
    low: Arg,
    high: Arg,
    low_bytes: u32,
    uses: &HashMap<ValueId, usize>,
) -> Option<(Arg, (usize, Op, usize))> {
    let load = |arg: Arg| {
        let Arg::Value(value) = arg else { return None };
        let at = block.insts.iter().position(|inst| inst.result == Some(value))?;
        match &block.insts[at].op {
            Op::Load { place, signed: false, swap: false } if uses.get(&value) == Some(&1) => Some((at, place)),
            _ => None,
        }
    };
    let ((low_at, low_place), (high_at, high_place)) = (load(low)?, load(high)?);
    let both = beside(low_place, high_place)?;
    if low_place.offset > high_place.offset || low_place.bytes != low_bytes {
        return None;
    }
    // The later one moves up to the earlier.
    let (first, second) = (low_at.min(high_at), low_at.max(high_at));
    let moved = if second == low_at { low_place } else { high_place };
    if !block.insts[first + 1..second].iter().all(|inst| passes(&inst.op, moved, false)) {
        return None;
    }
    let value = Arg::Value(block.insts[first].result?);
    Some((value, (first, Op::Load { place: both, signed: false, swap: false }, second)))
}

/// Whether a store, or a load, of a place can change places with an operation.
pub(super) fn passes(op: &Op, place: &Place, store: bool) -> bool {
    let shared = |place: &Place| !matches!(place.space, Space::Packet | Space::Stack);
    match op {
        // Others see the order in which values are read and written, which may belong to two maps although they count
        // as one.
        Op::Load { place: other, .. } | Op::Store { place: other, .. }
            if shared(place) && shared(other) && (place.space, place.base) != (other.space, other.base) =>
        {
            false
        }
        Op::Load { place: other, .. } => !store || apart(place, other),
        Op::Store { place: other, .. } => apart(place, other),
        // Accesses of shared memory and moves of the packet keep their order.
        Op::Atomic { .. } | Op::Adjust { .. } => false,
        Op::Call { reads, writes, .. } => {
            !shared(place) && writes.iter().chain(reads.iter().filter(|_| store)).all(|other| apart(place, other))
        }
        _ => true,
    }
}

/// Whether two places have no byte in common, for sure.
fn apart(a: &Place, b: &Place) -> bool {
    if a.space != b.space {
        // An access to one of several maps may alias any map.
        let elsewhere = |one: Space, other: Space| match one {
            Space::Any => false,
            Space::Shared => matches!(other, Space::Packet | Space::Stack),
            _ => true,
        };
        return elsewhere(a.space, b.space) && elsewhere(b.space, a.space);
    }
    let (from, to) = (i64::from(a.offset), i64::from(b.offset));
    let beside = from + i64::from(a.bytes) <= to || to + i64::from(b.bytes) <= from;
    match (a.base, b.base) {
        (Arg::Const(x), Arg::Const(y)) => {
            let (x, y) = (x.cast_signed() + from, y.cast_signed() + to);
            x + i64::from(a.bytes) <= y || y + i64::from(b.bytes) <= x
        }
        (x, y) => x == y && beside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_any_maps_is_not_apart_from_one() {
        let at = |space| Place { space, base: Arg::Const(0), offset: 0, bytes: 4 };
        let cases = [
            (Space::Map(0), Space::Map(1), true),
            (Space::Map(0), Space::Shared, false),
            (Space::Record, Space::Shared, false),
            (Space::Stack, Space::Shared, true),
            (Space::Packet, Space::Stack, true),
            (Space::Stack, Space::Any, false),
        ];
        for (a, b, expected) in cases {
            assert_eq!([apart(&at(a), &at(b)), apart(&at(b), &at(a))], [expected; 2], "{a:?} {b:?}");
        }
    }
}
