// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Longest prefixes as intervals, and the search tree over these (engines/rmt/machine.md, "Longest prefix").

use std::collections::BTreeMap;
use std::ops::Range;

/// A prefix of 32-bit keys: value, bits, and its result.
pub(super) type Prefix = (u32, u32, usize);

/// First key of an interval, and what the longest prefix of its keys leads to.
pub(super) type Interval = (u32, Option<usize>);

/// Cuts all keys into intervals of one result each. The first begins at 0; neighbours lead to results that are not the
/// `same`.
pub(super) fn intervals(prefixes: &[Prefix], same: impl Fn(usize, usize) -> bool) -> Vec<Interval> {
    let mut sorted = prefixes.to_vec();
    sorted.sort_unstable_by_key(|(value, length, _)| (*value, *length));
    let mut all: Vec<Interval> = Vec::new();
    // Prefixes that contain the present key, the longest last: last key and result.
    let mut open: Vec<(u32, usize)> = Vec::new();
    let mut begin = |start: u32, result: Option<usize>| {
        if all.last().is_some_and(|last| last.0 == start) {
            all.pop();
        }
        let goes_on = all.last().is_some_and(|last| match (last.1, result) {
            (Some(before), Some(now)) => same(before, now),
            (before, now) => before == now,
        });
        if !goes_on {
            all.push((start, result));
        }
    };
    begin(0, None);
    for (value, length, result) in sorted {
        while let Some((last, _)) = open.pop_if(|(last, _)| *last < value) {
            begin(last + 1, open.last().map(|(_, result)| *result));
        }
        begin(value, Some(result));
        open.push((value | u32::MAX.checked_shr(length).unwrap_or(0), result));
    }
    while let Some((last, _)) = open.pop() {
        if let Some(next) = last.checked_add(1) {
            begin(next, open.last().map(|(_, result)| *result));
        }
    }
    all
}

/// Levels of the tree.
const LEVELS: u32 = 3;
/// Bits of a leaf's number that a node decides.
const BRANCH_BITS: u32 = 4;
/// Keys of a node: the first ones of all branches but the first.
pub(super) const KEYS: usize = (1 << BRANCH_BITS) - 1;

/// A node of the tree.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// Its level, from the root on.
    pub level: u32,
    /// Its row.
    pub row: u32,
    /// Its keys; None: the branch is not of the partition, or is its first one.
    pub keys: [Option<u32>; KEYS],
}

/// The nodes of a partition of the tree over these intervals. The partition has a power of two leaves, at least as many
/// as there are intervals.
pub(super) fn nodes(intervals: &[Interval], leaves: Range<u32>) -> Vec<Node> {
    let mut found: BTreeMap<(u32, u32), [Option<u32>; KEYS]> = BTreeMap::new();
    for (at, leaf) in leaves.enumerate().skip(1) {
        let key = intervals.get(at).map_or(u32::MAX, |(start, _)| *start);
        // The leaf is the first one of a branch of the node whose branches have this many leaves.
        let below = leaf.trailing_zeros() / BRANCH_BITS;
        let row = leaf >> (BRANCH_BITS * (below + 1));
        let branch = leaf >> (BRANCH_BITS * below) & KEYS as u32;
        found.entry((LEVELS - 1 - below, row)).or_default()[branch as usize - 1] = Some(key);
    }
    found.into_iter().map(|((level, row), keys)| Node { level, row, keys }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// A pseudo-random number.
    fn mixed(seed: &mut u32) -> u32 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 17;
        *seed ^= *seed << 5;
        *seed
    }

    /// The result of a key's longest prefix, by a search of all prefixes.
    fn longest(prefixes: &[Prefix], key: u32) -> Option<usize> {
        let fits = |(value, length, _): &&Prefix| {
            let mask = !u32::MAX.checked_shr(*length).unwrap_or(0);
            key & mask == *value
        };
        prefixes.iter().filter(fits).max_by_key(|(_, length, _)| *length).map(|(_, _, result)| *result)
    }

    #[test]
    fn the_tree_finds_the_longest_prefix() {
        let mut seed = 7;
        for round in 0..40u32 {
            let mut prefixes: Vec<Prefix> = Vec::new();
            for at in 0..round as usize {
                let length = mixed(&mut seed) % 33;
                // Few values, so that prefixes are nested.
                let value = (mixed(&mut seed) & 0x0303_0303 | mixed(&mut seed) & 0xC000_0000)
                    & !u32::MAX.checked_shr(length).unwrap_or(0);
                if !prefixes.iter().any(|(known, of, _)| (*known, *of) == (value, length)) {
                    prefixes.push((value, length, at));
                }
            }
            let cut = intervals(&prefixes, |a, b| a == b);
            assert!(cut.len() <= 2 * prefixes.len() + 1 && cut[0].0 == 0);
            // A partition in the middle of the tree; those beside it have other keys in the same nodes.
            let size = cut.len().next_power_of_two().ilog2();
            let base = 3 << size;
            let own = nodes(&cut, base..base + (1 << size));
            let keys: HashMap<(u32, u32), [Option<u32>; KEYS]> =
                own.into_iter().map(|node| ((node.level, node.row), node.keys)).collect();
            let find = |key: u32| {
                let mut leaf = base;
                for bit in (0..size).rev() {
                    let level = (11 - bit) / 4;
                    let branch = (leaf | 1 << bit) >> (4 * (2 - level)) & 15;
                    let first = keys[&(level, leaf >> (12 - 4 * level))][branch as usize - 1].unwrap();
                    leaf |= u32::from(first <= key) << bit;
                }
                cut[(leaf - base).min(cut.len() as u32 - 1) as usize].1
            };
            let edges = cut.iter().flat_map(|(start, _)| [start.wrapping_sub(1), *start, start.wrapping_add(1)]);
            for key in edges.chain([0, u32::MAX, u32::MAX - 1, 0x7FFF_FFFF]).collect::<Vec<_>>() {
                assert_eq!(find(key), longest(&prefixes, key), "{key:08x} of {prefixes:?}");
            }
        }
    }
}
