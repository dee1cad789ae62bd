// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Longest prefixes as intervals, and the search tree over these (engines/rmt/machine.md, "Longest prefix").

/// A prefix of 32-bit keys: value, bits, and its result.
pub type Prefix = (u32, u32, usize);

/// Cuts all keys into intervals of one result each: first key, and what the longest prefix of its keys leads to. The
/// first begins at 0; neighbours differ.
pub fn intervals(prefixes: &[Prefix]) -> Vec<(u32, Option<usize>)> {
    let mut sorted = prefixes.to_vec();
    sorted.sort_unstable_by_key(|(value, length, _)| (*value, *length));
    let mut all: Vec<(u32, Option<usize>)> = Vec::new();
    // Prefixes that contain the present key, the longest last: last key and result.
    let mut open: Vec<(u32, usize)> = Vec::new();
    let mut begin = |start: u32, result: Option<usize>| {
        if all.last().is_some_and(|last| last.0 == start) {
            all.pop();
        }
        if all.last().is_none_or(|last| last.1 != result) {
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

/// log4 of the leaves that hold this number of intervals.
pub fn levels(intervals: usize) -> u32 {
    (0..).find(|levels| 4usize.saturating_pow(*levels) >= intervals).unwrap_or(u32::MAX)
}

/// A node of the tree: its level, its row, and the first keys of its branches 1 to 3.
pub type Node = (u32, u32, [u32; 3]);

/// The tree over intervals, in the partition of `4^size` leaves from `base` on of a memory with `all` levels: its
/// nodes, and the result of each leaf.
pub fn tree(intervals: &[(u32, Option<usize>)], size: u32, base: u32, all: u32) -> (Vec<Node>, Vec<Option<usize>>) {
    let leaves = 1usize << (2 * size);
    let last = intervals.last().and_then(|(_, result)| *result);
    let start = |leaf: usize| intervals.get(leaf).map_or(u32::MAX, |(start, _)| *start);
    let mut nodes = Vec::new();
    for level in all - size..all {
        let node_leaves = 1usize << (2 * (all - level));
        for node in 0..leaves / node_leaves {
            let branch = |branch: usize| start(node * node_leaves + branch * (node_leaves / 4));
            let row = (base >> (2 * (all - level))) + node as u32;
            nodes.push((level, row, [branch(1), branch(2), branch(3)]));
        }
    }
    let result = |leaf: usize| intervals.get(leaf).map_or(last, |(_, result)| *result);
    (nodes, (0..leaves).map(result).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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
            let cut = intervals(&prefixes);
            assert!(cut.len() <= 2 * prefixes.len() + 1 && cut[0].0 == 0);
            let size = levels(cut.len());
            let base = if size == 6 { 0 } else { 3 << (2 * size) };
            let (nodes, leaves) = tree(&cut, size, base, 6);
            let nodes: HashMap<(u32, u32), [u32; 3]> =
                nodes.into_iter().map(|(level, row, keys)| ((level, row), keys)).collect();
            let find = |key: u32| {
                let mut leaf = base;
                for level in 6 - size..6 {
                    let keys = nodes[&(level, leaf >> (12 - 2 * level))];
                    let branch = keys.iter().filter(|start| **start <= key).count() as u32;
                    leaf += branch << (2 * (5 - level));
                }
                leaves[(leaf - base) as usize]
            };
            let edges = cut.iter().flat_map(|(start, _)| [start.wrapping_sub(1), *start, start.wrapping_add(1)]);
            for key in edges.chain([0, u32::MAX, u32::MAX - 1, 0x7FFF_FFFF]).collect::<Vec<_>>() {
                assert_eq!(find(key), longest(&prefixes, key), "{key:08x} of {prefixes:?}");
            }
        }
    }
}
